//! A model of more than two classes: there is no one threshold, but scores and a matrix.

use super::html::{escaped, section, table};
use crate::document::{CommandResult, Document};
use crate::evaluation::{ClassSummary, Evaluation, TrainSummary};
use crate::number::{shown, spoken};

/// The rows that evaluate a model of more than two classes, in words, and the scores on them.
fn evaluated(document: &Document) -> Option<(&TrainSummary, &'static str, &ClassSummary)> {
    let CommandResult::Train(result) = &document.result else { return None };
    let (words, evaluation) = match (&result.test, &result.validation) {
        (Some(test), _) => ("test rows, which it has never seen", test),
        (None, validation) => ("validation rows, by which it was stopped", validation.as_ref()?),
    };
    match evaluation {
        Evaluation::Classes(classes) => Some((result, words, classes)),
        Evaluation::Binary(_) => None,
    }
}

/// The result in a few words; nothing where it is of another kind.
pub(super) fn heading(document: &Document) -> Option<String> {
    let (_, words, summary) = evaluated(document)?;
    let first = summary.scores.first()?;
    let value = first.estimate.value.map_or(shown(None), spoken);
    Some(format!("{} is {value} on {} {words}", first.name, summary.rows))
}

/// Scores of all parts, and the matrix of the one that judges.
pub(super) fn section_of(document: &Document) -> Option<String> {
    let (result, words, summary) = evaluated(document)?;
    let parts = [("train", &result.train), ("validation", &result.validation), ("test", &result.test)];
    let parts: Vec<(&str, &Evaluation)> =
        parts.into_iter().filter_map(|(name, part)| Some((name, part.as_ref()?))).collect();
    let mut heading = vec!["score"];
    heading.extend(parts.iter().map(|(name, _)| *name));
    let row = |score: &String| {
        let values = parts.iter().map(|(_, part)| shown(part.value(score)));
        std::iter::once(score.clone()).chain(values).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = summary.scores.iter().map(|score| row(&score.name)).collect();
    let scores = table("Scores by part", &heading, &rows);

    let mut matrix = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"confusion matrix\"><table class=\"matrix many\">\
         <caption>The confusion matrix of the {}: a row for each class, a column for each forecast</caption>\n<thead><tr><td></td>",
        escaped(words)
    );
    for class in &summary.classes {
        matrix += &format!("<th scope=\"col\">forecast {}</th>", escaped(class));
    }
    matrix += "</tr></thead>\n<tbody>\n";
    for (at, (class, cells)) in summary.classes.iter().zip(&summary.confusion).enumerate() {
        matrix += &format!("<tr><th scope=\"row\">{}</th>", escaped(class));
        for (column, count) in cells.iter().enumerate() {
            let kind = match (column == at, *count > 0.0) {
                (true, _) => "right",
                (false, true) => "wrong",
                (false, false) => "none",
            };
            matrix += &format!("<td class=\"{kind}\"><b>{}</b></td>", crate::number::short(*count));
        }
        matrix += "</tr>\n";
    }
    matrix += "</tbody></table></div>\n";
    Some(section("classes", "How good it is", &format!("{scores}{matrix}")))
}
