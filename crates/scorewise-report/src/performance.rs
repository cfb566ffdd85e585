//! The performance diagram: four measures of a forecast of events in one picture.
//!
//! ```text
//! SR = tp/(tp + fp)        POD = tp/(tp + fn)        CSI = 1/(1/SR + 1/POD − 1)        bias = POD/SR
//! ```
//!
//! Lines of equal CSI are hyperbolas, lines of equal bias rays from the origin; the perfect forecast is the upper right corner.
//!
//! Roebber, P. J. (2009). Visualizing multiple quality measures of a forecast quickly. Weather and Forecasting 24, 601–608.
//! doi:10.1175/2008WAF2222159.1

use plotters::prelude::DrawingBackend;

use crate::axes::{Axes, Axis};
use crate::curve::Point;
use crate::error::{Error, Result};
use crate::legend::Mark;
use crate::lines::{NamedLine, draw_lines, line_keys};
use crate::palette::{FRAME, INK};
use crate::panel::Panel;
use crate::picture::Picture;
use crate::sheet::Sheet;
use crate::stroke::Stroke;
use crate::text::TINY;

/// Forecasts to be compared, as points or lines of the diagram.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Performance {
    /// Such as `Performance diagram`.
    pub title: String,
    /// Success ratio, which is precision, and probability of detection, which is recall.
    pub lines: Vec<NamedLine>,
    /// Success ratio and probability of detection at the chosen threshold.
    pub mark: Option<(f64, f64)>,
    /// 95 % intervals of success ratio and of probability of detection around the mark.
    pub whiskers: Option<((f64, f64), (f64, f64))>,
}

/// Draws the lines over those of equal critical success index and equal frequency bias.
pub fn figure_performance(performance: Performance) -> Result<Picture> {
    if performance.mark.is_none() && performance.lines.iter().all(|line| line.stretches().is_empty()) {
        return Err(Error::Empty);
    }
    Picture::of(performance)
}

const CSI: Stroke = Stroke::solid(FRAME, 0.8);
const BIAS: Stroke = Stroke::solid(FRAME, 0.8).dashed(4.0, 3.5);
const WHISKERS: Stroke = Stroke::solid(INK, 1.25);
const BIASES: [f64; 10] = [0.3, 0.5, 0.8, 1.0, 1.3, 1.5, 2.0, 3.0, 5.0, 10.0];
/// The success ratio at which a line of equal CSI carries its number.
const NUMBERED_AT: f64 = 0.955;
/// Where rays begin, of their length: at the origin itself they would run into one blot.
const NEAR: f64 = 0.03;
/// Room for the numbers of the bias to the right of the data.
const BESIDE: f64 = 14.0;

/// POD on the line of this CSI.
fn detection(csi: f64, success: f64) -> f64 {
    1.0 / (1.0 / csi + 1.0 - 1.0 / success)
}

/// From the upper border, where SR is the CSI itself, to the right border, where POD is.
fn isoline(csi: f64) -> Vec<Point> {
    let place = |step: i32| csi + (1.0 - csi) * (f64::from(step) / 200.0);
    // Even steps of SR would leave the steep upper end ragged; even steps of POD do the other half.
    let upper = (0..200).map(|step| (detection(csi, 1.0 - place(step) + csi), 1.0 - place(step) + csi));
    let lower = (0..=200).map(|step| (place(step), detection(csi, place(step))));
    let middle = 2.0 * csi / (1.0 + csi); // where SR = POD
    upper.filter(|(_, pod)| *pod > middle).chain(lower.filter(|(success, _)| *success >= middle)).collect()
}

fn draw_isolines<DB: DrawingBackend>(panel: &Panel<'_, DB>) -> Result<()> {
    for bias in BIASES {
        // The ray leaves through the top or, below bias 1, to the right.
        let end = if bias < 1.0 { (1.0, bias) } else { (1.0 / bias, 1.0) };
        let start = (NEAR * end.0, NEAR * end.1);
        panel.line(BIAS, &[start, end])?;
        panel.beside(&format!("{bias}"), TINY, end, if bias < 1.0 { (13.0, 0.0) } else { (0.0, -8.0) })?;
    }
    for tenth in 1..10 {
        let csi = f64::from(tenth) / 10.0;
        panel.line(CSI, &isoline(csi))?;
    }
    for tenth in 1..10 {
        let csi = f64::from(tenth) / 10.0;
        let at = NUMBERED_AT.max(csi + 0.5 * (1.0 - csi));
        panel.words(&format!("{csi}"), TINY, (at, detection(csi, at)))?;
    }
    Ok(())
}

impl Sheet for Performance {
    fn panel(&self) -> (f64, f64) {
        (438.0, 436.0)
    }

    fn axes(&self) -> Axes<'_> {
        let (x, y) = (Axis::unit("success ratio (precision)"), Axis::unit("probability of detection (recall)"));
        Axes::new(&self.title, x, y).with_flags().with_right(BESIDE)
    }

    fn keys(&self) -> Vec<(Mark, String)> {
        let mut keys = line_keys(&self.lines);
        if self.mark.is_some() {
            keys.push((Mark::Dot(INK), "chosen threshold".into()));
            keys.extend(self.whiskers.map(|_| (Mark::Whisker(WHISKERS), "95 % intervals".into())));
        }
        keys.push((Mark::Line(CSI), "critical success index".into()));
        keys.push((Mark::Line(BIAS), "frequency bias".into()));
        keys
    }

    fn draw_data<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()> {
        draw_isolines(panel)?;
        draw_lines(&self.lines, panel)?;
        if let (Some((success, detection)), Some((across, up))) = (self.mark, self.whiskers) {
            panel.whisker(WHISKERS, detection, across)?;
            panel.upright_whisker(WHISKERS, success, up)?;
        }
        panel.chosen_point(self.mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isolines_hold_their_csi_from_border_to_border() {
        for csi in [0.1, 0.5, 0.9] {
            let line = isoline(csi);
            for (success, pod) in &line {
                assert!((1.0 / (1.0 / success + 1.0 / pod - 1.0) - csi).abs() < 1e-12, "{success} {pod}");
            }
            assert!(line.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1), "{csi}");
            let (first, last) = (line[0], line[line.len() - 1]);
            assert!((first.0 - csi).abs() < 1e-12 && (first.1 - 1.0).abs() < 1e-12);
            assert!((last.0 - 1.0).abs() < 1e-12 && (last.1 - csi).abs() < 1e-12);
        }
    }
}
