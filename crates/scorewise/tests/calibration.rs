//! Tests of calibrations: they must keep the order of the predictions and every predicted label, and they must improve the probabilities. Also tests
//! the intervals of measures of probabilities.

#![allow(clippy::unwrap_used)] // a panic fails the test

use scorewise::calibration::{Calibration, CalibrationMethod, choose};
use scorewise::sweep::{BlockLength, Bootstrap, ProbabilityMeasure, Resampling};
use scorewise::{Probabilities, Rows, is_positive};

use crate::common::{Random, logits_and_labels};

/// Treats all rows as independent, both in the folds of a cross-validation and in intervals. The replicates are not used.
const INDEPENDENT: Bootstrap<'static> = Bootstrap { resampling: Resampling::Poisson, replicates: 1, seed: 1 };

/// Predictions and labels of rows: a row with the prediction σ(z) is positive with the probability `share`(z).
fn rows(random: &mut Random, count: usize, share: impl Fn(f64) -> f64) -> (Vec<f64>, Vec<bool>) {
    let row = |_: usize| {
        let z = 6.0 * (random.uniform() + random.uniform() - 1.0);
        (sigmoid(z), random.uniform() < share(z))
    };
    (0..count).map(row).unzip()
}

fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

#[test]
fn a_calibration_changes_neither_the_order_of_predictions_nor_a_label() {
    let mut random = Random(5);
    for case in 0..60 {
        let (size, rate) = (20 + 40 * case, [0.5, 0.1, 0.02][case % 3]);
        let (logits, labels) = logits_and_labels(&mut random, size, rate, [1.0, 5.0, 30.0][case / 3 % 3]);
        let mut predictions: Vec<f64> = logits.into_iter().map(sigmoid).collect();
        if case % 4 == 0 {
            predictions.iter_mut().for_each(|p| *p = (*p * 20.0).round() / 20.0);
        }
        for method in CalibrationMethod::ALL {
            let rows = Rows::new(Probabilities(&predictions), &labels).unwrap();
            let Some(calibration) = Calibration::fit(method, &rows).unwrap() else { continue };
            let mut sorted = predictions.clone();
            // Adds the next larger and the next smaller f64 of each prediction, and other predictions that were not fitted.
            sorted.extend(predictions.iter().flat_map(|p| [p.next_up().min(1.0), p.next_down().max(0.0), p * p]));
            sorted.extend([0.0, 1e-300, 1e-20, 1.0, 1.0f64.next_down()]);
            sorted.sort_by(f64::total_cmp);
            let thresholds =
                [0.0, 1.0, sorted[sorted.len() / 2], sorted[sorted.len() / 2].next_down(), 0.5, random.uniform()];
            for threshold in thresholds {
                let calibrated = calibration.probabilities(&sorted, threshold);
                assert!(calibrated.is_sorted() && calibrated.iter().all(|p| (0.0..=1.0).contains(p)));
                let calibrated_threshold = calibration.threshold(threshold);
                for (raw, p) in sorted.iter().zip(&calibrated) {
                    assert_eq!(
                        is_positive(*raw, threshold),
                        is_positive(*p, calibrated_threshold),
                        "{raw}, {threshold}"
                    );
                }
                for pair in sorted.iter().zip(&calibrated).collect::<Vec<_>>().windows(2) {
                    let [(raw, p), (next_raw, next_p)] = [pair[0], pair[1]];
                    assert!(
                        next_raw - raw < 1e-9 || p < next_p,
                        "{raw} is calibrated to {p}, but the greater {next_raw} to {next_p}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_calibration_lowers_the_log_loss_of_distorted_predictions_on_new_rows() {
    let mut random = Random(9);
    // In the first case the true probability is a curve of the beta family. In the second it has a step, which only isotonic regression can follow.
    let beta = |z: f64| sigmoid(0.4 * z - 2.0);
    let step = |z: f64| if z < 1.0 { 0.05 } else { 0.6 };
    for (share, method) in
        [(&beta as &dyn Fn(f64) -> f64, CalibrationMethod::Beta), (&step, CalibrationMethod::Isotonic)]
    {
        let (predictions, labels) = rows(&mut random, 4000, share);
        let choice = choose(&Rows::new(Probabilities(&predictions), &labels).unwrap(), &INDEPENDENT).unwrap();
        let calibration = choice.calibration.unwrap();
        assert_eq!(calibration.method(), method, "{:?}", choice.losses);
        let (predictions, labels) = rows(&mut random, 4000, share);
        let loss = |predictions: &[f64]| {
            let rows = Rows::new(Probabilities(predictions), &labels).unwrap();
            INDEPENDENT.probability_measures(&rows).unwrap().map(Option::unwrap)[1].value
        };
        let best = labels.len() as f64;
        let calibrated = calibration.probabilities(&predictions, 0.5);
        assert!(loss(&calibrated) < loss(&predictions) - 0.05, "{} {best}", loss(&calibrated));
        for (p, z) in calibrated.iter().zip(&predictions).step_by(50) {
            let z = (z / (1.0 - z)).ln();
            assert!((p - share(z)).abs() < 0.15 || (z - 1.0).abs() < 0.3, "{p} at {z}");
        }
    }
}

#[test]
fn calibrated_predictions_of_few_rows_are_left_alone_or_hardly_changed() {
    let mut random = Random(3);
    let (mut changes, mut left_alone) = (0.0, 0);
    for _ in 0..40 {
        let (predictions, labels) = rows(&mut random, 150, sigmoid);
        let choice = choose(&Rows::new(Probabilities(&predictions), &labels).unwrap(), &INDEPENDENT).unwrap();
        let Some(calibration) = choice.calibration else {
            left_alone += 1;
            continue;
        };
        let (predictions, labels) = rows(&mut random, 5000, sigmoid);
        let loss = |predictions: &[f64]| {
            let rows = Rows::new(Probabilities(predictions), &labels).unwrap();
            INDEPENDENT.probability_measures(&rows).unwrap().map(Option::unwrap)[1].value
        };
        changes += loss(&calibration.probabilities(&predictions, 0.5)) - loss(&predictions);
    }
    assert!(left_alone >= 20, "{left_alone}");
    assert!(changes / 40.0 < 0.01, "{changes}");
}

#[test]
fn rows_with_one_class_only_are_not_calibrated() {
    let rows = Rows::new(Probabilities(&[0.1, 0.7, 0.9]), &[true; 3]).unwrap();
    let choice = choose(&rows, &INDEPENDENT).unwrap();
    assert!(choice.calibration.is_none() && choice.losses.is_none());
    assert!(Calibration::fit(CalibrationMethod::Beta, &rows).unwrap().is_none());
}

#[test]
fn invalid_knots_are_refused() {
    let message =
        |knots: &[(f64, f64)]| Calibration::new(CalibrationMethod::Beta, knots.to_vec()).unwrap_err().to_string();
    assert!(message(&[(0.0, 0.0)]).contains("must have 2 to 10000 knots, not 1"));
    assert!(
        message(&[(0.0, 0.0), (0.5, f64::NAN), (1.0, 1.0)])
            .contains("both numbers of the knot (0.5, NaN) must lie between 0 and 1")
    );
    assert!(message(&[(0.0, 0.0), (0.5, 1.5), (1.0, 1.0)]).contains("must lie between 0 and 1"));
    assert!(message(&[(0.0, 0.0), (0.5, 0.5), (0.5, 0.6), (1.0, 1.0)]).contains("its knots must increase"));
    assert!(message(&[(0.0, 0.0), (0.5, 0.5), (0.6, 0.5), (1.0, 1.0)]).contains("its knots must increase"));
    assert!(message(&[(0.0, 0.0), (5e-324, 0.5), (1.0, 1.0)]).contains("its knots must increase"));
    assert!(message(&[(0.1, 0.0), (1.0, 1.0)]).contains("must begin with 0 and end with 1"));
}

#[test]
fn groups_of_identical_rows_are_not_taken_for_independent_rows() {
    let mut random = Random(7);
    let (predictions, labels) = rows(&mut random, 200, sigmoid);
    let length = |predictions: &[f64], labels: &[bool], resampling| {
        let rows = Rows::new(Probabilities(predictions), labels).unwrap();
        let bootstrap = Bootstrap { resampling, replicates: 1, seed: 0 };
        bootstrap.probability_measures(&rows).unwrap().map(|measure| {
            let (low, high) = measure.unwrap().interval.unwrap();
            high - low
        })
    };
    let single = length(&predictions, &labels, Resampling::Poisson);
    let repeat = |row: usize| (0..10).map(move |_| row);
    let predictions: Vec<f64> = (0..200).flat_map(repeat).map(|row| predictions[row]).collect();
    let labels: Vec<bool> = (0..200).flat_map(repeat).map(|row| labels[row]).collect();
    let groups: Vec<u32> = (0..200u32).flat_map(|group| (0..10).map(move |_| group)).collect();
    let grouped = length(&predictions, &labels, Resampling::Groups(&groups));
    let blocks = length(&predictions, &labels, Resampling::Blocks(BlockLength::Rows(10)));
    let naive = length(&predictions, &labels, Resampling::Poisson);
    for measure in 0..4 {
        assert!((grouped[measure] / single[measure] - 1.0).abs() < 0.02, "{grouped:?} {single:?}");
        assert!(blocks[measure] > 0.6 * single[measure] && naive[measure] < 0.4 * single[measure], "{blocks:?}");
    }
}

#[test]
fn intervals_of_measures_and_of_differences_contain_the_true_values_in_about_95_percent_of_samples() {
    let mut random = Random(11);
    let noisy = |p: f64, random: &mut Random| sigmoid((p / (1.0 - p)).ln() + 2.0 * (random.uniform() - 0.5));
    let mut sample = |count: usize| {
        let (first, labels) = rows(&mut random, count, |z| sigmoid(z - 1.0));
        let [one, other] = [0, 1].map(|_| first.iter().map(|p| noisy(*p, &mut random)).collect::<Vec<f64>>());
        (one, other, labels)
    };
    let measure = |one: &[f64], other: &[f64], labels: &[bool]| {
        INDEPENDENT
            .paired_probability_measures(&Rows::new(Probabilities(one), labels).unwrap(), Probabilities(other))
            .unwrap()
    };
    let (one, other, labels) = sample(200_000);
    let truth = measure(&one, &other, &labels).map(|pair| pair.values[0].unwrap().value);
    let (mut covered, mut rejected) = ([0.0; 4], [0.0; 4]);
    let sets = 400;
    for _ in 0..sets {
        let (one, other, labels) = sample(200);
        for (at, pair) in measure(&one, &other, &labels).into_iter().enumerate() {
            let (low, high) = pair.values[0].unwrap().interval.unwrap();
            covered[at] += f64::from(u8::from(low <= truth[at] && truth[at] <= high)) / f64::from(sets);
            // Both forecasts are equally good.
            let (low, high) = pair.difference.unwrap().interval.unwrap();
            rejected[at] += f64::from(u8::from(low > 0.0 || high < 0.0)) / f64::from(sets);
        }
    }
    // If the true share is 0.95, the share of 400 random samples has a standard error of 0.011.
    assert!(covered.iter().all(|share| (0.915..0.985).contains(share)), "{covered:?}");
    assert!(rejected.iter().all(|share| (0.015..0.09).contains(share)), "{rejected:?}");
}

#[test]
fn a_perfect_measure_has_a_wide_interval_or_none_and_an_undefined_measure_is_none() {
    let labels = [true, true, false, false, false];
    let rows = Rows::new(Probabilities(&[0.9, 0.8, 0.2, 0.1, 0.3]), &labels).unwrap();
    let [_, _, roc_area, precision] = INDEPENDENT.probability_measures(&rows).unwrap().map(Option::unwrap);
    assert_eq!((roc_area.value, precision.value), (1.0, 1.0));
    // There are only two positives, so the interval is that of Clopper and Pearson for two successes in two trials.
    let (low, high) = roc_area.interval.unwrap();
    assert!((low - 0.025f64.sqrt()).abs() < 1e-12 && high == 1.0);
    let exact = Rows::new(Probabilities(&[1.0, 1.0, 0.0, 0.0, 0.0]), &labels).unwrap();
    let [brier, log_loss, ..] = INDEPENDENT.probability_measures(&exact).unwrap().map(Option::unwrap);
    assert!(brier.value == 0.0 && brier.interval.unwrap().1 > 0.5 && log_loss.interval.is_none());
    let negatives = Rows::new(Probabilities(&[0.1, 0.2]), &[false; 2]).unwrap();
    let measures = INDEPENDENT.probability_measures(&negatives).unwrap();
    assert!(measures[0].is_some() && measures[2].is_none() && measures[3].is_none());
    assert_eq!(ProbabilityMeasure::ALL.map(ProbabilityMeasure::name)[2], "roc_area");
}
