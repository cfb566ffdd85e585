//! Histograms of the predictions of each class. They show how well the classes are separated, and whether the support of the prior of the threshold
//! lies between them.
//!
//! ```text
//! height of a bin = weight of the class in the bin / (total weight of the class · width of the bin)
//! ```
//!
//! With these heights, the histogram of each class has area 1.

use plotters::prelude::DrawingBackend;
use scorewise::Prior;

use crate::axes::{Axes, Axis};
use crate::curve::PlotPoint;
use crate::error::{Error, Result};
use crate::legend::Mark;
use crate::palette::{BLUE, SKY, VERMILLION};
use crate::panel::{CHOSEN_STROKE, Panel};
use crate::picture::Picture;
use crate::single_panel::SinglePanel;
use crate::stroke::Stroke;

/// A bin of the histograms, with the total weights of the positive and of the negative rows whose prediction lies in the bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassBin {
    /// Lower end of the bin.
    pub low: f64,
    /// Upper end of the bin.
    pub high: f64,
    /// Total weight of the positive rows in the bin.
    pub positives: f64,
    /// Total weight of the negative rows in the bin.
    pub negatives: f64,
}

/// Histograms of the predictions of both classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassHistograms {
    /// Title of the figure, such as `Predictions by class`.
    pub title: String,
    /// Bins in [0, 1] that do not overlap; bins of zero width are ignored.
    pub bins: Vec<ClassBin>,
    /// The prior of the threshold that was used in training.
    pub prior: Option<Prior>,
    /// The threshold to mark with a line.
    pub mark: Option<f64>,
    /// Names of the negative and the positive class in the legend.
    pub names: [String; 2],
}

/// Draws the density of the predictions of each class, with the support of the prior in the background.
pub fn figure_classes(classes: ClassHistograms) -> Result<Picture> {
    if (0..2).all(|class| classes.densities(class).is_empty()) {
        return Err(Error::Empty);
    }
    Picture::new(classes)
}

/// Styles of the outlines of the histograms of the negative and the positive class.
const CLASS_STROKES: [Stroke; 2] = [Stroke::solid(BLUE, 1.75), Stroke::solid(VERMILLION, 1.75)];
/// Opacity of the area under the histogram of a class.
const CLASS_OPACITY: f64 = 0.18;
/// Opacity of the band that shows the support of the prior.
const SUPPORT_OPACITY: f64 = 0.22;
/// The y axis has a square-root scale if a density exceeds this value, so that low bars stay visible. The mean density over [0, 1] is 1.
const MAX_LINEAR_DENSITY: f64 = 8.0;
/// Upper end of the y axis, as a multiple of the highest density.
const HEADROOM: f64 = 1.05;

impl ClassHistograms {
    /// Lower end, upper end and density of each bin of a class (0 negative, 1 positive), from left to right; empty when the class has no
    /// rows.
    fn densities(&self, class: usize) -> Vec<(f64, f64, f64)> {
        let weight = |bin: &ClassBin| [bin.negatives, bin.positives][class];
        let usable = |bin: &&ClassBin| {
            bin.high > bin.low && (bin.high - bin.low).is_finite() && weight(bin).is_finite() && weight(bin) >= 0.0
        };
        let mut bins: Vec<&ClassBin> = self.bins.iter().filter(usable).collect();
        bins.sort_by(|a, b| a.low.total_cmp(&b.low));
        let total: f64 = bins.iter().map(|bin| weight(bin)).sum();
        if total > 0.0 {
            bins.into_iter().map(|bin| (bin.low, bin.high, weight(bin) / (total * (bin.high - bin.low)))).collect()
        } else {
            Vec::new()
        }
    }

    /// The greatest density of all bins of both classes.
    fn highest_density(&self) -> f64 {
        (0..2).flat_map(|class| self.densities(class)).map(|(_, _, height)| height).fold(0.0, f64::max)
    }

