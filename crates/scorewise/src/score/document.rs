//! The registry as documentation: `docs/scores.md` is written here and compared by a test.

use std::fmt::Write as _;

use super::{Direction, ROWS, Row, Score};
use crate::confusion::Confusion;
use crate::formula::{Shape, shortest};

/// What a forecast that knows nothing gets: the value on matrices whose alarms are independent of the events, where it
/// is the same on all of them, and nothing where it depends on base rate and alarm rate.
#[must_use]
pub fn no_skill(score: &Score) -> Option<f64> {
    let independent = |base: f64, alarm: f64| {
        let (p, n) = (1000.0 * base, 1000.0 * (1.0 - base));
        Confusion::new(n * (1.0 - alarm), n * alarm, p * (1.0 - alarm), p * alarm)
    };
    let mut values =
        [(0.125, 0.25), (0.5, 0.125), (0.25, 0.75)].map(|(base, alarm)| score.checked(&independent(base, alarm)));
    values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    match values {
        [Some(low), _, Some(high)] if high - low < 1e-9 => Some(if high.abs() < 1e-9 { 0.0 } else { high }),
        _ => None,
    }
}

/// The whole of `docs/scores.md`.
#[must_use]
pub fn markdown() -> String {
    let mut page = String::from(
        "# Scores\n\n\
         Written by `scorewise scores --markdown` from the registry; do not edit (`./check` compares).\n\n\
         `tp fp fn tn` are the cells, `p = tp + fn`, `n = fp + tn`, `total = p + n`. Division is guarded: in a loss x/0 is 0, in a\n\
         report the score is undefined (`null` in JSON). **Shape** is what the score is in (tp, fp) at fixed class counts, derived from\n\
         the formula: *linear* scores are exact in expectation and unbiased in mini-batches, for *linear-fractional* ones a calibrated\n\
         model has one best threshold in closed form. **No skill** is what alarms independent of the events get, where that is one value.\n\n\
         | name | formula | best | range | no skill | shape |\n|---|---|---|---|---|---|\n",
    );
    for row in ROWS {
        let Some(score) = Score::example(row) else { continue };
        let _ = writeln!(
            page,
            "| [`{}`](#{}) | `{}` | {} | {} | {} | {} |",
            row.name,
            row.name,
            row.formula,
            best(row),
            range(row),
            no_skill(&score).map_or("varies".into(), shortest),
            shape_word(score.shape()),
        );
    }
    for row in ROWS {
        let Some(score) = Score::example(row) else { continue };
        let _ = write!(page, "\n## {}\n\n", row.name);
        if !row.parameters.is_empty() {
            let _ = writeln!(page, "Written `{}`.{}\n", row.signature(), parameters(row));
        }
        let _ = writeln!(page, "$${}$$\n", score.formula().latex());
        let fact = |page: &mut String, name: &str, text: &str| {
            if !text.is_empty() {
                let _ = writeln!(page, "- {name}: {text}");
            }
        };
        let aliases: Vec<_> = row.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        let pitfalls: Vec<_> = score.formula().undefined_when().iter().map(|when| format!("`{when}`")).collect();
        fact(&mut page, "also called", &aliases.join(", "));
        fact(&mut page, "best", &format!("{}, range {}", best(row), range(row)));
        fact(&mut page, "undefined when", &pitfalls.join(" or "));
        fact(&mut page, "note", row.note);
        fact(&mut page, "reference", row.reference);
    }
    page
}

fn parameters(row: &Row) -> String {
    row.parameters
        .iter()
        .fold(String::new(), |text, parameter| text + &format!(" {} {}.", parameter.name, parameter.bounds()))
}

fn best(row: &Row) -> String {
    let value = row.perfect.map_or(String::new(), |value| format!(", perfect {}", shortest(value)));
    match row.direction {
        Direction::Higher => format!("higher{value}"),
        Direction::Lower => format!("lower{value}"),
        Direction::Toward(ideal) => format!("toward {}", shortest(ideal)),
    }
}

fn range(row: &Row) -> String {
    let end = |value: f64| match value {
        f64::INFINITY => "∞".to_string(),
        f64::NEG_INFINITY => "−∞".to_string(),
        value if value < 0.0 => format!("−{}", &shortest((value * 1e4).round() / 1e4)[1..]),
        value => shortest(value),
    };
    let bracket = |value: f64, closed: &'static str, open: &'static str| if value.is_finite() { closed } else { open };
    let (low, high) = row.range;
    format!("{}{}, {}{}", bracket(low, "[", "("), end(low), end(high), bracket(high, "]", ")"))
}

fn shape_word(shape: Shape) -> &'static str {
    match shape {
        Shape::Linear => "linear",
        Shape::LinearFractional => "linear-fractional",
        Shape::Nonlinear => "nonlinear",
    }
}
