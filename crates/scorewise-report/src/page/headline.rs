//! What a reader wants to know first: which threshold, what it costs, how sure that is.

use std::fmt::Write as _;

use scorewise::Score;

use super::html::{escaped, prose};
use super::many;
use crate::document::{CommandResult, Document, Forecast, Kind, matrix};
use crate::evaluation::{Evaluation, TuneSummary};
use crate::number::{counted, short, shown, spoken, step};

/// The top of a page.
pub(super) struct Headline {
    /// Of the window.
    pub title: String,
    /// What was done to what.
    pub kind: String,
    /// The result in a few words.
    pub heading: String,
    /// The result in a sentence, as HTML.
    pub lead: String,
    /// Cards, as HTML.
    pub html: String,
}

pub(super) fn headline(document: &Document) -> Headline {
    let data: Vec<&str> = document.provenance.data.iter().map(|data| data.name.as_str()).collect();
    let command = match document.kind {
        Kind::Train => "train",
        Kind::Score => "score",
        Kind::Tune => "tune",
        Kind::Compare => "compare",
        Kind::Theory => "theory",
        Kind::Reproduce => "reproduce",
    };
    let experiment = match &document.result {
        CommandResult::Reproduce(result) => &result.experiment,
        _ => "",
    };
    let kind = format!("scorewise {command} {}{experiment}", data.join(", ")).trim().to_string();
    let (heading, lead, html) = match &document.forecast {
        Some(forecast) => of_forecast(document, forecast),
        None => without_forecast(document),
    };
    Headline { title: format!("{heading} – {kind}"), kind, heading, lead, html: html + &notes(document) }
}

fn notes(document: &Document) -> String {
    let notes: String = document.notes.iter().map(|note| format!("<li>{}</li>\n", prose(note))).collect();
    let words = match document.notes.len() {
        0 => return String::new(),
        1 => "1 note".into(),
        several => format!("{several} notes"),
    };
    format!("<details><summary>{words} on the data</summary><ul>\n{notes}</ul></details>\n")
}

fn without_forecast(document: &Document) -> (String, String, String) {
    if let Some(comparison) = &document.comparison {
        return (comparison.verdict.trim_end_matches('.').to_string(), String::new(), String::new());
    }
    let heading = match &document.result {
        CommandResult::Reproduce(result) => match result.experiment.as_str() {
            "adult" => "The paper's Table 1, beside our own".to_string(),
            _ => "The paper's Table 2, beside our own".into(),
        },
        CommandResult::Train(result) => {
            many::heading(document).unwrap_or_else(|| format!("A model for {}", result.target))
        }
        CommandResult::Compare(result) => format!("Two forecasts compared by {}", result.score),
        CommandResult::Theory(result) => format!("{} under a random threshold", result.score),
        CommandResult::Tune(TuneSummary::Binary(result)) => match result.threshold {
            Some(threshold) => format!("Say yes above {}", spoken(threshold)),
            None => "No threshold satisfies the conditions".into(),
        },
        CommandResult::Tune(TuneSummary::Classes(result)) => {
            format!("The best threshold of each class by {}", result.score)
        }
        CommandResult::Score(Evaluation::Binary(result)) => {
            format!("Scores at threshold {}", spoken(result.threshold))
        }
        CommandResult::Score(Evaluation::Classes(_)) => "Scores of the decisions between the classes".into(),
    };
    (heading, String::new(), String::new())
}

fn of_forecast(document: &Document, forecast: &Forecast) -> (String, String, String) {
    let Some(score) = forecast.scores().into_iter().next() else { return Default::default() };
    let cells = forecast.point().map_or([0.0; 4], |point| point.cells);
    let value = score.checked(&matrix(cells));
    let interval = forecast.intervals.iter().find(|interval| interval.score == score.name());
    let threshold = forecast.said();
    let heading = match (document.kind, &document.theory) {
        (Kind::Theory, Some(theory)) => {
            format!("{} is {} on average when the threshold is random", score.name(), spoken(theory.expected_score))
        }
        (Kind::Score, _) => {
            format!("{} is {} at threshold {threshold}", score.name(), value.map_or("undefined".into(), spoken))
        }
        _ => format!("Say yes above {threshold}"),
    };
    let sure = interval.map_or(String::new(), |interval| {
        format!(" (95\u{a0}% {} to {})", spoken(interval.low), spoken(interval.high))
    });
    let weight: f64 = cells.iter().sum();
    let rows = match forecast.is_weighted {
        true => format!("{} (of weight {})", counted(forecast.rows as f64), counted(weight)),
        false => counted(weight),
    };
    let lead = format!(
        "<p class=\"lead\">{place} <b>{name}</b> is <b>{value}</b>{sure}, on {rows} {part}.</p>\n",
        place = match document.kind {
            Kind::Theory => format!("At threshold {threshold}"),
            _ => "At that threshold".into(),
        },
        name = escaped(score.name()),
        value = value.map_or("undefined".into(), spoken),
        part = escaped(&forecast.part),
    );
    let mut html = String::from("<div class=\"cards\">\n");
    html += &which(forecast);
    html += &costs(cells, &forecast.classes[1]);
    html += &yardsticks(forecast, &score, value, interval.map(|interval| (interval.low, interval.high)));
    html += "</div>\n";
    (heading, lead, html)
}

