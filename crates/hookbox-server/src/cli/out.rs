//! What a command prints: the one place that writes to the terminal.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::Value;

use super::error::Error;

/// The output of a command.
#[derive(Debug, Default)]
pub(super) struct Out {
    /// JSON was asked for.
    pub(super) json: bool,
}

impl Out {
    /// Prints a line. A reader that went away is no error.
    pub(super) fn line(&mut self, text: &str) {
        let mut stdout = std::io::stdout().lock();
        let _ = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
    }

    /// Says on standard error why the command failed, and returns its exit code.
    pub(super) fn fail(&mut self, error: &Error) -> ExitCode {
        let _ = writeln!(std::io::stderr().lock(), "hookbox: {error}");
        ExitCode::from(error.code())
    }

    /// Prints a list of the API: JSON as it is, or the named fields as columns.
    pub(super) fn list(&mut self, answer: &Value, columns: &[(&str, &str)]) {
        if self.json {
            return self.json(answer);
        }
        let none = Vec::new();
        let entries = answer["data"].as_array().unwrap_or(&none);
        let head = columns
            .iter()
            .map(|(title, _)| (*title).to_owned())
            .collect();
        let rows = entries.iter().map(|entry| {
            columns
                .iter()
                .map(|(_, field)| cell(entry, field))
                .collect()
        });
        self.table(std::iter::once(head).chain(rows).collect());
        if let (Some(false), Some(next)) = (answer["done"].as_bool(), answer["iterator"].as_str()) {
            self.line(&format!("\nThere are more: --iterator {next}"));
        }
    }

    /// Prints one thing: JSON as it is, or a line for each field.
    pub(super) fn one(&mut self, answer: &Value) {
        if self.json {
            return self.json(answer);
        }
        let none = serde_json::Map::new();
        let fields = answer
            .as_object()
            .unwrap_or(&none)
            .iter()
            .filter(|(_, value)| !value.is_null());
        self.table(
            fields
                .map(|(name, _)| vec![name.clone(), cell(answer, name)])
                .collect(),
        );
    }

    /// Prints what was done, or the answer as JSON.
    pub(super) fn done(&mut self, answer: &Value, text: &str) {
        if self.json {
            self.json(answer);
        } else {
            self.line(&clean(text));
        }
    }

    fn json(&mut self, answer: &Value) {
        self.line(&serde_json::to_string_pretty(answer).unwrap_or_default());
    }

    fn table(&mut self, rows: Vec<Vec<String>>) {
        let mut widths = Vec::new();
        for row in &rows {
            widths.resize(widths.len().max(row.len()), 0);
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for row in rows {
            let cells = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell:width$}"));
            self.line(cells.collect::<Vec<_>>().join("  ").trim_end());
        }
    }
}

/// The text of a field; a path goes into it with dots.
fn cell(entry: &Value, field: &str) -> String {
    let value = field.split('.').fold(entry, |value, part| &value[part]);
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => clean(text),
        Value::Array(parts) if parts.iter().all(Value::is_string) => clean(
            &parts
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(","),
        ),
        other => clean(&other.to_string()),
    }
}

/// A text that says nothing to the terminal itself: without control characters.
fn clean(text: &str) -> String {
    let kept = |c: char| c == '\n' || !c.is_control();
    text.chars()
        .map(|c| {
            if kept(c) {
                c
            } else {
                char::REPLACEMENT_CHARACTER
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_says_nothing_to_the_terminal() {
        let entry =
            serde_json::json!({"a": "x\u{1b}[31my", "b": {"c": ["d", "e"]}, "n": null, "t": true});
        assert_eq!(cell(&entry, "a"), "x\u{fffd}[31my");
        assert_eq!(
            [
                cell(&entry, "b.c"),
                cell(&entry, "n"),
                cell(&entry, "none"),
                cell(&entry, "t")
            ],
            ["d,e", "-", "-", "true"]
        );
    }
}
