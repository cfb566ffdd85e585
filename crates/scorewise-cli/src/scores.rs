//! `scorewise scores`: a list of the scores, one score in detail, or scores of a confusion matrix.

use scorewise::formula::FormulaError;
use scorewise::multiclass::{Average, MultiScore};
use scorewise::score::{self, REGISTRY, RegistryEntry, no_skill};
use scorewise::{Confusion, Direction, Score};
use scorewise_report::evaluation::{MultiScoreDescription, ScoreDescription, registered_scores, shape_name};

use crate::formatting::{aligned_table, count_text, format_number, key_value_lines, pretty_json};
use crate::outcome::{Failure, Outcome};

/// Arguments of `scorewise scores`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise scores                              all scores\n  \
    scorewise scores tss                          one score in detail\n  \
    scorewise scores \"0.5*tss + 0.5*csi\"          your own formula\n  \
    scorewise scores \"macro(f1)\"                  a score for more than two classes\n  \
    scorewise scores --matrix 2680,72,23,28       all scores of tn,fp,fn,tp\n  \
    scorewise scores f1 --matrix 2680,72,23,28 --json")]
pub struct ScoresArguments {
    /// Score to describe: a name, an alias, or a formula of tp, fp, fn, tn, p = tp + fn, n = fp + tn and total = p + n
    score: Option<String>,
    /// Confusion matrix whose scores are computed
    #[arg(long, value_name = "TN,FP,FN,TP", allow_hyphen_values = true)]
    matrix: Option<String>,
    /// Print the result as JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print the page docs/scores.md
    #[arg(long, conflicts_with_all = ["score", "matrix"])]
    markdown: bool,
}

/// Lists the scores, describes one score, or computes the scores of a confusion matrix.
pub fn run(arguments: &ScoresArguments) -> Result<Outcome, Failure> {
    if arguments.markdown {
        return Ok(score::markdown().into());
    }
    let matrix = arguments.matrix.as_deref().map(parse_matrix).transpose()?;
    let text = match &arguments.score {
        Some(text) => match parse_score(text) {
            Ok(score) if arguments.json => pretty_json(&ScoreDescription::new(&score, matrix.as_ref())),
            Ok(score) => score_text(&score, matrix.as_ref()),
            Err(error) => {
                let score = parse_multi_score(text, error)?;
                let description = MultiScoreDescription::new(&score, matrix.as_ref());
                if arguments.json { pretty_json(&description) } else { multi_score_text(&score, &description) }
            }
        },
        None if arguments.json => {
            let describe = |score: Score| ScoreDescription::new(&score, matrix.as_ref());
            pretty_json(&registered_scores().map(describe).collect::<Vec<_>>())
        }
        None => match &matrix {
            Some(matrix) => values_table(matrix),
            None => scores_table(),
        },
    };
    Ok(text.into())
}

/// Parses a score. If the text is the name of a registered score without the parameters that it needs, example parameters are used.
fn parse_score(text: &str) -> Result<Score, Failure> {
    let name = text.trim().to_ascii_lowercase().replace('-', "_");
    Score::parse(text).or_else(|error: FormulaError| match score::registry::row(&name) {
        Some(row) if !row.parameters.is_empty() => Score::example(row).ok_or(error.into()),
        _ => Err(error.into()),
    })
}

/// Parses a score for more than two classes. `binary_error` says why the text is not a score for two classes. If the text looks like an average
/// such as `macro(f1)`, an error says what is wrong with the average; for any other text, the error is `binary_error`.
fn parse_multi_score(text: &str, binary_error: Failure) -> Result<MultiScore, Failure> {
    let head = text.split_once('(').map(|(head, _)| head.trim().to_ascii_lowercase());
    let is_average = head.is_some_and(|head| ["macro", "weighted", "micro", "cost_matrix"].contains(&head.as_str()));
    MultiScore::parse(text).map_err(|error| if is_average { error.into() } else { binary_error })
}

/// The description of a score for more than two classes as text.
fn multi_score_text(score: &MultiScore, description: &MultiScoreDescription) -> String {
    let averaged = match score {
        MultiScore::Classwise(average, score) => Some((*average, score)),
        _ => None,
    };
    let meaning = match averaged {
        Some((Average::Macro, score)) => {
            format!("the mean over all classes of {score}, computed for each class against the rest")
        }
        Some((Average::Weighted, score)) => {
            format!(
                "the mean over all classes of {score}, computed for each class against the rest and weighted by the \
                 number of rows of the class"
            )
        }
        Some((Average::Micro, score)) => {
            format!("{score} of a single confusion matrix, the sum of the matrices of each class against the rest")
        }
        None if matches!(score, MultiScore::Costs(_)) => {
            "the mean cost; semicolons separate the true classes, commas the costs of the predicted classes".into()
        }
        None => "a score of the confusion matrix of all classes".into(),
    };
    let best_of_all_classes = if matches!(score, MultiScore::Costs(_)) { "lower" } else { "higher, up to 1" };
    let value = |value: Option<f64>| value.map_or("undefined".into(), format_number);
    key_value_lines(&[
        ("score", description.name.clone()),
        ("value", description.value.map_or(String::new(), value)),
        ("meaning", meaning),
        ("formula", averaged.map_or(String::new(), |(_, score)| score.formula().text())),
        ("best", averaged.map_or(best_of_all_classes.into(), |(_, score)| direction_text(score))),
    ])
}

