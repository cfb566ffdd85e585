//! Tables that line up, and a density in block characters.

/// Columns padded to their widest cell, two blanks apart; the last column is left ragged.
pub fn aligned(heading: &[&str], rows: &[Vec<String>]) -> String {
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

/// Facts with their names in one column; empty facts are left out.
pub fn facts(facts: &[(&str, String)]) -> String {
    let shown: Vec<_> = facts.iter().filter(|(_, fact)| !fact.is_empty()).collect();
    let width = shown.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    shown.iter().map(|(name, fact)| format!("{name:<width$}  {fact}\n")).collect()
}

/// Heights as one line of block characters, the greatest a full block.
pub fn blocks(heights: &[f64]) -> String {
    const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let top = heights.iter().copied().filter(|height| height.is_finite()).fold(f64::MIN_POSITIVE, f64::max);
    let block = |height: &f64| BLOCKS[(8.0 * (height / top).min(1.0)).round() as usize];
    heights.iter().map(block).collect()
}

/// At most six digits after the point, without trailing zeros.
pub fn short(value: f64) -> String {
    if value != 0.0 && value.abs() < 5e-5 {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_whatever_the_alphabet() {
        let rows = vec![vec!["a".into(), "½".into(), "x".into()], vec!["long".into(), "12".into(), "y".into()]];
        assert_eq!(aligned(&["n", "v", ""], &rows), "N     V\na     ½   x\nlong  12  y\n");
    }

    #[test]
    fn numbers_are_short_and_true() {
        assert_eq!([0.25, 1.0, -0.0, 1e-7, 2.0 / 3.0].map(short), ["0.25", "1", "0", "1.000e-7", "0.666667"]);
    }

    #[test]
    fn blocks_scale_to_the_greatest() {
        assert_eq!(blocks(&[0.0, 1.0, 2.0, f64::INFINITY]), " ▄██");
    }
}
