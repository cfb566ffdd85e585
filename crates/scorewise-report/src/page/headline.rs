//! The top of a page: the chosen threshold, the numbers of errors at this threshold, the score and its uncertainty.

use std::fmt::Write as _;

use scorewise::Score;

use super::html::{escape_html, prose_to_html};
use super::multiclass;
use crate::document::{CommandResult, Document, ForecastEvaluation, ResultKind, confusion_from_cells};
use crate::evaluation::{ColumnImportance, Estimate, Evaluation, NamedEstimate, TuneSummary};
use crate::number::{format_count, format_number, format_optional, format_rounded, format_threshold_range};

/// The texts at the top of a page.
pub(super) struct Headline {
    /// Title of the browser window.
    pub title: String,
    /// The command and the names of its input tables, shown above the heading.
    pub kind: String,
    /// The heading of the page, which states the main result, such as `Predict yes above 0.35`.
    pub heading: String,
    /// The result in one sentence, as HTML, shown below the heading.
    pub lead: String,
    /// The HTML of the cards (boxes with text) below the heading.
    pub html: String,
}

/// Creates the top of the page of a result.
pub(super) fn headline(document: &Document) -> Headline {
    let data: Vec<&str> = document.provenance.data.iter().map(|data| data.name.as_str()).collect();
    let command = match document.kind {
        ResultKind::Train => "train",
        ResultKind::Score => "score",
        ResultKind::Tune => "tune",
        ResultKind::Compare => "compare",
        ResultKind::Explain => "explain",
        ResultKind::Monitor => "monitor",
        ResultKind::Theory => "theory",
        ResultKind::Reproduce => "reproduce",
    };
    let experiment = match &document.result {
        CommandResult::Reproduce(result) => &result.experiment,
        _ => "",
    };
    let kind = format!("scorewise {command} {}{experiment}", data.join(", ")).trim().to_string();
    let (heading, lead, html) = match &document.forecast {
        Some(forecast) => contents_with_forecast(document, forecast),
        None => contents_without_forecast(document),
    };
    Headline { title: format!("{heading} – {kind}"), kind, heading, lead, html: html + &notes_html(document) }
}

/// The HTML of the notes on the data, in a section that is closed until the reader opens it.
fn notes_html(document: &Document) -> String {
    let notes: String = document.notes.iter().map(|note| format!("<li>{}</li>\n", prose_to_html(note))).collect();
    let summary = match document.notes.len() {
        0 => return String::new(),
        1 => "1 note".into(),
        several => format!("{several} notes"),
    };
    format!("<details><summary>{summary} on the data</summary><ul>\n{notes}</ul></details>\n")
}

/// Heading, lead sentence (the result in one sentence) and cards (boxes with text) of a result without a forecast.
fn contents_without_forecast(document: &Document) -> (String, String, String) {
    if let Some(comparison) = &document.comparison {
        return (comparison.verdict.trim_end_matches('.').to_string(), String::new(), String::new());
    }
    let heading = match &document.result {
        CommandResult::Reproduce(result) => match result.experiment.as_str() {
            "adult" => "Table 1 of Marchetti et al. (2022) and our results".to_string(),
            _ => "Table 2 of Marchetti et al. (2022) and our results".into(),
        },
        CommandResult::Train(result) => {
            multiclass::page_heading(document).unwrap_or_else(|| format!("A model for {}", result.target))
        }
        CommandResult::Compare(result) => format!("Two forecasts compared by {}", result.score),
        CommandResult::Explain(result) => match result.importance.first() {
            Some(ColumnImportance { column, value: Some(value), .. }) if *value > 0.0 => {
                format!("{column} matters most for {}", result.score)
            }
            _ => format!("Which columns matter for {}", result.score),
        },
        CommandResult::Monitor(result) => result.sentence(),
        CommandResult::Theory(result) => format!("{} under a random threshold", result.score),
        CommandResult::Tune(TuneSummary::Binary(result)) => match result.proposed_threshold() {
            Some(threshold) => format!("Predict yes above {}", format_rounded(threshold)),
            None => "No threshold satisfies the conditions".into(),
        },
        CommandResult::Tune(TuneSummary::Classes(result)) => {
            format!("The best threshold of each class by {}", result.score)
        }
        CommandResult::Score(Evaluation::Binary(result)) => {
            format!("Scores at threshold {}", format_rounded(result.threshold))
        }
        CommandResult::Counts(result) => match score_of_counts(document, &result.all.scores) {
            Some(NamedEstimate { name, estimate: Estimate { value: Some(value), .. } }) => {
                format!(
                    "{name} is {} over {} rows of counts",
                    format_rounded(*value),
                    format_number(result.all.rows as f64)
                )
            }
            _ => "Scores of a table of counts".into(),
        },
        CommandResult::Score(Evaluation::Classes(_)) => "Scores of the predicted classes".into(),
    };
    (heading, String::new(), String::new())
}

