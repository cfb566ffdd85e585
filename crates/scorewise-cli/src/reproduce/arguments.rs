//! Arguments of `scorewise reproduce`, and their conversion to typed settings.

use std::path::PathBuf;

use clap::ValueEnum;
use scorewise::Score;
use scorewise_train::Error;
use scorewise_train::backend::Device;
use scorewise_train::reproduce::{Contender, Experiment};

use crate::outcome::Failure;
use crate::report_output::ReportArguments;

/// Arguments of `scorewise reproduce`.
#[derive(clap::Args)]
pub struct ReproduceArguments {
    /// Experiment of Marchetti et al. (2022): adult (Table 1, Figures 1 and 2) or pollution (Table 2)
    #[arg(value_name = "adult|pollution")]
    pub experiment: String,
    /// Number of training runs for each row of the result table
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub repeats: usize,
    /// Rows of the result table: priors of the threshold, or ce for cross-entropy [default: those of Marchetti et al. (2022)]
    #[arg(long, value_name = "PRIOR,PRIOR,…")]
    pub priors: Option<String>,
    /// Scores to train for [default: those of Marchetti et al. (2022)]
    #[arg(long, value_name = "SCORE,SCORE,…")]
    pub scores: Option<String>,
    /// Whether initial predictions are moved into the support of the prior and failed training runs are restarted: on, off (as published), or both
    #[arg(long, value_enum, default_value_t = Cure::Both)]
    pub cure: Cure,
    /// Train other models than the paper on the same time windows: models with the recipe `strong`, and reference models
    #[arg(long, conflicts_with_all = ["priors", "cure"])]
    pub beyond: bool,
    /// Seed of all random numbers
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Number of threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// The hardware on which networks are trained
    #[arg(long, value_enum, default_value_t = Device::Cpu)]
    pub device: Device,
    /// Folder for tables, figures and results [default: reproduce-adult or reproduce-pollution]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// File with one line for each finished training run; an interrupted command skips these runs when it is repeated [default: trainings.csv in the
    /// folder of --out]
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    #[command(flatten)]
    pub report: ReportArguments,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Values of `--cure`. The cure is a remedy for training runs that learn nothing: initial predictions are moved into the support of the prior, and
/// failed training runs are restarted. Marchetti et al. (2022) trained without it.
#[derive(Clone, Copy, ValueEnum, PartialEq, Eq, Debug)]
pub enum Cure {
    /// Do all training runs twice: once as with `off`, once as with `on`
    Both,
    /// Move initial predictions into the support of the prior, and restart failed training runs
    On,
    /// Train as in Marchetti et al. (2022)
    Off,
}

/// The parsed settings of `scorewise reproduce`.
#[derive(Debug)]
pub struct ReproduceSettings {
    pub experiment: Experiment,
    pub scores: Vec<Score>,
    /// The losses and models to compare, one for each row of the result table.
    pub contenders: Vec<Contender>,
    /// The variants of the training: `true` trains with the remedy for failed training runs (see [`Cure`]), `false` without it. `--cure both` gives
    /// `[false, true]`.
    pub cures: Vec<bool>,
    pub repeats: usize,
    pub out: PathBuf,
    pub csv: PathBuf,
}

impl ReproduceArguments {
    /// Parses and checks the arguments.
    pub fn settings(&self) -> Result<ReproduceSettings, Failure> {
        let experiment: Experiment = self.experiment.parse()?;
        if self.beyond && experiment != Experiment::Pollution {
            let hint = "write `scorewise reproduce pollution --beyond`";
            return Err(Error::setting("beyond", "this option exists only for the experiment `pollution`", hint).into());
        }
        if self.repeats == 0 || self.repeats > experiment.max_repeats() {
            let max = experiment.max_repeats();
            let problem = format!("must lie between 1 and {max}, not {}", self.repeats);
            return Err(Error::setting("repeats", problem, "").into());
        }
        let scores = match &self.scores {
            Some(text) => split_list(text, false).into_iter().map(str::to_owned).collect::<Vec<String>>(),
            None => experiment.scores().iter().map(|score| (*score).to_owned()).collect(),
        };
        let parse = |text: &String| Score::parse(text).map_err(scorewise::Error::from);
        let mut contenders = match &self.priors {
            Some(text) => {
                split_list(text, true).into_iter().map(str::parse).collect::<Result<Vec<Contender>, Error>>()?
            }
            None => experiment.contenders(),
        };
        if let Some(other) =
            contenders.iter().find(|contender| !matches!(contender, Contender::Sol(_) | Contender::CrossEntropy))
        {
            let problem = format!("`{other}` is not a prior");
            return Err(Error::setting("priors", problem, "name priors, or `ce` for cross-entropy").into());
        }
        let references = ["persistence", "logistic-8", "logistic-11"];
        let beyond: &[&str] = match (experiment, self.beyond) {
            (Experiment::Pollution, true) => &["tuned-ce", "strong"],
            _ => &[],
        };
        if self.beyond {
            contenders.clear();
        }
        if experiment == Experiment::Pollution && self.priors.is_none() {
            let names = references.iter().chain(beyond);
            contenders.extend(names.map(|name| name.parse()).collect::<Result<Vec<Contender>, Error>>()?);
        }
        let cures = match self.cure {
            Cure::Both => vec![false, true],
            Cure::On => vec![true],
            Cure::Off => vec![false],
        };
        let out = self.out.clone().unwrap_or_else(|| format!("reproduce-{}", experiment.name()).into());
        Ok(ReproduceSettings {
            experiment,
            scores: scores.iter().map(parse).collect::<Result<_, _>>()?,
            contenders,
            cures,
            repeats: self.repeats,
            csv: self.csv.clone().unwrap_or_else(|| out.join("trainings.csv")),
            out,
        })
    }
}

/// Splits a list at commas outside parentheses. If `with_numbers` is true, an item may itself contain a comma that is followed by a number, so the
/// list is not split there: `uniform,cosine:0.5,0.1` has two items.
fn split_list(text: &str, with_numbers: bool) -> Vec<&str> {
    let mut items = Vec::new();
    let (mut start, mut depth) = (0, 0usize);
    for (at, character) in text.char_indices() {
        let begins_name = || text[at + 1..].trim_start().starts_with(|next: char| next.is_alphabetic());
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 && (!with_numbers || begins_name()) => {
                items.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(text[start..].trim());
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_priors_and_scores_are_split_only_between_items() {
        assert_eq!(split_list("uniform,cosine:0.5,0.1, ce", true), ["uniform", "cosine:0.5,0.1", "ce"]);
        assert_eq!(
            split_list("min(tss, csi),0.5*tss + 0.5*csi, f1", false),
            ["min(tss, csi)", "0.5*tss + 0.5*csi", "f1"]
        );
        assert_eq!(split_list("tss", false), ["tss"]);
        assert_eq!(split_list("", true), [""]);
    }
}
