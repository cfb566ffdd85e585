//! Figures 1 and 2, beside the tables.

use scorewise::Prior;
use scorewise_report::document::ThresholdsOf;
use scorewise_report::{Picture, file_name, paper_priors, paper_thresholds};
use scorewise_train::model::write_safely;
use scorewise_train::reproduce::Trial;

use super::arguments::Chosen;
use crate::outcome::Failure;

/// Figure 1: the priors of the paper's own picture.
pub fn priors() -> Vec<String> {
    vec!["uniform".into(), "cosine:0.5,0.2".into()]
}

/// Figure 2, one for each score: the best thresholds under the prior they were trained with.
pub fn thresholds(chosen: &Chosen, trials: &[Trial]) -> Vec<ThresholdsOf> {
    // Without the cure where both were run: that is what the paper shows.
    let cured = chosen.cures[0];
    let of = |score: String| {
        let panel = |prior: &Prior| {
            let (name, mut found) = (prior.to_string(), Vec::new());
            for trial in trials.iter().filter(|trial| trial.score == score && trial.contender == name) {
                found.extend(trial.threshold.filter(|_| trial.success && trial.cured == cured));
            }
            (name, found)
        };
        let panels = chosen.contenders.iter().filter_map(|contender| contender.prior()).map(panel).collect();
        ThresholdsOf { score, panels }
    };
    let all = chosen.scores.iter().map(|score| of(score.to_string()));
    all.filter(|figure| !figure.panels.is_empty()).collect()
}

/// Writes the figures beside the tables.
pub fn write(chosen: &Chosen, trials: &[Trial]) -> Result<(), Failure> {
    save(chosen, "figure-1", &paper_priors(&priors())?)?;
    for figure in thresholds(chosen, trials) {
        let name = match chosen.scores.len() {
            1 => "figure-2".into(),
            _ => format!("figure-2-{}", file_name(&figure.score)),
        };
        save(chosen, &name, &paper_thresholds(&figure)?)?;
    }
    Ok(())
}

fn save(chosen: &Chosen, name: &str, picture: &Picture) -> Result<(), Failure> {
    write_safely(&chosen.out.join(format!("{name}.svg")), picture.svg()?.as_bytes())?;
    Ok(write_safely(&chosen.out.join(format!("{name}.png")), &picture.png()?)?)
}
