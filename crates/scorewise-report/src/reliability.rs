//! Reliability diagram: do events come as often as forecast? Below it, how many rows each point stands for.
//!
//! Bröcker, J., Smith, L. A. (2007). Increasing the reliability of reliability diagrams. Weather and Forecasting 22, 651–661.
//! doi:10.1175/WAF993.1

use plotters::prelude::DrawingBackend;

use crate::axes::{Axes, Axis};
use crate::error::{Error, Result};
use crate::legend::{BAR_COVER, DOT, Legend, Mark};
use crate::palette::{BLUE, FRAME};
use crate::panel::REFERENCE;
use crate::picture::{Area, Figure, Frame, Picture, Place, Scale};
use crate::sheet::{SQUARE, draw_strip, legend, strip};
use crate::stroke::Stroke;

/// Rows with forecasts near each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReliabilityBin {
    /// Their mean forecast.
    pub mean: f64,
    /// The share of positives among them.
    pub frequency: f64,
    /// The lower end of the 95 % interval of that share.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How many rows they are, or their weight.
    pub weight: f64,
}

/// Forecast and observed frequencies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reliability {
    /// Such as `Reliability`.
    pub title: String,
    /// In any order; those that are empty, or hold no numbers, are left out.
    pub bins: Vec<ReliabilityBin>,
    /// The share of positives among all rows.
    pub base_rate: f64,
}

/// Draws observed over forecast frequencies with their intervals, the diagonal of reliable forecasts, and the weights below.
pub fn figure_reliability(reliability: Reliability) -> Result<Picture> {
    if reliability.bins().is_empty() {
        return Err(Error::Empty);
    }
    Picture::of(reliability)
}

const DATA: Stroke = Stroke::solid(BLUE, 2.0);
const INTERVAL: Stroke = Stroke::solid(BLUE, 1.25);
const BASE_RATE: Stroke = Stroke::solid(FRAME, 0.9).dashed(2.0, 3.0);
const UPPER: Place = Place { left: 0.0, top: 0.0, width: SQUARE.0, height: SQUARE.1 };
const LOWER: Place = Place { left: 0.0, top: SQUARE.1 + 2.0, width: SQUARE.0, height: 110.0 };
/// Half of a bar's width, of the axis.
const HALF_BAR: f64 = 0.012;

impl Reliability {
    /// Those that can be drawn, from left to right.
    fn bins(&self) -> Vec<ReliabilityBin> {
        let usable = |bin: &ReliabilityBin| bin.mean.is_finite() && bin.frequency.is_finite() && bin.weight > 0.0;
        let mut bins: Vec<ReliabilityBin> = self.bins.iter().copied().filter(usable).collect();
        bins.sort_by(|one, other| one.mean.total_cmp(&other.mean));
        bins
    }

    fn upper(&self) -> Axes<'_> {
        Axes::new(&self.title, Axis::unit("mean forecast"), Axis::unit("observed frequency"))
    }

    fn lower(&self) -> Axes<'static> {
        let weights: Vec<f64> = self.bins().iter().map(|bin| bin.weight).filter(|weight| weight.is_finite()).collect();
        let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
        let most = weights.iter().copied().fold(0.0, f64::max);
        // Half of the least, so that its bar is seen too.
        Axes::continued(0.0, 1.0, Axis::new("weight (log)", 0.5 * least, 1.5 * most).log())
    }

    fn legend(&self) -> Legend {
        let keys = vec![
            (Mark::Beads(DATA), "forecasts, 95 % intervals".into()),
            (Mark::Line(REFERENCE), "reliable".into()),
            (Mark::Line(BASE_RATE), format!("base rate {:.3}", self.base_rate)),
        ];
        legend(keys, SQUARE.0)
    }

    fn draw_upper<DB: DrawingBackend>(&self, area: &Area<DB>, scale: Scale) -> Result<()> {
        let (panel, bins) = (self.upper().draw(area, UPPER, scale)?, self.bins());
        panel.level(BASE_RATE, self.base_rate)?;
        panel.upright(BASE_RATE, self.base_rate)?;
        panel.line(REFERENCE, &[(0.0, 0.0), (1.0, 1.0)])?;
        for bin in &bins {
            panel.upright_whisker(INTERVAL, bin.mean, (bin.low, bin.high))?;
        }
        let line: Vec<_> = bins.iter().map(|bin| (bin.mean, bin.frequency)).collect();
        panel.line(DATA, &line)?;
        line.into_iter().try_for_each(|point| panel.dot(BLUE, DOT, point))
    }

    fn draw_lower<DB: DrawingBackend>(&self, area: &Area<DB>, scale: Scale) -> Result<()> {
        let axes = self.lower();
        let (panel, ground) = (axes.draw(area, LOWER, scale)?, axes.y.from);
        for ReliabilityBin { mean, weight, .. } in self.bins() {
            let (from, to) = (mean - HALF_BAR, mean + HALF_BAR);
            panel.bar(BLUE, BAR_COVER, ((from, ground), (to, weight)))?;
            panel.line(Stroke::solid(BLUE, 0.75), &[(from, ground), (from, weight), (to, weight), (to, ground)])?;
        }
        Ok(())
    }
}

impl Figure for Reliability {
    fn size(&self) -> (u32, u32) {
        (SQUARE.0 as u32, (LOWER.top + LOWER.height + strip(&self.legend())) as u32)
    }

    fn frames(&self) -> Vec<Frame> {
        vec![self.upper().frame(UPPER), self.lower().frame(LOWER)]
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, scale: Scale) -> Result<()> {
        self.draw_upper(area, scale)?;
        self.draw_lower(area, scale)?;
        draw_strip(&self.legend(), area, LOWER.top + LOWER.height, scale)
    }
}
