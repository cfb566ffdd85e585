//! `scorewise monitor`: whether a model is still good on rows that came after its training.

use std::path::PathBuf;

use scorewise_report::document::{DataSource, Document};
use scorewise_report::evaluation::{
    ColumnShift, Estimate, MonitorOptions, MonitorSummary, PeriodSummary, ScoreChange, ThenAndNow, ThresholdBootstrap,
    Truth, monitor,
};
use scorewise_report::format_rounded;
use scorewise_table::output::Outputs;
use scorewise_table::periods::Every;
use scorewise_table::table::{Reader, Source};
use scorewise_train::model::{Fingerprint, Model};

use crate::formatting::{aligned_table, format_number, key_value_lines, pretty_json};
use crate::outcome::{Failure, Outcome, note, with_options};
use crate::predict::model_reading;
use crate::report_output::provenance::provenance;
use crate::report_output::{OVERWRITE, ReportArguments};
use crate::resampling::BootstrapOptions;
use crate::train::{ReadArguments, thread_count};

/// Arguments of `scorewise monitor`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise monitor model.scorewise new.csv                             compare new rows with those of the training\n  \
    scorewise monitor model.scorewise new.csv --time date --every month   the score of each month\n  \
    scorewise monitor model.scorewise new.csv --at-least 0.4 --json\n  \
    scorewise monitor model.scorewise new.csv --report drift.html\n\n\
    The table may lack the target column; then only the inputs, the alarm rate and the predictions are compared.\n\
    Exit code 1: the score differs from the one on the held-out rows of the training (the 95 % interval of the difference excludes 0), or it does not \
    meet --at-least. Exit code 0 otherwise.")]
pub struct MonitorArguments {
    /// Model file written by `scorewise train`
    model: PathBuf,
    /// Table of new rows: a file (.csv, .tsv, .csv.gz, .parquet, .arrow; - for standard input) or a built-in table
    table: String,
    /// Column of times, which divides the rows into periods [default: the column of times of the model, or the first column of dates, else the order of
    /// the rows]
    #[arg(long, value_name = "COLUMN")]
    time: Option<String>,
    /// Length of a period [default: the longest of month, week and day that gives at least four periods; without dates, a tenth of the rows]
    #[arg(long, value_name = "day|week|month|ROWS")]
    every: Option<Every>,
    /// Condition: the score of the new rows must be at least this (at most this, if lower values of the score are better), else the exit code is 1
    #[arg(long, value_name = "SCORE", value_parser = parse_limit, allow_negative_numbers = true)]
    at_least: Option<f64>,
    #[command(flatten)]
    resampling: BootstrapOptions,
    #[command(flatten)]
    reading: ReadArguments,
    #[command(flatten)]
    report: ReportArguments,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Parses the value of `--at-least`, a finite number.
fn parse_limit(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(limit) if limit.is_finite() => Ok(limit),
        _ => Err("give the least acceptable score as a number, such as 0.4".into()),
    }
}

/// Monitors a model on the rows of a table.
pub fn run(arguments: &MonitorArguments) -> Result<Outcome, Failure> {
    let model = Model::load(&arguments.model)?;
    let source = Source::parse(&arguments.table);
    // The report is opened before the work is done, so that a path that cannot be written is reported at once.
    let outputs = Outputs::new().reads_file(&arguments.model).reads(&source);
    let report_files = arguments.report.open_with(outputs.overwrites(OVERWRITE, arguments.report.overwrite))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(thread_count(arguments.threads)?).build()?;
    let (summary, data, notes) = pool.install(|| monitor_table(&model, &source, arguments))?;
    arguments.report.write(report_files, || {
        let provenance = provenance(Some(summary.seed), vec![data]);
        Ok(Document { notes, ..Document::new(provenance, summary.clone().into()) })
    })?;
    let unmet = summary.is_alarming().then(|| alarm_sentence(&summary));
    let text = if arguments.json { pretty_json(&summary) } else { summary_text(&summary) };
    Ok(Outcome { text, unmet })
}

