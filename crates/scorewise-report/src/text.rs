//! Text styles in the embedded font, and the width of rendered text.

use std::sync::Once;

use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontDesc, FontFamily, FontStyle, TextStyle, register_font};

use crate::error::{Error, Result};
use crate::palette::INK;
use crate::picture::PixelScale;

/// Text size of tick numbers, axis labels and legends, in pixels.
pub(crate) const LABEL_SIZE: f64 = 12.0;
/// Text size of numbers inside the plotting area, in pixels.
pub(crate) const SMALL_LABEL_SIZE: f64 = 10.5;
/// Text size of titles, in pixels.
pub(crate) const TITLE_SIZE: f64 = 13.5;

/// Ratio of the line height to the em size. The text size that plotters expects is the line height. With a line height of 1.24 em, text has 1 em in
/// the SVG and is slightly larger in the PNG.
const LINE_HEIGHT_PER_EM: f64 = 1.24;

/// Registers the embedded font with plotters, once per process. The font is registered as `sans-serif`, because plotters writes the registered
/// name into the SVG, and every viewer understands this generic name.
pub(crate) fn register_embedded_font() -> Result<()> {
    static FONT_REGISTRATION: Once = Once::new();
    let mut registered = Ok(());
    FONT_REGISTRATION.call_once(|| {
        registered = register_font("sans-serif", FontStyle::Normal, dejavu::sans::regular())
            .map_err(|_| Error::Drawing("the embedded font cannot be read".into()));
    });
    registered
}

/// A text style with this em size in pixels and this anchor position.
pub(crate) fn text_style(scale: PixelScale, em: f64, horizontal: HPos, vertical: VPos) -> TextStyle<'static> {
    let font = FontDesc::new(FontFamily::SansSerif, em * LINE_HEIGHT_PER_EM * scale.factor(), FontStyle::Normal);
    TextStyle::from(font).color(&INK).pos(Pos::new(horizontal, vertical))
}

/// The width of a text in drawing units.
pub(crate) fn text_width(style: &TextStyle<'_>, text: &str) -> i32 {
    // Returns 0 for a font that cannot be measured: drawing the text will then report the error.
    style.font.layout_box(text).map_or(0, |((left, _), (right, _))| right - left)
}

/// Returns `text` if it fits into `available` drawing units, else truncates it and adds an ellipsis.
pub(crate) fn truncate_to_width(style: &TextStyle<'_>, text: &str, available: i32) -> String {
    if text_width(style, text) <= available {
        return text.into();
    }
    let mut characters: Vec<char> = text.chars().collect();
    loop {
        characters.pop();
        let truncated = format!("{}…", characters.iter().collect::<String>().trim_end());
        if characters.is_empty() || text_width(style, &truncated) <= available {
            return truncated;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_truncated_to_the_available_width() {
        register_embedded_font().unwrap();
        let style = text_style(PixelScale(1), LABEL_SIZE, HPos::Left, VPos::Top);
        assert_eq!(truncate_to_width(&style, "short", 100), "short");
        let truncated = truncate_to_width(&style, &"a long title ".repeat(40), 100);
        assert!(
            truncated.ends_with('…') && truncated.starts_with("a long") && text_width(&style, &truncated) <= 100,
            "{truncated}"
        );
        assert_eq!(truncate_to_width(&style, "no space", 0), "…");
    }
}
