//! Legends below the plotting area. An entry of a legend is a symbol and a name. The entries are centred and fill several rows if
//! one row is too short.

use plotters::element::{Circle, Rectangle};
use plotters::prelude::DrawingBackend;
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use crate::error::Result;
use crate::palette::PAPER;
use crate::panel::{CAP_HALF_LENGTH, HATCH_STROKE};
use crate::picture::{Area, PixelScale};
use crate::stroke::Stroke;
use crate::text::{LABEL_SIZE, text_style, text_width, truncate_to_width};

/// The symbol of a legend entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mark {
    /// A line.
    Line(Stroke),
    /// A filled bar with an outline of the same colour.
    Bar(RGBColor),
    /// A filled area without an outline: colour and opacity.
    Band(RGBColor, f64),
    /// A hatched area.
    Hatch,
    /// A dot.
    Dot(RGBColor),
    /// A line with a dot on it.
    LineAndDot(Stroke),
    /// An error bar.
    Whisker(Stroke),
}

/// Opacity of filled bars.
pub(crate) const BAR_OPACITY: f64 = 0.35;
/// Radius of a dot, in pixels.
pub(crate) const DOT_RADIUS: f64 = 4.5;

/// Width of the symbol of a legend entry, in pixels.
const SYMBOL_WIDTH: f64 = 28.0;
/// Gap between the symbol and the name of a legend entry, in pixels.
const SYMBOL_GAP: f64 = 7.0;
/// Gap between two legend entries in the same row, in pixels.
const ENTRY_GAP: f64 = 22.0;
/// Height of a row of legend entries, in pixels.
const ROW_HEIGHT: f64 = 20.0;

/// The entries of a legend, and the width in pixels that is available for them.
pub(crate) struct Legend {
    pub entries: Vec<(Mark, String)>,
    pub width: f64,
}

impl Legend {
    /// The height of the legend in pixels.
    pub fn height(&self) -> f64 {
        self.entries.len().div_ceil(self.entries_per_row()) as f64 * ROW_HEIGHT
    }

    /// The number of entries per row: the greatest number that fits into the width, or a smaller one if the last row would otherwise be much shorter
    /// than the others. Text is always measured at the same scale, so that SVG and PNG have the same number of entries per row.
    fn entries_per_row(&self) -> usize {
        let scale = PixelScale(10);
        let widths: Vec<i32> = self.measured_entries(scale).map(|(_, _, width)| width).collect();
        let balanced = |most: usize| widths.len().div_ceil(widths.len().div_ceil(most));
        let fits = |entries: &usize| total_width(&column_widths(&widths, *entries), scale) <= scale.units(self.width);
        (1..=widths.len()).rev().map(balanced).find(fits).unwrap_or(1)
    }

    /// Symbol, name (truncated if necessary) and width of each legend entry.
    fn measured_entries(&self, scale: PixelScale) -> impl Iterator<Item = (Mark, String, i32)> + '_ {
        let style = text_style(scale, LABEL_SIZE, HPos::Left, VPos::Center);
        let symbol_width = scale.units(SYMBOL_WIDTH + SYMBOL_GAP);
        self.entries.iter().map(move |(mark, name)| {
            let name = truncate_to_width(&style, name, scale.units(self.width) - symbol_width);
            let entry_width = symbol_width + text_width(&style, &name);
            (*mark, name, entry_width)
        })
    }

    /// Draws the legend entries at the top of the area, centred and aligned in columns.
    pub fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, scale: PixelScale) -> Result<()> {
        let style = text_style(scale, LABEL_SIZE, HPos::Left, VPos::Center);
        let entries: Vec<_> = self.measured_entries(scale).collect();
        let entries_per_row = self.entries_per_row();
        let widths: Vec<i32> = entries.iter().map(|(_, _, width)| *width).collect();
        let columns = column_widths(&widths, entries_per_row);
        let left = (area.dim_in_pixel().0 as i32 - total_width(&columns, scale)) / 2;
        for (row_index, row) in entries.chunks(entries_per_row).enumerate() {
            let y = scale.units(ROW_HEIGHT * (row_index as f64 + 0.5));
            let mut x = left;
            for ((mark, name, _), width) in row.iter().zip(&columns) {
                mark.draw(area, (x, y), scale)?;
                area.draw_text(name, &style, (x + scale.units(SYMBOL_WIDTH + SYMBOL_GAP), y))?;
                x += width + scale.units(ENTRY_GAP);
            }
        }
        Ok(())
    }
}

/// The width of every column of a legend with `entries_per_row` columns; `widths` are the widths of the entries.
fn column_widths(widths: &[i32], entries_per_row: usize) -> Vec<i32> {
    let widest = |column: usize| widths.iter().skip(column).step_by(entries_per_row).copied().max().unwrap_or(0);
    (0..entries_per_row.min(widths.len())).map(widest).collect()
}