/// Parses a confusion matrix: four numbers, separated by commas.
fn parse_matrix(text: &str) -> Result<Confusion, String> {
    let hint = "write four numbers, 0 or above: --matrix TN,FP,FN,TP";
    let cells: Vec<f64> = text
        .split(',')
        .map(|cell| match cell.trim().parse::<f64>() {
            Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
            _ => Err(format!("--matrix: `{}` is not a count; {hint}", cell.trim().escape_debug())),
        })
        .collect::<Result<_, _>>()?;
    match cells.as_slice() {
        &[tn, fp, fn_, tp] => Ok(Confusion::new(tn, fp, fn_, tp)),
        other => Err(format!("--matrix has {}; {hint}", count_text(other.len() as u64, "number"))),
    }
}

/// A table of all scores.
fn scores_table() -> String {
    let rows: Vec<Vec<String>> = REGISTRY
        .iter()
        .filter_map(|row| {
            let score = Score::example(row)?;
            let aliases = row.aliases.iter().take(4).copied().collect::<Vec<_>>().join(", ");
            Some(vec![row.signature(), direction_text(&score), shape_name(&score).into(), aliases])
        })
        .collect();
    let table = aligned_table(&["score", "best", "shape", "also called"], &rows);
    format!(
        "{table}\n{} scores; `scorewise scores NAME` describes one.\n\
         For more than two classes: accuracy, mcc, hss, peirce, gerrity, and macro(NAME), weighted(NAME), micro(NAME) of any score; a matrix of costs is written cost_matrix(0, 1, 5; 1, 0, 2; 10, 3, 0).\n",
        REGISTRY.len()
    )
}

/// A table of the values of all scores for a confusion matrix.
fn values_table(matrix: &Confusion) -> String {
    let rows: Vec<Vec<String>> = registered_scores()
        .map(|score| vec![score.name().to_string(), format_value(&score, matrix), direction_text(&score)])
        .collect();
    aligned_table(&["score", "value", "best"], &rows)
}

/// The value of a score for a confusion matrix as text, or `undefined`.
fn format_value(score: &Score, matrix: &Confusion) -> String {
    score.checked(matrix).map_or("undefined".into(), format_number)
}

/// The description of a score as text, with its value for a confusion matrix if one is given.
fn score_text(score: &Score, matrix: Option<&Confusion>) -> String {
    let row = score.row();
    let row_text = |pick: fn(&RegistryEntry) -> &str| row.map_or(String::new(), |row| pick(row).to_string());
    key_value_lines(&[
        ("score", score.name().to_string()),
        ("value", matrix.map_or(String::new(), |matrix| format_value(score, matrix))),
        ("formula", score.formula().text()),
        ("also called", row.map_or(String::new(), |row| row.aliases.join(", "))),
        ("parameters", parameters_text(row)),
        ("best", direction_text(score)),
        (
            "range",
            row.map_or(String::new(), |row| {
                format!("{} to {}", format_number(row.range.0), format_number(row.range.1))
            }),
        ),
        ("no skill", no_skill(score).map_or("depends on base rate and forecast rate".into(), format_number)),
        ("shape", shape_name(score).into()),
        ("undefined when", score.formula().undefined_when().join(", or ")),
        ("LaTeX", score.formula().latex()),
        ("Python", score.formula().python()),
        ("note", row_text(|row| row.note)),
        ("reference", row_text(|row| row.reference)),
    ])
}

/// The parameters of a score with their ranges; empty if it has none.
fn parameters_text(row: Option<&RegistryEntry>) -> String {
    let row = match row {
        Some(row) if !row.parameters.is_empty() => row,
        _ => return String::new(),
    };
    let each: Vec<_> =
        row.parameters.iter().map(|parameter| format!("{} {}", parameter.name, parameter.bounds())).collect();
    format!("{}; {}", row.signature(), each.join(", "))
}

/// Says whether higher values, lower values or values near an ideal value of a score are best, and what its perfect value is if it has one.
pub fn direction_text(score: &Score) -> String {
    match (score.direction(), score.row().and_then(|row| row.perfect)) {
        (Direction::Higher, Some(perfect)) => format!("higher, up to {}", format_number(perfect)),
        (Direction::Higher, None) => "higher".into(),
        (Direction::Lower, Some(perfect)) => format!("lower, down to {}", format_number(perfect)),
        (Direction::Lower, None) => "lower".into(),
        (Direction::Toward(ideal), _) => format!("near {}", format_number(ideal)),
    }
}
