//! A figure as SVG and as PNG, drawn by the same code.
//!
//! plotters counts in whole units. At one unit a pixel its curves would wobble, so both are drawn larger: the SVG in tenths of
//! a pixel, which its header scales back; the PNG in quarters, of which two by two become one dot, which also smooths the
//! edges. That leaves the PNG with two dots a pixel, sharp on paper and on dense screens, and it says so in its header.

use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::prelude::{BitMapBackend, DrawingBackend, SVGBackend};
use plotters::style::WHITE;

use crate::bitmap::Bitmap;
use crate::error::{Error, Result};
use crate::text::make_font_known;

/// One figure in both forms, to be written beside each other: `picture.svg`, `picture.png`.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// The whole SVG document.
    pub svg: String,
    /// The whole PNG file, two dots a pixel of the SVG.
    pub png: Vec<u8>,
}

/// Drawing units in a pixel of the figure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale(pub u32);

impl Scale {
    /// As a factor.
    pub fn factor(self) -> f64 {
        f64::from(self.0)
    }

    /// Pixels in drawing units.
    pub fn units(self, pixels: f64) -> i32 {
        (pixels * self.factor()).round() as i32
    }

    /// The width of a line, at least one unit.
    pub fn stroke(self, pixels: f64) -> u32 {
        self.units(pixels).max(1).unsigned_abs()
    }
}

/// A rectangle to draw in.
pub(crate) type Area<DB> = DrawingArea<DB, Shift>;

/// What can be drawn.
pub(crate) trait Figure {
    /// Width and height in pixels.
    fn size(&self) -> (u32, u32);
    /// Draws on a white area of that size.
    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, scale: Scale) -> Result<()>;
}

const SVG_SCALE: Scale = Scale(10);
const PNG_SCALE: Scale = Scale(4);
const DOTS_A_PIXEL: u32 = 2;
/// 96 pixels an inch, in dots a metre.
const DOTS_A_METRE: u32 = (96.0 * DOTS_A_PIXEL as f64 / 0.0254) as u32;

/// Draws a figure in both forms.
pub(crate) fn render(figure: &impl Figure) -> Result<Picture> {
    make_font_known()?;
    Ok(Picture { svg: svg(figure)?, png: png(figure)? })
}

fn draw<DB: DrawingBackend>(figure: &impl Figure, backend: DB, scale: Scale) -> Result<()> {
    let area = backend.into_drawing_area();
    area.fill(&WHITE)?;
    figure.draw(&area, scale)?;
    area.present()?;
    Ok(())
}

fn svg(figure: &impl Figure) -> Result<String> {
    let (width, height) = figure.size();
    let (wide, high) = (width * SVG_SCALE.0, height * SVG_SCALE.0);
    let mut text = String::new();
    draw(figure, SVGBackend::with_string(&mut text, (wide, high)), SVG_SCALE)?;
    let drawn = format!("<svg width=\"{wide}\" height=\"{high}\"");
    if !text.starts_with(&drawn) {
        return Err(Error::Drawing("the SVG does not begin with its size".into()));
    }
    Ok(text.replacen(&drawn, &format!("<svg width=\"{width}\" height=\"{height}\""), 1))
}

fn png(figure: &impl Figure) -> Result<Vec<u8>> {
    let (width, height) = figure.size();
    let (wide, high) = (width * PNG_SCALE.0, height * PNG_SCALE.0);
    let mut fine = vec![0; 3 * wide as usize * high as usize];
    draw(figure, Bitmap(BitMapBackend::with_buffer(&mut fine, (wide, high))), PNG_SCALE)?;
    let dots = mean_of_blocks(&fine, wide as usize, (PNG_SCALE.0 / DOTS_A_PIXEL) as usize);

    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width * DOTS_A_PIXEL, height * DOTS_A_PIXEL);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_pixel_dims(Some(png::PixelDimensions {
        xppu: DOTS_A_METRE,
        yppu: DOTS_A_METRE,
        unit: png::Unit::Meter,
    }));
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&dots)?;
    writer.finish()?;
    Ok(bytes)
}

/// An RGB image made smaller: every block of `side` by `side` becomes its mean.
fn mean_of_blocks(fine: &[u8], wide: usize, side: usize) -> Vec<u8> {
    let share = (side * side) as u32;
    let row_of_blocks = |rows: &[u8]| -> Vec<u8> {
        let mut sums = vec![0u32; 3 * wide / side];
        for row in rows.chunks_exact(3 * wide) {
            for (column, dot) in row.chunks_exact(3).enumerate() {
                for (channel, value) in dot.iter().enumerate() {
                    sums[3 * (column / side) + channel] += u32::from(*value);
                }
            }
        }
        sums.into_iter().map(|sum| ((sum + share / 2) / share) as u8).collect()
    };
    fine.chunks_exact(3 * wide * side).flat_map(row_of_blocks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_become_their_mean() {
        // Two blocks of 2 × 2 dots side by side: one of four greys, one all white.
        let dot = |grey: u8| [grey, 0, 255];
        let fine: Vec<u8> = [0, 100, 255, 255, 50, 51, 255, 255].into_iter().flat_map(dot).collect();
        assert_eq!(mean_of_blocks(&fine, 4, 2), [50, 0, 255, 255, 0, 255]);
    }
}
