//! Generates `docs/scores.md` from the registry; a test checks that the file is up to date.

use std::fmt::Write as _;

use super::{Direction, REGISTRY, RegistryEntry, Score};
use crate::confusion::Confusion;
use crate::formula::{Shape, shortest_decimal};

/// The value of a score for a forecast without skill, whose alarms are independent of the events. `None` if the value depends on the base
/// rate or on the alarm rate.
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

/// The contents of `docs/scores.md`.
#[must_use]
pub fn markdown() -> String {
    let mut page = String::from(
        "# Scores\n\n\
         Generated from the registry by `scorewise scores --markdown`; do not edit (`./check` fails if this page is out of date).\n\n\
         `tp fp fn tn` are the cells of the confusion matrix, `p = tp + fn`, `n = fp + tn`, `total = p + n`. A division by zero gives 0 in a\n\
         loss; in a report the score is undefined (`null` in JSON). **Shape** is the form of the score as a function of (tp, fp) at fixed class\n\
         counts, derived from the formula: for *linear* scores the score of the expected matrix equals the expected score, and mini-batch losses\n\
         are unbiased; for *linear-fractional* scores the best value determines the best threshold of a calibrated model in closed form.\n\
         **No skill** is the value for a forecast whose alarms are independent of the events.\n\n\
         | name | formula | best | range | no skill | shape |\n|---|---|---|---|---|---|\n",
    );
    for row in REGISTRY {
        let Some(score) = Score::example(row) else { continue };
        let _ = writeln!(
            page,
            "| [`{}`](#{}) | `{}` | {} | {} | {} | {} |",
            row.name,
            row.name,
            row.formula,
            direction_text(row),
            range_text(row),
            no_skill(&score).map_or("varies".into(), shortest_decimal),
            shape_name(score.shape()),
        );
    }
    for row in REGISTRY {
        let Some(score) = Score::example(row) else { continue };
        let _ = write!(page, "\n## {}\n\n", row.name);
        if !row.parameters.is_empty() {
            let _ = writeln!(page, "Written `{}`.{}\n", row.signature(), parameter_descriptions(row));
        }
        let _ = writeln!(page, "$${}$$\n", score.formula().latex());
        let list_item = |page: &mut String, name: &str, text: &str| {
            if !text.is_empty() {
                let _ = writeln!(page, "- {name}: {text}");
            }
        };
        let aliases: Vec<_> = row.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        let undefined_when: Vec<_> = score.formula().undefined_when().iter().map(|when| format!("`{when}`")).collect();
        list_item(&mut page, "also called", &aliases.join(", "));
        list_item(&mut page, "best", &format!("{}, range {}", direction_text(row), range_text(row)));
        list_item(&mut page, "undefined when", &undefined_when.join(" or "));
        list_item(&mut page, "note", row.note);
        list_item(&mut page, "reference", row.reference);
    }
    page
}

/// One sentence per parameter, with its allowed values.
fn parameter_descriptions(row: &RegistryEntry) -> String {
    row.parameters
        .iter()
        .fold(String::new(), |text, parameter| text + &format!(" {} is {}.", parameter.name, parameter.bounds()))
}

/// Which values of the score are better, and the perfect value: for example `higher, perfect 1`.
fn direction_text(row: &RegistryEntry) -> String {
    let value = row.perfect.map_or(String::new(), |value| format!(", perfect {}", shortest_decimal(value)));
    match row.direction {
        Direction::Higher => format!("higher{value}"),
        Direction::Lower => format!("lower{value}"),
        Direction::Toward(ideal) => format!("toward {}", shortest_decimal(ideal)),
    }
}

/// The range of the score, for example `[0, 1]` or `[0, ∞)`.
fn range_text(row: &RegistryEntry) -> String {
    let end = |value: f64| match value {
        f64::INFINITY => "∞".to_string(),
        f64::NEG_INFINITY => "−∞".to_string(),
        value if value < 0.0 => format!("−{}", &shortest_decimal((value * 1e4).round() / 1e4)[1..]),
        value => shortest_decimal(value),
    };
    let bracket = |value: f64, closed: char, open: char| if value.is_finite() { closed } else { open };
    let (low, high) = row.range;
    format!("{}{}, {}{}", bracket(low, '[', '('), end(low), end(high), bracket(high, ']', ')'))
}

/// The name of a shape in the column “shape” of the table of scores.
fn shape_name(shape: Shape) -> &'static str {
    match shape {
        Shape::Linear => "linear",
        Shape::LinearFractional => "linear-fractional",
        Shape::Nonlinear => "nonlinear",
    }
}
