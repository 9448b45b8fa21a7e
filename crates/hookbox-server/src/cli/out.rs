//! What a command prints: the one place that writes to the terminal.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use serde_json::Value;

use super::answer::Answer;
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
        let _ = writeln!(
            std::io::stderr().lock(),
            "hookbox: {}",
            clean(&error.to_string())
        );
        ExitCode::from(error.code())
    }

    /// Writes over the last such line of a terminal's standard error; an empty text takes it away.
    pub(super) fn progress(&mut self, text: &str) {
        let mut stderr = std::io::stderr().lock();
        if stderr.is_terminal() {
            let _ = write!(stderr, "\r\x1b[K{}", one_line(text)).and_then(|()| stderr.flush());
        }
    }

    /// Prints a list of the API: JSON as it is, or the named fields as columns.
    pub(super) fn list(&mut self, answer: &Answer, columns: &[(&str, &str)]) {
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
    pub(super) fn one(&mut self, answer: &Answer) {
        if self.json {
            return self.json(answer);
        }
        let fields = answer.fields().into_iter();
        let fields = fields.filter(|(_, raw)| *raw != "null");
        self.table(
            fields
                .map(|(name, raw)| match &answer[name.as_str()] {
                    // As it was written: reading it would change numbers.
                    Value::Object(_) => vec![name, one_line(raw)],
                    _ => {
                        let text = cell(answer.value(), &name);
                        vec![name, text]
                    }
                })
                .collect(),
        );
    }

    /// Prints what was done, or the answer as JSON.
    pub(super) fn done(&mut self, answer: &Answer, text: &str) {
        if self.json {
            self.json(answer);
        } else {
            self.line(&clean(text));
        }
    }

    /// Prints the answer as it came, except for control characters, which it may hold in its strings.
    fn json(&mut self, answer: &Answer) {
        let mut text = String::with_capacity(answer.text.len());
        for c in answer.text.chars() {
            match c {
                '\u{7f}'..='\u{9f}' => text += &format!("\\u{:04x}", u32::from(c)),
                _ => text.push(c),
            }
        }
        self.line(&text);
    }

    /// Prints rows in columns.
    pub(super) fn table(&mut self, rows: Vec<Vec<String>>) {
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
        Value::String(text) => one_line(text),
        Value::Array(parts) if parts.iter().all(Value::is_string) => one_line(
            &parts
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(","),
        ),
        other => one_line(&other.to_string()),
    }
}

/// A text that says nothing to the terminal itself: without control characters, line breaks aside.
pub(super) fn clean(text: &str) -> String {
    text.split('\n')
        .map(one_line)
        .collect::<Vec<_>>()
        .join("\n")
}

/// The same without line breaks, and without what reorders a line.
fn one_line(text: &str) -> String {
    let speaks = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.replace(speaks, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_says_nothing_to_the_terminal() {
        let entry = serde_json::json!({"a": "x\u{1b}[31m\u{9b}y\n\u{202e}", "b": {"c": ["d", "e"]}, "n": null, "t": true});
        assert_eq!(cell(&entry, "a"), "x\u{fffd}[31m\u{fffd}y\u{fffd}\u{fffd}");
        assert_eq!(clean("a\nb\r"), "a\nb\u{fffd}");
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
