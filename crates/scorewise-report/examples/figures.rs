//! Writes figures of priors and of best thresholds, with made-up data, as SVG and PNG: `cargo run -p scorewise-report --example figures -- FOLDER`.

use std::error::Error;
use std::path::{Path, PathBuf};

use scorewise::Prior;
use scorewise_report::{NamedPrior, Picture, PriorRow, ThresholdPanel, figure_priors, figure_thresholds};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: figures FOLDER")?);
    std::fs::create_dir_all(&folder)?;
    write_svg_and_png(&folder, "priors", &figure_priors(&paper_figure_1()?)?)?;
    write_svg_and_png(&folder, "priors-many", &figure_priors(&many_priors()?)?)?;
    write_svg_and_png(&folder, "thresholds", &figure_thresholds(&ten_panels()?)?)?;
    write_svg_and_png(&folder, "thresholds-edges", &figure_thresholds(&edge_case_panels()?)?)?;
    Ok(())
}

/// Writes a picture to the files `name.svg` and `name.png` in a folder.
fn write_svg_and_png(folder: &Path, name: &str, picture: &Picture) -> Result<(), Box<dyn Error>> {
    std::fs::write(folder.join(name).with_extension("svg"), picture.svg()?)?;
    Ok(std::fs::write(folder.join(name).with_extension("png"), picture.png()?)?)
}

/// A prior with its name in the legend. `prior` is its text form, such as `cosine:0.5,0.1`.
fn named_prior(name: &str, prior: &str) -> Result<NamedPrior, scorewise::Error> {
    Ok(NamedPrior { name: name.into(), prior: prior.parse()? })
}

/// The priors of Figure 1 of Marchetti et al. (2022).
fn paper_figure_1() -> Result<Vec<PriorRow>, scorewise::Error> {
    Ok(vec![
        PriorRow { title: "Uniform".into(), priors: vec![named_prior("uniform", "uniform")?] },
        PriorRow {
            title: "Raised cosine: μ = 0.5, δ = 0.2".into(),
            priors: vec![named_prior("cosine", "cosine:0.5,0.2")?],
        },
    ])
}

/// Two rows of panels with many priors each, to see whether the lines and the legend stay readable.
fn many_priors() -> Result<Vec<PriorRow>, scorewise::Error> {
    let cosines = [(0.3, 0.1), (0.3, 0.3), (0.5, 0.1), (0.5, 0.3), (0.7, 0.1), (0.7, 0.3)];
    let cosine =
        |(mu, delta): (f64, f64)| named_prior(&format!("μ = {mu}, δ = {delta}"), &format!("cosine:{mu},{delta}"));
    let families = [
        "beta:0.5,0.5",
        "uniform:0.2,0.6",
        "triangular:0.5,0.2",
        "beta:2,5",
        "normal:0.5,0.1",
        "logistic:0.5,0.05",
        "kumaraswamy:2,5",
        "mix:0.1,cosine:0.8,0.2",
        "epanechnikov:0.3,0.2",
        "quartic:0.6,0.3",
    ];
    Ok(vec![
        PriorRow { title: "Raised cosine".into(), priors: cosines.into_iter().map(cosine).collect::<Result<_, _>>()? },
        PriorRow {
            title: "Ten families".into(),
            priors: families.iter().map(|text| named_prior(text, text)).collect::<Result<_, _>>()?,
        },
    ])
}

/// A panel with thresholds sampled from the prior. Every eighth threshold is shifted by 0.07, so that a few lie outside the support.
fn sampled_panel(title: &str, prior: Prior, count: usize) -> ThresholdPanel {
    let samples = prior.sample(count as u64).take(count).enumerate();
    let shifted = |(row, tau): (usize, f64)| if row % 8 == 0 { (tau + 0.07).min(1.0) } else { tau };
    ThresholdPanel { title: title.into(), thresholds: samples.map(shifted).collect(), prior }
}

/// Ten panels, as in Figure 2 of Marchetti et al. (2022).
fn ten_panels() -> Result<Vec<ThresholdPanel>, scorewise::Error> {
    let mut panels = vec![sampled_panel("Uniform", Prior::uniform(), 100)];
    for mu in [0.3, 0.5, 0.7] {
        for delta in [0.1, 0.2, 0.3] {
            panels.push(sampled_panel(&format!("Raised cosine: μ = {mu}, δ = {delta}"), Prior::cosine(mu, delta)?, 97));
        }
    }
    Ok(panels)
}

/// Panels for edge cases: no threshold, a single threshold, equal thresholds, the thresholds 0 and 1, and a title that is too long.
fn edge_case_panels() -> Result<Vec<ThresholdPanel>, scorewise::Error> {
    let with = |title: &str, prior: &str, thresholds: Vec<f64>| {
        Ok::<_, scorewise::Error>(ThresholdPanel { title: title.into(), prior: prior.parse()?, thresholds })
    };
    Ok(vec![
        with("No training run succeeded", "cosine:0.5,0.1", vec![])?,
        with("One training run", "cosine:0.3,0.1", vec![0.31])?,
        with("All equal", "uniform", vec![0.5; 100])?,
        with("At both ends", "uniform", [0.0, 1.0].repeat(20))?,
        with(
            "A title that is far too long for the panel above which it is drawn",
            "beta:0.5,0.5",
            vec![0.1, 0.9, 0.92],
        )?,
    ])
}
