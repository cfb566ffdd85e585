//! A model of more than two classes: there is no one threshold, but scores and a matrix.

use serde_json::Value;

use super::html::{escaped, section, table};
use crate::document::Document;
use crate::number::{shown, spoken};

/// The part that judges a model, and what it is called.
fn judging(document: &Document) -> Option<(&'static str, &Value)> {
    let parts =
        [("test", "test rows, which it has never seen"), ("validation", "validation rows, by which it was stopped")];
    let found = parts
        .into_iter()
        .find_map(|(name, words)| Some((words, document.result.get(name)?)).filter(|(_, part)| !part.is_null()))?;
    found.1.get("classes").map(|_| found)
}

fn value(part: &Value, score: &str) -> Option<f64> {
    part.get("scores")?.get(score)?.get("value")?.as_f64()
}

/// The result in a few words; nothing where it is of another kind.
pub(super) fn heading(document: &Document) -> Option<String> {
    let (words, part) = judging(document)?;
    let score = part.get("scores")?.as_object()?.keys().next()?;
    let rows = part.get("rows")?.as_f64()?;
    Some(format!("{score} is {} on {rows} {words}", value(part, score).map_or(shown(None), spoken)))
}

/// Scores of all parts, and the matrix of the one that judges.
pub(super) fn section_of(document: &Document) -> Option<String> {
    let (words, judge) = judging(document)?;
    let parts =
        ["train", "validation", "test"].map(|name| (name, document.result.get(name).filter(|part| !part.is_null())));
    let parts: Vec<(&str, &Value)> = parts.into_iter().filter_map(|(name, part)| Some((name, part?))).collect();
    let mut heading = vec!["score"];
    heading.extend(parts.iter().map(|(name, _)| *name));
    let row = |score: &String| {
        let values = parts.iter().map(|(_, part)| shown(value(part, score)));
        std::iter::once(score.clone()).chain(values).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = judge.get("scores")?.as_object()?.keys().map(row).collect();
    let scores = table("Scores by part", &heading, &rows);

    let classes: Vec<&str> = judge.get("classes")?.as_array()?.iter().filter_map(Value::as_str).collect();
    let mut matrix = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"confusion matrix\"><table class=\"matrix many\">\
         <caption>The confusion matrix of the {}: a row for each class, a column for each forecast</caption>\n<thead><tr><td></td>",
        escaped(words)
    );
    for class in &classes {
        matrix += &format!("<th scope=\"col\">forecast {}</th>", escaped(class));
    }
    matrix += "</tr></thead>\n<tbody>\n";
    for (at, (class, cells)) in classes.iter().zip(judge.get("confusion")?.as_array()?).enumerate() {
        matrix += &format!("<tr><th scope=\"row\">{}</th>", escaped(class));
        for (column, cell) in cells.as_array()?.iter().enumerate() {
            let count = cell.as_f64().unwrap_or_default();
            let kind = match (column == at, count > 0.0) {
                (true, _) => "right",
                (false, true) => "wrong",
                (false, false) => "none",
            };
            matrix += &format!("<td class=\"{kind}\"><b>{}</b></td>", crate::number::short(count));
        }
        matrix += "</tr>\n";
    }
    matrix += "</tbody></table></div>\n";
    Some(section("classes", "How good it is", &format!("{scores}{matrix}")))
}
