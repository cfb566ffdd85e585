//! The table of every score at every threshold, computed by the core, in which the page's script looks up values.

use scorewise::Score;
use serde_json::{Value, json};

use crate::document::Forecast;
use crate::error::Result;
use crate::figures::feasible;
use crate::number::{short, step};

/// The columns of the table and the names of the scores, as JSON.
pub(super) fn table(forecast: &Forecast) -> Result<Value> {
    let scores = forecast.scores();
    let points = &forecast.points;
    let point_index = |threshold: f64| points.iter().position(|point| point.threshold == threshold);
    let column = |score: &Score| -> Vec<Value> {
        points.iter().map(|point| number(score.checked(&point.confusion()))).collect()
    };
    let score_columns = scores.iter().map(|score| {
        let best = forecast.optima.iter().find(|optimum| optimum.score == score.name());
        json!({ "name": score.name(), "best": best.and_then(|best| point_index(best.threshold)), "values": column(score) })
    });
    let cells = |at: usize| -> Vec<Value> { points.iter().map(|point| number(Some(point.cells[at]))).collect() };
    let exact: Vec<f64> = points.iter().map(|point| point.threshold).collect();
    let mut table = json!({
        "threshold": exact,
        "label": points.iter().map(|point| point.said(6)).collect::<Vec<_>>(),
        "from": points.iter().map(|point| point.low).collect::<Vec<_>>(),
        "to": points.iter().map(|point| point.high).collect::<Vec<_>>(),
        "same": points.iter().map(|point| step(point.low, point.high)).collect::<Vec<_>>(),
        "tn": cells(0),
        "fp": cells(1),
        "fn": cells(2),
        "tp": cells(3),
        "scores": score_columns.collect::<Vec<_>>(),
        "chosen": point_index(forecast.threshold),
    });
    if !forecast.conditions.is_empty() {
        table["feasible"] = json!(feasible(forecast)?.iter().map(|holds| u8::from(*holds)).collect::<Vec<_>>());
    }
    Ok(table)
}

/// A number as the page displays it; as a string where JavaScript would format the number differently.
fn number(value: Option<f64>) -> Value {
    let Some(value) = value else { return Value::Null };
    let text = short(value);
    let is_plain = value == 0.0 || (5e-5..1e15).contains(&value.abs());
    match text.parse::<f64>() {
        Ok(read) if is_plain && read.fract() == 0.0 => json!(read as i64),
        Ok(read) if is_plain => json!(read),
        _ => json!(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_the_page_displays() {
        let text = |value: f64| number(Some(value)).to_string();
        assert_eq!([text(2.0 / 3.0), text(1.0), text(-0.0), text(-0.25)], ["0.666667", "1", "0", "-0.25"]);
        assert_eq!([text(1e-7), text(2e18)], ["\"1.000e-7\"", "\"2000000000000000000\""]);
        assert_eq!(number(None), Value::Null);
    }
}
