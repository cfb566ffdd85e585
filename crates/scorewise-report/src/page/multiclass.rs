//! The page of a model with more than two classes, which shows scores and a confusion matrix but no threshold.

use super::html::{escape_html, section, table_html};
use crate::document::{CommandResult, Document};
use crate::evaluation::{ClassSummary, Evaluation, TrainSummary};
use crate::number::{format_optional, format_rounded};

/// The result of `train`, a description of the rows on which the model was evaluated (the test rows, or the validation rows if there are none), and
/// the scores on these rows; `None` unless the result is a model with more than two classes.
fn evaluated_rows(document: &Document) -> Option<(&TrainSummary, &'static str, &ClassSummary)> {
    let CommandResult::Train(result) = &document.result else { return None };
    let (description, evaluation) = match (&result.test, &result.validation) {
        (Some(test), _) => ("test rows not used in training", test),
        (None, validation) => ("validation rows used for early stopping", validation.as_ref()?),
    };
    match evaluation {
        Evaluation::Classes(classes) => Some((result, description, classes)),
        Evaluation::Binary(_) => None,
    }
}

/// The heading of the page; `None` unless the result is a model with more than two classes.
pub(super) fn page_heading(document: &Document) -> Option<String> {
    let (_, description, summary) = evaluated_rows(document)?;
    let first = summary.scores.first()?;
    let value = first.estimate.value.map_or(format_optional(None), format_rounded);
    Some(format!("{} is {value} on {} {description}", first.name, summary.rows))
}

/// The scores on the training, validation and test rows, and the confusion matrix; `None` unless the result is a model with more than
/// two classes.
pub(super) fn multiclass_section_html(document: &Document) -> Option<String> {
    let (result, description, summary) = evaluated_rows(document)?;
    let parts = [("train", &result.train), ("validation", &result.validation), ("test", &result.test)];
    let parts: Vec<(&str, &Evaluation)> =
        parts.into_iter().filter_map(|(name, part)| Some((name, part.as_ref()?))).collect();
    let mut heading = vec!["score"];
    heading.extend(parts.iter().map(|(name, _)| *name));
    let row = |score: &String| {
        let values = parts.iter().map(|(_, part)| format_optional(part.value(score)));
        std::iter::once(score.clone()).chain(values).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = summary.scores.iter().map(|score| row(&score.name)).collect();
    let scores = table_html("Scores on the training, validation and test rows", &heading, &rows);

    let mut matrix = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"confusion matrix\"><table class=\"matrix multiclass\">\
         <caption>Confusion matrix on the {}: one row per true class, one column per predicted class</caption>\n<thead><tr><td></td>",
        escape_html(description)
    );
    for class in &summary.classes {
        matrix += &format!("<th scope=\"col\">forecast {}</th>", escape_html(class));
    }
    matrix += "</tr></thead>\n<tbody>\n";
    for (at, (class, cells)) in summary.classes.iter().zip(&summary.confusion).enumerate() {
        matrix += &format!("<tr><th scope=\"row\">{}</th>", escape_html(class));
        for (column, count) in cells.iter().enumerate() {
            let kind = match (column == at, *count > 0.0) {
                (true, _) => "right",
                (false, true) => "wrong",
                (false, false) => "none",
            };
            matrix += &format!("<td class=\"{kind}\"><b>{}</b></td>", crate::number::format_number(*count));
        }
        matrix += "</tr>\n";
    }
    matrix += "</tbody></table></div>\n";
    Some(section("classes", "Scores and confusion matrix", &format!("{scores}{matrix}")))
}
