//! Compares every score, prior and loss with values computed by other tools. `scripts/golden.py` generates these values and records the tool
//! and its version.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::path::PathBuf;

use scorewise::sweep::{Bootstrap, Resampling, brier_parts};
use scorewise::{Confusion, CrossEntropy, Logits, Loss, Prior, Probabilities, Rows, Score, ScoreLoss};

/// The path of a file with expected values.
fn golden_path(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file)
}

/// The rows of a CSV file with expected values.
fn golden_table(file: &str) -> Vec<csv::StringRecord> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_path(golden_path(file)).unwrap();
    reader.records().map(Result::unwrap).collect()
}

fn parse_number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is not a number"))
}

fn assert_close(got: f64, expected: f64, relative: f64, absolute: f64, what: &str) {
    let tolerance = relative * expected.abs() + absolute;
    assert!((got - expected).abs() <= tolerance, "{what}: {got:e}, expected {expected:e}");
}

#[test]
fn scores_agree_with_other_tools_on_every_matrix() {
    let rows = golden_table("scores.csv");
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    for row in &rows {
        let [tn, fp, fn_, tp] = [1, 2, 3, 4].map(|k| parse_number(&row[k]));
        let confusion = Confusion::new(tn, fp, fn_, tp);
        let score = Score::parse(&row[5]).unwrap_or_else(|error| panic!("{error}"));
        let case = format!("{} of {} by {} {}", &row[5], &row[0], &row[6], &row[7]);
        match (&row[8], score.checked(&confusion)) {
            ("undefined", None) => {
                assert!(score.value(&confusion).is_finite(), "{case}: undefined, but a loss needs a number");
            }
            ("undefined", Some(value)) => panic!("{case}: the value is {value}, but it must be undefined"),
            (_, None) => panic!("{case}: undefined, expected {}", &row[8]),
            // The absolute tolerance matters only where 0 is expected: the score `leverage` of a forecast without skill is computed as 7e-18.
            (expected, Some(value)) => assert_close(value, parse_number(expected), 1e-12, 1e-17, &case),
        }
        *seen.entry(score.row().map_or(row[5].to_string(), |row| row.name.to_string())).or_default() += 1;
    }
    // Every registered score must have golden values for at least six matrices.
    for row in scorewise::score::REGISTRY {
        // `utility` has no golden values, because it is `cost` with other defaults and the opposite direction.
        if row.name == "utility" {
            continue;
        }
        assert!(seen.get(row.name).is_some_and(|count| *count >= 6), "{} has too few golden values", row.name);
    }
}

#[test]
fn priors_agree_with_other_tools() {
    for row in &golden_table("priors.csv") {
        let prior: Prior = row[0].parse().unwrap();
        let case = format!("{} of {} at {} by {}", &row[1], &row[0], &row[2], &row[4]);
        let expected = parse_number(&row[3]);
        let got = match &row[1] {
            "cdf" => prior.cdf(parse_number(&row[2])),
            "pdf" => prior.pdf(parse_number(&row[2])),
            "quantile" => prior.quantile(parse_number(&row[2])),
            "mean" => prior.mean(),
            "variance" => prior.variance(),
            other => panic!("unknown quantity `{other}` in priors.csv"),
        };
        // The arguments 1e-9 and 1 − 1e-9 are rounded to f64, and narrow priors amplify this rounding error, so
        // the tolerance has an absolute part.
        assert_close(got, expected, 1e-11, 4e-15, &case);
    }
}

#[test]
fn losses_and_gradients_agree_with_automatic_differentiation() {
    let document: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(golden_path("losses.json")).unwrap()).unwrap();
    let numbers = |value: &serde_json::Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    };
    let logits = numbers(&document["logits"]);
    let weights = numbers(&document["weights"]);
    let labels: Vec<bool> = numbers(&document["labels"]).iter().map(|label| *label == 1.0).collect();
    let saturated: Vec<usize> = numbers(&document["saturated"]).iter().map(|row| *row as usize).collect();
    let cases = document["cases"].as_array().unwrap();
    assert!(cases.len() > 400);
    for case in cases {
        let (score, prior) = (case["score"].as_str().unwrap(), case["prior"].as_str().unwrap());
        let loss = match score {
            "ce" => Loss::CrossEntropy(CrossEntropy::plain()),
            "weighted-ce:3" => Loss::CrossEntropy(CrossEntropy::weighted(3.0, 1.0).unwrap()),
            score => Loss::Score(ScoreLoss::new(Score::parse(score).unwrap(), prior.parse().unwrap())),
        };
        let weighted = case["weighted"].as_bool().unwrap();
        let mut rows = Rows::new(Logits(&logits), &labels).unwrap();
        if weighted {
            rows = rows.weighted(&weights).unwrap();
        }
        let mut gradient = vec![0.0; logits.len()];
        let value = loss.value_and_gradient(&rows, &mut gradient).unwrap();
        let description = format!("{score} under {prior}, rows with weights: {weighted}");
        assert_close(value, case["loss"].as_f64().unwrap(), 1e-12, 1e-13, &description);
        let expected = numbers(&case["gradient"]);
        let largest = expected.iter().fold(0f64, |largest, derivative| largest.max(derivative.abs()));
        for (row, (got, expected)) in gradient.iter().zip(&expected).enumerate() {
            assert_close(*got, *expected, 1e-10, 1e-12 * largest, &format!("{description}, row {row}"));
        }
        // For saturated logits automatic differentiation is inaccurate, so the expected values come from fifty-digit arithmetic.
        for (row, expected) in saturated.iter().zip(numbers(&case["saturated_gradient"])) {
            assert_close(
                gradient[*row],
                expected,
                1e-9,
                1e-300,
                &format!("{description}, row {row} with a saturated logit"),
            );
        }
    }
}

#[test]
fn measures_of_probabilities_agree_with_scikit_learn() {
    let golden: serde_json::Value = serde_json::from_str(include_str!("golden/probabilities.json")).unwrap();
    let cases = golden["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 7);
    for case in cases {
        let name = case["case"].as_str().unwrap();
        let numbers = |key: &str| -> Option<Vec<f64>> {
            Some(case[key].as_array()?.iter().map(|value| value.as_f64().unwrap()).collect())
        };
        let labels: Vec<bool> = numbers("labels").unwrap().iter().map(|label| *label == 1.0).collect();
        let (predictions, weights) = (numbers("predictions").unwrap(), numbers("weights"));
        let rows = Rows::new(Probabilities(&predictions), &labels).unwrap().with_weights(weights.as_deref()).unwrap();
        let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 1, seed: 0 };
        let measures = bootstrap.probability_measures(&rows).unwrap().map(Option::unwrap);
        for (measure, key) in measures.iter().zip(["brier", "log_loss", "roc_area", "average_precision"]) {
            assert_close(measure.value, case[key].as_f64().unwrap(), 1e-12, 0.0, &format!("{name}, {key}"));
            let (low, high) = measure.interval.unwrap();
            assert!(low <= measure.value && measure.value <= high && low < high, "{name}, {key}: {low}, {high}");
        }
        let parts = brier_parts(&rows).unwrap().unwrap();
        let parts = [parts.reliability, parts.resolution, parts.uncertainty];
        for (part, key) in parts.into_iter().zip(["reliability", "resolution", "uncertainty"]) {
            assert_close(part, case[key].as_f64().unwrap(), 1e-10, 1e-12, &format!("{name}, {key}"));
        }
    }
}
