//! Tests of the names of settings in messages, which each front end (the command line, Python) writes the way its users know them.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::fs;
use std::path::{Path, PathBuf};

use scorewise_table::setting::{Setting, alternative_hints, render};
use scorewise_table::{Error, Location, Note};

/// Writes a setting as the command line does: `--name` or `--name value`.
fn command_line_option(name: &str, value: Option<&str>) -> Option<String> {
    Some(value.map_or(format!("--{name}"), |value| format!("--{name} {value}")))
}

#[test]
fn each_front_end_writes_settings_its_own_way_and_does_not_change_column_names() {
    let hint = format!("give `{}`, or write `{}`", Setting("lag-columns"), Setting("split").to("time"));
    let error = Error::data(Location::file("t--drop.csv").column("a--keep"), "odd", hint);
    assert_eq!(
        error.to_string(),
        "t--drop.csv, column `a--keep`: odd\nhint: give `lag-columns`, or write `split time`"
    );
    assert_eq!(
        error.render(&command_line_option),
        "t--drop.csv, column `a--keep`: odd\nhint: give `--lag-columns`, or write `--split time`"
    );
    let python = |name: &str, value: Option<&str>| {
        let name = name.replace('-', "_");
        Some(value.map_or(name.clone(), |value| format!("{name}=\"{value}\"")))
    };
    assert_eq!(
        error.render(&python),
        "t--drop.csv, column `a--keep`: odd\nhint: give `lag_columns`, or write `split=\"time\"`"
    );
    let note = Note::about_column("b--keep", format!("dropped; add it to `{}` to use it", Setting("keep")));
    assert_eq!(note.to_string(), "column `b--keep`: dropped; add it to `keep` to use it");
    assert_eq!(note.render(&command_line_option), "column `b--keep`: dropped; add it to `--keep` to use it");
}

#[test]
fn settings_are_rendered_in_a_note_that_contains_another_note() {
    let inner = Note::about_column("x", format!("`{}` chooses the other", Setting("positive")));
    let outer = Note::new(format!("fold 2: {inner:#}"));
    assert_eq!(outer.render(&command_line_option), "fold 2: column `x`: `--positive` chooses the other");
}

#[test]
fn hints_about_settings_that_a_front_end_lacks_are_not_shown() {
    let missing = format!("add `{}` to read it as missing", Setting("missing").to("a"));
    let error = |hint: &str| Error::data(Location::file("t.csv"), "`a` is not a number", hint);
    let without_missing =
        |name: &str, value: Option<&str>| command_line_option(name, value).filter(|_| name != "missing");
    let alternatives = alternative_hints(&[missing.clone(), "name another column".into()]);
    assert_eq!(
        error(&alternatives).render(&command_line_option),
        "t.csv: `a` is not a number\nhint: add `--missing a` to read it as missing"
    );
    assert_eq!(
        error(&alternatives).to_string(),
        "t.csv: `a` is not a number\nhint: add `missing a` to read it as missing"
    );
    assert_eq!(error(&alternatives).render(&without_missing), "t.csv: `a` is not a number\nhint: name another column");
    assert_eq!(error(&missing).render(&without_missing), "t.csv: `a` is not a number");
    // A hint about a setting that the front end lacks is left out. If an error is about such a setting, its name is shown, but without `--`.
    assert_eq!(Error::setting("missing", "is odd", "").render(&without_missing), "missing: is odd");
}

#[test]
fn text_from_the_user_is_not_mistaken_for_the_name_of_a_setting() {
    let with_markers = Setting("drop").to("x").to_string();
    let error = Error::data(Location::file(&with_markers).column(&with_markers), "odd", "");
    assert!(!error.render(&command_line_option).contains("--"), "{}", error.render(&command_line_option));
    let given = Setting("target").to(&with_markers).to_string();
    assert_eq!(render(&given, &command_line_option).matches("--").count(), 1);
    assert!(!Note::about_column(&with_markers, "odd").render(&command_line_option).contains("--"));
}

