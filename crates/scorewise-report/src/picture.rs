//! Renders a figure as SVG or PNG with the same drawing code.
//!
//! plotters has integer coordinates, and at one unit per pixel curves would look ragged. Figures are therefore drawn larger. The SVG is drawn at 10
//! units per pixel and scaled back by its header. The PNG is drawn at 4 units per pixel, and every block of 2 × 2 units is averaged for antialiasing.
//! The PNG therefore has 2 dots per pixel, sharp in print and on high-resolution screens, and declares that density in its header.

use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::prelude::{BitMapBackend, DrawingBackend, SVGBackend};

use crate::bitmap::Bitmap;
use crate::error::{Error, Result};
use crate::escape_control_characters;
use crate::palette::PAPER;
use crate::text::register_embedded_font;

/// A figure with validated data. It is rendered only on demand, because PNG rendering is slow and a page needs no PNG.
pub struct Picture {
    figure: Box<dyn ErasedPlot>,
}

impl Picture {
    /// Wraps a figure whose data have been validated.
    pub(crate) fn new(figure: impl Plot + 'static) -> Result<Self> {
        // The font must be registered first, because the size of the legend and of the whole picture depends on it.
        register_embedded_font()?;
        Ok(Picture { figure: Box::new(figure) })
    }

    /// The SVG document. It starts with `<svg`, has a `viewBox` and contains no `id` attributes, so it can be embedded in an HTML page unchanged.
    pub fn svg(&self) -> Result<String> {
        self.figure.svg()
    }

    /// The bytes of the PNG file, which has two dots per pixel of the SVG.
    pub fn png(&self) -> Result<Vec<u8>> {
        self.figure.png()
    }

    /// Width and height in pixels, equal to the SVG's `width` and `height`.
    pub fn size(&self) -> (u32, u32) {
        self.figure.size()
    }

    /// The plotting area of each panel, over which a page can draw moving marks.
    pub fn frames(&self) -> Vec<Frame> {
        self.figure.plotting_areas()
    }
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Picture").field("size", &self.size()).field("frames", &self.frames()).finish()
    }
}

/// The plotting area of one panel, in pixels from the upper left corner of the picture.
///
/// One pixel is 10 units of the SVG's `viewBox`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Distance from the left edge of the picture to the y axis, in pixels.
    pub left: f64,
    /// Distance from the top of the picture to the upper end of the y axis, in pixels.
    pub top: f64,
    /// Length of the x axis, in pixels.
    pub width: f64,
    /// Length of the y axis, in pixels.
    pub height: f64,
    /// Values at the left and right end of the x axis.
    pub x: (f64, f64),
    /// Values at the lower and upper end of the y axis. If the axis is not linear, its label says so.
    pub y: (f64, f64),
}

/// A rectangle inside a figure, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Rect {
    /// The part of a drawing area that this rectangle covers.
    pub fn sub_area<DB: DrawingBackend>(self, area: &Area<DB>, scale: PixelScale) -> Area<DB> {
        let units = |pixels: f64| scale.units(pixels).max(0);
        area.clone().shrink((units(self.left), units(self.top)), (units(self.width), units(self.height)))
    }
}

/// The scale at which a figure is drawn: the number of drawing units per pixel of the figure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PixelScale(pub u32);

impl PixelScale {
    /// Number of drawing units per pixel, as `f64`.
    pub fn factor(self) -> f64 {
        f64::from(self.0)
    }

    /// Converts pixels to drawing units.
    pub fn units(self, pixels: f64) -> i32 {
        (pixels * self.factor()).round() as i32
    }

    /// Converts a line width in pixels to drawing units; the result is at least 1.
    pub fn line_width_in_units(self, pixels: f64) -> u32 {
        self.units(pixels).max(1).unsigned_abs()
    }
}

/// A plotters drawing area in drawing units, without a coordinate system of its own.
pub(crate) type Area<DB> = DrawingArea<DB, Shift>;

/// A figure that can be drawn on any plotters backend.
pub(crate) trait Plot: Send + Sync {
    /// Width and height of the figure, in pixels.
    fn size(&self) -> (u32, u32);
    /// The plotting area of each panel of the figure.
    fn plotting_areas(&self) -> Vec<Frame>;
    /// Draws the figure on a white area of the figure's size.
    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, scale: PixelScale) -> Result<()>;
}

/// Number of drawing units per pixel of the figure in the SVG.
const SVG_SCALE: PixelScale = PixelScale(10);
/// Number of drawing units per pixel of the figure when the PNG is drawn, before blocks of units are averaged.
const PNG_SCALE: PixelScale = PixelScale(4);
/// Number of dots of the PNG file per pixel of the figure, in each direction.
const DOTS_PER_PIXEL: u32 = 2;
/// Density of the PNG in dots per metre, if there are 96 pixels per inch.
const DOTS_PER_METRE: u32 = (96.0 * DOTS_PER_PIXEL as f64 / 0.0254) as u32;

