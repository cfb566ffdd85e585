//! Formatting of output: aligned tables, key-value lines, counts, confusion matrices, bars of block characters, and JSON.

use scorewise::Confusion;
use scorewise_report::evaluation::ClassSummary;
pub use scorewise_report::{format_number, format_optional, format_threshold_range};
use serde::Serialize;

/// A table as text. Columns are padded to the width of their widest cell and separated by two spaces; lines have no trailing spaces.
pub fn aligned_table(heading: &[&str], rows: &[Vec<String>]) -> String {
    let heading: Vec<String> = heading.iter().map(|name| name.to_uppercase()).collect();
    let all = || std::iter::once(&heading).chain(rows);
    let widths: Vec<usize> =
        (0..heading.len()).map(|column| all().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in all() {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width - cell.chars().count() + 2));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Lines of the form `key  value`, with all values aligned; a key with an empty value is left out.
pub fn key_value_lines(lines: &[(&str, String)]) -> String {
    let lines: Vec<_> = lines.iter().filter(|(_, value)| !value.is_empty()).collect();
    let width = lines.iter().map(|(key, _)| key.chars().count()).max().unwrap_or(0);
    lines.iter().map(|(key, value)| format!("{key:<width$}  {value}\n")).collect()
}

/// A bar chart as one line of block characters; the greatest height is a full block.
pub fn block_bars(heights: &[f64]) -> String {
    /// Block characters, from empty to full in steps of one eighth.
    const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let max = heights.iter().copied().filter(|height| height.is_finite()).fold(f64::MIN_POSITIVE, f64::max);
    let block = |height: &f64| BLOCKS[(8.0 * (height / max).min(1.0)).round() as usize];
    heights.iter().map(block).collect()
}

/// A count with its noun in the singular or plural: `1 row`, `2 rows`.
pub fn count_text(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A number with its 95 % interval: `0.61 (95 % 0.58 to 0.64)`.
pub fn format_with_interval(value: f64, interval: Option<(f64, f64)>) -> String {
    match interval {
        Some((low, high)) => {
            format!("{} (95 % {} to {})", format_number(value), format_number(low), format_number(high))
        }
        None => format_number(value),
    }
}

/// A confusion matrix as a table of two rows and two columns.
pub fn confusion_table(confusion: &Confusion) -> String {
    let row =
        |name: &str, cells: [f64; 2]| [name.to_string(), format_number(cells[0]), format_number(cells[1])].to_vec();
    let rows = [row("negative", [confusion.tn, confusion.fp]), row("positive", [confusion.fn_, confusion.tp])];
    aligned_table(&["", "forecast no", "forecast yes"], &rows)
}

/// Confusion matrix and scores of predictions for more than two classes, as text.
pub fn class_summary_text(summary: &ClassSummary) -> String {
    let head = key_value_lines(&[("rows", summary.rows.to_string()), ("classes", summary.classes.len().to_string())]);
    let row = |(class, cells): (&String, &Vec<f64>)| {
        std::iter::once(class.clone()).chain(cells.iter().map(|cell| format_number(*cell))).collect::<Vec<_>>()
    };
    let matrix: Vec<Vec<String>> = summary.classes.iter().zip(&summary.confusion).map(row).collect();
    let forecast: Vec<String> = summary.classes.iter().map(|class| format!("forecast {class}")).collect();
    let heading: Vec<&str> = std::iter::once("truth").chain(forecast.iter().map(String::as_str)).collect();
    let scores: Vec<Vec<String>> =
        summary.scores.iter().map(|score| vec![score.name.clone(), format_optional(score.estimate.value)]).collect();
    format!("{head}\n{}\n{}", aligned_table(&heading, &matrix), aligned_table(&["score", "value"], &scores))
}

/// A value as indented JSON.
pub fn pretty_json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use scorewise_report::format_interval_ends;

    #[test]
    fn columns_are_aligned_by_characters_and_not_by_bytes() {
        let rows = vec![vec!["a".into(), "½".into(), "x".into()], vec!["long".into(), "12".into(), "y".into()]];
        assert_eq!(aligned_table(&["n", "v", ""], &rows), "N     V\na     ½   x\nlong  12  y\n");
    }

    #[test]
    fn the_greatest_height_of_a_bar_chart_is_a_full_block() {
        assert_eq!(block_bars(&[0.0, 1.0, 2.0, f64::INFINITY]), " ▄██");
    }

    #[test]
    fn integers_have_no_decimal_point_and_interval_ends_have_enough_digits_to_differ() {
        let confusion = Confusion::new(2680.0, 72.0, 23.0, 28.5);
        let expected = "          FORECAST NO  FORECAST YES\nnegative  2680         72\npositive  23           28.5\n";
        assert_eq!(confusion_table(&confusion), expected);
        assert_eq!(format_with_interval(0.5, Some((0.25, 0.75))), "0.5 (95 % 0.25 to 0.75)");
        assert_eq!(format_interval_ends(0.25, 0.5), ("0.25".into(), "0.5".into()));
        assert_eq!(format_interval_ends(0.123_456_781, 0.123_456_784), ("0.123456781".into(), "0.123456784".into()));
        assert_eq!(
            format_interval_ends(0.3, 0.3f64.next_up()),
            ("0.29999999999999999".into(), "0.30000000000000004".into())
        );
        assert_eq!((format_with_interval(0.5, None), format_optional(None)), ("0.5".into(), "undefined".into()));
    }
}
