//! A colour palette that colour-blind readers can distinguish.
//!
//! Pictures use only the colours of this module, so that a page can replace every colour in dark mode. Translucent shapes therefore have one
//! of these colours and an opacity, never a colour mixed in advance.
//!
//! Okabe, M., Ito, K. (2008). Color universal design. <https://jfly.uni-koeln.de/color/>

use plotters::style::RGBColor;

/// Blue, mostly used for priors.
pub(crate) const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xB2);
/// Vermillion, mostly used for data.
pub(crate) const VERMILLION: RGBColor = RGBColor(0xD5, 0x5E, 0x00);
pub(crate) const GREEN: RGBColor = RGBColor(0x00, 0x9E, 0x73);
pub(crate) const PURPLE: RGBColor = RGBColor(0xCC, 0x79, 0xA7);
pub(crate) const ORANGE: RGBColor = RGBColor(0xE6, 0x9F, 0x00);
pub(crate) const SKY: RGBColor = RGBColor(0x56, 0xB4, 0xE9);
const BLACK: RGBColor = RGBColor(0x00, 0x00, 0x00);

/// Line colours in the order in which figures use them. Yellow is left out because it is hard to see on white.
pub(crate) const LINES: [RGBColor; 7] = [BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK];

/// Colour of text, and of marks that belong to no particular line.
pub(crate) const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Colour of axes and reference lines.
pub(crate) const FRAME: RGBColor = RGBColor(0x80, 0x80, 0x80);
/// Colour of the grid behind the data.
pub(crate) const GRID: RGBColor = RGBColor(0xE6, 0xE6, 0xE6);
/// Colour of the background.
pub(crate) const PAPER: RGBColor = RGBColor(0xFF, 0xFF, 0xFF);

/// Every colour that a picture can contain, with its name and its SVG notation, such as `("ink", "#222222")`.
pub fn palette() -> Vec<(&'static str, String)> {
    let named = [
        ("blue", BLUE),
        ("vermillion", VERMILLION),
        ("green", GREEN),
        ("purple", PURPLE),
        ("orange", ORANGE),
        ("sky", SKY),
        ("black", BLACK),
        ("ink", INK),
        ("frame", FRAME),
        ("grid", GRID),
        ("paper", PAPER),
    ];
    named.map(|(name, RGBColor(red, green, blue))| (name, format!("#{red:02X}{green:02X}{blue:02X}"))).to_vec()
}
