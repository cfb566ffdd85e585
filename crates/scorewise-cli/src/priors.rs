//! `scorewise priors`: the families, or one prior in detail.

use scorewise::Prior;
use scorewise::prior::FAMILIES;
use scorewise_report::evaluation::{PriorDescription, PriorQuantile, prior_families};

use crate::outcome::{Failure, Outcome};
use crate::table::{aligned, blocks, facts, format_number, pretty};

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

/// The text for standard output, or what is wrong.
pub fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let Some(text) = &arguments.prior else {
        return Ok(if arguments.json { pretty(&prior_families()) } else { list() }.into());
    };
    let prior: Prior = text.parse()?;
    let description = PriorDescription::new(&prior);
    Ok(if arguments.json { pretty(&description) } else { detail(&prior, &description) }.into())
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

fn detail(prior: &Prior, description: &PriorDescription) -> String {
    let (low, high) = description.support;
    // The probability of each sixtieth, not the density at its middle: a narrow prior must not fall between the points.
    let at = |k: i32| prior.cdf(f64::from(k) / 60.0);
    let heights: Vec<f64> = (0..60).map(|k| at(k + 1) - at(k)).collect();
    let quantile = |PriorQuantile { level, threshold }: &PriorQuantile| {
        format!("{} % {}", format_number(100.0 * level), format_number(*threshold))
    };
    let quantiles: Vec<String> = description.quantiles.iter().map(quantile).collect();
    let lines = facts(&[
        ("prior", description.prior.clone()),
        ("support", format!("{} to {}", format_number(low), format_number(high))),
        ("mean", format_number(description.mean)),
        ("deviation", format_number(description.deviation)),
        ("quantiles", quantiles.join(", ")),
    ]);
    format!("{lines}\n  {}\n  0{}1\n", blocks(&heights).trim_end(), " ".repeat(58))
}
