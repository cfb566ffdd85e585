//! Figure 1 of Marchetti et al. (2022): priors of the threshold, with the density on the left and the distribution function on the right.

use plotters::prelude::DrawingBackend;
use scorewise::Prior;

use crate::axes::{Axes, Axis};
use crate::curve::{cdf_points, density_lines_below, peak_density};
use crate::error::{Error, Result};
use crate::legend::{Legend, Mark};
use crate::picture::{Area, Frame, Picture, PixelScale, Plot, Rect};
use crate::stroke::Stroke;

/// A prior and its name in the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedPrior {
    /// Name of the prior in the legend, such as `μ = 0.5, δ = 0.2`.
    pub name: String,
    /// The prior.
    pub prior: Prior,
}

/// One row of the figure: priors that are plotted in the same two panels.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorRow {
    /// Title of the row, such as `Raised cosine`.
    pub title: String,
    /// The priors of the row, at least one. If there are two or more, the row has a legend.
    pub priors: Vec<NamedPrior>,
}

/// Draws one row of panels for each of `rows`: the densities on the left, the distribution functions on the right.
pub fn figure_priors(rows: &[PriorRow]) -> Result<Picture> {
    if rows.is_empty() {
        return Err(Error::Empty);
    }
    if let Some(row) = rows.iter().find(|row| row.priors.is_empty()) {
        return Err(Error::NoPrior { panel: row.title.clone() });
    }
    Picture::new(PriorFigure { rows: rows.to_vec() })
}

/// A figure of priors with one row of two panels for each [`PriorRow`].
struct PriorFigure {
    rows: Vec<PriorRow>,
}

/// Width of the figure, in pixels.
const WIDTH: f64 = 840.0;
/// Height of a panel, in pixels.
const PANEL_HEIGHT: f64 = 260.0;
/// Margin around the panels and legends, in pixels.
const MARGIN: f64 = 8.0;
/// How far the y axis extends above the highest value, as a fraction of that value.
const HEADROOM: f64 = 0.08;

impl Plot for PriorFigure {
    fn size(&self) -> (u32, u32) {
        let rows: f64 = self.rows.iter().map(row_height).sum();
        (WIDTH as u32, (rows + 2.0 * MARGIN) as u32)
    }

    fn plotting_areas(&self) -> Vec<Frame> {
        let both =
            |(row, [left, right]): (&PriorRow, [Rect; 2])| [density_axes(row).frame(left), cdf_axes(row).frame(right)];
        self.rows.iter().zip(self.row_rects()).flat_map(both).collect()
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, scale: PixelScale) -> Result<()> {
        for (row, [left, right]) in self.rows.iter().zip(self.row_rects()) {
            draw_densities(row, area, left, scale)?;
            draw_cdfs(row, area, right, scale)?;
            if let Some(legend) = legend(row) {
                let top = left.top + PANEL_HEIGHT + 0.5 * MARGIN;
                let legend_rect = Rect { left: MARGIN, top, width: WIDTH - 2.0 * MARGIN, height: legend.height() };
                legend.draw(&legend_rect.sub_area(area, scale), scale)?;
            }
        }
        Ok(())
    }
}

impl PriorFigure {
    /// The rectangles of the left and the right panel of each row.
    fn row_rects(&self) -> Vec<[Rect; 2]> {
        let (width, mut top) = (0.5 * WIDTH, MARGIN);
        let mut row_rects = Vec::new();
        for row in &self.rows {
            row_rects.push([0.0, width].map(|left| Rect { left, top, width, height: PANEL_HEIGHT }));
            top += row_height(row);
        }
        row_rects
    }
}

/// The legend of a row; `None` if the row has a single prior.
fn legend(row: &PriorRow) -> Option<Legend> {
    let entry = |(index, prior): (usize, &NamedPrior)| (Mark::Line(Stroke::for_line(index)), prior.name.clone());
    let entries = row.priors.iter().enumerate().map(entry).collect();
    (row.priors.len() > 1).then_some(Legend { entries, width: WIDTH - 2.0 * MARGIN })
}

/// Height of a row: its panels and its legend, in pixels.
fn row_height(row: &PriorRow) -> f64 {
    PANEL_HEIGHT + legend(row).map_or(0.0, |legend| legend.height() + MARGIN)
}

/// The title and the axes of the left panel of a row, which shows the densities.
fn density_axes(row: &PriorRow) -> Axes<'_> {
    let peak = row.priors.iter().map(|named| peak_density(&named.prior)).fold(0.0, f64::max);
    let y = Axis::new("density f(τ)", 0.0, peak * (1.0 + HEADROOM));
    Axes::new(&row.title, Axis::from_0_to_1("threshold τ"), y)
}

/// The title and the axes of the right panel of a row, which shows the cumulative distribution functions.
fn cdf_axes(row: &PriorRow) -> Axes<'_> {
    let y = Axis::new("probability F(τ)", 0.0, 1.0 + HEADROOM);
    Axes::new(&row.title, Axis::from_0_to_1("threshold τ"), y)
}

/// Draws the left panel of a row, which shows the densities of its priors.
fn draw_densities<DB: DrawingBackend>(row: &PriorRow, area: &Area<DB>, rect: Rect, scale: PixelScale) -> Result<()> {
    let axes = density_axes(row);
    let panel = axes.draw(area, rect, scale)?;
    for (index, named) in row.priors.iter().enumerate() {
        for line in density_lines_below(&named.prior, axes.y.to) {
            panel.draw_line(Stroke::for_line(index), &line)?;
        }
    }
    Ok(())
}

/// Draws the right panel of a row, which shows the cumulative distribution functions of its priors.
fn draw_cdfs<DB: DrawingBackend>(row: &PriorRow, area: &Area<DB>, rect: Rect, scale: PixelScale) -> Result<()> {
    let axes = cdf_axes(row);
    let panel = axes.draw(area, rect, scale)?;
    for (index, named) in row.priors.iter().enumerate() {
        panel.draw_line(Stroke::for_line(index), &cdf_points(&named.prior))?;
    }
    Ok(())
}
