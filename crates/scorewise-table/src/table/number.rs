//! Parses numbers with a decimal point or a decimal comma: plain numbers, as `f64::from_str` does, and formatted numbers with thousands
//! separators, per cent or currency signs:
//!
//! ```text
//! decimal point   1,234   1,234,567.8   $3.10   -€3   £1,200   3.1%   5 €
//! decimal comma   1.234   1.234.567,8   €3,10   3,1 %
//! ```

/// The powers of ten that f64 represents exactly.
const EXACT_POWERS_OF_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// Parses a plain number with the decimal mark `mark`. The result has the same bits as that of `f64::from_str` and may be infinite. `None` if the
/// cell is not a number or is `NaN`.
#[inline]
pub(super) fn parse(cell: &[u8], mark: u8) -> Option<f64> {
    let (negative, rest) = match cell {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let mut digits = 0u64;
    let mut at = 0;
    while let Some(digit) = rest.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
        digits = digits.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    let mut count = at;
    let mut decimals = 0;
    if rest.get(at) == Some(&mark) {
        at += 1;
        let begin = at;
        while let Some(digit) = rest.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
            digits = digits.wrapping_mul(10).wrapping_add(u64::from(digit));
            at += 1;
        }
        decimals = at - begin;
        count += decimals;
    }
    // Up to 19 digits do not overflow u64. Integers up to 2^53 and powers of ten up to 10^22 are exact in f64, so the division is
    // the only rounding and gives the nearest f64 (Clinger 1990, How to read floating point numbers accurately).
    if at == rest.len() && (1..=19).contains(&count) && digits <= 1 << 53 {
        let value = digits as f64 / EXACT_POWERS_OF_TEN[decimals];
        return Some(if negative { -value } else { value });
    }
    parse_with_std(cell, mark)
}

/// Parses the rarer forms of numbers with the standard library: exponents, many digits, infinities.
#[cold]
fn parse_with_std(cell: &[u8], mark: u8) -> Option<f64> {
    let text = std::str::from_utf8(cell).ok()?;
    let value = if mark == b'.' {
        text.parse::<f64>()
    } else if text.contains('.') {
        return None;
    } else {
        text.replacen(char::from(mark), ".", 1).parse()
    };
    value.ok().filter(|value| !value.is_nan())
}

/// The per cent sign, which may follow a number in a cell, and the currency signs, which may stand before or after a number.
pub(super) const UNIT_SIGNS: [char; 6] = ['%', '$', '€', '£', '¥', '₹'];

/// A number whose cell may contain thousands separators and one of [`UNIT_SIGNS`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FormattedNumber {
    /// The value without the per cent or currency sign: 3.1 for `3.1%`.
    pub(super) value: f64,
    /// Whether the number has thousands separators.
    pub(super) is_grouped: bool,
    pub(super) sign: Option<char>,
}

/// Parses a number that may have thousands separators, one of [`UNIT_SIGNS`], or both. `None` if the cell is not such a number.
#[cold]
pub(super) fn parse_formatted(cell: &[u8], mark: u8) -> Option<FormattedNumber> {
    // Most strings that are not numbers are rejected here, before the more expensive checks.
    let may_begin =
        |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'$' | 0xc2 | 0xe2) || byte == mark;
    let may_hold = |byte: &u8| !byte.is_ascii_alphabetic() && *byte != b':';
    if !cell.first().copied().is_some_and(may_begin) || !cell.iter().all(may_hold) {
        return None;
    }
    let mut rest = std::str::from_utf8(cell).ok()?;
    let (mut minus, mut sign) = (None, None);
    let leading = |text: &str| text.strip_prefix(['-', '+']).map(|after| (text.starts_with('-'), after.len()));
    if let Some((is_minus, left)) = leading(rest) {
        (minus, rest) = (Some(is_minus), &rest[rest.len() - left..]);
    }
    if let Some(currency) = rest.chars().next().filter(|sign| UNIT_SIGNS[1..].contains(sign)) {
        (sign, rest) = (Some(currency), rest[currency.len_utf8()..].trim_start());
        if minus.is_none()
            && let Some((is_minus, left)) = leading(rest)
        {
            (minus, rest) = (Some(is_minus), &rest[rest.len() - left..]);
        }
    } else if let Some(last) = rest.chars().next_back().filter(|sign| UNIT_SIGNS.contains(sign)) {
        (sign, rest) = (Some(last), rest[..rest.len() - last.len_utf8()].trim_end());
    }
    let digits = rest.as_bytes();
    if !digits.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == mark) {
        return None;
    }
    let plain = parse(digits, mark).filter(|value| value.is_finite());
    let value = plain.or_else(|| parse_with_separators(rest, mark))?;
    let value = if minus == Some(true) { -value } else { value };
    Some(FormattedNumber { value, is_grouped: plain.is_none(), sign })
}

