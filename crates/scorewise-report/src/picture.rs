//! A figure as SVG and as PNG, drawn by the same code.
//!
//! plotters counts in whole units. At one unit a pixel its curves would wobble, so both are drawn larger: the SVG in tenths of
//! a pixel, which its header scales back; the PNG in quarters, of which two by two become one dot, which also smooths the
//! edges. That leaves the PNG with two dots a pixel, sharp on paper and on dense screens, and it says so in its header.

use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::prelude::{BitMapBackend, DrawingBackend, SVGBackend};

use crate::bitmap::Bitmap;
use crate::error::{Error, Result};
use crate::palette::PAPER;
use crate::text::make_font_known;
use crate::visible;

/// A figure whose data were checked. It is drawn when it is asked for: a page needs no PNG, which takes the most time.
pub struct Picture {
    figure: Box<dyn Drawable>,
}

impl Picture {
    /// Of a figure whose data were checked.
    pub(crate) fn of(figure: impl Figure + 'static) -> Result<Self> {
        // Legends are measured, so even the size depends on the font.
        make_font_known()?;
        Ok(Picture { figure: Box::new(figure) })
    }

    /// The whole SVG document. It begins with `<svg`, has a `viewBox` and no ids, so it can stand inside a page as it is.
    pub fn svg(&self) -> Result<String> {
        self.figure.svg()
    }

    /// The whole PNG file, two dots a pixel of the SVG.
    pub fn png(&self) -> Result<Vec<u8>> {
        self.figure.png()
    }

    /// Width and height in pixels, as the SVG's `width` and `height` say them.
    pub fn size(&self) -> (u32, u32) {
        self.figure.size()
    }

    /// Where the data lie, panel by panel, so that a page can lay a moving mark over them.
    pub fn frames(&self) -> Vec<Frame> {
        self.figure.frames()
    }
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Picture").field("size", &self.size()).field("frames", &self.frames()).finish()
    }
}

/// The rectangle between the axes of one panel, in pixels of [`Picture::size`] from the upper left corner.
///
/// The SVG's `viewBox` counts in tenths of these pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// From the picture's left edge to the y axis.
    pub left: f64,
    /// From the picture's upper edge to the upper end of the y axis.
    pub top: f64,
    /// The length of the x axis.
    pub width: f64,
    /// The length of the y axis.
    pub height: f64,
    /// The numbers at the left and right end of the x axis.
    pub x: (f64, f64),
    /// The numbers at the lower and upper end of the y axis. It need not be linear: its label says so.
    pub y: (f64, f64),
}

/// A rectangle of a figure, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Place {
    /// The same rectangle to draw in.
    pub fn on<DB: DrawingBackend>(self, area: &Area<DB>, scale: Scale) -> Area<DB> {
        let units = |pixels: f64| scale.units(pixels).max(0);
        area.clone().shrink((units(self.left), units(self.top)), (units(self.width), units(self.height)))
    }
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
pub(crate) trait Figure: Send + Sync {
    /// Width and height in pixels.
    fn size(&self) -> (u32, u32);
    /// Where its data lie.
    fn frames(&self) -> Vec<Frame>;
    /// Draws on a white area of that size.
    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, scale: Scale) -> Result<()>;
}

const SVG_SCALE: Scale = Scale(10);
const PNG_SCALE: Scale = Scale(4);
const DOTS_A_PIXEL: u32 = 2;
/// 96 pixels an inch, in dots a metre.
const DOTS_A_METRE: u32 = (96.0 * DOTS_A_PIXEL as f64 / 0.0254) as u32;

/// A figure without its type: what a picture asks of it.
trait Drawable: Send + Sync {
    fn size(&self) -> (u32, u32);
    fn frames(&self) -> Vec<Frame>;
    fn svg(&self) -> Result<String>;
    fn png(&self) -> Result<Vec<u8>>;
}

impl<F: Figure> Drawable for F {
    fn size(&self) -> (u32, u32) {
        Figure::size(self)
    }
    fn frames(&self) -> Vec<Frame> {
        Figure::frames(self)
    }
    fn svg(&self) -> Result<String> {
        svg(self)
    }
    fn png(&self) -> Result<Vec<u8>> {
        png(self)
    }
}

fn draw<DB: DrawingBackend>(figure: &impl Figure, backend: DB, scale: Scale) -> Result<()> {
    let area = backend.into_drawing_area();
    area.fill(&PAPER)?;
    figure.draw(&area, scale)?;
    area.present()?;
    Ok(())
}

fn svg(figure: &impl Figure) -> Result<String> {
    let (width, height) = Figure::size(figure);
    let (wide, high) = (width * SVG_SCALE.0, height * SVG_SCALE.0);
    let mut text = String::new();
    draw(figure, SVGBackend::with_string(&mut text, (wide, high)), SVG_SCALE)?;
    let drawn = format!("<svg width=\"{wide}\" height=\"{high}\"");
    if !text.starts_with(&drawn) {
        return Err(Error::Drawing("the SVG does not begin with its size".into()));
    }
    // A name may hold control characters, which no XML may.
    let text = visible(&text);
    // Round joins, since where a line turns back a pointed one would stand out.
    Ok(text.replacen(&drawn, &format!("<svg width=\"{width}\" height=\"{height}\" stroke-linejoin=\"round\""), 1))
}

fn png(figure: &impl Figure) -> Result<Vec<u8>> {
    let (width, height) = Figure::size(figure);
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
    // By this mark a later command knows that it may replace the file.
    encoder.add_text_chunk("Software".into(), "scorewise".into())?;
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