/// The methods of a [`Plot`] that can be called on a trait object. [`Plot`] itself cannot be a trait object, because its method `draw` is generic.
trait ErasedPlot: Send + Sync {
    fn size(&self) -> (u32, u32);
    fn plotting_areas(&self) -> Vec<Frame>;
    fn svg(&self) -> Result<String>;
    fn png(&self) -> Result<Vec<u8>>;
}

impl<F: Plot> ErasedPlot for F {
    fn size(&self) -> (u32, u32) {
        Plot::size(self)
    }
    fn plotting_areas(&self) -> Vec<Frame> {
        Plot::plotting_areas(self)
    }
    fn svg(&self) -> Result<String> {
        render_svg(self)
    }
    fn png(&self) -> Result<Vec<u8>> {
        render_png(self)
    }
}

/// Draws a figure on a white background.
fn draw_on_backend<DB: DrawingBackend>(figure: &impl Plot, backend: DB, scale: PixelScale) -> Result<()> {
    let area = backend.into_drawing_area();
    area.fill(&PAPER)?;
    figure.draw(&area, scale)?;
    area.present()?;
    Ok(())
}

/// Draws a figure and returns the SVG document.
fn render_svg(figure: &impl Plot) -> Result<String> {
    let (width, height) = Plot::size(figure);
    let (wide, high) = (width * SVG_SCALE.0, height * SVG_SCALE.0);
    let mut text = String::new();
    draw_on_backend(figure, SVGBackend::with_string(&mut text, (wide, high)), SVG_SCALE)?;
    let drawn_size = format!("<svg width=\"{wide}\" height=\"{high}\"");
    if !text.starts_with(&drawn_size) {
        return Err(Error::Drawing("the SVG of plotters does not start with its width and height".into()));
    }
    // Names of classes and columns come from users and may contain control characters, which are not allowed in XML.
    let text = escape_control_characters(&text);
    // Lines have round joins, because mitre joins would produce spikes where a line turns back sharply.
    Ok(text.replacen(&drawn_size, &format!("<svg width=\"{width}\" height=\"{height}\" stroke-linejoin=\"round\""), 1))
}

/// Draws a figure and returns the bytes of the PNG file.
fn render_png(figure: &impl Plot) -> Result<Vec<u8>> {
    let (width, height) = Plot::size(figure);
    let (wide, high) = (width * PNG_SCALE.0, height * PNG_SCALE.0);
    let mut fine = vec![0; 3 * wide as usize * high as usize];
    draw_on_backend(figure, Bitmap(BitMapBackend::with_buffer(&mut fine, (wide, high))), PNG_SCALE)?;
    let dots = mean_of_blocks(&fine, wide as usize, (PNG_SCALE.0 / DOTS_PER_PIXEL) as usize);

    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width * DOTS_PER_PIXEL, height * DOTS_PER_PIXEL);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_pixel_dims(Some(png::PixelDimensions {
        xppu: DOTS_PER_METRE,
        yppu: DOTS_PER_METRE,
        unit: png::Unit::Meter,
    }));
    // This mark lets later commands recognise the file as an output of scorewise, which they may overwrite.
    encoder.add_text_chunk("Software".into(), "scorewise".into())?;
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&dots)?;
    writer.finish()?;
    Ok(bytes)
}

/// Downsamples an RGB image: every block of `side` × `side` dots is replaced by one dot, its mean.
fn mean_of_blocks(fine: &[u8], row_length: usize, side: usize) -> Vec<u8> {
    let dots_per_block = (side * side) as u32;
    let row_of_blocks = |rows: &[u8]| -> Vec<u8> {
        let mut sums = vec![0u32; 3 * row_length / side];
        for row in rows.chunks_exact(3 * row_length) {
            for (column, dot) in row.chunks_exact(3).enumerate() {
                for (channel, value) in dot.iter().enumerate() {
                    sums[3 * (column / side) + channel] += u32::from(*value);
                }
            }
        }
        sums.into_iter().map(|sum| ((sum + dots_per_block / 2) / dots_per_block) as u8).collect()
    };
    fine.chunks_exact(3 * row_length * side).flat_map(row_of_blocks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn downsampling_averages_each_block() {
        // Two blocks of 2 × 2 dots side by side. Red is 0, 100, 50, 51 in the first block and 255 in the second; green is 0 and blue 255 everywhere.
        let dot = |red: u8| [red, 0, 255];
        let fine: Vec<u8> = [0, 100, 255, 255, 50, 51, 255, 255].into_iter().flat_map(dot).collect();
        assert_eq!(mean_of_blocks(&fine, 4, 2), [50, 0, 255, 255, 0, 255]);
    }
}