/// Parses a number with thousands separators: `1,234,567.8`.
fn parse_with_separators(text: &str, mark: u8) -> Option<f64> {
    let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, decimals) = match text.split_once(char::from(mark)) {
        Some((whole, decimals)) => (whole, are_digits(decimals).then_some(decimals)?),
        None => (text, "0"),
    };
    let mut groups = whole.split(if mark == b'.' { ',' } else { '.' });
    let first = groups.next().filter(|first| are_digits(first) && first.len() <= 3 && !first.starts_with('0'))?;
    let mut digits = first.to_owned();
    for group in groups {
        digits += (are_digits(group) && group.len() == 3).then_some(group)?;
    }
    (digits.len() > first.len()).then(|| parse(format!("{digits}.{decimals}").as_bytes(), b'.')).flatten()
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::{parse, parse_formatted};

    /// Asserts that `parse` returns the same bits as `f64::from_str`, with a decimal point and with a decimal comma.
    fn assert_same_as_std(text: &str) {
        let expected = text.parse::<f64>().ok().filter(|value| !value.is_nan());
        assert_eq!(parse(text.as_bytes(), b'.').map(f64::to_bits), expected.map(f64::to_bits), "{text}");
        let comma = text.replacen('.', ",", 1);
        assert_eq!(parse(comma.as_bytes(), b',').map(f64::to_bits), expected.map(f64::to_bits), "{comma}");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the random number generator of a test has a fixed seed")]
    fn parsing_a_random_number_gives_the_same_bits_as_the_standard_library() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..200_000 {
            let bits = random.next_u64();
            assert_same_as_std(&format!("{}", f64::from_bits(bits)));
            assert_same_as_std(&format!("{:e}", f64::from_bits(bits)));
            let places = (bits % 20) as usize;
            let value = (bits >> 11) as f64 / 10f64.powi((bits % 23) as i32 - 3);
            assert_same_as_std(&format!("{value:.places$}"));
            assert_same_as_std(&format!("-{}.{}", bits >> (bits % 60), random.next_u64() >> (bits % 64)));
        }
    }

    #[test]
    fn numbers_with_separators_or_with_a_per_cent_or_currency_sign_are_parsed() {
        let check = |text: &str, mark: u8, value: f64, is_grouped: bool, sign: Option<char>| {
            assert_eq!(
                parse_formatted(text.as_bytes(), mark),
                Some(super::FormattedNumber { value, is_grouped, sign }),
                "{text}"
            );
        };
        check("1,234", b'.', 1234.0, true, None);
        check("-1,234,567.8", b'.', -1_234_567.8, true, None);
        check("1.234", b',', 1234.0, true, None);
        check("+1.234.567,8", b',', 1_234_567.8, true, None);
        check("3.1%", b'.', 3.1, false, Some('%'));
        check("3,1 %", b',', 3.1, false, Some('%'));
        check("$3.10", b'.', 3.1, false, Some('$'));
        check("-$1,200.50", b'.', -1200.5, true, Some('$'));
        check("€ -3", b'.', -3.0, false, Some('€'));
        check("£3", b'.', 3.0, false, Some('£'));
        check("3,10 €", b',', 3.1, false, Some('€'));
        check("$.5", b'.', 0.5, false, Some('$'));
        for text in [
            "",
            "-",
            "$",
            "%",
            "%3",
            "--3",
            "-$-3",
            "$3%",
            "$3€",
            "3.1 % x",
            "1,23",
            "1,2345",
            "0,123",
            "1234,567",
            "1,234,56",
            "1,234.",
            ",123",
            "1,,234",
            "1,234 567",
            "$inf",
            "inf%",
            "abc",
            "é",
            "1.234,5",
        ] {
            assert_eq!(
                parse_formatted(text.as_bytes(), b'.').filter(|found| found.is_grouped || found.sign.is_some()),
                None,
                "{text}"
            );
        }
    }

    #[test]
    fn parsing_an_unusual_number_gives_the_same_bits_as_the_standard_library() {
        for text in [
            "",
            "-",
            "+",
            ".",
            "-.",
            "1.",
            ".5",
            "+.5",
            "-0",
            "0.0",
            "007",
            "1e5",
            "1E-5",
            "1e999",
            "inf",
            "-Infinity",
            "nan",
            "1_000",
            "0x10",
            "1.2.3",
            "1 ",
            " 1",
            "9007199254740993",
            "9007199254740992",
            "18446744073709551616",
            "1e308",
            "0.000000000000000000000001",
            "00000000000000000000000000001",
            "--1",
            "1e",
            "1e+",
            "é",
            "1.7976931348623157e308",
        ] {
            assert_same_as_std(text);
        }
        assert_eq!(parse(b"1e999", b'.'), Some(f64::INFINITY));
        assert_eq!(parse(b"1.5", b','), None);
    }
}
