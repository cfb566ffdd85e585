//! The sections of a page that follow its top and the threshold slider, such as figures, importance of columns, training and provenance.

use std::fmt::Write as _;

use serde_json::Value;

use super::html::{escape_html, facts_html, prose_to_html, section, table_html};
use super::monitor;
use crate::document::{CommandResult, Document, MemberHistory};
use crate::error::Result;
use crate::evaluation::{
    ColumnImportance, ComparedForecast, ComparedMeasure, ComparisonSummary, CountScores, Estimate, Evaluation,
    FoldSummary, NamedEstimate, named_estimates,
};
use crate::figures::{MovingMark, ReportFigure};
use crate::number::{format_number, format_optional};

/// All sections that follow the top of the page and the threshold slider, in their order. If `has_plain_result` is true, one of them lists all
/// fields of a result that no other section shows.
pub(super) fn sections_html(document: &Document, pictures: &[ReportFigure], has_plain_result: bool) -> Result<String> {
    let mut html = comparison_section(document);
    html += &counts_section(document);
    html += &monitor::section_html(document);
    html += &reproduction_section(document, pictures)?;
    html += &figures_section(document, pictures)?;
    html += &probabilities_section(document);
    html += &columns_section(document, pictures)?;
    html += &folds_section(document);
    html += &training_section(document, pictures)?;
    html += &theory_section(document, pictures)?;
    if has_plain_result {
        html += &plain_result_section(document);
    }
    Ok(html + &provenance_section(document))
}

/// The HTML of a figure with its caption.
pub(super) fn figure_html(figure: &ReportFigure, is_wide: bool) -> Result<String> {
    let class = if is_wide { " class=\"wide\"" } else { "" };
    Ok(format!(
        "<figure{class} style=\"--wide:{}px\" id=\"figure-{}\">{}\n<figcaption><b>{}.</b> {}</figcaption></figure>\n",
        figure.picture.size().0,
        escape_html(&figure.name),
        picture_html(figure, "")?,
        escape_html(&figure.title),
        escape_html(&figure.caption)
    ))
}

/// The HTML of a picture, with an overlay for the mark that moves with the threshold slider.
pub(super) fn picture_html(figure: &ReportFigure, class: &str) -> Result<String> {
    let (wide, high) = figure.picture.size();
    let label = escape_html(&format!("{}. {}", figure.title, figure.caption));
    // Screen readers read the label in place of the picture; the tables of the page contain the numbers of the figure.
    let svg = figure.picture.svg()?.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{label}\" "), 1);
    let overlay = match (figure.moving, figure.picture.frames().first()) {
        (MovingMark::Absent, _) | (_, None) => String::new(),
        (moving, Some(frame)) => {
            let numbers =
                [frame.left, frame.top, frame.width, frame.height, frame.x.0, frame.x.1, frame.y.0, frame.y.1];
            let numbers = numbers.map(|number| format!("{}", (number * 1e6).round() / 1e6)).join(",");
            let (attributes, mark) = match moving {
                MovingMark::Dot(x_score, y_score) => {
                    (format!(" data-across=\"{x_score}\" data-up=\"{y_score}\""), "<circle r=\"5.5\"/>".to_string())
                }
                _ => {
                    let ends = format!("y1=\"{}\" y2=\"{}\"", frame.top, frame.top + frame.height);
                    let extra = if figure.name == "scores" { "<path d=\"\"/>" } else { "" };
                    (String::new(), format!("<line x1=\"-10\" x2=\"-10\" {ends}/>{extra}"))
                }
            };
            format!(
                "<svg class=\"over\" viewBox=\"0 0 {wide} {high}\" aria-hidden=\"true\" data-frame=\"{numbers}\"{attributes}>{mark}</svg>"
            )
        }
    };
    Ok(format!("<div class=\"picture{class}\" data-width=\"{wide}\">{svg}{overlay}</div>"))
}

/// The HTML of those figures for whose name `wanted` returns true.
fn figures_html(figures: &[ReportFigure], wanted: impl Fn(&str) -> bool) -> Result<String> {
    let mut text = String::new();
    for figure in figures.iter().filter(|figure| wanted(&figure.name)) {
        text += &figure_html(figure, figure.picture.size().0 > 600)?;
    }
    Ok(text)
}

