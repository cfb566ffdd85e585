//! A score over the threshold, drawn in block characters as wide as the terminal allows.

use std::io::IsTerminal;

use scorewise::Score;
use scorewise::sweep::Sweep;

use crate::table::format_number;

/// A score in equal steps from 0 to 1, and what is marked under it.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// One value a column; nothing where the score is undefined.
    values: Vec<Option<f64>>,
    /// The threshold in use.
    mark: f64,
    /// 95 % of the best thresholds.
    spread: Option<(f64, f64)>,
}

/// Rows of the picture; each has eight levels.
const ROWS: usize = 4;
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// What a terminal is told before and after a sign that is painted.
const PAINT: &str = "\u{1b}[1;36m";
const PLAIN: &str = "\u{1b}[0m";

/// The length of the painted sign of a plot that this text begins with; `None` where it begins with anything else.
pub fn painted_sign(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(PAINT)?;
    let sign = rest.chars().next().filter(|sign| *sign == '▲' || BLOCKS.contains(sign))?;
    rest[sign.len_utf8()..].starts_with(PLAIN).then_some(PAINT.len() + sign.len_utf8() + PLAIN.len())
}

impl Plot {
    /// Of a sweep, as wide as this terminal.
    pub fn new(sweep: &Sweep, score: &Score, mark: f64, spread: Option<(f64, f64)>) -> Self {
        let columns = columns(width());
        let value = |column: usize| score.checked(&sweep.at((column as f64 + 0.5) / columns as f64));
        Plot { values: (0..columns).map(value).collect(), mark, spread }
    }

    /// The picture under its title; nothing where the score does not change.
    pub fn text(&self, score: &Score) -> String {
        self.drawn(score, is_coloured())
    }

    fn drawn(&self, score: &Score, is_coloured: bool) -> String {
        let defined = || self.values.iter().flatten().copied().filter(|value| value.is_finite());
        let (low, high) = (defined().fold(f64::INFINITY, f64::min), defined().fold(f64::NEG_INFINITY, f64::max));
        if low >= high {
            return String::new();
        }
        let columns = self.values.len();
        let place = |threshold: f64| ((threshold * columns as f64) as usize).min(columns - 1);
        let mark = place(self.mark);
        // The lowest one is a line and not a blank: a blank is undefined.
        let most = 8 * ROWS - 1;
        let level = |value: &Option<f64>| {
            let finite = value.filter(|value| value.is_finite());
            finite.map_or(0, |value| 1 + (most as f64 * (value - low) / (high - low)).round() as usize)
        };
        let levels: Vec<usize> = self.values.iter().map(level).collect();
        let labels = [format_number(high), format_number(low)];
        let margin = labels.iter().map(String::len).max().unwrap_or(0);
        let painted = |text: &str| if is_coloured { format!("{PAINT}{text}{PLAIN}") } else { text.to_string() };
        let mut text = format!("{} over the threshold\n", score.name());
        for row in (0..ROWS).rev() {
            let label = if row + 1 == ROWS {
                &labels[0]
            } else if row == 0 {
                &labels[1]
            } else {
                ""
            };
            let mut line = format!("{label:>margin$} ");
            for (column, level) in levels.iter().enumerate() {
                let block = BLOCKS[level.saturating_sub(8 * row).min(8)].to_string();
                line += &if column == mark && block != " " { painted(&block) } else { block };
            }
            text += line.trim_end();
            text.push('\n');
        }
        let inside =
            |column: usize| self.spread.is_some_and(|(low, high)| (place(low)..=place(high)).contains(&column));
        let mut axis = format!("{:>margin$} ", "");
        for column in 0..columns {
            axis += &match column {
                _ if column == mark => painted("▲"),
                _ if inside(column) => "─".into(),
                0 => "0".into(),
                _ if column + 1 == columns => "1".into(),
                _ => " ".into(),
            };
        }
        text += axis.trim_end();
        text.push('\n');
        let legend = match self.spread {
            Some(_) => format!("{:>margin$} ▲ {}, ─ 95 % of resampled best thresholds\n", "", format_number(self.mark)),
            None => format!("{:>margin$} ▲ {}\n", "", format_number(self.mark)),
        };
        text + &legend
    }
}

/// Columns of the picture in a terminal this wide: there is room for the numbers, and more than a hundred say no more.
fn columns(width: usize) -> usize {
    width.saturating_sub(14).clamp(20, 100)
}

/// The width of the terminal; `COLUMNS` where there is none, and else the usual 80.
fn width() -> usize {
    if std::io::stdout().is_terminal()
        && let Some((_, columns)) = console::Term::stdout().size_checked()
    {
        return usize::from(columns);
    }
    std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).filter(|columns| *columns > 0).unwrap_or(80)
}

/// Colours are for terminals that have them and people who want them (no-color.org).
fn is_coloured() -> bool {
    let is_unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    std::io::stdout().is_terminal() && !is_unwanted && !is_dumb
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(values: &[Option<f64>]) -> Plot {
        Plot { values: values.to_vec(), mark: 0.6, spread: Some((0.3, 0.7)) }
    }

    #[test]
    fn heights_are_values_and_a_blank_is_undefined() {
        let score = Score::parse("f1").unwrap();
        let text = plot(&[Some(0.0), Some(0.5), Some(1.0), None, Some(1.0)]).drawn(&score, false);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "1   █ █");
        assert_eq!(lines[2], "   ▁█ █"); // a half is 1 + 15.5, rounded: 17 of 32 levels, two rows and one
        assert_eq!(lines[3], "   ██ █");
        assert_eq!(lines[4], "0 ▁██ █");
        assert_eq!(lines[5], "  0──▲1");
    }

    #[test]
    fn widths_stay_within_the_terminal() {
        assert_eq!([columns(80), columns(10), columns(500)], [66, 20, 100]);
        let text =
            Plot { values: vec![Some(0.0); 3], mark: 0.5, spread: None }.drawn(&Score::parse("f1").unwrap(), true);
        assert_eq!(text, "", "nothing to see where nothing changes");
    }

    #[test]
    fn colour_is_only_added_where_it_is_wanted() {
        let score = Score::parse("f1").unwrap();
        let picture = plot(&[Some(0.0), Some(1.0), Some(0.5)]);
        let plain = picture.drawn(&score, false);
        assert!(!plain.contains('\u{1b}'));
        assert_eq!(picture.drawn(&score, true).replace("\u{1b}[1;36m", "").replace("\u{1b}[0m", ""), plain);
    }
}
