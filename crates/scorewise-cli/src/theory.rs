//! `scorewise theory`: the exact distribution of a score under a random threshold, compared with the bounds of Marchetti et al. (2022).

use scorewise::sweep::sweep;
use scorewise::theory::{self as random_threshold, DEFAULT_FRACTIONS, ScoreDistribution, Theory};
use scorewise::{Direction, Prior, Score};
use scorewise_report::evaluation::{TheorySummary, theory_document};

use crate::formatting::{aligned_table, confusion_table, format_number, key_value_lines, pretty_json};
use crate::outcome::{Failure, Outcome, note};
use crate::predictions::{ForecastArguments, with_rows};
use crate::report_output::ReportArguments;
use crate::report_output::provenance::provenance;
use crate::score::note_missing_class;

/// Arguments of `scorewise theory`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise theory predictions.csv --score f1 --prior cosine:0.5,0.1\n  \
    scorewise theory p.csv --score csi --prior uniform --json")]
pub struct TheoryArguments {
    #[command(flatten)]
    forecast: ForecastArguments,
    /// Score by name or formula [default: the score of the model if the table names one, else tss]
    #[arg(long)]
    score: Option<String>,
    /// Prior distribution of the threshold
    #[arg(long, default_value = "cosine:0.5,0.1")]
    prior: String,
    #[command(flatten)]
    report: ReportArguments,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Computes the distribution of a score under a random threshold for a table of predictions, and compares it with the bounds of Marchetti et al.
/// (2022).
pub fn run(arguments: &TheoryArguments) -> Result<Outcome, Failure> {
    let prior: Prior = arguments.prior.parse()?;
    let predictions = arguments.forecast.read_binary()?;
    let score = predictions.score(arguments.score.as_deref())?;
    score.caution().iter().for_each(note);
    let report_files = arguments.report.open(&[arguments.forecast.predictions.as_ref()])?;
    let theory =
        with_rows!(&predictions, 0, rows => random_threshold::report(&score, &prior, &rows, &DEFAULT_FRACTIONS, None)?);
    note_missing_class(&predictions);
    arguments.report.write(report_files, || {
        let (distribution, sweep) =
            with_rows!(&predictions, 0, rows => (ScoreDistribution::new(&score, &prior, &rows)?, sweep(&rows)?));
        let provenance = provenance(None, vec![predictions.data_source()]);
        Ok(theory_document(&score, &prior, &theory, &distribution, &sweep, predictions.classes(), provenance))
    })?;
    Ok(if arguments.json {
        pretty_json(&TheorySummary::from_theory(&score, &prior, &theory))
    } else {
        theory_text(&score, &prior, &theory)
    }
    .into())
}

/// The distribution of a score under a random threshold, compared with the bounds of Marchetti et al. (2022), as text for the terminal.
fn theory_text(score: &Score, prior: &Prior, theory: &Theory) -> String {
    let format_or_empty = |value: Option<f64>| value.map_or(String::new(), format_number);
    let verb = match score.direction() {
        Direction::Higher => "maximises",
        Direction::Lower => "minimises",
        Direction::Toward(_) => "moves towards the ideal value",
    };
    let lines = key_value_lines(&[
        ("score s", score.name().to_string()),
        ("prior", prior.to_string()),
        ("s(E[CM])", format!("{}, which a score-oriented loss {verb}", format_number(theory.score_of_expectation))),
        ("E[s]", format!("{}, exactly", format_number(theory.expected_score))),
        ("Jensen gap", format!("{}, E[s] − s(E[CM])", format_number(theory.jensen_gap))),
        ("deviation", format!("{}, standard deviation of s", format_number(theory.deviation))),
        ("E[s] by Taylor", format_or_empty(theory.taylor)),
        ("Lipschitz constant", theory.lipschitz.map_or("none".into(), format_number)),
        ("calibrated threshold", format_or_empty(theory.calibrated_threshold)),
    ]);
    let rows: Vec<Vec<String>> = theory
        .bounds
        .iter()
        .map(|bound| vec![bound.name.clone(), format_number(bound.exact), format_number(bound.bound)])
        .collect();
    let bounds = aligned_table(&["bound of", "exact", "bound"], &rows);
    format!("{lines}\nE[CM], the expected confusion matrix\n{}\n{bounds}", confusion_table(&theory.expected_confusion))
}
