//! `scorewise theory`: a score under a random threshold, exactly, beside the bounds of the paper.

use scorewise::sweep::sweep;
use scorewise::theory::{self, DEFAULT_FRACTIONS, ScoreDistribution, Theory};
use scorewise::{Direction, Prior, Score};
use scorewise_report::evaluation::{TheorySummary, theory_document};

use crate::outcome::{Failure, Outcome, note};
use crate::predictions::{Forecast, with_rows};
use crate::score::note_classes;
use crate::showing;
use crate::showing::provenance::provenance;
use crate::table::{aligned, facts, format_number, matrix, pretty};

/// What `scorewise theory` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise theory predictions.csv --score f1 --prior cosine:0.5,0.1\n  \
    scorewise theory p.csv --score csi --prior uniform --json")]
pub struct Arguments {
    #[command(flatten)]
    forecast: Forecast,
    /// The score, by name or formula [default: the model's, where the predictions have it, else tss]
    #[arg(long)]
    score: Option<String>,
    /// The prior of the threshold
    #[arg(long, default_value = "cosine:0.5,0.1")]
    prior: String,
    #[command(flatten)]
    showing: showing::ReportFiles,
    /// One JSON document
    #[arg(long)]
    json: bool,
}

/// What the theory says of the predictions of a table.
pub fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let prior: Prior = arguments.prior.parse()?;
    let predictions = arguments.forecast.read_binary()?;
    let score = predictions.score(arguments.score.as_deref())?;
    score.caution().iter().for_each(note);
    let places = arguments.showing.places(&[arguments.forecast.predictions.as_ref()])?;
    let found = with_rows!(&predictions, 0, rows => theory::report(&score, &prior, &rows, &DEFAULT_FRACTIONS, None)?);
    note_classes(&predictions);
    arguments.showing.write(places, || {
        let (law, sweep) =
            with_rows!(&predictions, 0, rows => (ScoreDistribution::new(&score, &prior, &rows)?, sweep(&rows)?));
        let provenance = provenance(None, vec![predictions.data()]);
        Ok(theory_document(&score, &prior, &found, &law, &sweep, predictions.classes(), provenance))
    })?;
    Ok(if arguments.json {
        pretty(&TheorySummary::from_theory(&score, &prior, &found))
    } else {
        text(&score, &prior, &found)
    }
    .into())
}

fn text(score: &Score, prior: &Prior, found: &Theory) -> String {
    let or_none = |value: Option<f64>| value.map_or(String::new(), format_number);
    let aim = match score.direction() {
        Direction::Higher => "maximises",
        Direction::Lower => "minimises",
        Direction::Toward(_) => "brings near the score's ideal",
    };
    let lines = facts(&[
        ("score s", score.name().to_string()),
        ("prior", prior.to_string()),
        ("s(E[CM])", format!("{}, what a score-oriented loss {aim}", format_number(found.score_of_expectation))),
        ("E[s]", format!("{}, exactly", format_number(found.expected_score))),
        ("Jensen gap", format!("{}, E[s] − s(E[CM])", format_number(found.jensen_gap))),
        ("deviation", format!("{}, of s over the threshold", format_number(found.deviation))),
        ("E[s] by Taylor", or_none(found.taylor)),
        ("Lipschitz constant", found.lipschitz.map_or("none".into(), format_number)),
        ("calibrated threshold", or_none(found.calibrated_threshold)),
    ]);
    let rows: Vec<Vec<String>> = found
        .bounds
        .iter()
        .map(|bound| vec![bound.name.clone(), format_number(bound.exact), format_number(bound.bound)])
        .collect();
    let bounds = aligned(&["bound of", "exact", "bound"], &rows);
    format!("{lines}\nE[CM], the expected matrix\n{}\n{bounds}", matrix(&found.expected_confusion))
}
