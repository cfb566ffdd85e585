//! `scorewise scores`: the registry, one score in detail, all scores of a confusion matrix.

use scorewise::formula::FormulaError;
use scorewise::multiclass::{Average, MultiScore};
use scorewise::score::{self, REGISTRY, RegistryEntry, no_skill};
use scorewise::{Confusion, Direction, Score};
use scorewise_report::evaluation::{MultiScoreDescription, ScoreDescription, registered_scores, shape_name};

use crate::outcome::{Failure, Outcome};
use crate::table::{aligned, facts, format_number, pretty};

/// What `scorewise scores` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise scores                              all scores\n  \
    scorewise scores tss                          one in detail\n  \
    scorewise scores \"0.5*tss + 0.5*csi\"          a formula of one's own\n  \
    scorewise scores \"macro(f1)\"                  a score of many classes\n  \
    scorewise scores --matrix 2680,72,23,28       all scores of tn,fp,fn,tp\n  \
    scorewise scores f1 --matrix 2680,72,23,28 --json")]
pub struct Arguments {
    /// A score by name or alias, or a formula over tp fp fn tn p n total
    score: Option<String>,
    /// A confusion matrix to evaluate
    #[arg(long, value_name = "TN,FP,FN,TP", allow_hyphen_values = true)]
    matrix: Option<String>,
    /// One JSON document
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// The page docs/scores.md
    #[arg(long, conflicts_with_all = ["score", "matrix"])]
    markdown: bool,
}

/// The text for standard output, or what is wrong.
pub fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    if arguments.markdown {
        return Ok(score::markdown().into());
    }
    let matrix = arguments.matrix.as_deref().map(read_matrix).transpose()?;
    let text = match &arguments.score {
        Some(text) => match read_score(text) {
            Ok(score) if arguments.json => pretty(&ScoreDescription::new(&score, matrix.as_ref())),
            Ok(score) => detail(&score, matrix.as_ref()),
            Err(fault) => {
                let score = read_many(text, fault)?;
                let description = MultiScoreDescription::new(&score, matrix.as_ref());
                if arguments.json { pretty(&description) } else { multi_detail(&score, &description) }
            }
        },
        None if arguments.json => {
            let describe = |score: Score| ScoreDescription::new(&score, matrix.as_ref());
            pretty(&registered_scores().map(describe).collect::<Vec<_>>())
        }
        None => match &matrix {
            Some(matrix) => values(matrix),
            None => list(),
        },
    };
    Ok(text.into())
}

/// A line of the registry whose parameter was not given is shown all the same, at an example of it.
fn read_score(text: &str) -> Result<Score, Failure> {
    let name = text.trim().to_ascii_lowercase().replace('-', "_");
    Score::parse(text).or_else(|fault: FormulaError| match score::registry::row(&name) {
        Some(row) if !row.parameters.is_empty() => Score::example(row).ok_or(fault.into()),
        _ => Err(fault.into()),
    })
}

/// A score of many classes; `fault` is why the text is no score of two.
fn read_many(text: &str, fault: Failure) -> Result<MultiScore, Failure> {
    let head = text.split_once('(').map(|(head, _)| head.trim().to_ascii_lowercase());
    let is_average = head.is_some_and(|head| ["macro", "weighted", "micro"].contains(&head.as_str()));
    MultiScore::parse(text).map_err(|own| if is_average { own.into() } else { fault })
}

/// A score of many classes for the terminal.
fn multi_detail(score: &MultiScore, description: &MultiScoreDescription) -> String {
    let averaged = match score {
        MultiScore::Classwise(average, score) => Some((*average, score)),
        _ => None,
    };
    let what = match averaged {
        Some((Average::Macro, score)) => format!("the mean of {score} over the classes, each against the rest"),
        Some((Average::Weighted, score)) => {
            format!("the mean of {score} over the classes, each against the rest and weighted by its rows")
        }
        Some((Average::Micro, score)) => {
            format!("{score} of the matrices of each class against the rest, added up")
        }
        None => "a score of the whole matrix of all classes".into(),
    };
    let value = |value: Option<f64>| value.map_or("undefined".into(), format_number);
    facts(&[
        ("score", description.name.clone()),
        ("value", description.value.map_or(String::new(), value)),
        ("what it is", what),
        ("formula", averaged.map_or(String::new(), |(_, score)| score.formula().text())),
        ("best", averaged.map_or("higher, up to 1".into(), |(_, score)| best(score))),
    ])
}

