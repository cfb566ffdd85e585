//! Figures 1 and 2, beside the tables.

use scorewise::Prior;
use scorewise_report::{NamedPrior, Picture, PriorRow, Thresholds, figure_priors, figure_thresholds};
use scorewise_train::model::write_safely;
use scorewise_train::reproduce::Trial;

use super::arguments::Chosen;
use crate::outcome::Failure;

/// Figure 1: the priors of the paper's own picture. Figure 2, one for each score: the best thresholds under the prior they were trained with.
pub fn write(chosen: &Chosen, trials: &[Trial]) -> Result<(), Failure> {
    let row =
        |prior: Prior| PriorRow { title: title(&prior), priors: vec![NamedPrior { name: prior.to_string(), prior }] };
    save(chosen, "figure-1", &figure_priors(&[row(Prior::uniform()), row(Prior::cosine(0.5, 0.2)?)])?)?;
    for score in chosen.scores.iter().map(ToString::to_string) {
        // Without the cure where both were run: that is what the paper shows.
        let cured = chosen.cures[0];
        let panel = |prior: &Prior| {
            let (name, mut found) = (prior.to_string(), Vec::new());
            for trial in trials.iter().filter(|trial| trial.score == score && trial.contender == name) {
                found.extend(trial.threshold.filter(|_| trial.success && trial.cured == cured));
            }
            Thresholds { title: title(prior), prior: prior.clone(), thresholds: found }
        };
        let panels: Vec<Thresholds> =
            chosen.contenders.iter().filter_map(|contender| contender.prior()).map(panel).collect();
        if !panels.is_empty() {
            let name =
                if chosen.scores.len() == 1 { "figure-2".into() } else { format!("figure-2-{}", file_name(&score)) };
            save(chosen, &name, &figure_thresholds(&panels)?)?;
        }
    }
    Ok(())
}

fn save(chosen: &Chosen, name: &str, picture: &Picture) -> Result<(), Failure> {
    write_safely(&chosen.out.join(format!("{name}.svg")), picture.svg()?.as_bytes())?;
    Ok(write_safely(&chosen.out.join(format!("{name}.png")), &picture.png()?)?)
}

/// As the paper writes it: `cosine:0.5,0.1` is a raised cosine with μ = 0.5 and δ = 0.1.
fn title(prior: &Prior) -> String {
    let text = prior.to_string();
    match text.strip_prefix("cosine:").and_then(|numbers| numbers.split_once(',')) {
        Some((mu, delta)) => format!("Raised cosine: μ = {mu}, δ = {delta}"),
        None if text == "uniform" => "Uniform".into(),
        None => text,
    }
}

/// A score may be a formula; a file's name is letters, digits and dashes.
fn file_name(score: &str) -> String {
    score.chars().map(|sign| if sign.is_alphanumeric() { sign } else { '-' }).collect()
}