/// Reads the table and judges the model on its rows. Also returns where the data come from and the notes about the data.
fn monitor_table(
    model: &Model,
    source: &Source,
    arguments: &MonitorArguments,
) -> Result<(MonitorSummary, DataSource, Vec<String>), Failure> {
    let mut reader = Reader::open(source, &model_reading(model, &arguments.reading)?)?;
    reader.notes().iter().for_each(note);
    let table = reader.whole()?;
    reader.late_notes().iter().for_each(note);
    let name = arguments.model.display().to_string();
    let resample = arguments.resampling.resample();
    let options = MonitorOptions {
        model: &name,
        time: arguments.time.as_deref(),
        every: arguments.every,
        resample: resample.as_ref(),
        at_least: arguments.at_least,
        replicates: arguments.resampling.replicates as usize,
        seed: arguments.resampling.seed,
    };
    let (summary, notes) = monitor(model, &table, Truth::InTable, &options)?;
    notes.iter().for_each(note);
    let fingerprint = Fingerprint::of(&table).hex();
    let data = DataSource { name: arguments.table.clone(), rows: table.rows(), fingerprint };
    Ok((summary, data, notes.iter().map(with_options).collect()))
}

/// The sentence that says why the exit code is 1.
fn alarm_sentence(summary: &MonitorSummary) -> String {
    let mut reasons = Vec::new();
    if matches!(summary.change, ScoreChange::Worse | ScoreChange::Better) {
        reasons.push(summary.sentence());
    }
    if let Some(condition) = summary.at_least.filter(|condition| !condition.met) {
        let value = summary.value.now.value.map_or("undefined".into(), format_rounded);
        reasons.push(format!(
            "{} is {value} and does not meet --at-least {}",
            summary.score,
            format_number(condition.limit)
        ));
    }
    reasons.join("; ")
}

/// Number of periods that are printed; `--json` and the report have all of them.
const MAX_PRINTED_PERIODS: usize = 40;
/// Number of columns that are always printed: those with the greatest shifts. Any other column is printed only if it has shifted or has new values.
const ALWAYS_PRINTED_COLUMNS: usize = 10;

/// The result as text for the terminal.
fn summary_text(summary: &MonitorSummary) -> String {
    let labelled = match summary.labelled.zip(summary.positives) {
        Some((labelled, positives)) => format!(", {labelled} with a known class, {positives} positive"),
        None => ", none with a known class".into(),
    };
    let held_out = summary.held_out.map_or(String::new(), |held_out| {
        let corrected = if held_out.corrected { ", corrected because the threshold was chosen on them" } else { "" };
        format!("{} rows, {}{corrected}", held_out.rows, held_out.part.words())
    });
    let head = key_value_lines(&[
        ("model", format!("{}, {} at threshold {}", summary.model, summary.score, format_number(summary.threshold))),
        ("then", held_out),
        ("now", format!("{} rows{labelled}", summary.rows)),
        ("intervals", format!("95 %, by resampling {}", summary.resampled)),
    ]);
    let row = |name: &str, numbers: &ThenAndNow| {
        let mut cells = vec![name.to_owned()];
        cells.extend([numbers.then, numbers.now, numbers.difference].map(with_interval));
        cells
    };
    let rows = [
        row(&summary.score, &summary.value),
        row("base rate", &summary.base_rate),
        row("alarm rate", &summary.alarm_rate),
    ];
    let numbers = aligned_table(&["", "then", "now", "difference"], &rows);
    let parts = [threshold_text(summary), periods_text(summary), shift_text(summary)];
    let parts: String = parts.iter().filter(|part| !part.is_empty()).map(|part| format!("\n{part}")).collect();
    format!("{}.\n\n{head}\n{numbers}{parts}", summary.sentence())
}

/// A rounded number with its interval; `unknown` if the number is undefined.
fn with_interval(estimate: Estimate) -> String {
    match (estimate.value, estimate.interval()) {
        (Some(value), Some((low, high))) => {
            format!("{} ({} to {})", format_rounded(value), format_rounded(low), format_rounded(high))
        }
        (Some(value), None) => format_rounded(value),
        (None, _) => "unknown".into(),
    }
}