/// The HTML of a grid of those figures for whose name `wanted` returns true; an empty string when there is no such figure.
fn figure_grid(figures: &[ReportFigure], wanted: impl Fn(&str) -> bool) -> Result<String> {
    let text = figures_html(figures, wanted)?;
    Ok(if text.is_empty() { text } else { format!("<div class=\"figures\">\n{text}</div>\n") })
}

/// The section with the figures that no other section of the page shows.
fn figures_section(document: &Document, figures: &[ReportFigure]) -> Result<String> {
    let elsewhere = ["training", "law"];
    let wanted = |name: &str| {
        let is_with_slider = name == "scores" && document.forecast.is_some();
        let is_of_columns = name == "importance" || name.starts_with("dependence-");
        !elsewhere.contains(&name) && !is_with_slider && !is_of_columns && !name.starts_with("figure-")
    };
    let body = figure_grid(figures, wanted)?;
    Ok(section(
        "figures",
        match (&document.comparison, &document.series, &document.result) {
            (Some(_), ..) => "The two forecasts",
            (None, Some(_), _) | (None, None, CommandResult::Monitor(_)) => "The score over time",
            (None, None, _) => "Figures of the forecast",
        },
        &body,
    ))
}

/// The section with the measures of the probabilities of one or two forecasts. A model is measured on its test rows, or on its validation rows
/// if it has no test rows.
fn probabilities_section(document: &Document) -> String {
    let of_evaluation = |evaluation: &Evaluation| match evaluation {
        Evaluation::Binary(summary) => summary.probabilities.clone(),
        Evaluation::Classes(_) => None,
    };
    let number = |value: Option<f64>| value.map_or(String::new(), format_number);
    let (summary, rows) = match &document.result {
        CommandResult::Compare(comparison) => return compared_probabilities_section(comparison),
        CommandResult::Score(evaluation) => (of_evaluation(evaluation), ""),
        CommandResult::Train(result) => match (&result.test, &result.validation) {
            (Some(test), _) => (of_evaluation(test), " on the test rows"),
            (None, Some(validation)) => (of_evaluation(validation), " on the validation rows"),
            (None, None) => (None, ""),
        },
        _ => (None, ""),
    };
    let Some(summary) = summary else { return String::new() };
    let row = |(name, Estimate { value, low, high }): (&str, Estimate)| {
        vec![name.to_owned(), format_optional(value), number(low), number(high)]
    };
    let mut table: Vec<Vec<String>> = summary.named().into_iter().map(row).collect();
    if let Some(parts) = summary.brier_parts {
        let part = |name: &str, value: f64| vec![name.to_owned(), format_number(value), String::new(), String::new()];
        table.insert(1, part("Brier score: reliability", parts.reliability));
        table.insert(2, part("Brier score: resolution", parts.resolution));
        table.insert(3, part("Brier score: uncertainty", parts.uncertainty));
    }
    let caption = format!(
        "Measures of the probabilities{rows}, with 95 % intervals. Brier score = reliability − resolution + uncertainty. Lower is better for the Brier score, its reliability and the log-loss, higher for the others"
    );
    let body = table_html(&caption, &["measure", "value", "low", "high"], &table);
    section("probabilities", "Measures of the probabilities", &body)
}

/// The section with the measures of the probabilities of two forecasts.
fn compared_probabilities_section(comparison: &ComparisonSummary) -> String {
    let Some(probabilities) = &comparison.probabilities else { return String::new() };
    let number = |value: Option<f64>| value.map_or(String::new(), format_number);
    let row = |(name, measure): (&str, ComparedMeasure)| {
        let Estimate { value, low, high } = measure.difference;
        let values = [measure.first.value, measure.second.value, value].map(format_optional);
        [vec![name.to_owned()], values.to_vec(), vec![number(low), number(high)]].concat()
    };
    let rows: Vec<Vec<String>> = probabilities.named().into_iter().map(row).collect();
    let heading = ["measure", &comparison.first.name, &comparison.second.name, "difference", "low", "high"];
    let caption = "Measures of the probabilities, and their differences with 95 % intervals. Lower is better for the Brier score and the log-loss, higher for the others";
    section("probabilities", "Measures of the probabilities", &table_html(caption, &heading, &rows))
}

