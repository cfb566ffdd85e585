//! Performance diagram: success ratio, probability of detection, CSI and frequency bias in one picture.
//!
//! ```text
//! SR = tp/(tp + fp)        POD = tp/(tp + fn)        CSI = 1/(1/SR + 1/POD − 1)        bias = POD/SR
//! ```
//!
//! SR is the success ratio, POD the probability of detection and CSI the critical success index. Lines of equal CSI are hyperbolas, lines of equal
//! bias are rays from the origin. The upper right corner is the perfect forecast.
//!
//! Roebber, P. J. (2009). Visualizing multiple quality measures of a forecast quickly. Weather and Forecasting 24, 601–608.
//! doi:10.1175/2008WAF2222159.1

use plotters::prelude::DrawingBackend;

use crate::axes::{Axes, Axis};
use crate::curve::PlotPoint;
use crate::error::{Error, Result};
use crate::legend::Mark;
use crate::lines::{NamedLine, draw_lines, line_entries};
use crate::palette::{FRAME, INK};
use crate::panel::Panel;
use crate::picture::Picture;
use crate::single_panel::SinglePanel;
use crate::stroke::Stroke;
use crate::text::SMALL_LABEL_SIZE;

/// Data of a performance diagram: lines of forecasts over all thresholds, and the chosen threshold as a point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Performance {
    /// Title of the figure, such as `Performance diagram`.
    pub title: String,
    /// One line per forecast: success ratio (precision) as x and probability of detection (recall) as y.
    pub lines: Vec<NamedLine>,
    /// Success ratio and probability of detection at the chosen threshold.
    pub mark: Option<(f64, f64)>,
    /// 95 % intervals of success ratio and probability of detection at the chosen threshold.
    pub whiskers: Option<((f64, f64), (f64, f64))>,
}

/// Draws the forecasts, with lines of equal critical success index (CSI) and of equal frequency bias in the background.
pub fn figure_performance(performance: Performance) -> Result<Picture> {
    if performance.mark.is_none() && performance.lines.iter().all(|line| line.segments().is_empty()) {
        return Err(Error::Empty);
    }
    Picture::new(performance)
}

/// Style of the lines of equal critical success index (CSI).
const CSI_STROKE: Stroke = Stroke::solid(FRAME, 0.8);
/// Style of the rays of equal frequency bias.
const BIAS_STROKE: Stroke = Stroke::solid(FRAME, 0.8).dashed(4.0, 3.5);
/// Style of the error bars at the chosen threshold.
const WHISKER_STROKE: Stroke = Stroke::solid(INK, 1.25);
/// The frequency biases for which a ray is drawn and labelled.
const LABELLED_BIASES: [f64; 10] = [0.3, 0.5, 0.8, 1.0, 1.3, 1.5, 2.0, 3.0, 5.0, 10.0];
/// The success ratio (x position) of the labels on the lines of equal CSI.
const CSI_LABEL_SUCCESS_RATIO: f64 = 0.955;
/// Distance from the origin at which the rays of equal bias start, as a fraction of their length. Nearer to the origin they would merge into a
/// blot.
const RAY_START: f64 = 0.03;
/// Space for the labels of the bias, to the right of the plotting area, in pixels.
const BIAS_LABEL_SPACE: f64 = 14.0;

/// The probability of detection at which a forecast with this success ratio has this CSI.
fn detection_probability(csi: f64, success: f64) -> f64 {
    1.0 / (1.0 / csi + 1.0 - 1.0 / success)
}

/// The line of equal CSI. It runs from the upper border of the diagram, where the success ratio is equal to the CSI, to the right border, where
/// the probability of detection is equal to the CSI.
fn csi_isoline(csi: f64) -> Vec<PlotPoint> {
    let from_csi_to_1 = |step: i32| csi + (1.0 - csi) * (f64::from(step) / 200.0);
    // The upper half of the line is steep. With equal steps of the success ratio (x), it would look ragged, so it is drawn with equal steps
    // of the probability of detection (y).
    let upper = (0..200)
        .map(|step| (detection_probability(csi, 1.0 - from_csi_to_1(step) + csi), 1.0 - from_csi_to_1(step) + csi));
    let lower = (0..=200).map(|step| (from_csi_to_1(step), detection_probability(csi, from_csi_to_1(step))));
    let middle = 2.0 * csi / (1.0 + csi); // where SR = POD
    upper.filter(|(_, pod)| *pod > middle).chain(lower.filter(|(success, _)| *success >= middle)).collect()
}

/// Draws the lines of equal CSI and the rays of equal frequency bias, with their values.
fn draw_isolines<DB: DrawingBackend>(panel: &Panel<'_, DB>) -> Result<()> {
    for bias in LABELLED_BIASES {
        // The ray of equal bias ends at the upper border, or at the right border if the bias is below 1.
        let end = if bias < 1.0 { (1.0, bias) } else { (1.0 / bias, 1.0) };
        let start = (RAY_START * end.0, RAY_START * end.1);
        panel.draw_line(BIAS_STROKE, &[start, end])?;
        panel.draw_label_near(
            &format!("{bias}"),
            SMALL_LABEL_SIZE,
            end,
            if bias < 1.0 { (13.0, 0.0) } else { (0.0, -8.0) },
        )?;
    }
    for tenth in 1..10 {
        let csi = f64::from(tenth) / 10.0;
        panel.draw_line(CSI_STROKE, &csi_isoline(csi))?;
    }
    for tenth in 1..10 {
        let csi = f64::from(tenth) / 10.0;
        let success_ratio = CSI_LABEL_SUCCESS_RATIO.max(csi + 0.5 * (1.0 - csi));
        panel.draw_label_on_background(
            &format!("{csi}"),
            SMALL_LABEL_SIZE,
            (success_ratio, detection_probability(csi, success_ratio)),
        )?;
    }
    Ok(())
}

impl SinglePanel for Performance {
    fn panel_size(&self) -> (f64, f64) {
        (438.0, 436.0)
    }

    fn axes(&self) -> Axes<'_> {
        let (x, y) =
            (Axis::from_0_to_1("success ratio (precision)"), Axis::from_0_to_1("probability of detection (recall)"));
        Axes::new(&self.title, x, y).with_space_for_label().with_space_right(BIAS_LABEL_SPACE)
    }

    fn legend_entries(&self) -> Vec<(Mark, String)> {
        let mut entries = line_entries(&self.lines);
        if self.mark.is_some() {
            entries.push((Mark::Dot(INK), "chosen threshold".into()));
            entries.extend(self.whiskers.map(|_| (Mark::Whisker(WHISKER_STROKE), "95 % intervals".into())));
        }
        entries.push((Mark::Line(CSI_STROKE), "critical success index".into()));
        entries.push((Mark::Line(BIAS_STROKE), "frequency bias".into()));
        entries
    }

    fn draw_data<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()> {
        draw_isolines(panel)?;
        draw_lines(&self.lines, panel)?;
        if let (Some((success, detection)), Some((success_interval, detection_interval))) = (self.mark, self.whiskers) {
            panel.draw_horizontal_whisker(WHISKER_STROKE, detection, success_interval)?;
            panel.draw_vertical_whisker(WHISKER_STROKE, success, detection_interval)?;
        }
        panel.draw_chosen_point(self.mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isolines_have_constant_csi_from_border_to_border() {
        for csi in [0.1, 0.5, 0.9] {
            let line = csi_isoline(csi);
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