/// A library does not know how a front end writes a setting, so no string in the source of a library may contain an option such as `--name`. A front
/// end (the command line or Python) passes the plain name of a setting to an error, so no string in its source may be `"--name"`.
#[test]
fn library_messages_do_not_contain_command_line_options() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut violations = Vec::new();
    for (folder, is_library) in [
        ("scorewise", true),
        ("scorewise-table", true),
        ("scorewise-train", true),
        ("scorewise-report", true),
        ("scorewise-cli", false),
        ("scorewise-py", false),
    ] {
        for path in rust_files(&crates.join(folder).join("src")) {
            let source = fs::read_to_string(&path).unwrap();
            for (line, text) in string_literals(source.split("#[cfg(test)]").next().unwrap()) {
                let named = option_positions(&text);
                if if is_library {
                    named.iter().any(|at| !is_allowed_option(&text, *at))
                } else {
                    named == [0] && is_option_name(&text)
                } {
                    violations.push(format!("{}:{line}: {text}", path.display()));
                }
            }
        }
    }
    assert!(
        violations.is_empty(),
        "a library must write a setting with `Setting`, a front end must pass its plain name to `Error::setting`:\n{}",
        violations.join("\n")
    );
}

/// Strings of libraries must not contain options such as `--name`. Returns whether the option at position `at` is allowed nevertheless: as a CSS
/// property, in a complete command line, or in the instructions on the report page.
fn is_allowed_option(text: &str, at: usize) -> bool {
    let before = &text[..at];
    ["var(", "style=\"", "style=\\\""].iter().any(|end| before.ends_with(end))
        || ["`scorewise scores ", "<code>"].iter().any(|end| before.ends_with(end))
}

/// Whether a text that begins with `--` is the name of an option and nothing else.
fn is_option_name(text: &str) -> bool {
    text[2..].chars().all(|character| character.is_ascii_lowercase() || character == '-')
}

/// The positions in `text` of all options of the form `--name`.
fn option_positions(text: &str) -> Vec<usize> {
    let name = |at: &usize| text[at + 2..].starts_with(|character: char| character.is_ascii_lowercase());
    text.match_indices("--").map(|(at, _)| at).filter(name).collect()
}

/// The paths of all Rust files in a folder and its subfolders.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    assert!(!files.is_empty(), "{}", folder.display());
    files
}

/// The string literals of a Rust source file, with their line numbers. Comments are skipped.
fn string_literals(source: &str) -> Vec<(usize, String)> {
    let (mut found, mut rest, mut line) = (Vec::new(), source, 1);
    while let Some(character) = rest.chars().next() {
        let raw = ["r\"", "r#\"", "r##\""].iter().position(|begin| rest.starts_with(begin));
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(hashes) = raw {
            let end = format!("\"{}", "#".repeat(hashes));
            let begin = hashes + 2;
            let length = rest[begin..].find(&end).unwrap();
            found.push((line, rest[begin..begin + length].to_string()));
            begin + length + end.len()
        } else if rest.starts_with("'\"'") {
            3
        } else if rest.starts_with("'\\\"'") {
            4
        } else if character == '"' {
            let mut end = 1;
            while !rest[end..].starts_with('"') {
                end += if rest[end..].starts_with('\\') { 2 } else { rest[end..].chars().next().unwrap().len_utf8() };
            }
            found.push((line, rest[1..end].to_string()));
            end + 1
        } else {
            character.len_utf8()
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    found
}

#[test]
fn string_literals_are_found_and_comments_are_skipped() {
    let source = "// \"--a\"\nlet a = \"--b \\\" c\"; '\"'; b\"x\" // \"y\"\nr#\"--d \"q\"#";
    let expected = [(2, "--b \\\" c"), (2, "x"), (3, "--d \"q")];
    assert_eq!(string_literals(source), expected.map(|(line, text)| (line, text.to_string())));
}