/// The section with the importance of the columns, and the partial dependence of the predictions on the most important columns.
fn columns_section(document: &Document, figures: &[ReportFigure]) -> Result<String> {
    let Some(explanation) = document.explanation() else { return Ok(String::new()) };
    let mut body = format!("<p>{}</p>\n", prose_to_html(&explanation.sentence()));
    body += &figure_grid(figures, |name| name == "importance")?;
    body += &figure_grid(figures, |name| name.starts_with("dependence-"))?;
    let number = |value: Option<f64>| value.map_or(String::new(), format_number);
    let has_gain = explanation.importance.iter().any(|column| column.gain.is_some());
    let row = |importance: &ColumnImportance| {
        let ColumnImportance { column, value, low, high, gain } = importance;
        let mut cells = vec![column.clone(), format_optional(*value), number(*low), number(*high)];
        cells.extend(has_gain.then(|| number(*gain)));
        cells
    };
    let rows: Vec<Vec<String>> = explanation.importance.iter().map(row).collect();
    let mut heads = vec!["column", "importance", "low", "high"];
    heads.extend(has_gain.then_some("gain of trees"));
    let gain = if has_gain {
        "; gain of trees: the gain of the splits on the column, as a share of the gain of all splits"
    } else {
        ""
    };
    let caption = format!(
        "Importance of all columns for {}, with 95 % intervals; {} permutations of each column{gain}",
        explanation.score, explanation.permutations
    );
    body += &table_html(&caption, &heads, &rows);
    Ok(section("columns", "Which columns matter", &body))
}

