//! The law of a score whose threshold is random: how often the score stays below a value, and two means that differ.
//!
//! ```text
//! F(x) = P(s(CM(τ)) ≤ x)        E[s(CM(τ))] is what a user gets on average        s(E[CM(τ)]) is what the loss maximises
//! ```

use plotters::prelude::DrawingBackend;

use crate::axes::{Axes, Axis};
use crate::curve::Point;
use crate::error::{Error, Result};
use crate::legend::Mark;
use crate::palette::{BLUE, GREEN, VERMILLION};
use crate::panel::Panel;
use crate::picture::Picture;
use crate::sheet::Sheet;
use crate::stroke::Stroke;

/// The distribution of a score under the prior of its threshold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoreLaw {
    /// Such as `The score under a random threshold`.
    pub title: String,
    /// The score's name.
    pub score: String,
    /// Values of the score in rising order, each with the probability of this value or less.
    pub steps: Vec<(f64, f64)>,
    /// The score's expectation, `E[s]`.
    pub expected_score: f64,
    /// The score of the expected confusion, `s(E[CM])`.
    pub score_of_expectation: f64,
}

/// Draws the distribution function as steps, and both means as upright lines.
pub fn figure_law(law: ScoreLaw) -> Result<Picture> {
    if law.steps().is_empty() {
        return Err(Error::Empty);
    }
    Picture::of(law)
}

const LAW: Stroke = Stroke::solid(BLUE, 2.0);
const EXPECTED: Stroke = Stroke::solid(VERMILLION, 1.75).dashed(7.0, 4.0);
const OF_EXPECTATION: Stroke = Stroke::solid(GREEN, 1.75).dashed(2.0, 2.5);
/// To both sides, as a share of the width.
const SIDE: f64 = 0.05;

impl ScoreLaw {
    fn steps(&self) -> Vec<Point> {
        let mut steps: Vec<Point> =
            self.steps.iter().copied().filter(|(x, p)| x.is_finite() && p.is_finite()).collect();
        steps.sort_by(|one, other| one.0.total_cmp(&other.0));
        steps
    }

    fn range(&self) -> (f64, f64) {
        let means = [self.expected_score, self.score_of_expectation].into_iter().filter(|mean| mean.is_finite());
        let values: Vec<f64> = self.steps().into_iter().map(|(x, _)| x).chain(means).collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let side = SIDE * (high - low);
        (low - side, high + side)
    }

    /// From the left border at 0 to the right border, upright at every value.
    fn stairs(&self) -> Vec<Point> {
        let axis = self.axes().x;
        let mut line = vec![(axis.from, 0.0)];
        for (x, probability) in self.steps() {
            line.extend([(x, line[line.len() - 1].1), (x, probability)]);
        }
        line.push((axis.to, line[line.len() - 1].1));
        line
    }
}

impl Sheet for ScoreLaw {
    fn axes(&self) -> Axes<'_> {
        let (low, high) = self.range();
        Axes::new(&self.title, Axis::new(&*self.score, low, high), Axis::new("probability of this or less", 0.0, 1.03))
    }

    fn keys(&self) -> Vec<(Mark, String)> {
        vec![
            (Mark::Line(LAW), "distribution function".into()),
            (Mark::Line(EXPECTED), format!("E[s] = {:.3}", self.expected_score)),
            (Mark::Line(OF_EXPECTATION), format!("s(E[CM]) = {:.3}", self.score_of_expectation)),
        ]
    }

    fn draw_data<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()> {
        panel.line(LAW, &self.stairs())?;
        panel.upright(EXPECTED, self.expected_score)?;
        panel.upright(OF_EXPECTATION, self.score_of_expectation)
    }
}
