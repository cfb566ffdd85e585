//! A plot of a score by threshold in block characters, as wide as the terminal.

use std::io::IsTerminal;

use scorewise::Score;
use scorewise::sweep::Sweep;

use crate::formatting::format_number;

/// A score at equally spaced thresholds from 0 to 1, with the chosen threshold marked.
#[derive(Clone, Debug, PartialEq)]
pub struct TerminalPlot {
    /// The score at the threshold of each character column of the plot; `None` where the score is undefined.
    values: Vec<Option<f64>>,
    /// The chosen threshold, which the plot marks with a triangle.
    threshold: f64,
    /// 95 % bootstrap interval of the best or smoothed threshold; `None` if it was not computed.
    interval: Option<(f64, f64)>,
    /// Name of the threshold to which the field `interval` belongs, such as `best threshold`.
    interval_of: &'static str,
}

/// Height of the plot in lines of text; block characters divide each line into eight steps.
const PLOT_LINES: usize = 4;
/// Block characters, from empty to full in steps of one eighth.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Escape sequence before a coloured character.
const COLOUR_ON: &str = "\u{1b}[1;36m";
/// Escape sequence after a coloured character.
const COLOUR_OFF: &str = "\u{1b}[0m";

/// If the text starts with a coloured character of a plot: the length in bytes of this character and the escape sequences around it. Otherwise
/// `None`.
pub fn coloured_character_length(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(COLOUR_ON)?;
    let length = rest.chars().next().filter(|first| *first == '▲' || BLOCKS.contains(first))?.len_utf8();
    rest[length..].starts_with(COLOUR_OFF).then_some(COLOUR_ON.len() + length + COLOUR_OFF.len())
}

impl TerminalPlot {
    /// Evaluates the score at one threshold for each column of the plot, which is as wide as the terminal.
    pub fn new(sweep: &Sweep, score: &Score, threshold: f64, interval: Option<(f64, f64)>) -> Self {
        let columns = plot_columns(terminal_width());
        let value = |column: usize| score.checked(&sweep.at((column as f64 + 0.5) / columns as f64));
        TerminalPlot { values: (0..columns).map(value).collect(), threshold, interval, interval_of: "best threshold" }
    }

    /// Returns the plot with a legend that says that the interval belongs to the smoothed threshold.
    pub fn smoothed(self) -> Self {
        TerminalPlot { interval_of: "smoothed threshold", ..self }
    }

    /// The plot with its title as text, coloured if the terminal shows colours; an empty string if the score is the same at all thresholds.
    pub fn text(&self, score: &Score) -> String {
        self.render(score, terminal_shows_colours())
    }

    /// The plot as text, with or without colours.
    fn render(&self, score: &Score, is_coloured: bool) -> String {
        let defined = || self.values.iter().flatten().copied().filter(|value| value.is_finite());
        let (low, high) = (defined().fold(f64::INFINITY, f64::min), defined().fold(f64::NEG_INFINITY, f64::max));
        if low >= high {
            return String::new();
        }
        let columns = self.values.len();
        let column_of = |threshold: f64| ((threshold * columns as f64) as usize).min(columns - 1);
        let marked_column = column_of(self.threshold);
        // The lowest value gets a bar of one eighth of a line and not a blank, because a blank means that the score is undefined.
        let max_level = 8 * PLOT_LINES - 1;
        let level = |value: &Option<f64>| {
            let finite = value.filter(|value| value.is_finite());
            finite.map_or(0, |value| 1 + (max_level as f64 * (value - low) / (high - low)).round() as usize)
        };
        let levels: Vec<usize> = self.values.iter().map(level).collect();
        let labels = [format_number(high), format_number(low)];
        let margin = labels.iter().map(String::len).max().unwrap_or(0);
        let coloured =
            |text: &str| if is_coloured { format!("{COLOUR_ON}{text}{COLOUR_OFF}") } else { text.to_string() };
        let mut text = format!("{} by threshold\n", score.name());
        for row in (0..PLOT_LINES).rev() {
            let label = if row + 1 == PLOT_LINES {
                &labels[0]
            } else if row == 0 {
                &labels[1]
            } else {
                ""
            };
            let mut line = format!("{label:>margin$} ");
            for (column, level) in levels.iter().enumerate() {
                let block = BLOCKS[level.saturating_sub(8 * row).min(8)].to_string();
                line += &if column == marked_column && block != " " { coloured(&block) } else { block };
            }
            text += line.trim_end();
            text.push('\n');
        }
        let is_in_interval = |column: usize| {
            self.interval.is_some_and(|(low, high)| (column_of(low)..=column_of(high)).contains(&column))
        };
        let mut axis = format!("{:>margin$} ", "");
        for column in 0..columns {
            axis += &match column {
                _ if column == marked_column => coloured("▲"),
                _ if is_in_interval(column) => "─".into(),
                0 => "0".into(),
                _ if column + 1 == columns => "1".into(),
                _ => " ".into(),
            };
        }
        text += axis.trim_end();
        text.push('\n');
        let legend = match self.interval {
            Some(_) => format!(
                "{:>margin$} ▲ threshold {}, ─ 95 % bootstrap interval of the {}\n",
                "",
                format_number(self.threshold),
                self.interval_of
            ),
            None => format!("{:>margin$} ▲ threshold {}\n", "", format_number(self.threshold)),
        };
        text + &legend
    }
}

