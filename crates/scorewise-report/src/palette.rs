//! Colours that people with any kind of colour vision can tell apart.
//!
//! Pictures hold these colours and no others, so that a page can exchange them by name for its dark form: what lies behind
//! shines through by opacity, never by a mixed colour.
//!
//! Okabe, M., Ito, K. (2008). Color universal design. <https://jfly.uni-koeln.de/color/>

use plotters::style::RGBColor;

/// The prior: what was asked for.
pub(crate) const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xB2);
/// The data: what came out.
pub(crate) const VERMILLION: RGBColor = RGBColor(0xD5, 0x5E, 0x00);
pub(crate) const GREEN: RGBColor = RGBColor(0x00, 0x9E, 0x73);
pub(crate) const PURPLE: RGBColor = RGBColor(0xCC, 0x79, 0xA7);
pub(crate) const ORANGE: RGBColor = RGBColor(0xE6, 0x9F, 0x00);
pub(crate) const SKY: RGBColor = RGBColor(0x56, 0xB4, 0xE9);
const BLACK: RGBColor = RGBColor(0x00, 0x00, 0x00);

/// In the order of use, darker ones first; their yellow is left out, it vanishes on white.
pub(crate) const LINES: [RGBColor; 7] = [BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK];

/// Text, and marks that belong to no line.
pub(crate) const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Axes, and lines of reference.
pub(crate) const FRAME: RGBColor = RGBColor(0x80, 0x80, 0x80);
/// The grid behind the data.
pub(crate) const GRID: RGBColor = RGBColor(0xE6, 0xE6, 0xE6);
/// What all is drawn on.
pub(crate) const PAPER: RGBColor = RGBColor(0xFF, 0xFF, 0xFF);

/// Every colour a picture may hold, with its name, as the SVG writes it: `("ink", "#222222")`.
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
