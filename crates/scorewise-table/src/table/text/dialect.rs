//! Recognises the delimiter from the first lines of a text table.

use super::records::Records;

/// The delimiters that are tried, the most likely first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// The number of bytes from which the delimiter is recognised; a few hundred records are enough.
const SAMPLE_BYTES: usize = 64 << 10;

/// Tries each delimiter that splits the first record into at least two cells; `None` if there is no such delimiter. Returns the delimiter for
/// which the largest share of records has as many cells as the first record. If these shares are equal, returns the delimiter that splits the
/// first record into the most cells. If `decimal_comma` is `true`, the comma is not tried. `is_whole` says whether `text` is the whole file.
pub(super) fn recognise_delimiter(text: &[u8], is_whole: bool, line_end: u8, decimal_comma: bool) -> Option<u8> {
    let text = if is_whole && text.len() <= SAMPLE_BYTES {
        text
    } else {
        let text = &text[..text.len().min(SAMPLE_BYTES)];
        // The last line may be incomplete, so it is left out.
        &text[..memchr::memrchr(line_end, text).map_or(text.len(), |at| at + 1)]
    };
    let mut best: Option<(u8, (f64, usize))> = None;
    for candidate in DELIMITERS.into_iter().filter(|candidate| !decimal_comma || *candidate != b',') {
        let mut records = Records::new(text, 1, candidate, line_end);
        let Some(cells) = records.next_nonempty().map(|first| first.len()).filter(|cells| *cells > 1) else { continue };
        let (mut equal, mut total) = (1u32, 1u32);
        while let Some(record) = records.next_nonempty() {
            total += 1;
            equal += u32::from(record.len() == cells);
        }
        let rating = (f64::from(equal) / f64::from(total), cells);
        if best.is_none_or(|(_, highest)| rating > highest) {
            best = Some((candidate, rating));
        }
    }
    best.map(|(delimiter, _)| delimiter)
}

/// The name of a delimiter in messages.
pub(super) fn delimiter_name(delimiter: u8) -> String {
    if delimiter == b'\t' { "tab".into() } else { format!("`{}`", char::from(delimiter)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_delimiter_is_recognised() {
        let found = |text: &str| recognise_delimiter(text.as_bytes(), true, b'\n', false);
        assert_eq!(found("a,b\n1,2\n"), Some(b','));
        assert_eq!(found("a;b\n1,5;2,5\n"), Some(b';'));
        assert_eq!(
            found("a, unit;b\n1,5;2,5\n3;4\n"),
            Some(b';'),
            "a comma in the header does not make the comma the delimiter"
        );
        assert_eq!(found("a\tb\n1\t2, 3\n"), Some(b'\t'));
        assert_eq!(found("a|b|c\n1|2|3\n"), Some(b'|'));
        assert_eq!(found("\"a;b\",c\n\"1;2\",3\n"), Some(b','), "delimiters within quotes do not count");
        assert_eq!(found("a\n1\n"), None);
    }
}