/// The total width of all columns, including the gaps between them.
fn total_width(columns: &[i32], scale: PixelScale) -> i32 {
    columns.iter().sum::<i32>() + scale.units(ENTRY_GAP) * (columns.len() as i32 - 1).max(0)
}

impl Mark {
    /// Draws the symbol; (x, y) is the middle of its left side.
    fn draw<DB: DrawingBackend>(self, area: &Area<DB>, (x, y): (i32, i32), scale: PixelScale) -> Result<()> {
        let (end, middle) = (x + scale.units(SYMBOL_WIDTH), x + scale.units(0.5 * SYMBOL_WIDTH));
        match self {
            Mark::Line(stroke) => stroke.draw_on(area, vec![(x, y), (end, y)], scale)?,
            Mark::Bar(colour) => {
                let (left, right) = (middle - scale.units(6.0), middle + scale.units(6.0));
                let (top, bottom) = (y - scale.units(6.0), y + scale.units(6.0));
                area.draw(&Rectangle::new([(left, top), (right, bottom)], colour.mix(BAR_OPACITY).filled()))?;
                let outline = vec![(left, bottom), (left, top), (right, top), (right, bottom), (left, bottom)];
                Stroke::solid(colour, 0.75).draw_on(area, outline, scale)?;
            }
            Mark::Band(colour, opacity) => {
                let half_height = scale.units(6.0);
                area.draw(&Rectangle::new(
                    [(x, y - half_height), (end, y + half_height)],
                    colour.mix(opacity).filled(),
                ))?;
            }
            Mark::Hatch => {
                let (step, half_height) = (scale.units(7.0), scale.units(6.0));
                for line in 0..3 {
                    let start = x + scale.units(1.0) + line * step;
                    HATCH_STROKE.draw_on(
                        area,
                        vec![(start, y + half_height), (start + 2 * half_height, y - half_height)],
                        scale,
                    )?;
                }
            }
            Mark::Dot(colour) => draw_dot(area, colour, (middle, y), scale)?,
            Mark::LineAndDot(stroke) => {
                stroke.draw_on(area, vec![(x, y), (end, y)], scale)?;
                draw_dot(area, stroke.colour, (middle, y), scale)?;
            }
            Mark::Whisker(stroke) => {
                stroke.draw_on(area, vec![(x, y), (end, y)], scale)?;
                for x in [x, middle, end] {
                    let half = scale.units(CAP_HALF_LENGTH);
                    stroke.draw_on(area, vec![(x, y - half), (x, y + half)], scale)?;
                }
            }
        }
        Ok(())
    }
}

/// Draws a dot with a thin border in the colour of the background.
fn draw_dot<DB: DrawingBackend>(
    area: &Area<DB>,
    colour: RGBColor,
    position: (i32, i32),
    scale: PixelScale,
) -> Result<()> {
    for (colour, radius) in [(PAPER, DOT_RADIUS + 1.25), (colour, DOT_RADIUS)] {
        area.draw(&Circle::new(position, scale.units(radius), colour.filled()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::BLUE;

    /// The number of entries per row and the height of a legend that has `entries` entries and this available width.
    fn entries_per_row_and_height(entries: usize, width: f64) -> (usize, f64) {
        crate::text::register_embedded_font().unwrap();
        let legend = Legend { entries: vec![(Mark::Line(Stroke::solid(BLUE, 2.0)), "a name".into()); entries], width };
        (legend.entries_per_row(), legend.height())
    }

    #[test]
    fn rows_of_a_legend_have_about_the_same_number_of_entries() {
        assert_eq!(entries_per_row_and_height(6, 2000.0), (6, ROW_HEIGHT));
        // An entry is about 100 pixels wide, so five entries would fit in a row. But two rows of three entries look better than a row of five and a
        // row of one.
        assert_eq!(entries_per_row_and_height(6, 510.0), (3, 2.0 * ROW_HEIGHT));
        assert_eq!(entries_per_row_and_height(10, 510.0), (5, 2.0 * ROW_HEIGHT));
    }

    #[test]
    fn a_column_is_as_wide_as_its_widest_entry() {
        assert_eq!(column_widths(&[10, 20, 30, 40, 5], 2), [30, 40]);
        assert_eq!(column_widths(&[10, 20], 5), [10, 20]);
        assert_eq!(total_width(&[30, 40], PixelScale(10)), 70 + 220);
    }

    #[test]
    fn a_legend_without_enough_width_has_one_entry_per_row() {
        assert_eq!(entries_per_row_and_height(3, 1.0), (1, 3.0 * ROW_HEIGHT));
    }
}
