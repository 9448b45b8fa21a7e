//! Which part of the server may know which other, and how long a file may be.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A part, and the parts of ours that it may import. ARCHITECTURE.md says why.
const MAY_IMPORT: [(&str, &[&str]); 10] = [
    ("model", &[]),
    ("egress::address", &[]),
    ("egress", &["egress::address"]),
    ("store", &["model", "telemetry"]),
    ("door", &["model", "store", "telemetry"]),
    ("api", &["model", "store", "telemetry"]),
    ("engine", &["model", "store", "egress", "telemetry"]),
    ("listen", &[]),
    ("telemetry", &[]),
    (
        "settings",
        &["model", "store", "egress", "door", "telemetry"],
    ),
];
/// Where everything is put together.
const ROOF: [&str; 3] = ["cli", "lib", "main"];
const LONG: usize = 300;
const TOO_LONG: usize = 600;

#[test]
fn imports_run_one_way() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = BTreeSet::new();
    for file in rust_files(&source) {
        let inside = file.strip_prefix(&source).expect("found under it");
        let importer = part_of(inside);
        if ROOF.contains(&importer.as_str()) {
            continue;
        }
        let Some((_, allowed)) = MAY_IMPORT.iter().find(|(part, _)| *part == importer) else {
            wrong.insert(format!(
                "{}: `{importer}` is not in the table of parts",
                inside.display()
            ));
            continue;
        };
        let text = std::fs::read_to_string(&file).expect("a source file is text");
        for imported in imports(&text) {
            if imported != importer && !allowed.contains(&imported.as_str()) {
                wrong.insert(format!(
                    "{}: `{importer}` imports `{imported}`",
                    inside.display()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn files_are_short() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the folder of crates");
    let mut too_long = Vec::new();
    for file in rust_files(crates) {
        let text = std::fs::read_to_string(&file).expect("a source file is text");
        let lines = text.lines().count();
        let name = file.strip_prefix(crates).expect("found under it").display();
        if lines > TOO_LONG {
            too_long.push(format!("{name}: {lines} lines"));
        } else if lines > LONG {
            println!("{name}: {lines} lines; worth a look");
        }
    }
    assert!(
        too_long.is_empty(),
        "more than {TOO_LONG} lines: {too_long:#?}"
    );
}

#[test]
fn imports_are_found_in_every_form() {
    let text = "
        use crate::model::{Clock, Time};
        use crate::{
            store::{Store, Error}, // crate::listen is only spoken of
            egress,
        };
        /// See crate::cli.
        pub(in crate::door) fn f(g: &crate::api::Frame) { crate :: no }
        use crate::egress::address::Verdict;
    ";
    let found: Vec<_> = imports(text).into_iter().collect();
    assert_eq!(
        found,
        ["api", "door", "egress", "egress::address", "model", "store"]
    );
}

/// The part that a file of `src` belongs to.
fn part_of(file: &Path) -> String {
    let path = file.with_extension("");
    let names: Vec<_> = path
        .iter()
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    named(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

fn named(path: &[&str]) -> String {
    match path {
        ["egress", "address", ..] => "egress::address".to_owned(),
        [part, ..] => (*part).to_owned(),
        [] => String::new(),
    }
}

/// The parts that a source text names after `crate::`.
fn imports(text: &str) -> BTreeSet<String> {
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let mut found = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        match rest.trim_start().strip_prefix('{') {
            Some(group) => found.extend(top_level(group)),
            None => found.extend(path_at(rest)),
        }
    }
    found
}

/// The parts named in `a::{…}, b, c::d}…`, the rest of a braced group.
fn top_level(group: &str) -> Vec<String> {
    let mut depth = 0_i32;
    let mut names = Vec::new();
    let mut start = 0;
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' | ',' if depth == 0 => {
                names.extend(path_at(&group[start..at]));
                start = at + 1;
                if letter == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    names
}

/// The part that the path at the beginning of the text leads to; none when it is a type or nothing.
fn path_at(text: &str) -> Option<String> {
    let is_path = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let path = text.trim_start();
    let end = path.find(|letter| !is_path(letter)).unwrap_or(path.len());
    let names: Vec<_> = path[..end].split("::").collect();
    let first = names[0];
    (!first.is_empty()
        && first
            .chars()
            .all(|letter| letter.is_lowercase() || letter == '_'))
    .then(|| named(&names))
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}
