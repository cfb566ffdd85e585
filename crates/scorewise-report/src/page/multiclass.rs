//! The page of a model with more than two classes: scores and a confusion matrix, no threshold.

use serde_json::Value;

use super::html::{escaped, section, table};
use crate::document::Document;
use crate::number::{shown, spoken};

/// The evaluation with its description: the test rows if there are any, else the validation rows. `None` for two classes.
fn evaluation_part(document: &Document) -> Option<(&'static str, &Value)> {
    let parts = [("test", "test rows not used in training"), ("validation", "validation rows used for early stopping")];
    let found = parts.into_iter().find_map(|(name, description)| {
        Some((description, document.result.get(name)?)).filter(|(_, part)| !part.is_null())
    })?;
    found.1.get("classes").map(|_| found)
}

/// The value of a score on a part of the data.
fn value(part: &Value, score: &str) -> Option<f64> {
    part.get("scores")?.get(score)?.get("value")?.as_f64()
}

/// The heading of the page; `None` for other results.
pub(super) fn heading(document: &Document) -> Option<String> {
    let (description, part) = evaluation_part(document)?;
    let score = part.get("scores")?.as_object()?.keys().next()?;
    let rows = part.get("rows")?.as_f64()?;
    Some(format!("{score} is {} on {rows} {description}", value(part, score).map_or(shown(None), spoken)))
}

/// The scores on all parts of the data, and the confusion matrix of the evaluation; `None` for other results.
pub(super) fn section_html(document: &Document) -> Option<String> {
    let (description, evaluation) = evaluation_part(document)?;
    let parts =
        ["train", "validation", "test"].map(|name| (name, document.result.get(name).filter(|part| !part.is_null())));
    let parts: Vec<(&str, &Value)> = parts.into_iter().filter_map(|(name, part)| Some((name, part?))).collect();
    let mut heading = vec!["score"];
    heading.extend(parts.iter().map(|(name, _)| *name));
    let row = |score: &String| {
        let values = parts.iter().map(|(_, part)| shown(value(part, score)));
        std::iter::once(score.clone()).chain(values).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = evaluation.get("scores")?.as_object()?.keys().map(row).collect();
    let scores = table("Scores on each part of the data", &heading, &rows);

    let classes: Vec<&str> = evaluation.get("classes")?.as_array()?.iter().filter_map(Value::as_str).collect();
    let mut matrix = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"confusion matrix\"><table class=\"matrix multiclass\">\
         <caption>Confusion matrix on the {}: one row per true class, one column per predicted class</caption>\n<thead><tr><td></td>",
        escaped(description)
    );
    for class in &classes {
        matrix += &format!("<th scope=\"col\">forecast {}</th>", escaped(class));
    }
    matrix += "</tr></thead>\n<tbody>\n";
    for (row, (class, cells)) in classes.iter().zip(evaluation.get("confusion")?.as_array()?).enumerate() {
        matrix += &format!("<tr><th scope=\"row\">{}</th>", escaped(class));
        for (column, cell) in cells.as_array()?.iter().enumerate() {
            let count = cell.as_f64().unwrap_or_default();
            let kind = match (column == row, count > 0.0) {
                (true, _) => "right",
                (false, true) => "wrong",
                (false, false) => "none",
            };
            matrix += &format!("<td class=\"{kind}\"><b>{}</b></td>", crate::number::short(count));
        }
        matrix += "</tr>\n";
    }
    matrix += "</tbody></table></div>\n";
    Some(section("classes", "Scores and confusion matrix", &format!("{scores}{matrix}")))
}
