//! Colours that people with any kind of colour vision can tell apart.
//!
//! Okabe, M., Ito, K. (2008). Color universal design. <https://jfly.uni-koeln.de/color/>

use plotters::style::RGBColor;

/// The prior: what was asked for.
pub(crate) const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xB2);
/// The data: what came out.
pub(crate) const VERMILLION: RGBColor = RGBColor(0xD5, 0x5E, 0x00);
const GREEN: RGBColor = RGBColor(0x00, 0x9E, 0x73);
const PURPLE: RGBColor = RGBColor(0xCC, 0x79, 0xA7);
const ORANGE: RGBColor = RGBColor(0xE6, 0x9F, 0x00);
const SKY: RGBColor = RGBColor(0x56, 0xB4, 0xE9);
const BLACK: RGBColor = RGBColor(0x00, 0x00, 0x00);

/// In the order of use, darker ones first; their yellow is left out, it vanishes on white.
pub(crate) const LINES: [RGBColor; 7] = [BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK];

/// Text.
pub(crate) const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Axes.
pub(crate) const FRAME: RGBColor = RGBColor(0x80, 0x80, 0x80);
/// The grid behind the data.
pub(crate) const GRID: RGBColor = RGBColor(0xE6, 0xE6, 0xE6);
