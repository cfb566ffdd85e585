//! Text of users where it is shown: names of classes, columns and files may hold anything, a terminal's commands included.

use std::borrow::Cow;

/// The text with every control character but the line feed written out, and with them the characters that turn the direction of
/// writing: `\t`, `\r`, `\u001b`, `\u202e`. That is how JSON writes them, so JSON stays the same JSON.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for sign in text.chars() {
        match sign {
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            sign if is_hidden(sign) => shown.push_str(&format!("\\u{:04x}", u32::from(sign))),
            sign => shown.push(sign),
        }
    }
    shown.into()
}

/// Control characters (C0 but the line feed, DEL, C1), and embeddings, overrides and isolates of the direction of writing.
fn is_hidden(sign: char) -> bool {
    sign != '\n' && (sign.is_control() || matches!(sign, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out_and_all_else_stays() {
        let hostile = "\u{1b}[2J\u{7}\u{9b}31m\u{7f}\0\r\t\u{202e}gnp.exe\u{2066}\u{2069}";
        assert_eq!(visible(hostile), "\\u001b[2J\\u0007\\u009b31m\\u007f\\u0000\\r\\t\\u202egnp.exe\\u2066\\u2069");
        let plain = "Zürich 東京 \u{1f600} ▲\n½ = 'x'\n";
        assert!(matches!(visible(plain), Cow::Borrowed(same) if same == plain));
    }

    #[test]
    fn json_stays_the_same_json() {
        let value = serde_json::json!({ "class": "\u{1b}]0;x\u{7}", "file": "a\u{202e}b\u{85}\u{7f}.csv" });
        let text = format!("{value:#}\n");
        let shown = visible(&text);
        assert!(!shown.contains(['\u{202e}', '\u{85}', '\u{7f}']) && shown != text);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
