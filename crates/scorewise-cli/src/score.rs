//! `scorewise score`: every score of a forecast at a threshold, with intervals.

use scorewise::sweep::{Bootstrap, Distribution, confusion, sweep};
use scorewise::{Confusion, Probabilities, Real, Rows, Score};
use scorewise_report::document::{Document, Kind};
use scorewise_train::Error;
use serde_json::{Map, Value, json};

use crate::classes::ClassSummary;
use crate::outcome::{Failure, Outcome, note};
use crate::plot::Plot;
use crate::predictions::{ClassPredictions, Forecast, Forecasts, Predictions, with_rows};
use crate::resampling;
use crate::scores::best;
use crate::showing;
use crate::showing::forecast::{Question, forecast, intervals};
use crate::showing::provenance::{class_data, data, provenance};
use crate::table::{aligned, confusion_json, facts, matrix, pretty, short, shown};

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
    showing: showing::Looking,
    /// One JSON document
    #[arg(long)]
    json: bool,
}

/// A forecast's scores at a threshold; also what `train` reports of each of its parts.
pub struct Summary {
    /// How many rows.
    pub rows: usize,
    /// How many of them are positive.
    pub positives: usize,
    /// The threshold.
    pub threshold: f64,
    /// The confusion matrix there.
    pub confusion: Confusion,
    /// The scores.
    pub scores: Vec<Scored>,
}

/// A score with its value and its 95 % interval, where it is defined.
pub struct Scored {
    pub score: Score,
    pub value: Option<f64>,
    pub interval: Option<(f64, f64)>,
}

/// The scores of the predictions of a table.
pub fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let predictions = match arguments.forecast.read()? {
        Forecasts::Binary(predictions) => predictions,
        Forecasts::Classes(predictions) => return run_classes(arguments, &predictions),
    };
    let scores = read_scores(&arguments.score)?;
    let bootstrap = arguments.resampling.bootstrap();
    let judge = if arguments.score.is_empty() { predictions.score(None)? } else { scores[0].clone() };
    let (threshold, chosen) = predictions.threshold(arguments.threshold);
    let places = arguments.showing.places(&[arguments.forecast.predictions.as_ref()])?;
    let summary = with_rows!(&predictions, 0, rows => Summary::new(&rows, threshold, scores, &bootstrap)?);
    let document = summary.drawn_json(&bootstrap);
    arguments.showing.write(places, || {
        let question = Question {
            score: &judge,
            threshold,
            chosen: chosen.into(),
            classes: predictions.classes(),
            intervals: intervals(&summary),
            ..Question::default()
        };
        let forecast = with_rows!(&predictions, 0, rows => forecast(&sweep(&rows)?, &question));
        let provenance = provenance(Some(bootstrap.seed), vec![data(&predictions)]);
        Ok(Document { forecast: Some(forecast), ..Document::new(Kind::Score, provenance, document.clone()) })
    })?;
    note_classes(&predictions);
    if summary.confusion.fp + summary.confusion.fn_ == 0.0 && summary.positives > 0 {
        note("not one forecast is wrong; is the label what happened, or the forecast's own decision?");
    }
    if arguments.json {
        return Ok(pretty(&document).into());
    }
    let plot = with_rows!(&predictions, 0, rows => Plot::new(&sweep(&rows)?, &judge, threshold, None));
    let plot = plot.text(&judge);
    let gap = if plot.is_empty() { "" } else { "\n" };
    Ok(format!("{}{gap}{plot}", summary.text(chosen)).into())
}

/// The scores of decisions between more than two classes.
fn run_classes(arguments: &Arguments, predictions: &ClassPredictions) -> Result<Outcome, Failure> {
    if arguments.threshold.is_some() {
        let problem = format!("{} holds decisions between {} classes", predictions.file, predictions.classes.len());
        let hint = "leave it out, or choose one class against all others with --positive";
        return Err(Error::setting("threshold", problem, hint).into());
    }
    let places = arguments.showing.places(&[arguments.forecast.predictions.as_ref()])?;
    let summary = ClassSummary::of_predictions(predictions, &arguments.score)?;
    let document = summary.json();
    arguments.showing.write(places, || {
        let provenance = provenance(None, vec![class_data(predictions)]);
        Ok(Document::new(Kind::Score, provenance, document.clone()))
    })?;
    Ok(if arguments.json { pretty(&document) } else { summary.text() }.into())
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

impl Summary {
    /// The scores of these rows at a threshold.
    pub fn new<R: Real>(
        rows: &Rows<'_, Probabilities<'_, R>>,
        threshold: f64,
        scores: Vec<Score>,
        bootstrap: &Bootstrap,
    ) -> Result<Self, scorewise::Error> {
        let confusion = confusion(rows, threshold)?;
        let spread = bootstrap.scores(rows, threshold, &scores)?;
        let with_interval = |(score, spread): (Score, Distribution)| {
            let value = score.checked(&confusion);
            let interval = value.and(spread.interval(0.95));
            Scored { score, value, interval }
        };
        Ok(Summary {
            rows: rows.len(),
            positives: rows.labels().iter().filter(|label| **label).count(),
            threshold,
            confusion,
            scores: scores.into_iter().zip(spread).map(with_interval).collect(),
        })
    }

    /// For the terminal; `chosen` says where the threshold comes from.
    pub fn text(&self, chosen: &str) -> String {
        let row = |Scored { score, value, interval }: &Scored| {
            let (low, high) = interval.map_or((String::new(), String::new()), |(low, high)| (short(low), short(high)));
            vec![score.name().to_string(), shown(*value), low, high, best(score)]
        };
        let rows: Vec<Vec<String>> = self.scores.iter().map(row).collect();
        format!(
            "{}\n{}\n{}",
            self.head(chosen),
            matrix(&self.confusion),
            aligned(&["score", "value", "low", "high", "best"], &rows)
        )
    }

    fn head(&self, chosen: &str) -> String {
        facts(&[
            ("rows", self.rows.to_string()),
            ("positives", self.positives.to_string()),
            ("base rate", short(self.positives as f64 / self.rows as f64)),
            ("threshold", format!("{} ({chosen})", short(self.threshold))),
        ])
    }

    /// The same with how the intervals came about.
    pub fn drawn_json(&self, bootstrap: &Bootstrap) -> Value {
        let mut document = self.json();
        document["replicates"] = json!(bootstrap.replicates);
        document["seed"] = json!(bootstrap.seed);
        document
    }

    /// By the names that stay.
    pub fn json(&self) -> Value {
        let mut scores = Map::new();
        for Scored { score, value, interval } in &self.scores {
            let (low, high) = (interval.map(|ends| ends.0), interval.map(|ends| ends.1));
            scores.insert(score.name().to_string(), json!({ "value": value, "low": low, "high": high }));
        }
        json!({
            "rows": self.rows,
            "positives": self.positives,
            "threshold": self.threshold,
            "confusion": confusion_json(&self.confusion),
            "scores": scores,
        })
    }
}
