//! The paper's Figure 1: priors of the threshold, density on the left, distribution function on the right.

use plotters::prelude::DrawingBackend;
use scorewise::Prior;

use crate::axes::{Axes, Axis};
use crate::curve::{cumulative, density_below, peak};
use crate::error::{Error, Result};
use crate::legend::{Legend, Mark};
use crate::picture::{Area, Figure, Frame, Picture, Place, Scale};
use crate::stroke::Stroke;

/// A prior and what the legend calls it.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedPrior {
    /// Such as `μ = 0.5, δ = 0.2`.
    pub name: String,
    /// The prior.
    pub prior: Prior,
}

/// One row of the figure: priors that are to be compared with each other.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorRow {
    /// Such as `Raised cosine`.
    pub title: String,
    /// At least one; a legend is drawn for two and more.
    pub priors: Vec<NamedPrior>,
}

/// Draws f on the left and F on the right, a row for each of `rows`.
pub fn figure_priors(rows: &[PriorRow]) -> Result<Picture> {
    if rows.is_empty() {
        return Err(Error::Empty);
    }
    if let Some(row) = rows.iter().find(|row| row.priors.is_empty()) {
        return Err(Error::NoPrior { panel: row.title.clone() });
    }
    Picture::of(Priors { rows: rows.to_vec() })
}

struct Priors {
    rows: Vec<PriorRow>,
}

const WIDTH: f64 = 840.0;
const PANEL_HEIGHT: f64 = 260.0;
const MARGIN: f64 = 8.0;
/// Above the highest value, as a share of it.
const HEADROOM: f64 = 0.08;

impl Figure for Priors {
    fn size(&self) -> (u32, u32) {
        let rows: f64 = self.rows.iter().map(row_height).sum();
        (WIDTH as u32, (rows + 2.0 * MARGIN) as u32)
    }

    fn frames(&self) -> Vec<Frame> {
        let both =
            |(row, [left, right]): (&PriorRow, [Place; 2])| [densities(row).frame(left), cumulatives(row).frame(right)];
        self.rows.iter().zip(self.places()).flat_map(both).collect()
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, scale: Scale) -> Result<()> {
        for (row, [left, right]) in self.rows.iter().zip(self.places()) {
            draw_densities(row, area, left, scale)?;
            draw_cumulatives(row, area, right, scale)?;
            if let Some(legend) = legend(row) {
                let top = left.top + PANEL_HEIGHT + 0.5 * MARGIN;
                let strip = Place { left: MARGIN, top, width: WIDTH - 2.0 * MARGIN, height: legend.height() };
                legend.draw(&strip.on(area, scale), scale)?;
            }
        }
        Ok(())
    }
}

impl Priors {
    /// The places of f and F, row by row.
    fn places(&self) -> Vec<[Place; 2]> {
        let (width, mut top) = (0.5 * WIDTH, MARGIN);
        let mut places = Vec::new();
        for row in &self.rows {
            places.push([0.0, width].map(|left| Place { left, top, width, height: PANEL_HEIGHT }));
            top += row_height(row);
        }
        places
    }
}

fn legend(row: &PriorRow) -> Option<Legend> {
    let key = |(number, prior): (usize, &NamedPrior)| (Mark::Line(Stroke::of_line(number)), prior.name.clone());
    let keys = row.priors.iter().enumerate().map(key).collect();
    (row.priors.len() > 1).then_some(Legend { keys, width: WIDTH - 2.0 * MARGIN })
}

fn row_height(row: &PriorRow) -> f64 {
    PANEL_HEIGHT + legend(row).map_or(0.0, |legend| legend.height() + MARGIN)
}

fn densities(row: &PriorRow) -> Axes<'_> {
    let peak = row.priors.iter().map(|named| peak(&named.prior)).fold(0.0, f64::max);
    let y = Axis::new("density f(τ)", 0.0, peak * (1.0 + HEADROOM));
    Axes::new(&row.title, Axis::unit("threshold τ"), y)
}

fn cumulatives(row: &PriorRow) -> Axes<'_> {
    let y = Axis::new("probability F(τ)", 0.0, 1.0 + HEADROOM);
    Axes::new(&row.title, Axis::unit("threshold τ"), y)
}

fn draw_densities<DB: DrawingBackend>(row: &PriorRow, area: &Area<DB>, place: Place, scale: Scale) -> Result<()> {
    let axes = densities(row);
    let panel = axes.draw(area, place, scale)?;
    for (number, named) in row.priors.iter().enumerate() {
        for line in density_below(&named.prior, axes.y.to) {
            panel.line(Stroke::of_line(number), &line)?;
        }
    }
    Ok(())
}

fn draw_cumulatives<DB: DrawingBackend>(row: &PriorRow, area: &Area<DB>, place: Place, scale: Scale) -> Result<()> {
    let axes = cumulatives(row);
    let panel = axes.draw(area, place, scale)?;
    for (number, named) in row.priors.iter().enumerate() {
        panel.line(Stroke::of_line(number), &cumulative(&named.prior))?;
    }
    Ok(())
}
