//! The distribution of a score under a random threshold, with the mean of the score and the value that training maximises.
//!
//! Let τ be the random threshold, CM(τ) the confusion matrix at this threshold, and s the score.
//!
//! ```text
//! F(x) = P(s(CM(τ)) ≤ x)        E[s(CM(τ))]: the mean score        s(E[CM(τ)]): the value that training maximises
//! ```

use plotters::prelude::DrawingBackend;

use crate::axes::{Axes, Axis};
use crate::curve::PlotPoint;
use crate::error::{Error, Result};
use crate::legend::Mark;
use crate::palette::{BLUE, GREEN, VERMILLION};
use crate::panel::Panel;
use crate::picture::Picture;
use crate::single_panel::SinglePanel;
use crate::stroke::Stroke;

/// The distribution of a score when the threshold is random and has the distribution of its prior.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoreDistributionFigure {
    /// Title of the figure, such as `The score under a random threshold`.
    pub title: String,
    /// Name of the score.
    pub score: String,
    /// Points (x, F(x)) of the distribution function, in increasing order of x.
    pub steps: Vec<(f64, f64)>,
    /// The expected score, `E[s]`.
    pub expected_score: f64,
    /// The score of the expected confusion matrix, `s(E[CM])`.
    pub score_of_expectation: f64,
}

/// Draws the distribution function as a step function; the expected score and the score of the expected confusion matrix are vertical
/// lines.
pub fn figure_score_distribution(distribution: ScoreDistributionFigure) -> Result<Picture> {
    if distribution.finite_steps().is_empty() {
        return Err(Error::Empty);
    }
    Picture::new(distribution)
}

/// Style of the distribution function.
const DISTRIBUTION_STROKE: Stroke = Stroke::solid(BLUE, 2.0);
/// Style of the vertical line at the expected score.
const EXPECTED_SCORE_STROKE: Stroke = Stroke::solid(VERMILLION, 1.75).dashed(7.0, 4.0);
/// Style of the vertical line at the score of the expected confusion matrix.
const SCORE_OF_EXPECTATION_STROKE: Stroke = Stroke::solid(GREEN, 1.75).dashed(2.0, 2.5);
/// Margin on both sides of the x axis, as a fraction of the range of the score.
const X_MARGIN: f64 = 0.05;

impl ScoreDistributionFigure {
    /// The points of the distribution function with finite coordinates, in increasing order.
    fn finite_steps(&self) -> Vec<PlotPoint> {
        let mut steps: Vec<PlotPoint> =
            self.steps.iter().copied().filter(|(x, p)| x.is_finite() && p.is_finite()).collect();
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        steps
    }

    /// The range of the x axis: all values of the score, both vertical lines, and the margins.
    fn x_range(&self) -> (f64, f64) {
        let means = [self.expected_score, self.score_of_expectation].into_iter().filter(|mean| mean.is_finite());
        let values: Vec<f64> = self.finite_steps().into_iter().map(|(x, _)| x).chain(means).collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let margin = X_MARGIN * (high - low);
        (low - margin, high + margin)
    }

    /// The distribution function as a line, from the left to the right end of the x axis.
    fn step_line(&self) -> Vec<PlotPoint> {
        let axis = self.axes().x;
        let mut line = vec![(axis.from, 0.0)];
        for (x, probability) in self.finite_steps() {
            line.extend([(x, line[line.len() - 1].1), (x, probability)]);
        }
        line.push((axis.to, line[line.len() - 1].1));
        line
    }
}

impl SinglePanel for ScoreDistributionFigure {
    fn axes(&self) -> Axes<'_> {
        let (low, high) = self.x_range();
        Axes::new(&self.title, Axis::new(&*self.score, low, high), Axis::new("cumulative probability", 0.0, 1.03))
    }

    fn legend_entries(&self) -> Vec<(Mark, String)> {
        vec![
            (Mark::Line(DISTRIBUTION_STROKE), "distribution function".into()),
            (Mark::Line(EXPECTED_SCORE_STROKE), format!("E[s] = {:.3}", self.expected_score)),
            (Mark::Line(SCORE_OF_EXPECTATION_STROKE), format!("s(E[CM]) = {:.3}", self.score_of_expectation)),
        ]
    }

    fn draw_data<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()> {
        panel.draw_line(DISTRIBUTION_STROKE, &self.step_line())?;
        panel.draw_vertical_line(EXPECTED_SCORE_STROKE, self.expected_score)?;
        panel.draw_vertical_line(SCORE_OF_EXPECTATION_STROKE, self.score_of_expectation)
    }
}
