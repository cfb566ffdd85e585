//! The sections of a page for a result of `monitor`: how the score, the best threshold and the input columns of a model have changed.

use super::html::{facts_html, section, table_html};
use crate::document::{CommandResult, Document};
use crate::evaluation::{
    ColumnShift, Estimate, MonitorSummary, PeriodSummary, ScoreChange, ThenAndNow, ThresholdBootstrap,
};
use crate::number::{format_number, format_optional};

/// All sections for a result of `monitor`; an empty string for the result of another command.
pub(super) fn section_html(document: &Document) -> String {
    let CommandResult::Monitor(result) = &document.result else { return String::new() };
    let shift = section("shift", "Are the rows still like the training rows?", &shift_html(result));
    section("score", "Is the model still good?", &score_html(result)) + &shift + &periods_html(result)
}

/// Formats a number with its interval, such as `0.5 (0.4 to 0.6)`; returns an empty string if the number is undefined.
fn with_interval(estimate: Estimate) -> String {
    match (estimate.value, estimate.interval()) {
        (Some(value), Some((low, high))) => {
            format!("{} ({} to {})", format_number(value), format_number(low), format_number(high))
        }
        (Some(value), None) => format_number(value),
        (None, _) => String::new(),
    }
}

/// A table that compares the score, base rate and alarm rate of the new rows with those of earlier rows, and a list of facts about the threshold.
fn score_html(result: &MonitorSummary) -> String {
    let row = |name: &str, numbers: &ThenAndNow| {
        let mut cells = vec![name.to_owned()];
        cells.extend([numbers.then, numbers.now, numbers.difference].map(with_interval));
        cells
    };
    let rows =
        [row(&result.score, &result.value), row("base rate", &result.base_rate), row("alarm rate", &result.alarm_rate)];
    let then = result.held_out.map_or("before", |held_out| held_out.part.words());
    let caption = "At the threshold of the model, with 95 % intervals";
    let table = table_html(caption, &["", then, "now", "difference"], &rows);
    let best = result.tune.as_ref().map(|tune| {
        let interval = tune.bootstrap.as_ref().and_then(ThresholdBootstrap::threshold_interval);
        let (low, high) = interval.unzip();
        with_interval(Estimate { value: tune.threshold, low, high })
    });
    let corrected = result.tune.as_ref().and_then(|tune| tune.corrected).map_or(String::new(), with_interval);
    let holds = result.threshold_holds.map_or("", |holds| if holds { "yes" } else { "no" });
    let known = result.labelled.zip(result.positives);
    let facts = [
        ("new rows", result.rows.to_string()),
        (
            "with a known class",
            known.map_or("none".into(), |(rows, events)| format!("{rows}, of which {events} positive")),
        ),
        ("threshold of the model", format_number(result.threshold)),
        ("best threshold now", best.unwrap_or_default()),
        ("estimated score of the best threshold on other new rows", corrected),
        ("is the threshold of the model in the interval of the best threshold", holds.into()),
        ("intervals", format!("by resampling {}", result.resampled)),
    ];
    table + &facts_html(&facts)
}

/// A table of the shifts (changes of distribution) of the predictions and of all columns.
fn shift_html(result: &MonitorSummary) -> String {
    let share = |share: Option<f64>| share.map_or(String::new(), |share| format!("{:.1} %", 100.0 * share));
    let number = |number: Option<f64>| number.map_or(String::new(), format_number);
    let change = |change: &Option<scorewise_table::distribution::BinChange>| {
        change.as_ref().map_or(String::new(), |change| {
            format!("{}: {:.1} % then, {:.1} % now", change.bin, 100.0 * change.then, 100.0 * change.now)
        })
    };
    let row = |column: &ColumnShift| {
        let unseen: Vec<String> =
            column.unseen.iter().map(|level| format!("{} ({})", level.level, level.rows)).collect();
        vec![
            column.column.clone(),
            number(column.psi),
            number(column.chance),
            column.shift.words().into(),
            change(&column.largest),
            share(column.missing.then),
            share(column.missing.now),
            unseen.join(", "),
        ]
    };
    let mut rows: Vec<Vec<String>> = result.columns.iter().map(row).collect();
    if let Some(shift) = &result.predictions {
        let mut cells = vec![
            "(the predictions)".into(),
            format_number(shift.psi),
            format_number(shift.chance),
            shift.shift.words().into(),
            change(&shift.largest),
        ];
        cells.extend([(); 3].map(|()| String::new()));
        rows.insert(0, cells);
    }
    if rows.is_empty() {
        return "<p>The model file has no distributions of the training rows, so shifted columns cannot be found.</p>\n".into();
    }
    let caption = "Population stability index (PSI) of each column, which compares the new rows with the training rows. If no column has shifted, the probability that any column exceeds its limit `chance` is at most 5 %. A shift is moderate from a PSI of 0.1 and large from 0.25, if the PSI exceeds `chance`";
    let heading = [
        "column",
        "PSI",
        "chance",
        "shift",
        "greatest change",
        "missing then",
        "missing now",
        "values not seen in training (rows)",
    ];
    table_html(caption, &heading, &rows)
}

/// The section with a table of the scores of all periods.
fn periods_html(result: &MonitorSummary) -> String {
    let row = |period: &PeriodSummary| {
        let end = |end: Option<f64>| end.map_or(String::new(), format_number);
        let change = match period.change {
            ScoreChange::Worse => "worse",
            ScoreChange::Better => "better",
            ScoreChange::None | ScoreChange::Unknown => "",
        };
        vec![
            period.name.clone(),
            period.rows.to_string(),
            period.positives.map_or(String::new(), |positives| positives.to_string()),
            if period.positives.is_some() { format_optional(period.value.value) } else { String::new() },
            end(period.value.low),
            end(period.value.high),
            end(period.base_rate.value),
            end(period.alarm_rate.value),
            change.into(),
        ]
    };
    let rows: Vec<Vec<String>> = result.periods.each.iter().map(row).collect();
    let heading =
        ["period", "rows", "positives", &result.score, "low", "high", "base rate", "alarm rate", "score change"];
    let caption = "The score of each period with its 95 % interval";
    section("periods", "Each period", &table_html(caption, &heading, &rows))
}
