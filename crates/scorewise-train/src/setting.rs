//! SETTING: how messages name settings, so that each front end can write them as its users do.
//!
//! A library knows a setting by its name, `weight-decay`. The command calls it `--weight-decay`, Python `weight_decay`. Messages are
//! plain texts, so a mention of a setting is put between private-use characters of Unicode that no other text holds, and a front end
//! replaces each mention by its own words:
//!
//! ```
//! use scorewise_train::Error;
//! use scorewise_train::setting::Setting;
//!
//! let hint = format!("leave it out, or write `{}`", Setting("split").to("random"));
//! let error = Error::setting("weight-decay", "must be 0 or above", hint);
//! assert_eq!(error.to_string(), "weight-decay: must be 0 or above\nhint: leave it out, or write `split random`");
//!
//! let option = |name: &str, value: Option<&str>| match value {
//!     Some(value) => format!("--{name} {value}"),
//!     None => format!("--{name}"),
//! };
//! assert_eq!(error.render(&option), "--weight-decay: must be 0 or above\nhint: leave it out, or write `--split random`");
//! ```

use std::borrow::Cow;
use std::fmt;

const OPEN: char = '\u{e0f0}';
const VALUE: char = '\u{e0f1}';
const CLOSE: char = '\u{e0f2}';

/// A mention of a setting by its name, words joined by hyphens: `weight-decay`.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a>(pub &'a str);

/// A mention of a setting with a value that it could have.
#[derive(Clone, Debug)]
pub struct Given<'a> {
    name: &'a str,
    value: String,
}

/// How a front end writes a setting, with a value where one is mentioned.
pub type Words<'a> = &'a dyn Fn(&str, Option<&str>) -> String;

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

/// A message with every mention of a setting as a front end writes it.
#[must_use]
pub fn render(message: &str, words: Words<'_>) -> String {
    let (mut rendered, mut rest) = (String::with_capacity(message.len()), message);
    while let Some((before, after)) = rest.split_once(OPEN) {
        rendered += before;
        let Some((mention, after)) = after.split_once(CLOSE) else { return rendered + after };
        rendered += &match mention.split_once(VALUE) {
            Some((name, value)) => words(name, Some(value)),
            None => words(mention, None),
        };
        rest = after;
    }
    rendered + rest
}

/// The message for those who call the library itself: settings by their bare names.
pub(crate) fn plain(message: &str) -> String {
    render(message, &|name, value| match value {
        Some(value) => format!("{name} {value}"),
        None => name.into(),
    })
}

/// A text of the user's without characters that no one can see, the marks of mentions among them. Quotes stay as they are.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
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
    sign.is_control() || matches!(sign, OPEN..=CLOSE)
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
        for text in ["\u{e0f0}", "a\u{e0f2}", "\u{e0f1}", "\u{e0f2}\u{e0f0}a", "\u{e0f0}\u{e0f0}a\u{e0f2}\u{e0f2}"] {
            plain(text);
        }
    }
}
