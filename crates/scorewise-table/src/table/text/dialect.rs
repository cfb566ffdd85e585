//! What stands between cells, recognised from the first lines.

use super::records::Records;

/// What may stand between cells, the likelier first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Text that is looked at; a few hundred records tell.
const LOOKED_AT: usize = 64 << 10;

/// The delimiter under which most records have as many cells as the first, which has at least two. With a decimal comma it is
/// no comma.
pub(super) fn delimiter(text: &[u8], whole: bool, line_end: u8, decimal_comma: bool) -> Option<u8> {
    let text = if whole && text.len() <= LOOKED_AT {
        text
    } else {
        let text = &text[..text.len().min(LOOKED_AT)];
        // The last line may be cut.
        &text[..memchr::memrchr(line_end, text).map_or(text.len(), |at| at + 1)]
    };
    let mut best: Option<(u8, (f64, usize))> = None;
    for candidate in DELIMITERS.into_iter().filter(|candidate| !decimal_comma || *candidate != b',') {
        let mut records = Records::new(text, 1, candidate, line_end);
        let Some(cells) = records.next_written().map(|first| first.len()).filter(|cells| *cells > 1) else { continue };
        let (mut alike, mut all) = (1u32, 1u32);
        while let Some(record) = records.next_written() {
            all += 1;
            alike += u32::from(record.len() == cells);
        }
        let merit = (f64::from(alike) / f64::from(all), cells);
        if best.is_none_or(|(_, so_far)| merit > so_far) {
            best = Some((candidate, merit));
        }
    }
    best.map(|(delimiter, _)| delimiter)
}

/// How a delimiter is shown in messages.
pub(super) fn shown(delimiter: u8) -> String {
    if delimiter == b'\t' { "tab".into() } else { format!("`{}`", char::from(delimiter)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_delimiter_is_recognised() {
        let found = |text: &str| delimiter(text.as_bytes(), true, b'\n', false);
        assert_eq!(found("a,b\n1,2\n"), Some(b','));
        assert_eq!(found("a;b\n1,5;2,5\n"), Some(b';'));
        assert_eq!(found("a, unit;b\n1,5;2,5\n3;4\n"), Some(b';'), "a comma in the header of a semicolon file");
        assert_eq!(found("a\tb\n1\t2, 3\n"), Some(b'\t'));
        assert_eq!(found("a|b|c\n1|2|3\n"), Some(b'|'));
        assert_eq!(found("\"a;b\",c\n\"1;2\",3\n"), Some(b','), "delimiters within quotes do not count");
        assert_eq!(found("a\n1\n"), None);
    }
}
