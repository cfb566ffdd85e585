//! Escapes control characters, because names of classes, columns and files come from users and may contain terminal escape sequences.

use std::borrow::Cow;

/// Escapes every control character except the line feed, and every Unicode character that embeds, overrides or isolates a writing direction. Examples
/// of the escapes are `\t`, `\r`, `\u001b` and `\u202e`. JSON has the same escapes, so the strings of an escaped JSON document keep their values.
#[must_use]
pub fn escape_control_characters(text: &str) -> Cow<'_, str> {
    if !text.contains(needs_escape) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\t' => escaped.push_str("\\t"),
            '\r' => escaped.push_str("\\r"),
            character if needs_escape(character) => escaped.push_str(&format!("\\u{:04x}", u32::from(character))),
            character => escaped.push(character),
        }
    }
    escaped.into()
}

/// Whether a character must be escaped: every control character (C0, DEL and C1) except the line feed, and every Unicode bidirectional embedding,
/// override or isolate.
fn needs_escape(character: char) -> bool {
    character != '\n'
        && (character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_other_text_is_unchanged() {
        let with_controls = "\u{1b}[2J\u{7}\u{9b}31m\u{7f}\0\r\t\u{202e}gnp.exe\u{2066}\u{2069}";
        assert_eq!(
            escape_control_characters(with_controls),
            "\\u001b[2J\\u0007\\u009b31m\\u007f\\u0000\\r\\t\\u202egnp.exe\\u2066\\u2069"
        );
        let plain = "Zürich 東京 \u{1f600} ▲\n½ = 'x'\n";
        assert!(matches!(escape_control_characters(plain), Cow::Borrowed(same) if same == plain));
    }

    #[test]
    fn escaped_json_parses_to_the_same_value() {
        let value = serde_json::json!({ "class": "\u{1b}]0;x\u{7}", "file": "a\u{202e}b\u{85}\u{7f}.csv" });
        let text = format!("{value:#}\n");
        let escaped = escape_control_characters(&text);
        assert!(!escaped.contains(['\u{202e}', '\u{85}', '\u{7f}']) && escaped != text);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
    }
}
