//! A strip of keys outside the data, so that it covers none: a sample of each mark and its name, centred, in as many rows as needed.

use plotters::element::{Circle, Rectangle};
use plotters::prelude::DrawingBackend;
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use crate::error::Result;
use crate::palette::PAPER;
use crate::panel::{HATCHING, WHISKER_END};
use crate::picture::{Area, Scale};
use crate::stroke::Stroke;
use crate::text::{SMALL, fitted, text, width};

/// A mark as it is seen in the panels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mark {
    Line(Stroke),
    /// A filled bar with an outline of the same colour.
    Bar(RGBColor),
    /// A filled area without an outline, and how much it covers.
    Band(RGBColor, f64),
    /// A hatched area.
    Hatch,
    /// A dot.
    Dot(RGBColor),
    /// A line through dots.
    Beads(Stroke),
    /// A mean with its deviation to both sides.
    Whisker(Stroke),
}

/// How much of a bar's colour covers what is behind it.
pub(crate) const BAR_COVER: f64 = 0.35;
/// The radius of a dot in pixels.
pub(crate) const DOT: f64 = 4.5;

const SAMPLE: f64 = 28.0;
const BETWEEN_SAMPLE_AND_NAME: f64 = 7.0;
const BETWEEN_KEYS: f64 = 22.0;
const ROW: f64 = 20.0;

/// The keys of a figure, and the width in pixels that they may take.
pub(crate) struct Legend {
    pub keys: Vec<(Mark, String)>,
    pub width: f64,
}

impl Legend {
    /// The height in pixels that the keys need.
    pub fn height(&self) -> f64 {
        self.keys.len().div_ceil(self.keys_a_row()) as f64 * ROW
    }

    /// As many keys side by side as fit, in rows as equal as they can be. Always measured at one scale, so that SVG and PNG
    /// break alike.
    fn keys_a_row(&self) -> usize {
        let scale = Scale(10);
        let widths: Vec<i32> = self.keys(scale).map(|(_, _, width)| width).collect();
        let equal = |most: usize| widths.len().div_ceil(widths.len().div_ceil(most));
        let fits = |keys: &usize| length(&columns(&widths, *keys), scale) <= scale.units(self.width);
        (1..=widths.len()).rev().map(equal).find(fits).unwrap_or(1)
    }

    /// Each key with its name, shortened where it must be, and its width.
    fn keys(&self, scale: Scale) -> impl Iterator<Item = (Mark, String, i32)> + '_ {
        let style = text(scale, SMALL, HPos::Left, VPos::Center);
        let sample = scale.units(SAMPLE + BETWEEN_SAMPLE_AND_NAME);
        self.keys.iter().map(move |(mark, name)| {
            let name = fitted(&style, name, scale.units(self.width) - sample);
            let wide = sample + width(&style, &name);
            (*mark, name, wide)
        })
    }

    /// Draws the keys from the top of the area, centred; several rows stand in columns.
    pub fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, scale: Scale) -> Result<()> {
        let style = text(scale, SMALL, HPos::Left, VPos::Center);
        let keys: Vec<_> = self.keys(scale).collect();
        let keys_a_row = self.keys_a_row();
        let widths: Vec<i32> = keys.iter().map(|(_, _, width)| *width).collect();
        let columns = columns(&widths, keys_a_row);
        let left = (area.dim_in_pixel().0 as i32 - length(&columns, scale)) / 2;
        for (number, row) in keys.chunks(keys_a_row).enumerate() {
            let y = scale.units(ROW * (number as f64 + 0.5));
            let mut x = left;
            for ((mark, name, _), width) in row.iter().zip(&columns) {
                mark.draw(area, (x, y), scale)?;
                area.draw_text(name, &style, (x + scale.units(SAMPLE + BETWEEN_SAMPLE_AND_NAME), y))?;
                x += width + scale.units(BETWEEN_KEYS);
            }
        }
        Ok(())
    }
}