/// The section with the training curves and a table of the ensemble members.
fn training_section(document: &Document, figures: &[ReportFigure]) -> Result<String> {
    let Some(training) = &document.training else { return Ok(String::new()) };
    let row = |(number, member): (usize, &MemberHistory)| {
        let total_epochs = member.warm_up.len() + member.epochs.len();
        let kept = member
            .kept
            .map_or("no epoch after the warm-up".into(), |epoch| (member.warm_up.len() + epoch + 1).to_string());
        let last = member.kept.and_then(|epoch| member.epochs.get(epoch)).or(member.epochs.last());
        vec![
            (number + 1).to_string(),
            if member.success { "yes".into() } else { "no".into() },
            total_epochs.to_string(),
            member.warm_up.len().to_string(),
            kept,
            last.map_or(String::new(), |epoch| format_number(epoch.validation)),
            last.and_then(|epoch| epoch.coverage).map_or(String::new(), format_number),
            member.restarts.to_string(),
            member.end.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = training.members.iter().enumerate().map(row).collect();
    let heading =
        ["member", "learnt", "epochs", "warm-up", "kept", "validation loss", "in the support", "restarts", "end"];
    let caption = format!(
        "Loss: {}. Warm-up epochs minimise cross-entropy, and all other epochs minimise this loss. The model has the weights of the `kept` epoch.",
        training.loss
    );
    let body = figure_grid(figures, |name| name == "training")? + &table_html(&caption, &heading, &rows);
    Ok(section("training", "How the model was trained", &body))
}

/// The section about a cross-validation: the score of the model of each fold on the test rows of that fold.
fn folds_section(document: &Document) -> String {
    let CommandResult::Train(result) = &document.result else { return String::new() };
    let Some(folds) = &result.folds else { return String::new() };
    let score = result.score.as_str();
    let number = |value: Option<f64>| value.map_or(String::new(), format_number);
    let integer = |value: usize| format_number(value as f64);
    let row = |fold: &FoldSummary| {
        vec![
            integer(fold.repeat),
            integer(fold.fold),
            integer(fold.test.rows()),
            fold.epochs.map_or(String::new(), integer),
            number(fold.threshold),
            number(fold.test.value(score)),
        ]
    };
    let rows: Vec<Vec<String>> = folds.each.iter().map(row).collect();
    let caption = match folds.mean.zip(folds.deviation) {
        Some((mean, deviation)) => {
            format!(
                "{score} over the folds, mean ± standard deviation: {} ± {}",
                format_number(mean),
                format_number(deviation)
            )
        }
        None => format!("{score} over the folds"),
    };
    let heading = ["repeat", "fold", "test rows", "epochs", "threshold", score];
    section("folds", "Cross-validation", &table_html(&caption, &heading, &rows))
}

/// The section with exact results about the score under a random threshold.
fn theory_section(document: &Document, figures: &[ReportFigure]) -> Result<String> {
    let Some(theory) = &document.theory else { return Ok(String::new()) };
    let [tn, fp, fn_, tp] = theory.expected.map(format_number);
    let mut body = format!(
        "<p>Training treats the threshold as a random variable with the distribution <code>{}</code>. The values below are exact for these predictions.</p>\n",
        escape_html(&theory.prior)
    );
    body += &facts_html(&[
        ("E[s], the expected score", format!("{} ({})", format_number(theory.expected_score), theory.score)),
        ("s(E[CM]), the score of the expected confusion matrix", format_number(theory.score_of_expectation)),
        ("Jensen gap, E[s] − s(E[CM])", format_number(theory.jensen_gap)),
        ("standard deviation of s", format_number(theory.deviation)),
        (
            "optimal threshold of a calibrated forecast",
            theory.calibrated_threshold.map_or(String::new(), format_number),
        ),
    ]);
    body += &table_html(
        "E[CM], the expected confusion matrix",
        &["", "forecast no", "forecast yes"],
        &[vec!["negative".into(), tn, fp], vec!["positive".into(), fn_, tp]],
    );
    let rows: Vec<Vec<String>> = theory
        .bounds
        .iter()
        .map(|bound| {
            vec![bound.name.clone(), format_optional(bound.exact), bound.bound.map_or("∞".into(), format_number)]
        })
        .collect();
    let bounds = table_html(
        "Bounds of Marchetti et al. (2022), with the errors in the paper corrected, and the exact values",
        &["bound on", "exact", "bound"],
        &rows,
    );
    body += &format!(
        "<div class=\"figures\">\n{}<div>{bounds}</div>\n</div>\n",
        figures_html(figures, |name| name == "law")?
    );
    Ok(section("theory", "Theory for these predictions", &body))
}

/// The section with the scores of two forecasts and their difference.
fn comparison_section(document: &Document) -> String {
    let Some(comparison) = &document.comparison else { return String::new() };
    let CommandResult::Compare(result) = &document.result else { return String::new() };
    let number = |value: Option<f64>| value.map_or(String::new(), format_number);
    let row = |name: &str, Estimate { value, low, high }: Estimate, threshold: Option<f64>, better: Option<f64>| {
        let better = better.map_or(String::new(), |share| format!("{:.1} %", 100.0 * share));
        vec![name.into(), format_optional(value), number(low), number(high), number(threshold), better]
    };
    let forecast = |name: &str, forecast: &ComparedForecast| {
        let ComparedForecast { threshold, value, low, high, better, .. } = *forecast;
        row(name, Estimate { value, low, high }, threshold, Some(better))
    };
    let rows = [
        forecast(&comparison.names[0], &result.first),
        forecast(&comparison.names[1], &result.second),
        row("difference", result.difference, None, None),
    ];
    let heading = ["forecast", &comparison.score, "low", "high", "threshold", "better in"];
    let caption = format!(
        "{} of both forecasts with 95 % intervals; `better in` is the share of bootstrap replicates in which a forecast is better",
        comparison.score
    );
    section("comparison", "Comparison", &table_html(&caption, &heading, &rows))
}

/// The section with the scores of a table of counts: of all rows and of each group.
fn counts_section(document: &Document) -> String {
    let CommandResult::Counts(result) = &document.result else { return String::new() };
    let block = |title: &str, scores: &CountScores| {
        let [tn, fp, fn_, tp] = scores.confusion.array().map(format_number);
        let facts = facts_html(&[
            ("rows of the table", scores.rows.to_string()),
            ("forecasts", format_number(scores.forecasts)),
            ("events", format_number(scores.positives)),
            ("intervals", format!("by resampling {}", scores.resampled)),
        ]);
        let matrix = table_html(
            &format!("Summed counts, {title}"),
            &["", "forecast no", "forecast yes"],
            &[vec!["negative".into(), tn, fp], vec!["positive".into(), fn_, tp]],
        );
        let number = |end: Option<f64>| end.map_or(String::new(), format_number);
        let row = |NamedEstimate { name, estimate }: &NamedEstimate| {
            vec![name.clone(), format_optional(estimate.value), number(estimate.low), number(estimate.high)]
        };
        let rows: Vec<Vec<String>> = scores.scores.iter().map(row).collect();
        let caption = format!("Scores with 95 % intervals, {title}");
        format!("{facts}{matrix}{}", table_html(&caption, &["score", "value", "low", "high"], &rows))
    };
    let mut body = block("all rows", &result.all);
    for group in &result.groups {
        let name = group.group.as_deref().unwrap_or("no value");
        body += &block(&format!("{} {name}", result.by.as_deref().unwrap_or_default()), &group.result);
    }
    section("counts", "Scores of the summed counts", &body)
}

/// The section with the tables, remarks and figures of an experiment that was reproduced from Marchetti et al. (2022).
fn reproduction_section(document: &Document, figures: &[ReportFigure]) -> Result<String> {
    let Some(reproduction) = &document.reproduction else { return Ok(String::new()) };
    let mut body = String::new();
    for result_table in &reproduction.tables {
        let heading: Vec<&str> = result_table.heading.iter().map(String::as_str).collect();
        body += &table_html(&result_table.title, &heading, &result_table.rows);
    }
    let remarks: String =
        reproduction.remarks.iter().map(|remark| format!("<li>{}</li>\n", prose_to_html(remark))).collect();
    body += &format!("<ul>\n{remarks}</ul>\n");
    body += &figure_grid(figures, |name| name.starts_with("figure-"))?;
    Ok(section("reproduction", "Our results and those of Marchetti et al. (2022)", &body))
}

/// The section with all fields of a result as names and values; empty when other sections show the result.
fn plain_result_section(document: &Document) -> String {
    let is_explanation = matches!(document.result, CommandResult::Explain(_));
    let is_shown = document.forecast.is_some() || document.comparison.is_some() || document.reproduction.is_some();
    let is_shown =
        is_shown || is_explanation || matches!(document.result, CommandResult::Counts(_) | CommandResult::Monitor(_));
    if is_shown {
        return String::new();
    }
    let mut body = String::new();
    if let Ok(Value::Object(fields)) = serde_json::to_value(&document.result) {
        let mut lines: Vec<(String, String)> = Vec::new();
        let mut tables = String::new();
        for (name, value) in &fields {
            append_field(name, value, &mut lines, &mut tables);
        }
        let lines: Vec<(&str, String)> = lines.iter().map(|(name, fact)| (name.as_str(), fact.clone())).collect();
        let _ = write!(body, "{}{tables}", facts_html(&lines));
    }
    if document.training.is_none() {
        body += "<p class=\"faint\">This page was made from the output of <code>--json</code>. For a page with a movable threshold, run the command with <code>--report page.html</code>, or make the page from a file that <code>--report results.json</code> has written.</p>\n";
    }
    section("facts", "Result", &body)
}

/// Appends one field of a result to `lines` as name and value, or to `tables` as a table if the field holds scores.
fn append_field(name: &str, value: &Value, lines: &mut Vec<(String, String)>, tables: &mut String) {
    let scores = named_estimates::deserialize(value).unwrap_or_default();
    match value {
        Value::Object(_) if !scores.is_empty() => {
            let row = |NamedEstimate { name, estimate }: &NamedEstimate| {
                let end = |end: Option<f64>| end.map_or(String::new(), format_number);
                vec![name.clone(), format_optional(estimate.value), end(estimate.low), end(estimate.high)]
            };
            let rows: Vec<Vec<String>> = scores.iter().map(row).collect();
            *tables += &table_html(name, &["score", "value", "low", "high"], &rows);
        }
        Value::Object(fields) => {
            for (inner, value) in fields {
                append_field(&format!("{name} {inner}"), value, lines, tables);
            }
        }
        Value::Array(rows) if rows.iter().all(Value::is_object) && !rows.is_empty() => {
            for (at, row) in rows.iter().enumerate() {
                append_field(&format!("{name} {}", at + 1), row, lines, tables);
            }
        }
        other => lines.push((name.to_string(), plain_text(other))),
    }
}

/// Formats a JSON value as plain text.
fn plain_text(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), format_number),
        Value::Array(values) => values.iter().map(plain_text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// The section with command, time, version, seed and input tables of a result.
fn provenance_section(document: &Document) -> String {
    let provenance = &document.provenance;
    let seed = provenance.seed.map_or(String::new(), |seed| seed.to_string());
    let mut lines = vec![
        ("command", provenance.command.clone()),
        ("time", provenance.time.clone()),
        ("version", format!("scorewise {}", document.scorewise)),
        ("seed", seed),
    ];
    for data in &provenance.data {
        let rows = if data.rows == 1 { "row" } else { "rows" };
        lines.push(("data", format!("{}, {} {rows}, fingerprint {}", data.name, data.rows, data.fingerprint)));
    }
    if let CommandResult::Train(result) = &document.result {
        lines.push(("model", result.model.clone()));
    }
    let body = facts_html(&lines)
        + "<div class=\"controls\"><button type=\"button\" id=\"copy-json\">copy the result as JSON</button></div>\n\
           <p id=\"copied\" class=\"toast\" role=\"status\"></p>\n";
    section("provenance", "Provenance", &body)
}
