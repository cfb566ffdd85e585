//! `scorewise priors`: the families, or one prior in detail.

use scorewise::Prior;
use scorewise::prior::FAMILIES;
use serde_json::{Value, json};

use crate::outcome::{Failure, Outcome};
use crate::table::{aligned, blocks, facts, short};

/// What `scorewise priors` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise priors                   all families\n  \
    scorewise priors cosine:0.5,0.1    one in detail, with its density")]
pub struct Arguments {
    /// A prior, for example cosine:0.5,0.1
    prior: Option<String>,
    /// One JSON document
    #[arg(long)]
    json: bool,
}

const LEVELS: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// The text for standard output, or what is wrong.
pub fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let Some(text) = &arguments.prior else {
        return Ok(if arguments.json { format!("{:#}\n", list_json()) } else { list() }.into());
    };
    let prior: Prior = text.parse()?;
    Ok(if arguments.json { format!("{:#}\n", one_json(&prior)) } else { detail(&prior) }.into())
}

fn list() -> String {
    let row = |family: &scorewise::prior::Family| {
        [family.form, family.example, family.cdf, family.note].map(String::from).to_vec()
    };
    let rows: Vec<Vec<String>> = FAMILIES.iter().map(row).collect();
    let table = aligned(&["prior", "example", "f(x)", "note"], &rows).replacen("F(X)", "F(x)", 1);
    format!(
        "{table}\nu = (x − centre)/half_width, t = (x − centre)/scale; `scorewise priors cosine:0.5,0.1` shows one.\n"
    )
}

/// All families by the names that stay.
pub fn list_json() -> Value {
    let one = |family: &scorewise::prior::Family| json!({ "name": family.name, "form": family.form, "example": family.example, "cdf": family.cdf, "note": family.note });
    Value::Array(FAMILIES.iter().map(one).collect())
}

fn detail(prior: &Prior) -> String {
    let (low, high) = prior.support();
    // The probability of each sixtieth, not the density at its middle: a narrow prior must not fall between the points.
    let at = |k: i32| prior.cdf(f64::from(k) / 60.0);
    let heights: Vec<f64> = (0..60).map(|k| at(k + 1) - at(k)).collect();
    let quantiles: Vec<_> =
        LEVELS.iter().map(|level| format!("{} % {}", short(100.0 * level), short(prior.quantile(*level)))).collect();
    let lines = facts(&[
        ("prior", prior.to_string()),
        ("support", format!("{} to {}", short(low), short(high))),
        ("mean", short(prior.mean())),
        ("deviation", short(prior.variance().sqrt())),
        ("quantiles", quantiles.join(", ")),
    ]);
    format!("{lines}\n  {}\n  0{}1\n", blocks(&heights).trim_end(), " ".repeat(58))
}

fn one_json(prior: &Prior) -> Value {
    let (low, high) = prior.support();
    let quantiles: Vec<Value> =
        LEVELS.iter().map(|level| json!({ "level": level, "threshold": prior.quantile(*level) })).collect();
    json!({
        "prior": prior.to_string(),
        "support": [low, high],
        "mean": prior.mean(),
        "deviation": prior.variance().sqrt(),
        "quantiles": quantiles,
    })
}