fn which(forecast: &Forecast) -> String {
    let mut text = format!(
        "<section class=\"card\" aria-label=\"Which threshold\"><h2>Which threshold?</h2>\n<p class=\"big\">{}</p>\n<p>{}.</p>\n",
        forecast.point().map_or_else(|| short(forecast.threshold), |point| point.said(6)),
        escaped(&capital(&forecast.chosen))
    );
    if let Some((low, high)) = forecast.interval {
        let _ = writeln!(
            text,
            "<p>On {}, every threshold from {} is as good.</p>",
            escaped(&forecast.source),
            step(low, high)
        );
    }
    if let Some((low, high)) = forecast.spread {
        let _ = writeln!(
            text,
            "<p>Drawn anew from {}, the best threshold lies between <b>{}</b> and <b>{}</b> in 95\u{a0}% of the draws.</p>",
            escaped(&forecast.source),
            spoken(low),
            spoken(high)
        );
    }
    for condition in &forecast.conditions {
        let _ = writeln!(text, "<p>Subject to <code>{}</code>.</p>", escaped(condition));
    }
    text + "</section>\n"
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Events are what the rows call them, said once.
fn costs([_, fp, fn_, tp]: [f64; 4], event: &str) -> String {
    let named = if event == "event" { String::new() } else { format!(" ({})", escaped(event)) };
    let (events, alarms) = (tp + fn_, tp + fp);
    let share = |part: f64, whole: f64| {
        if whole > 0.0 { format!(" ({:.0}\u{a0}%)", 100.0 * part / whole) } else { String::new() }
    };
    format!(
        "<section class=\"card\" aria-label=\"What it costs\"><h2>What does it cost?</h2>\n\
         <p><span class=\"big\">{missed}</span> of {events} events{named} are missed{missed_share}.</p>\n\
         <p><span class=\"big\">{false_alarms}</span> of {alarms} alarms are false{false_share}.</p>\n\
         <p>{caught} events are caught, with {ratio} alarms per event.</p>\n</section>\n",
        missed = counted(fn_),
        events = counted(events),
        missed_share = share(fn_, events),
        false_alarms = counted(fp),
        alarms = counted(alarms),
        false_share = share(fp, alarms),
        caught = counted(tp),
        ratio = if events > 0.0 { format!("{:.2}", alarms / events) } else { "undefined".into() },
    )
}

/// The score beside those of forecasts that anyone could make.
fn yardsticks(forecast: &Forecast, score: &Score, value: Option<f64>, interval: Option<(f64, f64)>) -> String {
    let mut rows = vec![("this forecast".to_string(), value, true)];
    if forecast.threshold != 0.5 {
        let at_half = forecast.points.iter().find(|point| point.threshold == 0.5);
        rows.extend(at_half.map(|point| ("the same at 0.5".into(), score.checked(&point.confusion()), false)));
    }
    rows.extend(
        forecast.yardsticks.iter().map(|other| (other.name.clone(), score.checked(&matrix(other.cells)), false)),
    );
    // Bars are for scores between 0 and 1, or between −1 and 1, of which the part below 0 shows as nothing.
    let has_bars = score.row().is_some_and(|row| row.range.1 == 1.0 && row.perfect == Some(1.0));
    let mut text = format!(
        "<section class=\"card\" aria-label=\"How good and how sure\"><h2>How good, and how sure?</h2>\n<p><span class=\"big\">{}</span> {}{}</p>\n<div class=\"bars\">\n",
        value.map_or("undefined".into(), spoken),
        escaped(score.name()),
        interval.map_or(String::new(), |(low, high)| format!(
            ", 95 % between <b>{}</b> and <b>{}</b>",
            spoken(low),
            spoken(high)
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
            escaped(&name),
            value.map_or(shown(None), spoken)
        );
    }
    text + "</div>\n</section>\n"
}
