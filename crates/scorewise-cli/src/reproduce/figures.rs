//! Figures 1 and 2, beside the tables.

use std::path::PathBuf;

use scorewise_report::document::ScoreThresholds;
use scorewise_report::evaluation::best_thresholds;
use scorewise_report::{Picture, paper_figure_1, paper_figure_2, score_file_name};
use scorewise_table::output::{OutputKind, Outputs};
use scorewise_train::reproduce::Trial;

use super::arguments::Chosen;
use crate::outcome::Failure;

/// Figure 1: the priors of the paper's own picture.
pub fn priors() -> Vec<String> {
    vec!["uniform".into(), "cosine:0.5,0.2".into()]
}

/// Figure 2, one for each score: the best thresholds under the prior they were trained with.
pub fn thresholds(chosen: &Chosen, trials: &[Trial]) -> Vec<ScoreThresholds> {
    // Without the cure where both were run: that is what the paper shows.
    best_thresholds(&chosen.scores, &chosen.contenders, chosen.cures[0], trials)
}

/// The names of the figures: the first, and one for each score. Two scores whose names differ in signs alone get a number.
fn names(chosen: &Chosen) -> Vec<String> {
    let mut names: Vec<String> = vec!["figure-1".into()];
    for score in &chosen.scores {
        let name = match chosen.scores.len() {
            1 => "figure-2".into(),
            _ => format!("figure-2-{}", score_file_name(&score.to_string())),
        };
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !names.contains(name));
        names.extend(free);
    }
    names
}

fn places(chosen: &Chosen, name: &str) -> [(PathBuf, OutputKind); 2] {
    [("svg", OutputKind::Svg), ("png", OutputKind::Png)]
        .map(|(ending, kind)| (chosen.out.join(format!("{name}.{ending}")), kind))
}

/// Whether there is a place for each figure.
pub fn check(chosen: &Chosen, outputs: &Outputs) -> Result<(), Failure> {
    for (path, kind) in names(chosen).iter().flat_map(|name| places(chosen, name)) {
        outputs.check(&path, kind)?;
    }
    Ok(())
}

/// Writes the figures beside the tables.
pub fn write(chosen: &Chosen, trials: &[Trial], outputs: &mut Outputs) -> Result<(), Failure> {
    let names = names(chosen);
    save(chosen, &names[0], &paper_figure_1(&priors())?, outputs)?;
    for figure in thresholds(chosen, trials) {
        let place = chosen.scores.iter().position(|score| score.to_string() == figure.score);
        if let Some(name) = place.and_then(|place| names.get(place + 1)) {
            save(chosen, name, &paper_figure_2(&figure)?, outputs)?;
        }
    }
    Ok(())
}

fn save(chosen: &Chosen, name: &str, picture: &Picture, outputs: &mut Outputs) -> Result<(), Failure> {
    let [(svg, svg_kind), (png, png_kind)] = places(chosen, name);
    outputs.write(&svg, svg_kind, picture.svg()?.as_bytes())?;
    Ok(outputs.write(&png, png_kind, &picture.png()?)?)
}