/// The score in the heading of the page of a table of counts. It is the score that the figure over time shows, or the first score if there is no such
/// figure.
fn score_of_counts<'a>(document: &Document, scores: &'a [NamedEstimate]) -> Option<&'a NamedEstimate> {
    let over_time = document.series.as_ref().and_then(|series| scores.iter().find(|score| score.name == series.score));
    over_time.or(scores.first())
}

/// Heading, lead sentence (the result in one sentence) and cards (boxes with text) of a result with a forecast.
fn contents_with_forecast(document: &Document, forecast: &ForecastEvaluation) -> (String, String, String) {
    let Some(score) = forecast.scores().into_iter().next() else { return Default::default() };
    let cells = forecast.point().map_or([0.0; 4], |point| point.cells);
    let value = score.checked(&confusion_from_cells(cells));
    let interval = forecast.intervals.iter().find(|interval| interval.score == score.name());
    let threshold = forecast.display_threshold();
    let heading = match (document.kind, &document.theory) {
        (ResultKind::Theory, Some(theory)) => {
            format!(
                "{} is {} on average when the threshold is random",
                score.name(),
                format_rounded(theory.expected_score)
            )
        }
        (ResultKind::Score, _) => {
            format!("{} is {} at threshold {threshold}", score.name(), value.map_or("undefined".into(), format_rounded))
        }
        _ => format!("Predict yes above {threshold}"),
    };
    let interval_text = interval.map_or(String::new(), |interval| {
        format!(" (95\u{a0}% interval {} to {})", format_rounded(interval.low), format_rounded(interval.high))
    });
    let weight: f64 = cells.iter().sum();
    let (rows, total) = match forecast.is_weighted {
        true => (format_count(forecast.rows as f64), format!(" (total weight {})", format_count(weight))),
        false => (format_count(weight), String::new()),
    };
    let lead = format!(
        "<p class=\"lead\">{at_threshold} <b>{name}</b> is <b>{value}</b>{interval_text}, on {rows} {part}{total}.</p>\n",
        at_threshold = match document.kind {
            ResultKind::Theory => format!("At threshold {threshold}"),
            _ => "At that threshold".into(),
        },
        name = escape_html(score.name()),
        value = value.map_or("undefined".into(), format_rounded),
        part = escape_html(&forecast.part),
    );
    let mut html = String::from("<div class=\"cards\">\n");
    html += &threshold_card(forecast, exact_threshold(document));
    html += &errors_card(cells, &forecast.classes[1]);
    html += &quality_card(forecast, &score, value, interval.map(|interval| (interval.low, interval.high)));
    html += "</div>\n";
    (heading, lead, html)
}

/// The best threshold without smoothing, and the score at this threshold; `None` unless the page proposes a smoothed threshold.
fn exact_threshold(document: &Document) -> Option<(f64, f64)> {
    match &document.result {
        CommandResult::Tune(TuneSummary::Binary(result)) => {
            result.smooth.as_ref()?.threshold?;
            result.threshold.zip(result.value)
        }
        _ => None,
    }
}

/// The card with the decision threshold and its uncertainty. If the decision threshold is smoothed, `exact` contains the best threshold without
/// smoothing, and the score at that threshold.
fn threshold_card(forecast: &ForecastEvaluation, exact: Option<(f64, f64)>) -> String {
    let mut text = format!(
        "<section class=\"card\" aria-label=\"Which threshold\"><h2>Which threshold?</h2>\n<p class=\"big\">{}</p>\n<p>{}.</p>\n",
        forecast.point().map_or_else(|| format_number(forecast.threshold), |point| point.display_threshold(6)),
        escape_html(&capitalised(&forecast.chosen))
    );
    if let Some(calibrated) = &forecast.calibrated {
        let _ = writeln!(
            text,
            "<p>All thresholds on this page apply to the raw predictions of the model. This threshold corresponds to a calibrated probability of <b>{}</b>.</p>",
            format_number(calibrated.threshold)
        );
    }
    if let Some((low, high)) = forecast.interval {
        let _ = writeln!(
            text,
            "<p>On {}, every threshold from {} gives the same score.</p>",
            escape_html(&forecast.source),
            // It is not known here whether a range up to 1 includes 1. The text "up to but not including 1" is true in both cases.
            format_threshold_range(low, high, false)
        );
    }
    if let Some((low, high)) = forecast.spread {
        let _ = writeln!(
            text,
            "<p>In 95\u{a0}% of bootstrap replicates of {}, the {} threshold lies between <b>{}</b> and <b>{}</b>.</p>",
            escape_html(&forecast.source),
            if exact.is_some() { "smoothed" } else { "best" },
            format_rounded(low),
            format_rounded(high)
        );
    }
    if let Some((threshold, value)) = exact {
        let _ = writeln!(
            text,
            "<p>Without smoothing, the best threshold of {} is <b>{}</b>, where {} is {}. It depends more on single rows than the smoothed threshold does.</p>",
            escape_html(&forecast.source),
            format_number(threshold),
            escape_html(&forecast.score),
            format_rounded(value)
        );
    }
    for condition in &forecast.conditions {
        let _ = writeln!(text, "<p>Subject to <code>{}</code>.</p>", escape_html(condition));
    }
    text + "</section>\n"
}

