//! A table of every score at every threshold, which is embedded in the page. The script of the page only looks up values in this table; it
//! computes no score.

use scorewise::Score;
use serde::Serialize;
use serde_json::{Value, json};

use crate::document::{ForecastEvaluation, ThresholdPoint};
use crate::error::Result;
use crate::figures::conditions_met;
use crate::number::format_number;

/// The lookup table. Each vector is a column with one entry for each threshold, except `scores`, which has one entry for each score.
#[derive(Serialize)]
pub(super) struct LookupTable {
    threshold: Vec<f64>,
    /// The thresholds as the page displays them.
    label: Vec<String>,
    /// For each threshold, the lowest threshold with the same confusion matrix.
    from: Vec<f64>,
    /// For each threshold, the upper end of the interval of thresholds with the same confusion matrix. An end below 1 is not
    /// part of the interval.
    to: Vec<f64>,
    /// For each threshold, the range of thresholds with the same confusion matrix, as text.
    #[serde(rename = "same")]
    same_matrix_range: Vec<String>,
    tn: Vec<Value>,
    fp: Vec<Value>,
    #[serde(rename = "fn")]
    fn_: Vec<Value>,
    tp: Vec<Value>,
    scores: Vec<LookupScore>,
    /// Index of the decision threshold, at which the slider of the page starts.
    chosen: Option<usize>,
    /// For each threshold, 1 if it satisfies the conditions and 0 otherwise; `None` when there are no conditions.
    #[serde(skip_serializing_if = "Option::is_none")]
    feasible: Option<Vec<u8>>,
}

/// The values of one score at all thresholds of the table.
#[derive(Serialize)]
struct LookupScore {
    name: String,
    /// Index of the best threshold of the score; `None` if the score has no best threshold.
    best: Option<usize>,
    values: Vec<Value>,
}

/// Creates the lookup table of a forecast.
pub(super) fn lookup_table(forecast: &ForecastEvaluation) -> Result<LookupTable> {
    let points = &forecast.points;
    let point_index = |threshold: f64| points.iter().position(|point| point.threshold == threshold);
    let described = |score: &Score| {
        let best = forecast.optima.iter().find(|optimum| optimum.score == score.name());
        LookupScore {
            name: score.name().to_string(),
            best: best.and_then(|best| point_index(best.threshold)),
            values: points.iter().map(|point| displayed_number(score.checked(&point.confusion()))).collect(),
        }
    };
    let cells =
        |at: usize| -> Vec<Value> { points.iter().map(|point| displayed_number(Some(point.cells[at]))).collect() };
    let feasible = match forecast.conditions.is_empty() {
        true => None,
        false => Some(conditions_met(forecast)?.iter().map(|holds| u8::from(*holds)).collect()),
    };
    Ok(LookupTable {
        threshold: points.iter().map(|point| point.threshold).collect(),
        label: points.iter().map(|point| point.display_threshold(6)).collect(),
        from: points.iter().map(|point| point.low).collect(),
        to: points.iter().map(|point| point.high).collect(),
        same_matrix_range: points.iter().map(ThresholdPoint::display_range).collect(),
        tn: cells(0),
        fp: cells(1),
        fn_: cells(2),
        tp: cells(3),
        scores: forecast.scores().iter().map(described).collect(),
        chosen: point_index(forecast.threshold),
        feasible,
    })
}

/// A number rounded as the page displays it. If JavaScript would format the number differently, the result is a string.
fn displayed_number(value: Option<f64>) -> Value {
    let Some(value) = value else { return Value::Null };
    let text = format_number(value);
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
    fn numbers_are_rounded_to_the_digits_that_the_page_shows() {
        let text = |value: f64| displayed_number(Some(value)).to_string();
        assert_eq!([text(2.0 / 3.0), text(1.0), text(-0.0), text(-0.25)], ["0.666667", "1", "0", "-0.25"]);
        assert_eq!([text(1e-7), text(2e18)], ["\"1.000e-7\"", "\"2000000000000000000\""]);
        assert_eq!(displayed_number(None), Value::Null);
    }
}
