//! Makes Figures 1 and 2 of Marchetti et al. (2022) from the results of an experiment.

use std::path::PathBuf;

use scorewise_report::document::ScoreThresholds;
use scorewise_report::evaluation::best_thresholds;
use scorewise_report::{Picture, paper_figure_1, paper_figure_2, score_file_name};
use scorewise_table::output::{OutputKind, Outputs};
use scorewise_train::reproduce::Trial;

use super::arguments::ReproduceSettings;
use crate::outcome::Failure;

/// The priors shown in Figure 1 of Marchetti et al. (2022).
pub fn figure_1_priors() -> Vec<String> {
    vec!["uniform".into(), "cosine:0.5,0.2".into()]
}

/// The data of Figure 2 of Marchetti et al. (2022), with one item for each score. An item holds, for each prior, the best threshold of each training
/// run.
pub fn figure_2_thresholds(settings: &ReproduceSettings, trials: &[Trial]) -> Vec<ScoreThresholds> {
    // With `--cure both`, `cures[0]` is false. The figure then shows the training runs without the remedy for failed training runs, as in Marchetti
    // et al. (2022).
    best_thresholds(&settings.scores, &settings.contenders, settings.cures[0], trials)
}

/// The file names of the figures, without extension: a name for Figure 1, then a name for the Figure 2 of each score. If a name would occur
/// twice, a number is added to it.
fn figure_names(settings: &ReproduceSettings) -> Vec<String> {
    let mut names: Vec<String> = vec!["figure-1".into()];
    for score in &settings.scores {
        let name = match settings.scores.len() {
            1 => "figure-2".into(),
            _ => format!("figure-2-{}", score_file_name(&score.to_string())),
        };
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let unused = std::iter::once(name.clone()).chain(numbered).find(|name| !names.contains(name));
        names.extend(unused);
    }
    names
}

/// The paths of a figure as SVG and PNG.
fn figure_paths(settings: &ReproduceSettings, name: &str) -> [(PathBuf, OutputKind); 2] {
    [("svg", OutputKind::Svg), ("png", OutputKind::Png)]
        .map(|(extension, kind)| (settings.out.join(format!("{name}.{extension}")), kind))
}

/// Returns an error if a figure would replace a file that is not a figure.
pub fn check_figure_paths(settings: &ReproduceSettings, outputs: &Outputs) -> Result<(), Failure> {
    for (path, kind) in figure_names(settings).iter().flat_map(|name| figure_paths(settings, name)) {
        outputs.check(&path, kind)?;
    }
    Ok(())
}

/// Writes the figures as SVG and PNG.
pub fn write_figures(settings: &ReproduceSettings, trials: &[Trial], outputs: &mut Outputs) -> Result<(), Failure> {
    let names = figure_names(settings);
    save_figure(settings, &names[0], &paper_figure_1(&figure_1_priors())?, outputs)?;
    for figure in figure_2_thresholds(settings, trials) {
        let index = settings.scores.iter().position(|score| score.to_string() == figure.score);
        if let Some(name) = index.and_then(|index| names.get(index + 1)) {
            save_figure(settings, name, &paper_figure_2(&figure)?, outputs)?;
        }
    }
    Ok(())
}

/// Writes one figure as SVG and PNG.
fn save_figure(
    settings: &ReproduceSettings,
    name: &str,
    picture: &Picture,
    outputs: &mut Outputs,
) -> Result<(), Failure> {
    let [(svg, svg_kind), (png, png_kind)] = figure_paths(settings, name);
    outputs.write(&svg, svg_kind, picture.svg()?.as_bytes())?;
    Ok(outputs.write(&png, png_kind, &picture.png()?)?)
}