/// The width of every column, if so many keys stand in a row.
fn columns(widths: &[i32], keys_a_row: usize) -> Vec<i32> {
    let widest = |column: usize| widths.iter().skip(column).step_by(keys_a_row).copied().max().unwrap_or(0);
    (0..keys_a_row.min(widths.len())).map(widest).collect()
}

/// Of columns side by side.
fn length(columns: &[i32], scale: Scale) -> i32 {
    columns.iter().sum::<i32>() + scale.units(BETWEEN_KEYS) * (columns.len() as i32 - 1).max(0)
}

impl Mark {
    fn draw<DB: DrawingBackend>(self, area: &Area<DB>, (x, y): (i32, i32), scale: Scale) -> Result<()> {
        let (end, middle) = (x + scale.units(SAMPLE), x + scale.units(0.5 * SAMPLE));
        match self {
            Mark::Line(stroke) => stroke.draw_on(area, vec![(x, y), (end, y)], scale)?,
            Mark::Bar(colour) => {
                let (left, right) = (middle - scale.units(6.0), middle + scale.units(6.0));
                let (top, bottom) = (y - scale.units(6.0), y + scale.units(6.0));
                area.draw(&Rectangle::new([(left, top), (right, bottom)], colour.mix(BAR_COVER).filled()))?;
                let outline = vec![(left, bottom), (left, top), (right, top), (right, bottom), (left, bottom)];
                Stroke::solid(colour, 0.75).draw_on(area, outline, scale)?;
            }
            Mark::Band(colour, cover) => {
                let high = scale.units(6.0);
                area.draw(&Rectangle::new([(x, y - high), (end, y + high)], colour.mix(cover).filled()))?;
            }
            Mark::Hatch => {
                let (step, high) = (scale.units(7.0), scale.units(6.0));
                for number in 0..3 {
                    let start = x + scale.units(1.0) + number * step;
                    HATCHING.draw_on(area, vec![(start, y + high), (start + 2 * high, y - high)], scale)?;
                }
            }
            Mark::Dot(colour) => draw_dot(area, colour, (middle, y), scale)?,
            Mark::Beads(stroke) => {
                stroke.draw_on(area, vec![(x, y), (end, y)], scale)?;
                draw_dot(area, stroke.colour, (middle, y), scale)?;
            }
            Mark::Whisker(stroke) => {
                stroke.draw_on(area, vec![(x, y), (end, y)], scale)?;
                for x in [x, middle, end] {
                    let half = scale.units(WHISKER_END);
                    stroke.draw_on(area, vec![(x, y - half), (x, y + half)], scale)?;
                }
            }
        }
        Ok(())
    }
}

fn draw_dot<DB: DrawingBackend>(area: &Area<DB>, colour: RGBColor, place: (i32, i32), scale: Scale) -> Result<()> {
    for (colour, radius) in [(PAPER, DOT + 1.25), (colour, DOT)] {
        area.draw(&Circle::new(place, scale.units(radius), colour.filled()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::BLUE;

    fn rows(keys: usize, width: f64) -> (usize, f64) {
        crate::text::make_font_known().unwrap();
        let legend = Legend { keys: vec![(Mark::Line(Stroke::solid(BLUE, 2.0)), "a name".into()); keys], width };
        (legend.keys_a_row(), legend.height())
    }

    #[test]
    fn rows_are_as_equal_as_they_can_be() {
        assert_eq!(rows(6, 2000.0), (6, ROW));
        // About a hundred pixels a key, of which five would fit: three and three look better than five and one.
        assert_eq!(rows(6, 510.0), (3, 2.0 * ROW));
        assert_eq!(rows(10, 510.0), (5, 2.0 * ROW));
    }

    #[test]
    fn a_column_is_as_wide_as_its_widest_key() {
        assert_eq!(columns(&[10, 20, 30, 40, 5], 2), [30, 40]);
        assert_eq!(columns(&[10, 20], 5), [10, 20]);
        assert_eq!(length(&[30, 40], Scale(10)), 70 + 220);
    }

    #[test]
    fn no_room_still_gives_a_key_a_row() {
        assert_eq!(rows(3, 1.0), (1, 3.0 * ROW));
    }
}
