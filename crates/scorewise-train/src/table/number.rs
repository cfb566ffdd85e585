//! Numbers as cells write them: what `f64::from_str` takes, with a decimal point or a decimal comma.

/// Powers of ten that f64 holds exactly.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// The number a cell holds, bit for bit that of `f64::from_str`; infinite where the cell says so or lies beyond f64.
/// `None` where it is no number, which `NaN` is not.
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
    let mut places = 0;
    if rest.get(at) == Some(&mark) {
        at += 1;
        let begin = at;
        while let Some(digit) = rest.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
            digits = digits.wrapping_mul(10).wrapping_add(u64::from(digit));
            at += 1;
        }
        places = at - begin;
        count += places;
    }
    // Up to 19 digits do not overflow u64. Digits up to 2^53 and a power of ten up to 10^22 are exact in f64, so one
    // division rounds once, and rightly (Clinger 1990, How to read floating point numbers accurately).
    if at == rest.len() && (1..=19).contains(&count) && digits <= 1 << 53 {
        let value = digits as f64 / TENS[places];
        return Some(if negative { -value } else { value });
    }
    by_the_library(cell, mark)
}

/// Long and unusual ones: exponents, many digits, infinities.
#[cold]
fn by_the_library(cell: &[u8], mark: u8) -> Option<f64> {
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

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::parse;

    fn same(text: &str) {
        let expected = text.parse::<f64>().ok().filter(|value| !value.is_nan());
        assert_eq!(parse(text.as_bytes(), b'.').map(f64::to_bits), expected.map(f64::to_bits), "{text}");
        let comma = text.replacen('.', ",", 1);
        assert_eq!(parse(comma.as_bytes(), b',').map(f64::to_bits), expected.map(f64::to_bits), "{comma}");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "dice of a test")]
    fn equals_the_library_on_random_values() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..200_000 {
            let bits = random.next_u64();
            same(&format!("{}", f64::from_bits(bits)));
            same(&format!("{:e}", f64::from_bits(bits)));
            let places = (bits % 20) as usize;
            let value = (bits >> 11) as f64 / 10f64.powi((bits % 23) as i32 - 3);
            same(&format!("{value:.places$}"));
            same(&format!("-{}.{}", bits >> (bits % 60), random.next_u64() >> (bits % 64)));
        }
    }

    #[test]
    fn equals_the_library_on_odd_texts() {
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
            same(text);
        }
        assert_eq!(parse(b"1e999", b'.'), Some(f64::INFINITY));
        assert_eq!(parse(b"1.5", b','), None);
    }
}
