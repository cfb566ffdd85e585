//! Predictions of both classes: how well they are apart, and whether the prior's support lies between them.
//!
//! ```text
//! height of a bin = weight / (weight of the class · width of the bin)        so that the area of each class is 1
//! ```

use plotters::prelude::DrawingBackend;
use scorewise::Prior;

use crate::axes::{Axes, Axis};
use crate::curve::Point;
use crate::error::{Error, Result};
use crate::legend::Mark;
use crate::palette::{BLUE, SKY, VERMILLION};
use crate::panel::{CHOSEN, Panel};
use crate::picture::Picture;
use crate::sheet::Sheet;
use crate::stroke::Stroke;

/// The rows whose prediction lies between `low` and `high`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassBin {
    /// Where the bin begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// The weight of its positive rows.
    pub positives: f64,
    /// The weight of its negative rows.
    pub negatives: f64,
}

/// Predictions of both classes, counted in bins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Classes {
    /// Such as `Predictions by class`.
    pub title: String,
    /// Bins beside each other in [0, 1]; those without width are left out.
    pub bins: Vec<ClassBin>,
    /// What the threshold was drawn from in training.
    pub prior: Option<Prior>,
    /// The chosen threshold.
    pub mark: Option<f64>,
    /// What the legend calls the negative and the positive class.
    pub names: [String; 2],
}

/// Draws the density of the predictions of each class, negatives and positives, over the prior's support.
pub fn figure_classes(classes: Classes) -> Result<Picture> {
    if (0..2).all(|class| classes.heights(class).is_empty()) {
        return Err(Error::Empty);
    }
    Picture::of(classes)
}

const COLOURS: [Stroke; 2] = [Stroke::solid(BLUE, 1.75), Stroke::solid(VERMILLION, 1.75)];
const COVER: f64 = 0.18;
const SUPPORT_COVER: f64 = 0.22;
/// A bin this many times as high as the mean density, which is 1, would press all others to the ground: roots lift them.
const SPIKE: f64 = 8.0;
const HEADROOM: f64 = 1.05;

impl Classes {
    /// Begin, end and density of each bin of a class, 0 negative or 1 positive, from left to right; empty without rows.
    fn heights(&self, class: usize) -> Vec<(f64, f64, f64)> {
        let weight = |bin: &ClassBin| [bin.negatives, bin.positives][class];
        let usable = |bin: &&ClassBin| {
            bin.high > bin.low && (bin.high - bin.low).is_finite() && weight(bin).is_finite() && weight(bin) >= 0.0
        };
        let mut bins: Vec<&ClassBin> = self.bins.iter().filter(usable).collect();
        bins.sort_by(|one, other| one.low.total_cmp(&other.low));
        let total: f64 = bins.iter().map(|bin| weight(bin)).sum();
        if total > 0.0 {
            bins.into_iter().map(|bin| (bin.low, bin.high, weight(bin) / (total * (bin.high - bin.low)))).collect()
        } else {
            Vec::new()
        }
    }

    fn tallest(&self) -> f64 {
        (0..2).flat_map(|class| self.heights(class)).map(|(_, _, height)| height).fold(0.0, f64::max)
    }

    /// The prior's support, or where that is all of [0, 1], what lies between its outer fortieths; and what it is called.
    fn support(&self) -> Option<((f64, f64), &'static str)> {
        self.prior.as_ref().map(|prior| match prior.support() {
            (low, high) if low <= 0.0 && high >= 1.0 => {
                ((prior.quantile(0.025), prior.quantile(0.975)), "95 % of the prior")
            }
            support => (support, "support of the prior"),
        })
    }
}

/// The outlines of bins that touch each other, from the ground to the ground; empty bins have none.
fn outlines(heights: &[(f64, f64, f64)]) -> Vec<Vec<Point>> {
    let mut outlines: Vec<Vec<Point>> = Vec::new();
    let mut end = f64::NEG_INFINITY;
    for &(low, high, height) in heights.iter().filter(|(_, _, height)| *height > 0.0) {
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

impl Sheet for Classes {
    fn axes(&self) -> Axes<'_> {
        let tallest = self.tallest();
        let y = if tallest > SPIKE {
            Axis::new("density (square-root scale)", 0.0, HEADROOM * tallest).root()
        } else {
            Axis::new("density", 0.0, HEADROOM * tallest)
        };
        Axes::new(&self.title, Axis::unit("prediction"), y).with_flags()
    }

    fn keys(&self) -> Vec<(Mark, String)> {
        let class = |class: usize| (Mark::Bar(COLOURS[class].colour), self.names[class].clone());
        let mut keys = vec![class(0), class(1)];
        if self.mark.is_some() {
            keys.push((Mark::Line(CHOSEN), "chosen threshold".into()));
        }
        if let Some((_, name)) = self.support() {
            keys.push((Mark::Band(SKY, SUPPORT_COVER), name.into()));
        }
        keys
    }

    fn draw_data<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()> {
        if let Some((support, _)) = self.support() {
            panel.band(SKY, SUPPORT_COVER, support)?;
        }
        let classes = [0, 1].map(|class| outlines(&self.heights(class)));
        // Both areas first: a line that is covered looks like one of another colour.
        for (lines, stroke) in classes.iter().zip(COLOURS) {
            lines.iter().try_for_each(|line| panel.fill(stroke.colour, COVER, line))?;
        }
        for (lines, stroke) in classes.iter().zip(COLOURS) {
            lines.iter().try_for_each(|line| panel.line(stroke, line))?;
        }
        panel.chosen(self.mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_goes_down_between_bins_that_do_not_touch() {
        let bins = [(0.0, 0.1, 2.0), (0.1, 0.2, 3.0), (0.2, 0.5, 0.0), (0.5, 0.6, 1.0)];
        let expected = [
            vec![(0.0, 0.0), (0.0, 2.0), (0.1, 2.0), (0.1, 3.0), (0.2, 3.0), (0.2, 0.0)],
            vec![(0.5, 0.0), (0.5, 1.0), (0.6, 1.0), (0.6, 0.0)],
        ];
        assert_eq!(outlines(&bins), expected);
        assert!(outlines(&[]).is_empty());
    }
}
