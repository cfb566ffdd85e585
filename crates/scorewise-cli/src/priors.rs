//! `scorewise priors`: lists the families of threshold priors, or describes one prior in detail.

use scorewise::Prior;
use scorewise::prior::FAMILIES;
use scorewise_report::evaluation::{PriorDescription, PriorQuantile, prior_families};

use crate::formatting::{aligned_table, block_bars, format_number, key_value_lines, pretty_json};
use crate::outcome::{Failure, Outcome};

/// Arguments of `scorewise priors`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise priors                   all families\n  \
    scorewise priors cosine:0.5,0.1    one prior in detail, with its density")]
pub struct PriorsArguments {
    /// Prior to describe, for example cosine:0.5,0.1
    prior: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Lists the families of priors, or describes one prior.
pub fn run(arguments: &PriorsArguments) -> Result<Outcome, Failure> {
    let Some(text) = &arguments.prior else {
        return Ok(if arguments.json { pretty_json(&prior_families()) } else { families_table() }.into());
    };
    let prior: Prior = text.parse()?;
    let description = PriorDescription::new(&prior);
    Ok(if arguments.json { pretty_json(&description) } else { prior_text(&prior, &description) }.into())
}

/// A table of the families of priors.
fn families_table() -> String {
    let row = |family: &scorewise::prior::Family| {
        [family.form, family.example, family.cdf, family.note].map(String::from).to_vec()
    };
    let rows: Vec<Vec<String>> = FAMILIES.iter().map(row).collect();
    let table = aligned_table(&["prior", "example", "f(x)", "note"], &rows).replacen("F(X)", "F(x)", 1);
    format!(
        "{table}\nu = (x − centre)/half_width, t = (x − centre)/scale; `scorewise priors cosine:0.5,0.1` describes one prior.\n"
    )
}

/// The description of a prior as text, with a plot of its density.
fn prior_text(prior: &Prior, description: &PriorDescription) -> String {
    let (low, high) = description.support;
    // The bars show the probabilities of 60 bins, not the density at 60 points, because a narrow prior could fall between the points.
    let cdf = |k: i32| prior.cdf(f64::from(k) / 60.0);
    let probabilities: Vec<f64> = (0..60).map(|k| cdf(k + 1) - cdf(k)).collect();
    let quantile = |PriorQuantile { level, threshold }: &PriorQuantile| {
        format!("{} % {}", format_number(100.0 * level), format_number(*threshold))
    };
    let quantiles: Vec<String> = description.quantiles.iter().map(quantile).collect();
    let lines = key_value_lines(&[
        ("prior", description.prior.clone()),
        ("support", format!("{} to {}", format_number(low), format_number(high))),
        ("mean", format_number(description.mean)),
        ("deviation", format_number(description.deviation)),
        ("quantiles", quantiles.join(", ")),
    ]);
    format!("{lines}\n  {}\n  0{}1\n", block_bars(&probabilities).trim_end(), " ".repeat(58))
}
