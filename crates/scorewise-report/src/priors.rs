//! The paper's Figure 1: priors of the threshold, density on the left, distribution function on the right.

use plotters::prelude::DrawingBackend;
use scorewise::Prior;

use crate::axes::{Axes, Stroke};
use crate::curve::{cumulative, density_below, peak};
use crate::error::{Error, Result};
use crate::legend::{Legend, Mark};
use crate::palette::LINES;
use crate::picture::{Area, Figure, Picture, Scale, render};

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
    render(&Priors { rows })
}

struct Priors<'a> {
    rows: &'a [PriorRow],
}

const WIDTH: u32 = 840;
const PANEL_HEIGHT: f64 = 260.0;
const MARGIN: f64 = 8.0;
/// Above the highest value, as a share of it.
const HEADROOM: f64 = 0.08;

impl Figure for Priors<'_> {
    fn size(&self) -> (u32, u32) {
        let rows: f64 = self.rows.iter().map(row_height).sum();
        (WIDTH, (rows + 2.0 * MARGIN) as u32)
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, scale: Scale) -> Result<()> {
        let mut rest = area.margin(scale.units(MARGIN), scale.units(MARGIN), 0, 0);
        for row in self.rows {
            let (mut panels, below) = rest.split_vertically(scale.units(row_height(row)));
            if let Some(legend) = legend(row) {
                let (above, strip) = panels.split_vertically(scale.units(PANEL_HEIGHT));
                let strip = strip.margin(scale.units(0.5 * MARGIN), 0, 0, 0);
                legend.draw(&strip, scale)?;
                panels = above;
            }
            let (left, right) = panels.split_horizontally(panels.dim_in_pixel().0 as i32 / 2);
            draw_densities(row, &left, scale)?;
            draw_cumulatives(row, &right, scale)?;
            rest = below;
        }
        Ok(())
    }
}

fn legend(row: &PriorRow) -> Option<Legend<'_>> {
    (row.priors.len() > 1).then(|| Legend {
        keys: row.priors.iter().enumerate().map(|(number, prior)| (Mark::Line(stroke(number)), &*prior.name)).collect(),
        width: f64::from(WIDTH) - 2.0 * MARGIN,
    })
}

fn row_height(row: &PriorRow) -> f64 {
    PANEL_HEIGHT + legend(row).map_or(0.0, |legend| legend.height() + MARGIN)
}

/// Seven colours; beyond them the same again in dashes.
fn stroke(number: usize) -> Stroke {
    let solid = Stroke::solid(LINES[number % LINES.len()], 2.0);
    match number / LINES.len() {
        0 => solid,
        1 => solid.dashed(7.0, 4.0),
        _ => solid.dashed(2.0, 3.0),
    }
}

fn draw_densities<DB: DrawingBackend>(row: &PriorRow, area: &Area<DB>, scale: Scale) -> Result<()> {
    let peak = row.priors.iter().map(|named| peak(&named.prior)).fold(0.0, f64::max);
    let top = peak * (1.0 + HEADROOM);
    let panel = Axes { title: &row.title, x: "threshold τ", y: "density f(τ)", top }.draw(area, scale)?;
    for (number, named) in row.priors.iter().enumerate() {
        for line in density_below(&named.prior, top) {
            stroke(number).draw(&panel, &line, scale)?;
        }
    }
    Ok(())
}

fn draw_cumulatives<DB: DrawingBackend>(row: &PriorRow, area: &Area<DB>, scale: Scale) -> Result<()> {
    let top = 1.0 + HEADROOM;
    let panel = Axes { title: &row.title, x: "threshold τ", y: "probability F(τ)", top }.draw(area, scale)?;
    for (number, named) in row.priors.iter().enumerate() {
        stroke(number).draw(&panel, &cumulative(&named.prior), scale)?;
    }
    Ok(())
}