/// Text with the threshold that is best on the new rows. It says whether the threshold of the model lies in the interval of the best threshold.
fn threshold_text(summary: &MonitorSummary) -> String {
    let Some(tune) = &summary.tune else { return String::new() };
    let Some((best, value)) = tune.threshold.zip(tune.value) else { return String::new() };
    let (low, high) = tune.bootstrap.as_ref().and_then(ThresholdBootstrap::threshold_interval).unzip();
    let best = with_interval(Estimate { value: Some(best), low, high });
    let corrected =
        tune.corrected.map_or(String::new(), |corrected| format!(", {} on further rows", with_interval(corrected)));
    let verdict = match summary.threshold_holds {
        Some(true) => "the threshold of the model is within this interval",
        Some(false) => "the threshold of the model is outside this interval: consider `scorewise tune`",
        None => "its interval is unknown",
    };
    format!(
        "best threshold now: {best}; {verdict}\nscore of the best threshold: {} on these rows{corrected}\n",
        format_rounded(value)
    )
}

/// The score of each period.
fn periods_text(summary: &MonitorSummary) -> String {
    let each = &summary.periods.each;
    let is_labelled = summary.labelled.is_some();
    let row = |period: &PeriodSummary| {
        let mut cells = vec![period.name.clone(), period.rows.to_string()];
        if is_labelled {
            cells.push(period.positives.unwrap_or(0).to_string());
            cells.push(with_interval(period.value));
            cells.push(period.base_rate.value.map_or("unknown".into(), format_rounded));
        }
        cells.push(period.alarm_rate.value.map_or("unknown".into(), format_rounded));
        cells.push(match period.change {
            ScoreChange::Worse => "worse".into(),
            ScoreChange::Better => "better".into(),
            ScoreChange::None | ScoreChange::Unknown => String::new(),
        });
        cells
    };
    let mut heading = vec![summary.periods.column.as_deref().unwrap_or("period"), "rows"];
    if is_labelled {
        heading.extend(["positives", &summary.score, "base rate"]);
    }
    heading.extend(["alarm rate", ""]);
    let hidden = each.len().saturating_sub(MAX_PRINTED_PERIODS);
    let rows: Vec<Vec<String>> = each.iter().skip(hidden).map(row).collect();
    let table = aligned_table(&heading, &rows);
    match hidden {
        0 => table,
        hidden => format!("{table}{hidden} earlier periods are in the output of --json and --report.\n"),
    }
}