/// Width of the plot in characters: the width of the terminal minus 14 characters for labels, but at least 20 and at most 100.
fn plot_columns(width: usize) -> usize {
    width.saturating_sub(14).clamp(20, 100)
}

/// Width of the terminal in characters; without a terminal, the value of the environment variable `COLUMNS`, or 80.
fn terminal_width() -> usize {
    if std::io::stdout().is_terminal()
        && let Some((_, columns)) = console::Term::stdout().size_checked()
    {
        return usize::from(columns);
    }
    std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).filter(|columns| *columns > 0).unwrap_or(80)
}

/// Whether to use colours: only on a terminal, and not if `NO_COLOR` (no-color.org) is set or `TERM` is `dumb`.
fn terminal_shows_colours() -> bool {
    let has_no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    std::io::stdout().is_terminal() && !has_no_color && !is_dumb
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plot of these values with a marked threshold and an interval.
    fn example_plot(values: &[Option<f64>]) -> TerminalPlot {
        let interval_of = "best threshold";
        TerminalPlot { values: values.to_vec(), threshold: 0.6, interval: Some((0.3, 0.7)), interval_of }
    }

    #[test]
    fn a_higher_score_has_a_higher_bar_and_an_undefined_score_has_no_bar() {
        let score = Score::parse("f1").unwrap();
        let text = example_plot(&[Some(0.0), Some(0.5), Some(1.0), None, Some(1.0)]).render(&score, false);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "1   █ █");
        assert_eq!(lines[2], "   ▁█ █"); // the bar of 0.5 is 17 eighths of a line high (1 + 15.5, rounded up): two full lines below, one eighth here
        assert_eq!(lines[3], "   ██ █");
        assert_eq!(lines[4], "0 ▁██ █");
        assert_eq!(lines[5], "  0──▲1");
    }

    #[test]
    fn the_plot_fits_the_terminal_and_a_constant_score_has_no_plot() {
        assert_eq!([plot_columns(80), plot_columns(10), plot_columns(500)], [66, 20, 100]);
        let text = example_plot(&[Some(0.0); 3]).render(&Score::parse("f1").unwrap(), true);
        assert_eq!(text, "", "a constant score has no plot");
    }

    #[test]
    fn a_plot_has_colours_only_if_they_are_requested() {
        let score = Score::parse("f1").unwrap();
        let coloured_plot = example_plot(&[Some(0.0), Some(1.0), Some(0.5)]);
        let plain = coloured_plot.render(&score, false);
        assert!(!plain.contains('\u{1b}'));
        assert_eq!(coloured_plot.render(&score, true).replace("\u{1b}[1;36m", "").replace("\u{1b}[0m", ""), plain);
    }
}