    /// The interval to shade in the background, with its name in the legend: the support of the prior or, if the support is all of [0, 1], the
    /// central 95 % of the prior.
    fn prior_interval(&self) -> Option<((f64, f64), &'static str)> {
        self.prior.as_ref().map(|prior| match prior.support() {
            (low, high) if low <= 0.0 && high >= 1.0 => {
                ((prior.quantile(0.025), prior.quantile(0.975)), "95 % of the prior")
            }
            support => (support, "support of the prior"),
        })
    }
}

/// The outlines of a histogram, one for each sequence of adjacent bins that are not empty. Every outline starts and ends on the x axis.
fn histogram_outlines(densities: &[(f64, f64, f64)]) -> Vec<Vec<PlotPoint>> {
    let mut outlines: Vec<Vec<PlotPoint>> = Vec::new();
    let mut end = f64::NEG_INFINITY;
    for &(low, high, height) in densities.iter().filter(|(_, _, height)| *height > 0.0) {
        match outlines.last_mut() {
            Some(line) if low - end <= 1e-9 => line.extend([(low, height), (high, height)]),
            _ => outlines.push(vec![(low, 0.0), (low, height), (high, height)]),
        }
        end = high;
    }
    for line in &mut outlines {
        line.extend(line.last().map(|(high, _)| (*high, 0.0)));
    }
    outlines
}

impl SinglePanel for ClassHistograms {
    fn axes(&self) -> Axes<'_> {
        let highest_density = self.highest_density();
        let y = if highest_density > MAX_LINEAR_DENSITY {
            Axis::new("density (square-root scale)", 0.0, HEADROOM * highest_density).square_root_scale()
        } else {
            Axis::new("density", 0.0, HEADROOM * highest_density)
        };
        Axes::new(&self.title, Axis::from_0_to_1("prediction"), y).with_space_for_label()
    }

    fn legend_entries(&self) -> Vec<(Mark, String)> {
        let class = |class: usize| (Mark::Bar(CLASS_STROKES[class].colour), self.names[class].clone());
        let mut entries = vec![class(0), class(1)];
        if self.mark.is_some() {
            entries.push((Mark::Line(CHOSEN_STROKE), "chosen threshold".into()));
        }
        if let Some((_, name)) = self.prior_interval() {
            entries.push((Mark::Band(SKY, SUPPORT_OPACITY), name.into()));
        }
        entries
    }

    fn draw_data<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()> {
        if let Some((support, _)) = self.prior_interval() {
            panel.fill_vertical_band(SKY, SUPPORT_OPACITY, support)?;
        }
        let classes = [0, 1].map(|class| histogram_outlines(&self.densities(class)));
        // The areas of both classes are drawn before the lines of both classes, because a translucent area changes the colour of a line under it.
        for (lines, stroke) in classes.iter().zip(CLASS_STROKES) {
            lines.iter().try_for_each(|line| panel.fill_polygon(stroke.colour, CLASS_OPACITY, line))?;
        }
        for (lines, stroke) in classes.iter().zip(CLASS_STROKES) {
            lines.iter().try_for_each(|line| panel.draw_line(stroke, line))?;
        }
        panel.draw_chosen_threshold(self.mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_that_are_not_adjacent_have_separate_outlines() {
        let bins = [(0.0, 0.1, 2.0), (0.1, 0.2, 3.0), (0.2, 0.5, 0.0), (0.5, 0.6, 1.0)];
        let expected = [
            vec![(0.0, 0.0), (0.0, 2.0), (0.1, 2.0), (0.1, 3.0), (0.2, 3.0), (0.2, 0.0)],
            vec![(0.5, 0.0), (0.5, 1.0), (0.6, 1.0), (0.6, 0.0)],
        ];
        assert_eq!(histogram_outlines(&bins), expected);
        assert!(histogram_outlines(&[]).is_empty());
    }
}
