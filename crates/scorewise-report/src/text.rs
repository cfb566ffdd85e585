//! Text: one font, a few sizes, and how wide it comes out.

use std::sync::Once;

use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontDesc, FontFamily, FontStyle, TextStyle, register_font};

use crate::error::{Error, Result};
use crate::palette::INK;
use crate::picture::Scale;

/// Numbers and words beside the data.
pub(crate) const SMALL: f64 = 12.0;
/// Numbers among the data, where there is little room.
pub(crate) const TINY: f64 = 10.5;
/// Titles.
pub(crate) const LARGE: f64 = 13.5;

/// plotters' sizes are heights of lines: what it calls 1.24 is 1 em in the SVG, and a little more in the PNG.
const LINE_OF_EM: f64 = 1.24;

/// Gives plotters the font. It keeps fonts by name for the whole program: `sans-serif` is what an SVG viewer understands.
pub(crate) fn make_font_known() -> Result<()> {
    static ONCE: Once = Once::new();
    let mut known = Ok(());
    ONCE.call_once(|| {
        known = register_font("sans-serif", FontStyle::Normal, dejavu::sans::regular())
            .map_err(|_| Error::Drawing("the embedded font cannot be read".into()));
    });
    known
}

/// Text of this many pixels an em, anchored at this side.
pub(crate) fn text(scale: Scale, em: f64, horizontal: HPos, vertical: VPos) -> TextStyle<'static> {
    let font = FontDesc::new(FontFamily::SansSerif, em * LINE_OF_EM * scale.factor(), FontStyle::Normal);
    TextStyle::from(font).color(&INK).pos(Pos::new(horizontal, vertical))
}

/// The width in drawing units.
pub(crate) fn width(style: &TextStyle<'_>, words: &str) -> i32 {
    // A font that cannot be measured cannot be drawn either, and drawing says so.
    style.font.layout_box(words).map_or(0, |((left, _), (right, _))| right - left)
}

/// The words, or as many of their letters as fit, and an ellipsis.
pub(crate) fn fitted(style: &TextStyle<'_>, words: &str, room: i32) -> String {
    if width(style, words) <= room {
        return words.into();
    }
    let mut letters: Vec<char> = words.chars().collect();
    loop {
        letters.pop();
        let short = format!("{}…", letters.iter().collect::<String>().trim_end());
        if letters.is_empty() || width(style, &short) <= room {
            return short;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_are_cut_to_their_room() {
        make_font_known().unwrap();
        let style = text(Scale(1), SMALL, HPos::Left, VPos::Top);
        assert_eq!(fitted(&style, "short", 100), "short");
        let cut = fitted(&style, &"a long title ".repeat(40), 100);
        assert!(cut.ends_with('…') && cut.starts_with("a long") && width(&style, &cut) <= 100, "{cut}");
        assert_eq!(fitted(&style, "no room", 0), "…");
    }
}
