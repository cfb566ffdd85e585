//! Names of settings in messages, which each front end (the command line, Python) writes the way its users know them.
//!
//! This crate knows a setting by its plain name, `weight-decay`. The command line calls it `--weight-decay`, Python `weight_decay`.
//! Messages are plain strings, so each mention of a setting is enclosed in private-use Unicode characters that no other string
//! contains, and the front end replaces every mention:
//!
//! ```
//! use scorewise_table::Error;
//! use scorewise_table::setting::Setting;
//!
//! let hint = format!("leave this setting out, or write `{}`", Setting("split").to("random"));
//! let error = Error::setting("weight-decay", "must be 0 or above", hint);
//! assert_eq!(error.to_string(), "weight-decay: must be 0 or above\nhint: leave this setting out, or write `split random`");
//!
//! let option = |name: &str, value: Option<&str>| match value {
//!     Some(value) => Some(format!("--{name} {value}")),
//!     None => Some(format!("--{name}")),
//! };
//! assert_eq!(error.render(&option), "--weight-decay: must be 0 or above\nhint: leave this setting out, or write `--split random`");
//! ```
//!
//! A front end may lack some settings. It does not show a hint that mentions a setting that it lacks.
//! [`alternative_hints`] combines several hints; the first one that mentions only settings of the front end is shown.

use std::borrow::Cow;
use std::fmt;

// Marker characters in a message. A setting is written as SETTING_START name SETTING_END or SETTING_START name SETTING_VALUE value SETTING_END;
// hints are written as HINTS_START hint HINTS_END or HINTS_START hint NEXT_HINT hint … HINTS_END.
/// Marks the beginning of a setting in a message.
const SETTING_START: char = '\u{e0f0}';
/// Separates the name of a setting from its value in a message.
const SETTING_VALUE: char = '\u{e0f1}';
/// Marks the end of a setting in a message.
const SETTING_END: char = '\u{e0f2}';
/// Marks the beginning of the hints of a message.
const HINTS_START: char = '\u{e0f3}';
/// Separates alternative hints in a message.
const NEXT_HINT: char = '\u{e0f4}';
/// Marks the end of the hints of a message.
const HINTS_END: char = '\u{e0f5}';

/// A setting in a message, by its plain name with words joined by hyphens: `weight-decay`.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a>(pub &'a str);

/// A setting in a message, together with a value for it: `split random`.
#[derive(Clone, Debug)]
pub struct SettingWithValue<'a> {
    name: &'a str,
    value: String,
}

/// A function of a front end that writes a setting, given its plain name and an optional value. Returns `None` when the front end has no
/// such setting.
pub type SettingFormatter<'a> = &'a dyn Fn(&str, Option<&str>) -> Option<String>;

impl<'a> Setting<'a> {
    /// Returns the setting together with a value. Control characters in the value are escaped, because the value may come from the user.
    #[must_use]
    pub fn to(self, value: &str) -> SettingWithValue<'a> {
        SettingWithValue { name: self.0, value: visible(value).into_owned() }
    }
}

impl fmt::Display for Setting<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{SETTING_START}{}{SETTING_END}", self.0)
    }
}

impl fmt::Display for SettingWithValue<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{SETTING_START}{}{SETTING_VALUE}{}{SETTING_END}", self.name, self.value)
    }
}

/// Combines alternative hints for an [`Error`](crate::Error). The front end shows the first hint that mentions only settings it has.
#[must_use]
pub fn alternative_hints(hints: &[String]) -> String {
    hints.join(&NEXT_HINT.to_string())
}

/// A hint on a line of its own at the end of a message; displays nothing when the hint is empty.
pub(crate) struct HintLine<'a>(pub &'a str);

impl fmt::Display for HintLine<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(out, "{HINTS_START}{}{HINTS_END}", self.0) }
    }
}

/// Returns the message with every setting written by `formatter`, or by its plain name if `formatter` returns `None`. Of several
/// hints, the message keeps only the first one whose settings are all known to `formatter`; if there is no such hint, the message has no hint.
#[must_use]
pub fn render(message: &str, formatter: SettingFormatter<'_>) -> String {
    let (mut rendered, mut rest) = (String::with_capacity(message.len()), message);
    while let Some((before, after)) = rest.split_once(HINTS_START) {
        rendered += &render_mentions(before, formatter).0;
        let (hints, after) = after.split_once(HINTS_END).unwrap_or((after, ""));
        if let Some((hint, _)) =
            hints.split(NEXT_HINT).map(|hint| render_mentions(hint, formatter)).find(|(_, all_known)| *all_known)
        {
            rendered += "\nhint: ";
            rendered += &hint;
        }
        rest = after;
    }
    rendered + &render_mentions(rest, formatter).0
}

/// Returns the text with its settings written by `formatter`, or by their plain names if `formatter` returns `None`; and whether `formatter`
/// returned `Some` for every setting in the text.
fn render_mentions(text: &str, formatter: SettingFormatter<'_>) -> (String, bool) {
    let (mut rendered, mut rest, mut all_known) = (String::with_capacity(text.len()), text, true);
    while let Some((before, after)) = rest.split_once(SETTING_START) {
        rendered += before;
        let Some((mention, after)) = after.split_once(SETTING_END) else { return (rendered + after, all_known) };
        let (name, value) =
            mention.split_once(SETTING_VALUE).map_or((mention, None), |(name, value)| (name, Some(value)));
        let written = formatter(name, value);
        all_known &= written.is_some();
        rendered += &written.or_else(|| format_plain_setting(name, value)).unwrap_or_default();
        rest = after;
    }
    (rendered + rest, all_known)
}

/// Returns the message with settings written by their plain names, for Rust programs that call this crate directly.
pub(crate) fn render_plain(message: &str) -> String {
    render(message, &format_plain_setting)
}

/// Writes a setting by its plain name, followed by its value if there is one. Never returns `None`.
fn format_plain_setting(name: &str, value: Option<&str>) -> Option<String> {
    Some(match value {
        Some(value) => format!("{name} {value}"),
        None => name.into(),
    })
}

/// Returns the user's text with control characters and the markers of this module escaped. Quotes are not escaped.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(needs_escape) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if needs_escape(character) {
            escaped.extend(character.escape_unicode());
        } else {
            escaped.push(character);
        }
    }
    escaped.into()
}

/// Whether a character is a control character or one of the markers that enclose settings and hints.
pub(crate) fn needs_escape(character: char) -> bool {
    character.is_control() || matches!(character, SETTING_START..=HINTS_END)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_in_user_text_are_escaped() {
        let name = format!("a{}b", Setting("drop"));
        assert!(!crate::names::quoted(&name).contains(needs_escape));
        assert!(!crate::Location::file(&name).column(&name).to_string().contains(needs_escape));
        assert!(!visible(&name).contains(needs_escape));
        assert_eq!(render_plain(&Setting("drop").to(&name).to_string()), "drop a\\u{e0f0}drop\\u{e0f2}b");
    }

    #[test]
    fn unbalanced_markers_do_not_panic() {
        for text in [
            "\u{e0f0}",
            "a\u{e0f2}",
            "\u{e0f1}",
            "\u{e0f2}\u{e0f0}a",
            "\u{e0f0}\u{e0f0}a\u{e0f2}\u{e0f2}",
            "\u{e0f3}",
            "\u{e0f5}\u{e0f3}a\u{e0f4}",
        ] {
            render_plain(text);
        }
    }
}
