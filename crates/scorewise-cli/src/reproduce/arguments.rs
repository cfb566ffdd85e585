//! What can be typed after `scorewise reproduce`.

use std::path::PathBuf;

use clap::ValueEnum;
use scorewise::Score;
use scorewise_train::Error;
use scorewise_train::reproduce::{Contender, Experiment};

use crate::outcome::Failure;
use crate::showing;

/// Arguments of `scorewise reproduce`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The experiment: adult (Table 1, Figures 1 and 2) or pollution (Table 2)
    #[arg(value_name = "adult|pollution")]
    pub experiment: String,
    /// Trainings of every row
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub repeats: usize,
    /// The rows: priors of the threshold, and ce for cross-entropy; by default those of the paper
    #[arg(long, value_name = "PRIOR,PRIOR,…")]
    pub priors: Option<String>,
    /// The scores to train for; by default those of the paper
    #[arg(long, value_name = "SCORE,SCORE,…")]
    pub scores: Option<String>,
    /// Whether the first predictions are put where the prior sees them: as the paper did, with the cure, or one pass each
    #[arg(long, value_enum, default_value_t = Cure::Both)]
    pub cure: Cure,
    /// Not the paper's networks but the strong recipe on the same windows, with what it has to beat
    #[arg(long, conflicts_with_all = ["priors", "cure"])]
    pub beyond: bool,
    /// Where all randomness starts
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Threads; all cores by default. The result does not depend on it
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// The folder for tables, figures and results [default: reproduce-adult, reproduce-pollution]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// The file with a line for each training, from which an interrupted run goes on [default: trainings.csv in the folder]
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    #[command(flatten)]
    pub showing: showing::ReportFiles,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// With the cure or without.
#[derive(Clone, Copy, ValueEnum, PartialEq, Eq, Debug)]
pub enum Cure {
    /// One pass without, one with
    Both,
    /// With the cure
    On,
    /// As the paper did
    Off,
}

/// What is to be done, all names understood.
#[derive(Debug)]
pub struct Chosen {
    pub experiment: Experiment,
    pub scores: Vec<Score>,
    pub contenders: Vec<Contender>,
    pub cures: Vec<bool>,
    pub repeats: usize,
    pub out: PathBuf,
    pub csv: PathBuf,
}

impl Arguments {
    pub fn chosen(&self) -> Result<Chosen, Failure> {
        let experiment: Experiment = self.experiment.parse()?;
        if self.beyond && experiment != Experiment::Pollution {
            let hint = "write `scorewise reproduce pollution --beyond`";
            return Err(Error::setting("beyond", "goes beyond the paper's pollution experiment alone", hint).into());
        }
        if self.repeats == 0 || self.repeats > experiment.max_repeats() {
            let most = experiment.max_repeats();
            let problem = format!("must lie between 1 and {most}, not {}", self.repeats);
            return Err(Error::setting("repeats", problem, "").into());
        }
        let scores = match &self.scores {
            Some(text) => parts(text, false).into_iter().map(str::to_owned).collect::<Vec<String>>(),
            None => experiment.scores().iter().map(|score| (*score).to_owned()).collect(),
        };
        let parse = |text: &String| Score::parse(text).map_err(scorewise::Error::from);
        let mut contenders = match &self.priors {
            Some(text) => parts(text, true).into_iter().map(str::parse).collect::<Result<Vec<Contender>, Error>>()?,
            None => experiment.contenders(),
        };
        if let Some(other) = contenders.iter().find(|who| !matches!(who, Contender::Sol(_) | Contender::CrossEntropy)) {
            let problem = format!("`{other}` is no prior");
            return Err(Error::setting("priors", problem, "name priors, or `ce` for cross-entropy").into());
        }
        let references = ["persistence", "logistic-8", "logistic-11"];
        let further: &[&str] = match (experiment, self.beyond) {
            (Experiment::Pollution, true) => &["tuned-ce", "strong"],
            _ => &[],
        };
        if self.beyond {
            contenders.clear();
        }
        if experiment == Experiment::Pollution && self.priors.is_none() {
            let names = references.iter().chain(further);
            contenders.extend(names.map(|name| name.parse()).collect::<Result<Vec<Contender>, Error>>()?);
        }
        let cures = match self.cure {
            Cure::Both => vec![false, true],
            Cure::On => vec![true],
            Cure::Off => vec![false],
        };
        let out = self.out.clone().unwrap_or_else(|| format!("reproduce-{}", experiment.name()).into());
        Ok(Chosen {
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

/// Names with commas between them. A comma within brackets belongs to a name, and so does one before a number where names have
/// numbers behind them: `uniform,cosine:0.5,0.1`.
fn parts(text: &str, with_numbers: bool) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0usize);
    for (at, sign) in text.char_indices() {
        let begins_name = || text[at + 1..].trim_start().starts_with(|next: char| next.is_alphabetic());
        match sign {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 && (!with_numbers || begins_name()) => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_brackets_keep_their_commas() {
        assert_eq!(parts("uniform,cosine:0.5,0.1, ce", true), ["uniform", "cosine:0.5,0.1", "ce"]);
        assert_eq!(parts("min(tss, csi),0.5*tss + 0.5*csi, f1", false), ["min(tss, csi)", "0.5*tss + 0.5*csi", "f1"]);
        assert_eq!(parts("tss", false), ["tss"]);
        assert_eq!(parts("", true), [""]);
    }
}
