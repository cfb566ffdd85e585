//! Compares the smoothed threshold with a brute-force search over all centres of the prior, for every score, with ties and weights.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::f64::consts::PI;

use crate::common::{Batch, Random, all_scores, assert_close, score};
use scorewise::sweep::{BlockLength, Bootstrap, Resampling, SmoothBest, sweep};
use scorewise::{Confusion, Probabilities, Rows, Score};

/// The half-width, on the scale of log-odds, of a prior that reaches from ½ − `width` to ½ + `width`.
fn half_width(width: f64) -> f64 {
    log_odds(0.5 + width)
}

fn log_odds(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

fn probability(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// The distribution function of the raised cosine on [−1, 1] at u = x/π − 1, for x from 0 to 2π. Its value is (x − sin x)/(2π), computed without
/// cancellation for x near 0.
fn cosine_cdf(x: f64) -> f64 {
    let series = |x: f64| {
        let (mut sum, mut term) = (0.0, x * x * x / 6.0);
        for n in 2..12 {
            sum += term;
            term *= -x * x / f64::from(2 * n * (2 * n + 1));
        }
        sum
    };
    // At the lower end of the prior (x = 0) the result is exactly 0, whatever the rounding errors.
    let x = if x < 1e-9 { 0.0 } else { x.min(2.0 * PI) };
    (if x < 1.0 { series(x) } else { x - x.sin() }) / (2.0 * PI)
}

/// The expected confusion matrix if the log-odds of the threshold have a raised cosine distribution around `centre`, summed row by row.
fn brute_force_expectation(batch: &Batch, centre: f64, half_width: f64) -> Confusion {
    let mut expected = Confusion::default();
    for (row, (p, label)) in batch.probabilities.iter().zip(&batch.labels).enumerate() {
        let (weight, u) = (batch.weight(row), (log_odds(*p) - centre) / half_width);
        let (positive, negative) = (cosine_cdf(PI * (1.0 + u)), cosine_cdf(PI * (1.0 - u)));
        expected += if *label {
            Confusion::new(0.0, 0.0, weight * negative, weight * positive)
        } else {
            Confusion::new(weight * negative, weight * positive, 0.0, 0.0)
        };
    }
    expected
}

/// The expected confusion matrices of priors whose centres cover the log-odds of all rows in steps of 1/128 of the half-width, and the matrix at the
/// threshold 1.
fn brute_force_matrices(batch: &Batch, width: f64) -> Vec<Confusion> {
    let h = half_width(width);
    let finite: Vec<f64> = batch.probabilities.iter().map(|p| log_odds(*p)).filter(|z| z.is_finite()).collect();
    let low = finite.iter().copied().fold(0.0, f64::min) / h - 1.1;
    let high = finite.iter().copied().fold(0.0, f64::max) / h + 1.1;
    let centres = (low * 128.0).floor() as i64..=(high * 128.0).ceil() as i64;
    centres
        .map(|centre| brute_force_expectation(batch, centre as f64 * h / 128.0, h))
        .chain([batch.confusion_at(1.0)])
        .collect()
}

/// The best value of a score over the matrices, transformed so that greater is better; `None` if the score is undefined for all matrices.
fn best_score_of(matrices: &[Confusion], score: &Score) -> Option<f64> {
    let values = matrices.iter().filter_map(|matrix| score.checked(matrix));
    values.map(|value| score.oriented_value(value)).max_by(f64::total_cmp)
}

/// The smoothed threshold of a score, found by the sweep.
fn smoothed_threshold(batch: &Batch, score: &Score, width: f64) -> Option<SmoothBest> {
    sweep(&batch.rows()).unwrap().smooth_best(score, width).unwrap()
}

/// Rows with these probabilities and labels (1 for positive).
fn batch(probabilities: &[f64], labels: &[u8]) -> Batch {
    let labels = labels.iter().map(|label| *label == 1).collect();
    Batch { probabilities: probabilities.to_vec(), labels, weights: None }
}

#[test]
fn smoothed_threshold_equals_brute_force_for_every_score() {
    let (mut random, scores) = (Random(41), all_scores());
    let mut undefined = 0;
    for number in 0..120 {
        let batch = Batch::random(&mut random);
        let width = [0.2, 0.05, 0.4, 0.49][number % 4];
        let (matrices, h) = (brute_force_matrices(&batch, width), half_width(width));
        for score in &scores {
            let what = format!("{score}, {width}, {:?}, {:?}, {:?}", batch.probabilities, batch.labels, batch.weights);
            let (found, expected) = (smoothed_threshold(&batch, score, width), best_score_of(&matrices, score));
            let (Some(found), Some(expected)) = (&found, expected) else {
                assert!(found.is_none() && expected.is_none(), "{what}: {found:?}, {expected:?}");
                undefined += 1;
                continue;
            };
            // A quotient such as the odds ratio can be 1e10 where one cell is nearly 0, so the rounding error of this cell matters.
            let tolerance = if expected.abs() > 1e6 { 1e-2 } else { 1e-6 };
            assert_close(score.oriented_value(found.expected_value), expected, tolerance, &what);
            assert_eq!(score.checked(&found.expected), Some(found.expected_value), "{what}");
            let by_rows = match found.threshold {
                1.0 => batch.confusion_at(1.0),
                threshold => brute_force_expectation(&batch, log_odds(threshold), h),
            };
            for (cell, by_rows) in found.expected.array().into_iter().zip(by_rows.array()) {
                assert_close(cell, by_rows, 1e-9, &what);
            }
            assert_eq!(found.confusion, batch.confusion_at(found.threshold), "{what}");
            assert_eq!(found.value, score.checked(&found.confusion), "{what}");
        }
    }
    assert!(undefined > 100, "{undefined} undefined cases");
}

#[test]
fn expected_matrix_is_accurate_for_narrow_and_wide_priors_and_extreme_predictions() {
    // The finite log-odds range from −700 to 37. In sums over all rows, rounding would hide the few rows inside a narrow prior.
    let mut random = Random(42);
    let mut probabilities = vec![1e-304, 1e-200, 1e-12, 1.0 - 1e-12, 1.0_f64.next_down(), 0.0, 1.0];
    probabilities.extend((0..400).map(|_| random.uniform()));
    let labels: Vec<bool> = probabilities.iter().map(|p| random.uniform() < 0.8 * p + 0.1).collect();
    let weights = (0..probabilities.len()).map(|_| 1e6 * random.uniform()).collect();
    let batch = Batch { probabilities, labels, weights: Some(weights) };
    for width in [0.001, 0.01, 0.499_999] {
        for score in ["tss", "f1", "cost(fp=1, fn=10)", "frequency_bias"].map(score) {
            let found = smoothed_threshold(&batch, &score, width).unwrap();
            let by_rows = brute_force_expectation(&batch, log_odds(found.threshold), half_width(width));
            for (cell, by_rows) in found.expected.array().into_iter().zip(by_rows.array()) {
                assert!(
                    (cell - by_rows).abs() < 1e-9 * by_rows.max(1e6),
                    "{score}, width {width}: a cell of the expected matrix is {cell}, but must be {by_rows}"
                );
            }
        }
    }
}

#[test]
fn trying_more_centres_of_the_prior_would_hardly_improve_the_score() {
    let mut random = Random(43);
    for _ in 0..20 {
        let batch = Batch::random(&mut random);
        let h = half_width(0.2);
        for score in ["tss", "f1", "accuracy"].map(score) {
            let Some(found) = smoothed_threshold(&batch, &score, 0.2) else { continue };
            let value = |step: i32| {
                let centre = log_odds(found.threshold) + f64::from(step) * h / 2000.0;
                score.checked(&brute_force_expectation(&batch, centre, h)).unwrap_or(f64::NEG_INFINITY)
            };
            let near = (-40..=40).map(value).fold(f64::NEG_INFINITY, f64::max);
            assert!(
                near < found.expected_value + 1e-4,
                "{score} is better ({near}) for another centre of the prior near the threshold that was found: {found:?}"
            );
        }
    }
}

#[test]
fn f32_and_f64_predictions_of_the_same_values_give_the_same_smoothed_threshold() {
    let mut random = Random(44);
    for _ in 0..60 {
        let mut batch = Batch::random(&mut random);
        let predictions: Vec<f32> = batch.probabilities.iter().map(|p| *p as f32).collect();
        batch.probabilities = predictions.iter().map(|p| f64::from(*p)).collect();
        let weights: Option<Vec<f32>> =
            batch.weights.as_ref().map(|weights| weights.iter().map(|weight| *weight as f32).collect());
        let rows = Rows::new(Probabilities(&predictions), &batch.labels).unwrap();
        let rows = weights.as_ref().map_or(rows, |weights| rows.weighted(weights).unwrap());
        for score in ["tss", "csi", "accuracy", "far"].map(score) {
            let found = sweep(&rows).unwrap().smooth_best(&score, 0.2).unwrap();
            assert_eq!(found, smoothed_threshold(&batch, &score, 0.2));
        }
    }
}

#[test]
fn a_prediction_of_0_never_counts_as_positive_and_a_prediction_of_1_does_unless_the_threshold_is_1() {
    // The positive row with the prediction 0 is a miss at every threshold. So recall cannot reach 1, and a threshold near 0 gains nothing.
    let found = smoothed_threshold(&batch(&[0.0, 0.5, 0.4, 0.2], &[1, 1, 0, 0]), &score("f1"), 0.05).unwrap();
    assert_eq!(found.confusion, Confusion::new(2.0, 0.0, 1.0, 1.0));
    assert!(found.expected.fn_ >= 1.0, "{found:?}");
    // The negative row with prediction 1 is a false alarm unless the threshold is 1.
    let rows = batch(&[1.0, 0.5, 0.9, 0.2], &[0, 1, 1, 0]);
    let found = smoothed_threshold(&rows, &score("accuracy"), 0.05).unwrap();
    assert_eq!((found.confusion, found.value), (Confusion::new(1.0, 1.0, 0.0, 2.0), Some(0.75)));
    let never = smoothed_threshold(&rows, &score("cost(fp=10, fn=1)"), 0.05).unwrap();
    assert_eq!((never.threshold, never.confusion), (1.0, Confusion::new(2.0, 0.0, 2.0, 0.0)));
    assert_eq!((never.expected, never.expected_value), (never.confusion, never.value.unwrap()));
    // All predictions are 0 or 1, so none has finite log-odds.
    let only = smoothed_threshold(&batch(&[1.0, 0.0, 1.0], &[1, 0, 1]), &score("f1"), 0.2).unwrap();
    assert_eq!((only.threshold, only.value, only.expected_value), (0.5, Some(1.0), 1.0));
}

#[test]
fn smoothed_threshold_of_a_single_class_or_row_is_none_only_if_the_score_is_undefined() {
    let negatives = batch(&[0.3, 0.6, 0.1], &[0, 0, 0]);
    assert_eq!(smoothed_threshold(&negatives, &score("tss"), 0.2), None);
    assert_eq!(smoothed_threshold(&negatives, &score("recall"), 0.2), None);
    let accuracy = smoothed_threshold(&negatives, &score("accuracy"), 0.2).unwrap();
    assert_eq!((accuracy.value, accuracy.expected_value), (Some(1.0), 1.0));
    assert!(accuracy.threshold > 0.6, "{accuracy:?}");
    let one = smoothed_threshold(&batch(&[0.3], &[1]), &score("f1"), 0.2).unwrap();
    assert_eq!((one.value, one.expected_value), (Some(1.0), 1.0));
    assert!(one.threshold < 0.3, "{one:?}");
    let none = Batch { weights: Some(vec![0.0; 3]), ..negatives };
    assert_eq!(smoothed_threshold(&none, &score("accuracy"), 0.2), None);
}

#[test]
fn smoothed_threshold_of_separated_classes_lies_in_the_gap_between_them() {
    // The gap between the classes is wider than the prior. Where no row lies inside the prior, the expected score is constant, and the threshold is
    // in the middle of the gap, like the best threshold without smoothing.
    let rows = batch(&[0.02, 0.01, 0.03, 0.97, 0.98, 0.99], &[0, 0, 0, 1, 1, 1]);
    let exact = sweep(&rows.rows()).unwrap().best(&score("f1")).unwrap();
    let found = smoothed_threshold(&rows, &score("f1"), 0.2).unwrap();
    assert_eq!((found.value, found.expected_value), (Some(1.0), 1.0));
    assert!((found.threshold - exact.threshold).abs() < 0.01, "{found:?}, {exact:?}");
    // The gap between the classes is narrower than the prior and not symmetric: the threshold lies inside the gap, and the expected score is below 1.
    let rows = batch(&[0.1, 0.2, 0.45, 0.6, 0.8, 0.9], &[0, 0, 0, 1, 1, 1]);
    let found = smoothed_threshold(&rows, &score("f1"), 0.2).unwrap();
    assert_eq!(found.value, Some(1.0));
    assert!(found.expected_value < 1.0 && (0.45..0.6).contains(&found.threshold), "{found:?}");
}

#[test]
fn expected_score_at_the_smoothed_threshold_of_a_narrow_prior_is_at_least_the_best_score_without_smoothing() {
    let mut random = Random(45);
    for _ in 0..60 {
        let mut batch = Batch::random(&mut random);
        // The log-odds of different predictions are at least 0.04 apart. The prior of width 0.001 fits between them, because it is only 0.008 wide on
        // the scale of log-odds.
        batch
            .probabilities
            .iter_mut()
            .for_each(|p| *p = probability(0.04 * (log_odds(*p).clamp(-9.0, 9.0) / 0.04).round()));
        for score in ["tss", "f1", "csi", "accuracy", "hss", "cost(fp=1, fn=10)", "frequency_bias"].map(score) {
            let exact = sweep(&batch.rows()).unwrap().best(&score);
            let found = smoothed_threshold(&batch, &score, 0.001);
            assert_eq!(found.is_some(), exact.is_some(), "{score}");
            if let (Some(found), Some(exact)) = (found, exact) {
                // The score of the expected matrix can even be better than the best score without smoothing, because the expected matrix can lie
                // between the matrices of two thresholds.
                let (smooth, exact) = (score.oriented_value(found.expected_value), score.oriented_value(exact.value));
                assert!(smooth > exact - 1e-9, "{score}: {found:?}, {exact}");
                if ["tss", "accuracy", "cost(fp=1, fn=10)"].contains(&score.name()) {
                    assert_close(found.value.unwrap(), found.expected_value, 1e-9, &score);
                }
            }
        }
    }
}

#[test]
fn repeating_rows_gives_the_same_smoothed_threshold_as_weighting_them() {
    let mut random = Random(46);
    for _ in 0..40 {
        let mut once = Batch::random(&mut random);
        let copies: Vec<usize> = once.labels.iter().map(|_| random.integer_below(4)).collect();
        once.weights = Some(copies.iter().map(|copies| *copies as f64).collect());
        let repeated = |row: usize| std::iter::repeat_n(row, copies[row]);
        let rows: Vec<usize> = (0..copies.len()).flat_map(repeated).collect();
        if rows.is_empty() {
            continue;
        }
        let many = Batch {
            probabilities: rows.iter().map(|row| once.probabilities[*row]).collect(),
            labels: rows.iter().map(|row| once.labels[*row]).collect(),
            weights: None,
        };
        for score in ["tss", "f1", "accuracy", "mcc"].map(score) {
            let (weighted, repeated) = (smoothed_threshold(&once, &score, 0.2), smoothed_threshold(&many, &score, 0.2));
            assert_eq!(weighted.is_some(), repeated.is_some(), "{score}");
            if let (Some(weighted), Some(repeated)) = (weighted, repeated) {
                assert_close(weighted.threshold, repeated.threshold, 1e-9, &(&score, &once.probabilities, &copies));
                assert_close(weighted.expected_value, repeated.expected_value, 1e-9, &score);
            }
        }
    }
}

/// Calibrated predictions of events that occur in about 35 % of the rows.
fn calibrated_batch(rows: usize, seed: u64) -> Batch {
    let mut random = Random(seed);
    let probabilities: Vec<f64> = (0..rows).map(|_| probability(6.0 * random.uniform() - 4.0)).collect();
    let labels = probabilities.iter().map(|p| random.uniform() < *p).collect();
    Batch { probabilities, labels, weights: None }
}

#[test]
fn smoothed_threshold_is_bit_identical_for_any_order_of_the_rows() {
    // There are more rows than one parallel task processes.
    let rows = calibrated_batch(150_000, 47);
    let mut order: Vec<usize> = (0..150_000).collect();
    order.sort_by_key(|row| row.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let shuffled = Batch {
        probabilities: order.iter().map(|row| rows.probabilities[*row]).collect(),
        labels: order.iter().map(|row| rows.labels[*row]).collect(),
        weights: None,
    };
    let found = smoothed_threshold(&rows, &score("f1"), 0.2).unwrap();
    assert_eq!(smoothed_threshold(&shuffled, &score("f1"), 0.2).unwrap(), found);
    let by_rows = brute_force_expectation(&rows, log_odds(found.threshold), half_width(0.2));
    assert_close(score("f1").value(&by_rows), found.expected_value, 1e-9, &"f1");
    // If predictions are calibrated, the best threshold of F1 is half of the best F1 (Lipton et al. 2014).
    assert!((found.threshold - 0.5 * found.value.unwrap()).abs() < 0.02, "{found:?}");
}

#[test]
fn bootstrap_of_the_smoothed_threshold_equals_smoothing_of_rows_weighted_by_their_copies() {
    let rows = calibrated_batch(300, 48);
    let weights: Vec<f64> = (0..300).map(|row| f64::from(row % 5) / 4.0).collect();
    let tss = score("tss");
    for resampling in [Resampling::Poisson, Resampling::Stratified, Resampling::Blocks(BlockLength::Rows(24))] {
        let bootstrap = Bootstrap { resampling, replicates: 20, seed: 3 };
        let weighted = rows.rows().weighted(&weights).unwrap();
        let found = bootstrap.smooth_best(&weighted, &tss, 0.2).unwrap();
        let mut copies = vec![0; 300];
        let mut expected: Vec<(f64, f64)> = (0..20)
            .map(|replicate| {
                bootstrap.copies(replicate, &rows.labels, &mut copies).unwrap();
                let weights = weights.iter().zip(&copies).map(|(weight, copies)| weight * f64::from(*copies)).collect();
                let replicate = Batch { weights: Some(weights), ..calibrated_batch(300, 48) };
                let best = smoothed_threshold(&replicate, &tss, 0.2).unwrap();
                (best.threshold, best.value.unwrap())
            })
            .collect();
        expected.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (found, expected) in found.threshold.values().iter().zip(&expected) {
            assert_close(*found, expected.0, 1e-9, &resampling);
        }
        expected.sort_by(|a, b| a.1.total_cmp(&b.1));
        for (found, expected) in found.value.values().iter().zip(&expected) {
            assert_close(*found, expected.1, 1e-9, &resampling);
        }
        assert_eq!(found.threshold.values().len(), 20);
        let runs = sweep(&weighted).unwrap().runs(usize::MAX);
        assert_eq!(bootstrap.smooth_best_of_runs(&weighted, &runs, &tss, 0.2).unwrap(), found);
    }
}

#[test]
fn combining_sorted_rows_into_runs_hardly_changes_the_bootstrap_of_the_smoothed_threshold() {
    let rows = calibrated_batch(20_000, 49);
    let bootstrap = Bootstrap { resampling: Resampling::Stratified, replicates: 40, seed: 3 };
    let by_rows = bootstrap.smooth_best(&rows.rows(), &score("f1"), 0.2).unwrap();
    let runs = sweep(&rows.rows()).unwrap().runs(2000);
    let by_runs = bootstrap.smooth_best_of_runs(&rows.rows(), &runs, &score("f1"), 0.2).unwrap();
    for (row, run) in by_rows.threshold.values().iter().zip(by_runs.threshold.values()) {
        assert_close(*row, *run, 0.005, &"threshold");
    }
    let error = bootstrap.smooth_best_of_runs(&calibrated_batch(10, 0).rows(), &runs, &score("f1"), 0.2).unwrap_err();
    assert_eq!(error.to_string(), "wrong number of rows in the runs of sorted rows: 20000, expected 10");
}

#[test]
fn smoothed_thresholds_vary_less_between_samples_than_exact_thresholds() {
    let score = score("f1");
    let found: Vec<(f64, f64)> = (0..200)
        .map(|seed| {
            let sweep = sweep(&calibrated_batch(400, 1000 + seed).rows()).unwrap();
            (sweep.best(&score).unwrap().threshold, sweep.smooth_best(&score, 0.2).unwrap().unwrap().threshold)
        })
        .collect();
    let deviation = |values: Vec<f64>| scorewise::MeanAndDeviation::of(&values).unwrap().deviation.unwrap();
    let exact = deviation(found.iter().map(|pair| pair.0).collect());
    let smooth = deviation(found.iter().map(|pair| pair.1).collect());
    assert!(
        smooth < 0.8 * exact,
        "the standard deviation is {smooth} for smoothed thresholds and {exact} for exact thresholds"
    );
}

#[test]
fn smoothing_widths_outside_the_allowed_range_are_rejected() {
    let rows = batch(&[0.3, 0.6], &[0, 1]);
    let sweep = sweep(&rows.rows()).unwrap();
    for width in [0.0, -0.2, 0.0009, 0.5, 1.0, f64::NAN, f64::INFINITY] {
        let expected = format!("smooth must be at least 0.001 and below 0.5, not {width}; 0.2 is usual");
        assert_eq!(sweep.smooth_best(&score("f1"), width).unwrap_err().to_string(), expected);
        let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 2, seed: 0 };
        assert_eq!(bootstrap.smooth_best(&rows.rows(), &score("f1"), width).unwrap_err().to_string(), expected);
    }
    for width in [0.001, 0.5_f64.next_down()] {
        assert!(sweep.smooth_best(&score("f1"), width).unwrap().is_some());
    }
}