/// Returns the text with its first letter in upper case.
fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or(String::new(), |first| first.to_uppercase().chain(characters).collect())
}

/// The card with the numbers of errors (missed events and false alarms). `event` is the name of the positive class.
fn errors_card([_, fp, fn_, tp]: [f64; 4], event: &str) -> String {
    let named = if event == "event" { String::new() } else { format!(" ({})", escape_html(event)) };
    let (events, alarms) = (tp + fn_, tp + fp);
    let percentage = |part: f64, total: f64| {
        if total > 0.0 { format!(" ({:.0}\u{a0}%)", 100.0 * part / total) } else { String::new() }
    };
    format!(
        "<section class=\"card\" aria-label=\"What it costs\"><h2>What does it cost?</h2>\n\
         <p><span class=\"big\">{missed}</span> of {events} events{named} are missed{missed_share}.</p>\n\
         <p><span class=\"big\">{false_alarms}</span> of {alarms} alarms are false{false_share}.</p>\n\
         <p>Events caught: {caught}. Alarms per event: {ratio}.</p>\n</section>\n",
        missed = format_count(fn_),
        events = format_count(events),
        missed_share = percentage(fn_, events),
        false_alarms = format_count(fp),
        alarms = format_count(alarms),
        false_share = percentage(fp, alarms),
        caught = format_count(tp),
        ratio = if events > 0.0 { format!("{:.2}", alarms / events) } else { "undefined".into() },
    )
}

/// The card with the score of the forecast and the scores of the reference forecasts.
fn quality_card(
    forecast: &ForecastEvaluation,
    score: &Score,
    value: Option<f64>,
    interval: Option<(f64, f64)>,
) -> String {
    let mut rows = vec![("this forecast".to_string(), value, true)];
    if forecast.threshold != 0.5 {
        let at_half = forecast.points.iter().find(|point| point.threshold == 0.5);
        rows.extend(at_half.map(|point| ("this forecast at 0.5".into(), score.checked(&point.confusion()), false)));
    }
    rows.extend(
        forecast
            .reference_forecasts
            .iter()
            .map(|other| (other.name.clone(), score.checked(&confusion_from_cells(other.cells)), false)),
    );
    // Bars are shown for scores whose best value is 1. The bar of a negative score is empty.
    let has_bars = score.row().is_some_and(|row| row.range.1 == 1.0 && row.perfect == Some(1.0));
    let mut text = format!(
        "<section class=\"card\" aria-label=\"How good and how certain\"><h2>How good, and how certain?</h2>\n<p><span class=\"big\">{}</span> {}{}</p>\n<div class=\"bars\">\n",
        value.map_or("undefined".into(), format_rounded),
        escape_html(score.name()),
        interval.map_or(String::new(), |(low, high)| format!(
            ", 95 % interval <b>{}</b> to <b>{}</b>",
            format_rounded(low),
            format_rounded(high)
        ))
    );
    for (name, value, is_ours) in rows {
        let bar = match value {
            Some(value) if has_bars => {
                let class = if is_ours { " class=\"ours\"" } else { "" };
                format!(
                    "<span class=\"bar\"><i{class} style=\"width:{:.1}%\"></i></span>",
                    100.0 * value.clamp(0.0, 1.0)
                )
            }
            _ => "<span></span>".into(),
        };
        let _ = writeln!(
            text,
            "<span>{}</span>{bar}<span class=\"number\">{}</span>",
            escape_html(&name),
            value.map_or(format_optional(None), format_rounded)
        );
    }
    text + "</div>\n</section>\n"
}
