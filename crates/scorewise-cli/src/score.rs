//! `scorewise score`: every score of a forecast at a threshold, with intervals.

use scorewise::Score;
use scorewise::sweep::{Sweep, sweep};
use scorewise_report::document::Document;
use scorewise_report::evaluation::{
    ClassSummary, Evaluation, ForecastOptions, NamedEstimate, ScoreSummary, forecast, usual_class_scores,
};
use scorewise_train::Error;
use scorewise_train::plan::multi_score;

use crate::outcome::{Failure, Outcome, note};
use crate::plot::Plot;
use crate::predictions::{ClassPredictions, Forecast, Forecasts, Predictions, with_rows};
use crate::resampling;
use crate::scores::best;
use crate::showing;
use crate::showing::provenance::provenance;
use crate::table::{aligned, class_summary, facts, format_number, format_optional, matrix, pretty};

/// What `scorewise score` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise score predictions.csv                              every score at the model's threshold, or 0.5\n  \
    scorewise predict model.scorewise new.csv | scorewise score -\n  \
    scorewise score p.parquet --label y --probability p_hat --threshold 0.31\n  \
    scorewise score p.csv --positive storm --score tss,csi       two of them, labels as texts\n  \
    scorewise score hourly.csv --block 48 --json                 a time series")]
pub struct Arguments {
    #[command(flatten)]
    forecast: Forecast,
    /// Above it a forecast counts as positive [default: the model's, where the predictions have it, else 0.5]
    #[arg(long, value_parser = threshold)]
    threshold: Option<f64>,
    /// Scores by name or formula, with commas between [default: all]
    #[arg(long, value_name = "SCORES")]
    score: Vec<String>,
    #[command(flatten)]
    resampling: resampling::Options,
    #[command(flatten)]
    showing: showing::ReportFiles,
    /// One JSON document
    #[arg(long)]
    json: bool,
}

/// The scores of the predictions of a table.
pub fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let predictions = match arguments.forecast.read()? {
        Forecasts::Binary(predictions) => predictions,
        Forecasts::Classes(predictions) => return run_classes(arguments, &predictions),
    };
    let scores = read_scores(&arguments.score)?;
    let bootstrap = arguments.resampling.bootstrap();
    let evaluating = if arguments.score.is_empty() { predictions.score(None)? } else { scores[0].clone() };
    let (threshold, chosen) = predictions.threshold(arguments.threshold);
    let places = arguments.showing.places(&[arguments.forecast.predictions.as_ref()])?;
    // Only a page and a plot need all thresholds.
    let needs_sweep = arguments.showing.are_used() || !arguments.json;
    let (summary, swept) = with_rows!(&predictions, 0, rows => {
        let summary = ScoreSummary::new(&rows, threshold, &scores, &bootstrap)?.with_bootstrap(&bootstrap);
        (summary, if needs_sweep { Some(sweep(&rows)?) } else { None })
    });
    arguments.showing.write(places, || {
        let options = ForecastOptions {
            score: &evaluating,
            threshold,
            chosen: chosen.into(),
            classes: predictions.classes(),
            intervals: summary.intervals(),
            ..ForecastOptions::default()
        };
        let provenance = provenance(Some(bootstrap.seed), vec![predictions.data()]);
        Ok(Document {
            forecast: swept.as_ref().map(|sweep| forecast(sweep, &options)),
            ..Document::new(provenance, Evaluation::Binary(summary.clone()).into())
        })
    })?;
    note_classes(&predictions);
    if summary.confusion.fp + summary.confusion.fn_ == 0.0 && summary.positives > 0 {
        note("not one forecast is wrong; is the label what happened, or the forecast's own decision?");
    }
    if arguments.json {
        return Ok(pretty(&summary).into());
    }
    let plot = |sweep: &Sweep| Plot::new(sweep, &evaluating, threshold, None).text(&evaluating);
    let plot = swept.as_ref().map_or(String::new(), plot);
    let gap = if plot.is_empty() { "" } else { "\n" };
    Ok(format!("{}{gap}{plot}", text(&summary, &scores, chosen)).into())
}

/// The scores of decisions between more than two classes.
fn run_classes(arguments: &Arguments, predictions: &ClassPredictions) -> Result<Outcome, Failure> {
    if arguments.threshold.is_some() {
        let problem = format!("{} holds decisions between {} classes", predictions.file, predictions.classes.len());
        let hint = "leave it out, or choose one class against all others with --positive";
        return Err(Error::setting("threshold", problem, hint).into());
    }
    let places = arguments.showing.places(&[arguments.forecast.predictions.as_ref()])?;
    let scores = if arguments.score.is_empty() {
        usual_class_scores(multi_score(predictions.score.as_deref().unwrap_or("macro(f1)"))?)?
    } else {
        let names = arguments.score.iter().flat_map(|text| separated(text));
        names.map(multi_score).collect::<Result<Vec<_>, Error>>()?
    };
    let ClassPredictions { classes, labels, decisions, weights, .. } = predictions;
    let summary = ClassSummary::new(classes, labels, decisions, weights.as_deref(), &scores)?;
    arguments.showing.write(places, || {
        let provenance = provenance(None, vec![predictions.data()]);
        Ok(Document::new(provenance, Evaluation::Classes(summary.clone()).into()))
    })?;
    Ok(if arguments.json { pretty(&summary) } else { class_summary(&summary) }.into())
}

/// A threshold as it is given on the command line.
pub fn threshold(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("a threshold is a number between 0 and 1".into()),
    }
}

/// Scores from texts with commas between them, those inside brackets left alone; all registered ones where there is no text.
pub fn read_scores(texts: &[String]) -> Result<Vec<Score>, Failure> {
    if texts.is_empty() {
        return Ok(Score::all().collect());
    }
    let mut scores = Vec::new();
    for text in texts.iter().flat_map(|text| separated(text)) {
        scores.push(Score::parse(text)?);
    }
    Ok(scores)
}

/// The parts of a text between commas, those inside brackets left alone.
pub fn separated(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0i32, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Says what a missing class does to the scores.
pub fn note_classes(predictions: &Predictions) {
    let (rows, positives) = (predictions.labels.len(), predictions.positives());
    if positives == 0 {
        note(format!("{}: no row is positive; scores that need positives are undefined", predictions.file));
    } else if positives == rows {
        note(format!("{}: every row is positive; scores that need negatives are undefined", predictions.file));
    }
}

/// The scores for the terminal; `chosen` says where the threshold comes from.
fn text(summary: &ScoreSummary, scores: &[Score], chosen: &str) -> String {
    let row = |(NamedEstimate { name, estimate }, score): (&NamedEstimate, &Score)| {
        let end = |end: Option<f64>| end.map_or(String::new(), format_number);
        vec![name.clone(), format_optional(estimate.value), end(estimate.low), end(estimate.high), best(score)]
    };
    let rows: Vec<Vec<String>> = summary.scores.iter().zip(scores).map(row).collect();
    let head = facts(&[
        ("rows", summary.rows.to_string()),
        ("positives", summary.positives.to_string()),
        ("base rate", format_number(summary.positives as f64 / summary.rows as f64)),
        ("threshold", format!("{} ({chosen})", format_number(summary.threshold))),
    ]);
    let table = aligned(&["score", "value", "low", "high", "best"], &rows);
    format!("{head}\n{}\n{table}", matrix(&summary.confusion))
}