/// The shift of the predictions and of the columns.
fn shift_text(summary: &MonitorSummary) -> String {
    if summary.columns.is_empty() && summary.predictions.is_none() {
        return "shifted columns: cannot be computed, because the model file has no distributions of the training rows\n".into();
    }
    let percent = |share: Option<f64>| share.map_or(String::new(), |share| format!("{:.1} %", 100.0 * share));
    let rounded = |number: Option<f64>| number.map_or(String::new(), |number| format!("{number:.3}"));
    let change = |change: &Option<scorewise_table::distribution::BinChange>| {
        change.as_ref().map_or(String::new(), |change| {
            format!("{}: {} then, {} now", change.bin, percent(Some(change.then)), percent(Some(change.now)))
        })
    };
    let has_news = |column: &ColumnShift| !column.shift.words().is_empty() || column.unseen_rows.unwrap_or(0) > 0;
    let row = |column: &ColumnShift| {
        let unseen: Vec<String> = column.unseen.iter().take(3).map(|level| level.level.clone()).collect();
        let unseen = match column.unseen_rows.unwrap_or(0) {
            0 => String::new(),
            rows => format!("{rows} rows: {}", unseen.join(", ")),
        };
        vec![
            column.column.clone(),
            rounded(column.psi),
            rounded(column.chance),
            column.shift.words().into(),
            change(&column.largest),
            percent(column.missing.then),
            percent(column.missing.now),
            unseen,
        ]
    };
    let shown =
        summary.columns.iter().enumerate().filter(|(at, column)| *at < ALWAYS_PRINTED_COLUMNS || has_news(column));
    let mut rows: Vec<Vec<String>> = shown.map(|(_, column)| row(column)).collect();
    let hidden = summary.columns.len() - rows.len();
    if let Some(shift) = &summary.predictions {
        let mut cells = vec!["(predictions)".into(), rounded(Some(shift.psi)), rounded(Some(shift.chance))];
        cells.extend([shift.shift.words().into(), change(&shift.largest), String::new(), String::new(), String::new()]);
        rows.insert(0, cells);
    }
    let heading =
        ["column", "psi", "chance", "shift", "greatest change", "missing then", "now", "not seen in training"];
    let hidden = match hidden {
        0 => String::new(),
        1 => "1 more column has not shifted.\n".into(),
        hidden => format!("{hidden} more columns have not shifted.\n"),
    };
    format!(
        "{}{hidden}PSI: population stability index between training rows and new rows; \
        chance: the PSI that chance alone exceeds in at most 5 % of all cases.\n",
        aligned_table(&heading, &rows)
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a panic fails the test
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_text_says_first_what_was_found_and_then_shows_the_numbers() {
        let estimate = |value: f64, low: f64, high: f64| json!({"value": value, "low": low, "high": high});
        let unknown = json!({"value": null, "low": null, "high": null});
        let numbers = |then: &serde_json::Value, now: &serde_json::Value, difference: &serde_json::Value| json!({"then": then, "now": now, "difference": difference});
        let rate = numbers(&estimate(0.25, 0.2, 0.3), &estimate(0.25, 0.2, 0.3), &estimate(0.0, -0.07, 0.07));
        let value = numbers(&estimate(0.75, 0.7, 0.8), &estimate(0.5, 0.4, 0.6), &estimate(-0.25, -0.36, -0.14));
        let summary: MonitorSummary = serde_json::from_value(json!({
            "model": "m.scorewise", "score": "tss", "threshold": 0.375, "rows": 100, "labelled": 90, "positives": 25,
            "change": "worse", "held_out": {"part": "test", "rows": 400, "corrected": false},
            "value": value, "base_rate": rate, "alarm_rate": rate, "threshold_holds": null, "tune": null,
            "periods": {"column": "day", "every": "month", "each": [
                {"name": "2024-01", "rows": 60, "positives": 25, "value": estimate(0.5, 0.4, 0.6), "base_rate": estimate(0.5, 0.4, 0.6),
                 "alarm_rate": estimate(0.25, 0.2, 0.3), "change": "worse"},
                {"name": "2024-02", "rows": 40, "positives": 0, "value": unknown, "base_rate": estimate(0.0, 0.0, 0.1),
                 "alarm_rate": estimate(0.25, 0.2, 0.3), "change": "unknown"}
            ]},
            "predictions": null,
            "columns": [{
                "column": "sea", "psi": 0.5, "chance": 0.0625, "shift": "large",
                "largest": {"bin": "other values", "then": 0.0, "now": 0.25}, "missing": {"then": 0.0, "now": 0.125},
                "unseen_rows": 25, "unseen": [{"level": "calm", "rows": 25}]
            }],
            "resampled": "rows", "replicates": 1000, "seed": 0
        }))
        .unwrap();
        let expected = "tss is 0.5 (0.4 to 0.6), worse than the 0.75 (0.7 to 0.8) of the test rows.\n\n\
            model      m.scorewise, tss at threshold 0.375\n\
            then       400 rows, the test rows\n\
            now        100 rows, 90 with a known class, 25 positive\n\
            intervals  95 %, by resampling rows\n\n            THEN               NOW                DIFFERENCE\n\
            tss         0.75 (0.7 to 0.8)  0.5 (0.4 to 0.6)   -0.25 (-0.36 to -0.14)\n\
            base rate   0.25 (0.2 to 0.3)  0.25 (0.2 to 0.3)  0 (-0.07 to 0.07)\n\
            alarm rate  0.25 (0.2 to 0.3)  0.25 (0.2 to 0.3)  0 (-0.07 to 0.07)\n\n\
            DAY      ROWS  POSITIVES  TSS               BASE RATE  ALARM RATE\n\
            2024-01  60    25         0.5 (0.4 to 0.6)  0.5        0.25        worse\n\
            2024-02  40    0          unknown           0          0.25\n\n\
            COLUMN  PSI    CHANCE  SHIFT  GREATEST CHANGE                       MISSING THEN  NOW     NOT SEEN IN TRAINING\n\
            sea     0.500  0.062   large  other values: 0.0 % then, 25.0 % now  0.0 %         12.5 %  25 rows: calm\n\
            PSI: population stability index between training rows and new rows; \
            chance: the PSI that chance alone exceeds in at most 5 % of all cases.\n";
        assert_eq!(summary_text(&summary), expected);
        assert!(summary.is_alarming() && summary.shifted_columns() == ["sea"]);
    }
}
