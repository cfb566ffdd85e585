//! Number formatting shared by the terminal, the HTML page and notebooks.

/// Formats a number with at most six decimals and no trailing zeros. Absolute values below 5e-5 are written in scientific notation.
///
/// ```
/// use scorewise_report::format_number;
/// assert_eq!([0.25, 1.0, -0.0, 1e-7, 2.0 / 3.0].map(format_number), ["0.25", "1", "0", "1.000e-7", "0.666667"]);
/// ```
#[must_use]
pub fn format_number(value: f64) -> String {
    if value != 0.0 && value.abs() < 5e-5 {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// Formats the two ends of an interval with enough decimals to distinguish them.
///
/// ```
/// use scorewise_report::format_interval_ends;
/// assert_eq!(format_interval_ends(0.25, 0.5), ("0.25".into(), "0.5".into()));
/// assert_eq!(format_interval_ends(0.123_456_781, 0.123_456_784), ("0.123456781".into(), "0.123456784".into()));
/// ```
#[must_use]
pub fn format_interval_ends(low: f64, high: f64) -> (String, String) {
    let (short_low, short_high) = (format_number(low), format_number(high));
    if short_low != short_high || low == high {
        return (short_low, short_high);
    }
    let with_decimals = |digits: usize| (format!("{low:.digits$}"), format!("{high:.digits$}"));
    (7..=17).map(with_decimals).find(|(low, high)| low != high).unwrap_or((low.to_string(), high.to_string()))
}

/// Describes the interval from `low` to `high` of thresholds with the same confusion matrix. `is_high_included` says whether `high` belongs to the
/// interval. An upper end below 1 never does. An upper end of 1 does, unless a prediction is exactly 1: the threshold 1 then has a confusion matrix
/// of its own.
///
/// ```
/// use scorewise_report::format_threshold_range;
/// assert_eq!(format_threshold_range(0.3, 0.4, false), "0.3 up to but not including 0.4");
/// assert_eq!(format_threshold_range(0.9, 1.0, true), "0.9 to 1");
/// // A prediction is 1, so the threshold 1 has a confusion matrix and an interval of its own.
/// assert_eq!(format_threshold_range(0.9, 1.0, false), "0.9 up to but not including 1");
/// assert_eq!(format_threshold_range(1.0, 1.0, true), "1 to 1");
/// ```
#[must_use]
pub fn format_threshold_range(low: f64, high: f64, is_high_included: bool) -> String {
    let (from, to) = format_interval_ends(low, high);
    // An interval that consists of one threshold includes it.
    let to_or_below = if is_high_included || low == high { "to" } else { "up to but not including" };
    format!("{from} {to_or_below} {to}")
}

/// Formats a number as [`format_number`] does, and `None` as `undefined`.
#[must_use]
pub fn format_optional(value: Option<f64>) -> String {
    value.map_or("undefined".into(), format_number)
}

/// Formats a number for running text: at most three decimals and no trailing zeros. Absolute values below 0.005 are formatted by
/// [`format_number`].
///
/// ```
/// use scorewise_report::format_rounded;
/// assert_eq!([0.519_039, 0.5, 1.0, 0.000_12].map(format_rounded), ["0.519", "0.5", "1", "0.00012"]);
/// ```
#[must_use]
pub fn format_rounded(value: f64) -> String {
    if value != 0.0 && value.abs() < 5e-3 {
        return format_number(value);
    }
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// Formats a count with thin spaces between groups of three digits. Numbers that are not integers, such as sums of weights, are formatted by
/// [`format_number`].
///
/// ```
/// use scorewise_report::format_count;
/// assert_eq!([0.0, 999.0, 1234567.0, 2.5].map(format_count), ["0", "999", "1\u{202f}234\u{202f}567", "2.5"]);
/// ```
#[must_use]
pub fn format_count(value: f64) -> String {
    if value.fract() != 0.0 {
        return format_number(value);
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        let remaining = digits.len() - at;
        if at > 0 && remaining % 3 == 0 && digit.is_ascii_digit() && !text.ends_with('-') {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}
