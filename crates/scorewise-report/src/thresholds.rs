//! The paper's Figure 2: where the best thresholds of many trainings fell, under the prior they were trained with.

use plotters::element::Rectangle;
use plotters::prelude::DrawingBackend;
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, WHITE};
use scorewise::{Prior, Spread};

use crate::axes::{Axes, Panel, Stroke};
use crate::curve::{density_below, peak};
use crate::error::{Error, Result};
use crate::histogram::{Histogram, bars_for};
use crate::layout;
use crate::legend::{BAR_COVER, Legend, Mark, WHISKER_END};
use crate::palette::{BLUE, VERMILLION};
use crate::picture::{Area, Figure, Picture, Scale, render};
use crate::text::{SMALL, text, width};

/// One panel: a prior, and the best threshold of every training with it that succeeded.
#[derive(Clone, Debug, PartialEq)]
pub struct Thresholds {
    /// Such as `Raised cosine: μ = 0.5, δ = 0.1`.
    pub title: String,
    /// What the threshold was drawn from.
    pub prior: Prior,
    /// The best thresholds τ*, in [0, 1]; none where every training got stuck.
    pub thresholds: Vec<f64>,
}

/// Draws the density of each prior (dashed) over the histogram of its thresholds (area 1), with their mean and deviation.
///
/// Panels stand in rows of at most three (four beyond a dozen); a short row comes first.
pub fn figure_thresholds(panels: &[Thresholds]) -> Result<Picture> {
    if panels.is_empty() {
        return Err(Error::Empty);
    }
    for panel in panels {
        if let Some((row, &value)) =
            panel.thresholds.iter().enumerate().find(|(_, value)| !(0.0..=1.0).contains(*value))
        {
            return Err(Error::Threshold { panel: panel.title.clone(), row, value });
        }
    }
    render(&Panels { panels })
}

struct Panels<'a> {
    panels: &'a [Thresholds],
}

const PANEL: (u32, u32) = (320, 250);
const MARGIN: f64 = 8.0;
const PRIOR: Stroke = Stroke { colour: BLUE, width: 2.0, dash: Some((6.0, 3.5)) };
const MEAN: Stroke = Stroke { colour: VERMILLION, width: 2.0, dash: None };
/// Of the panel's height, from below: the data, the whisker above it, and above that the numbers.
const DATA: f64 = 0.76;
const WHISKER: f64 = 0.82;

impl Panels<'_> {
    fn legend(&self) -> Legend<'static> {
        Legend {
            keys: vec![
                (Mark::Line(PRIOR), "prior density f"),
                (Mark::Bar(VERMILLION), "best thresholds τ*"),
                (Mark::Whisker(MEAN), "mean ± deviation"),
            ],
            width: f64::from(self.width()) - 2.0 * MARGIN,
        }
    }

    fn width(&self) -> u32 {
        PANEL.0 * layout::columns(self.panels.len()) as u32
    }
}

impl Figure for Panels<'_> {
    fn size(&self) -> (u32, u32) {
        let strip = self.legend().height() + 2.0 * MARGIN;
        (self.width(), PANEL.1 * layout::rows(self.panels.len()) as u32 + strip as u32)
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, scale: Scale) -> Result<()> {
        let (wide, high) = (PANEL.0 * scale.0, PANEL.1 * scale.0);
        for (panel, (row, half_column)) in self.panels.iter().zip(layout::places(self.panels.len())) {
            let (left, top) = (half_column as i32 * wide as i32 / 2, row as i32 * high as i32);
            panel.draw(&area.clone().shrink((left, top), (wide, high)), scale)?;
        }
        let bottom = high as i32 * layout::rows(self.panels.len()) as i32;
        let strip = area.clone().shrink((0, bottom + scale.units(MARGIN)), area.dim_in_pixel());
        self.legend().draw(&strip, scale)
    }
}

impl Thresholds {
    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, scale: Scale) -> Result<()> {
        let histogram = Histogram::of(&self.thresholds, bars_for(&self.thresholds));
        let top = histogram.peak().max(peak(&self.prior)) / DATA;
        let panel = Axes { title: &self.title, x: "threshold τ", y: "density", top }.draw(area, scale)?;

        for (low, high, height) in histogram.bars() {
            let bar = Rectangle::new([(low, height), (high, 0.0)], VERMILLION.mix(BAR_COVER).filled());
            panel.plotting_area().draw(&bar)?;
            let outline = [(low, 0.0), (low, height), (high, height), (high, 0.0)];
            Stroke::solid(VERMILLION, 0.75).draw(&panel, &outline, scale)?;
        }
        for line in density_below(&self.prior, DATA * top) {
            PRIOR.draw(&panel, &line, scale)?;
        }
        let spread = Spread::of(&self.thresholds);
        if let Some(spread) = spread {
            draw_spread(spread, &panel, top, scale)?;
        }
        write_corner(&in_words(spread), &panel.plotting_area().strip_coord_spec(), scale)
    }
}

/// The mean as an upright line, the deviation as a whisker to both sides, which ends without its bar where it leaves [0, 1].
fn draw_spread<DB: DrawingBackend>(spread: Spread, panel: &Panel<'_, DB>, top: f64, scale: Scale) -> Result<()> {
    let (mean, y) = (spread.mean, WHISKER * top);
    let high = panel.plotting_area().dim_in_pixel().1;
    let half = WHISKER_END * scale.factor() * top / f64::from(high);
    MEAN.draw(panel, &[(mean, 0.0), (mean, y + half)], scale)?;
    let Some(deviation) = spread.deviation else { return Ok(()) };
    let (low, high) = (mean - deviation, mean + deviation);
    MEAN.draw(panel, &[(low.max(0.0), y), (high.min(1.0), y)], scale)?;
    for end in [low, high].into_iter().filter(|end| (0.0..=1.0).contains(end)) {
        MEAN.draw(panel, &[(end, y - half), (end, y + half)], scale)?;
    }
    Ok(())
}

/// Words in the upper left corner, where the axes leave room above the data; the grid stops behind them.
fn write_corner<DB: DrawingBackend>(words: &str, area: &Area<DB>, scale: Scale) -> Result<()> {
    let style = text(scale, SMALL, HPos::Left, VPos::Center);
    let (left, middle, half) = (scale.units(6.0), scale.units(10.0), scale.units(8.0));
    let right = left + width(&style, words) + scale.units(3.0);
    area.draw(&Rectangle::new([(scale.units(3.0), middle - half), (right, middle + half)], WHITE.filled()))?;
    area.draw_text(words, &style, (left, middle))?;
    Ok(())
}

fn in_words(spread: Option<Spread>) -> String {
    match spread {
        None => "no training succeeded".into(),
        Some(Spread { mean, deviation: None }) => format!("mean {mean:.2}, one training"),
        Some(Spread { mean, deviation: Some(deviation) }) => format!("mean {mean:.2}, deviation {deviation:.2}"),
    }
}