fn read_matrix(text: &str) -> Result<Confusion, String> {
    let cure = "write four numbers, 0 or above: --matrix TN,FP,FN,TP";
    let cells: Vec<f64> = text
        .split(',')
        .map(|cell| match cell.trim().parse::<f64>() {
            Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
            _ => Err(format!("--matrix: `{}` is not a count; {cure}", cell.trim().escape_debug())),
        })
        .collect::<Result<_, _>>()?;
    match cells.as_slice() {
        &[tn, fp, fn_, tp] => Ok(Confusion::new(tn, fp, fn_, tp)),
        other => Err(format!("--matrix has {} numbers; {cure}", other.len())),
    }
}

fn list() -> String {
    let rows: Vec<Vec<String>> = REGISTRY
        .iter()
        .filter_map(|row| {
            let score = Score::example(row)?;
            let aliases = row.aliases.iter().take(4).copied().collect::<Vec<_>>().join(", ");
            Some(vec![row.signature(), best(&score), shape_name(&score).into(), aliases])
        })
        .collect();
    let table = aligned(&["score", "best", "shape", "also called"], &rows);
    format!(
        "{table}\n{} scores; `scorewise scores NAME` shows formula, range and reference.\n\
         For more than two classes: accuracy, mcc, hss, peirce, gerrity, and macro(NAME), weighted(NAME), micro(NAME) of any.\n",
        REGISTRY.len()
    )
}

fn values(matrix: &Confusion) -> String {
    let rows: Vec<Vec<String>> =
        registered_scores().map(|score| vec![score.name().to_string(), shown(&score, matrix), best(&score)]).collect();
    aligned(&["score", "value", "best"], &rows)
}

fn shown(score: &Score, matrix: &Confusion) -> String {
    score.checked(matrix).map_or("undefined".into(), format_number)
}

fn detail(score: &Score, matrix: Option<&Confusion>) -> String {
    let row = score.row();
    let words = |pick: fn(&RegistryEntry) -> &str| row.map_or(String::new(), |row| pick(row).to_string());
    facts(&[
        ("score", score.name().to_string()),
        ("value", matrix.map_or(String::new(), |matrix| shown(score, matrix))),
        ("formula", score.formula().text()),
        ("also called", row.map_or(String::new(), |row| row.aliases.join(", "))),
        ("parameters", parameters(row)),
        ("best", best(score)),
        (
            "range",
            row.map_or(String::new(), |row| {
                format!("{} to {}", format_number(row.range.0), format_number(row.range.1))
            }),
        ),
        ("no skill", no_skill(score).map_or("varies with base rate and alarms".into(), format_number)),
        ("shape", shape_name(score).into()),
        ("undefined when", score.formula().undefined_when().join(", or ")),
        ("LaTeX", score.formula().latex()),
        ("Python", score.formula().python()),
        ("note", words(|row| row.note)),
        ("reference", words(|row| row.reference)),
    ])
}

fn parameters(row: Option<&RegistryEntry>) -> String {
    let row = match row {
        Some(row) if !row.parameters.is_empty() => row,
        _ => return String::new(),
    };
    let each: Vec<_> =
        row.parameters.iter().map(|parameter| format!("{} {}", parameter.name, parameter.bounds())).collect();
    format!("{}; {}", row.signature(), each.join(", "))
}

/// Which way is better, and where the best lies.
pub fn best(score: &Score) -> String {
    match (score.direction(), score.row().and_then(|row| row.perfect)) {
        (Direction::Higher, Some(perfect)) => format!("higher, up to {}", format_number(perfect)),
        (Direction::Higher, None) => "higher".into(),
        (Direction::Lower, Some(perfect)) => format!("lower, down to {}", format_number(perfect)),
        (Direction::Lower, None) => "lower".into(),
        (Direction::Toward(ideal), _) => format!("near {}", format_number(ideal)),
    }
}
