//! SETTING: how messages name settings, so that each front end can write them as its users do.
//!
//! A library knows a setting by its name, `weight-decay`. The command calls it `--weight-decay`, Python `weight_decay`. Messages are
//! plain texts, so a mention of a setting is put between private-use characters of Unicode that no other text holds, and a front end
//! replaces each mention by its own words:
//!
//! ```
//! use scorewise_table::Error;
//! use scorewise_table::setting::Setting;
//!
//! let hint = format!("leave it out, or write `{}`", Setting("split").to("random"));
//! let error = Error::setting("weight-decay", "must be 0 or above", hint);
//! assert_eq!(error.to_string(), "weight-decay: must be 0 or above\nhint: leave it out, or write `split random`");
//!
//! let option = |name: &str, value: Option<&str>| match value {
//!     Some(value) => Some(format!("--{name} {value}")),
//!     None => Some(format!("--{name}")),
//! };
//! assert_eq!(error.render(&option), "--weight-decay: must be 0 or above\nhint: leave it out, or write `--split random`");
//! ```
//!
//! A front end need not have every setting. A hint that names one that it lacks is not shown; [`first_of`] gives the hint that is shown instead.

use std::borrow::Cow;
use std::fmt;

const OPEN: char = '\u{e0f0}';
const VALUE: char = '\u{e0f1}';
const CLOSE: char = '\u{e0f2}';
const HINT: char = '\u{e0f3}';
const OR: char = '\u{e0f4}';
const END: char = '\u{e0f5}';

/// A mention of a setting by its name, words joined by hyphens: `weight-decay`.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a>(pub &'a str);

/// A mention of a setting with a value that it could have.
#[derive(Clone, Debug)]
pub struct Given<'a> {
    name: &'a str,
    value: String,
}

/// How a front end writes a setting, with a value where one is mentioned; `None` when it has no such setting.
pub type Words<'a> = &'a dyn Fn(&str, Option<&str>) -> Option<String>;

impl<'a> Setting<'a> {
    /// The same with a value, which may come from the user.
    #[must_use]
    pub fn to(self, value: &str) -> Given<'a> {
        Given { name: self.0, value: visible(value).into_owned() }
    }
}

impl fmt::Display for Setting<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{OPEN}{}{CLOSE}", self.0)
    }
}

impl fmt::Display for Given<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{OPEN}{}{VALUE}{}{CLOSE}", self.name, self.value)
    }
}

/// A hint for [`Error`](crate::Error): the first of these that names no setting which the front end lacks.
#[must_use]
pub fn first_of(hints: &[String]) -> String {
    hints.join(&OR.to_string())
}

/// A hint on a line of its own, as part of a message; nothing when it is empty.
pub(crate) struct Hint<'a>(pub &'a str);

impl fmt::Display for Hint<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(out, "{HINT}{}{END}", self.0) }
    }
}

/// A message with every mention of a setting as a front end writes it, and without hints that name a setting which it lacks.
#[must_use]
pub fn render(message: &str, words: Words<'_>) -> String {
    let (mut rendered, mut rest) = (String::with_capacity(message.len()), message);
    while let Some((before, after)) = rest.split_once(HINT) {
        rendered += &mentions(before, words).0;
        let (hints, after) = after.split_once(END).unwrap_or((after, ""));
        if let Some((hint, _)) = hints.split(OR).map(|hint| mentions(hint, words)).find(|(_, all)| *all) {
            rendered += "\nhint: ";
            rendered += &hint;
        }
        rest = after;
    }
    rendered + &mentions(rest, words).0
}

/// A text with its mentions as a front end writes them, and whether it has all of these settings.
fn mentions(text: &str, words: Words<'_>) -> (String, bool) {
    let (mut rendered, mut rest, mut all) = (String::with_capacity(text.len()), text, true);
    while let Some((before, after)) = rest.split_once(OPEN) {
        rendered += before;
        let Some((mention, after)) = after.split_once(CLOSE) else { return (rendered + after, all) };
        let (name, value) = mention.split_once(VALUE).map_or((mention, None), |(name, value)| (name, Some(value)));
        let written = words(name, value);
        all &= written.is_some();
        rendered += &written.or_else(|| bare(name, value)).unwrap_or_default();
        rest = after;
    }
    (rendered + rest, all)
}

/// The message for those who call the library itself: settings by their bare names.
pub(crate) fn plain(message: &str) -> String {
    render(message, &bare)
}

fn bare(name: &str, value: Option<&str>) -> Option<String> {
    Some(match value {
        Some(value) => format!("{name} {value}"),
        None => name.into(),
    })
}

/// A text of the user's without characters that no one can see, the marks of mentions among them. Quotes stay as they are.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for sign in text.chars() {
        if is_hidden(sign) {
            shown.extend(sign.escape_unicode());
        } else {
            shown.push(sign);
        }
    }
    shown.into()
}

/// Whether a character is a control character or a mark of a mention.
pub(crate) fn is_hidden(sign: char) -> bool {
    sign.is_control() || matches!(sign, OPEN..=END)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_of_users_hold_no_marks() {
        let name = format!("a{}b", Setting("drop"));
        assert!(!crate::names::quoted(&name).contains(is_hidden));
        assert!(!crate::Place::file(&name).column(&name).to_string().contains(is_hidden));
        assert!(!visible(&name).contains(is_hidden));
        assert_eq!(plain(&Setting("drop").to(&name).to_string()), "drop a\\u{e0f0}drop\\u{e0f2}b");
    }

    #[test]
    fn marks_that_do_not_belong_together_do_no_harm() {
        for text in [
            "\u{e0f0}",
            "a\u{e0f2}",
            "\u{e0f1}",
            "\u{e0f2}\u{e0f0}a",
            "\u{e0f0}\u{e0f0}a\u{e0f2}\u{e0f2}",
            "\u{e0f3}",
            "\u{e0f5}\u{e0f3}a\u{e0f4}",
        ] {
            plain(text);
        }
    }
}
