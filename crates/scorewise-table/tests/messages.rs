//! Messages name settings in a way that each front end can write as its users do.

#![allow(clippy::unwrap_used)] // a panic is the report

use std::fs;
use std::path::{Path, PathBuf};

use scorewise_table::setting::{Setting, first_of, render};
use scorewise_table::{Error, Note, Place};

fn option(name: &str, value: Option<&str>) -> Option<String> {
    Some(value.map_or(format!("--{name}"), |value| format!("--{name} {value}")))
}

#[test]
fn each_front_end_writes_settings_its_own_way_and_leaves_names_of_columns_alone() {
    let hint = format!("give `{}`, or write `{}`", Setting("lag-columns"), Setting("split").to("time"));
    let error = Error::data(Place::file("t--drop.csv").column("a--keep"), "odd", hint);
    assert_eq!(
        error.to_string(),
        "t--drop.csv, column `a--keep`: odd\nhint: give `lag-columns`, or write `split time`"
    );
    assert_eq!(
        error.render(&option),
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
    let note = Note::of("b--keep", format!("dropped; `{}` uses it", Setting("keep")));
    assert_eq!(note.to_string(), "column `b--keep`: dropped; `keep` uses it");
    assert_eq!(note.render(&option), "column `b--keep`: dropped; `--keep` uses it");
}

#[test]
fn a_note_within_a_note_keeps_its_settings() {
    let inner = Note::of("x", format!("`{}` chooses the other", Setting("positive")));
    let outer = Note::new(format!("fold 2: {inner:#}"));
    assert_eq!(outer.render(&option), "fold 2: column `x`: `--positive` chooses the other");
}

#[test]
fn a_hint_names_no_setting_that_the_front_end_lacks() {
    let missing = format!("add `{}` to read it as missing", Setting("missing").to("a"));
    let error = |hint: &str| Error::data(Place::file("t.csv"), "`a` is not a number", hint);
    let lacks = |name: &str, value: Option<&str>| option(name, value).filter(|_| name != "missing");
    let both = first_of(&[missing.clone(), "name another column".into()]);
    assert_eq!(
        error(&both).render(&option),
        "t.csv: `a` is not a number\nhint: add `--missing a` to read it as missing"
    );
    assert_eq!(error(&both).to_string(), "t.csv: `a` is not a number\nhint: add `missing a` to read it as missing");
    assert_eq!(error(&both).render(&lacks), "t.csv: `a` is not a number\nhint: name another column");
    assert_eq!(error(&missing).render(&lacks), "t.csv: `a` is not a number");
    // What the error is about keeps its name.
    assert_eq!(Error::setting("missing", "is odd", "").render(&lacks), "missing: is odd");
}

#[test]
fn text_of_the_user_is_never_taken_for_a_setting() {
    let disguised = Setting("drop").to("x").to_string();
    let error = Error::data(Place::file(&disguised).column(&disguised), "odd", "");
    assert!(!error.render(&option).contains("--"), "{}", error.render(&option));
    let given = Setting("target").to(&disguised).to_string();
    assert_eq!(render(&given, &option).matches("--").count(), 1);
    assert!(!Note::of(&disguised, "odd").render(&option).contains("--"));
}

/// Libraries do not know how a front end writes a setting, so none of their texts holds `--name`; and a front end gives an error the
/// bare name, never `"--name"`.
#[test]
fn no_text_of_a_library_names_an_option_of_the_command() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for (folder, is_library) in [
        ("scorewise", true),
        ("scorewise-table", true),
        ("scorewise-train", true),
        ("scorewise-report", true),
        ("scorewise-cli", false),
        ("scorewise-py", false),
    ] {
        for path in sources(&crates.join(folder).join("src")) {
            let source = fs::read_to_string(&path).unwrap();
            for (line, text) in texts(source.split("#[cfg(test)]").next().unwrap()) {
                let named = options(&text);
                if if is_library {
                    named.iter().any(|at| !is_allowed(&text, *at))
                } else {
                    named == [0] && is_name(&text)
                } {
                    found.push(format!("{}:{line}: {text}", path.display()));
                }
            }
        }
    }
    assert!(
        found.is_empty(),
        "mention settings through `Setting`, give `Error::setting` the bare name:\n{}",
        found.join("\n")
    );
}

/// What may stand in a library: properties of style sheets, whole lines of the command, and the page that tells how the command makes pages.
fn is_allowed(text: &str, at: usize) -> bool {
    let before = &text[..at];
    ["var(", "style=\"", "style=\\\""].iter().any(|end| before.ends_with(end))
        || ["`scorewise scores ", "<code>"].iter().any(|end| before.ends_with(end))
}

fn is_name(text: &str) -> bool {
    text[2..].chars().all(|sign| sign.is_ascii_lowercase() || sign == '-')
}

/// Where `--name` begins.
fn options(text: &str) -> Vec<usize> {
    let name = |at: &usize| text[at + 2..].starts_with(|sign: char| sign.is_ascii_lowercase());
    text.match_indices("--").map(|(at, _)| at).filter(name).collect()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    assert!(!found.is_empty(), "{}", folder.display());
    found
}

/// The string literals of a source file, each with its line; comments have none.
fn texts(source: &str) -> Vec<(usize, String)> {
    let (mut found, mut rest, mut line) = (Vec::new(), source, 1);
    while let Some(sign) = rest.chars().next() {
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
        } else if sign == '"' {
            let mut end = 1;
            while !rest[end..].starts_with('"') {
                end += if rest[end..].starts_with('\\') { 2 } else { rest[end..].chars().next().unwrap().len_utf8() };
            }
            found.push((line, rest[1..end].to_string()));
            end + 1
        } else {
            sign.len_utf8()
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    found
}

#[test]
fn texts_are_found_and_comments_are_not() {
    let source = "// \"--a\"\nlet a = \"--b \\\" c\"; '\"'; b\"x\" // \"y\"\nr#\"--d \"q\"#";
    let expected = [(2, "--b \\\" c"), (2, "x"), (3, "--d \"q")];
    assert_eq!(texts(source), expected.map(|(line, text)| (line, text.to_string())));
}
