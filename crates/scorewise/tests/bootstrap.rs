//! Compares the fast bootstraps, which draw the total number of copies in each cell of the matrix or in each run of consecutive sorted
//! rows, with a bootstrap that draws the number of copies of each row.

#![allow(clippy::unwrap_used)] // a panic fails the test

use crate::common::{Random, score};
use scorewise::sweep::{Bootstrap, BootstrapDistribution, Condition, MAX_REPLICATES, Resampling, sweep};
use scorewise::{Confusion, Probabilities, Rows, is_positive};

const N_ROWS: usize = 4000;

/// Two forecasts of the same rare events, the first with more skill, and weights with a few distinct values.
struct TwoForecasts {
    labels: Vec<bool>,
    first: Vec<f64>,
    second: Vec<f64>,
    weights: Vec<f64>,
}

fn two_forecasts(seed: u64, event_rate: f64) -> TwoForecasts {
    let mut random = Random(seed);
    let labels: Vec<bool> = (0..N_ROWS).map(|_| random.uniform() < event_rate).collect();
    let mut forecast = |noise: f64| -> Vec<f64> {
        let skill = |label: &bool| f64::from(u8::from(*label)) * 0.3 + noise * random.uniform();
        labels.iter().map(skill).collect()
    };
    let (first, second) = (forecast(0.5), forecast(0.69));
    let weights = (0..N_ROWS).map(|_| [0.5, 1.0, 3.25][random.integer_below(3)]).collect();
    TwoForecasts { labels, first, second, weights }
}

/// The confusion matrix of one replicate, computed from the number of times each row is drawn.
fn replicate_matrix(
    bootstrap: &Bootstrap,
    replicate: usize,
    labels: &[bool],
    p: &[f64],
    weights: &[f64],
    at: f64,
) -> Confusion {
    let mut counts = vec![0; labels.len()];
    bootstrap.copies(replicate, labels, &mut counts).unwrap();
    let one = |row: usize| {
        let weight = f64::from(counts[row]) * weights[row];
        match (labels[row], is_positive(p[row], at)) {
            (false, false) => Confusion::new(weight, 0.0, 0.0, 0.0),
            (false, true) => Confusion::new(0.0, weight, 0.0, 0.0),
            (true, false) => Confusion::new(0.0, 0.0, weight, 0.0),
            (true, true) => Confusion::new(0.0, 0.0, 0.0, weight),
        }
    };
    (0..labels.len()).map(one).sum()
}

/// Asserts that two distributions have the same mean and standard deviation within their sampling errors.
fn assert_similar(found: &BootstrapDistribution, expected: &[f64], what: &str) {
    let count = expected.len() as f64;
    let mean = expected.iter().sum::<f64>() / count;
    let deviation = (expected.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt();
    let (found_mean, found_deviation) = (found.mean().unwrap(), found.deviation().unwrap());
    assert!(
        (found_mean - mean).abs() < 4.0 * deviation * (2.0 / count).sqrt(),
        "{what}: the mean is {found_mean}, expected {mean}"
    );
    let ratio = found_deviation / deviation;
    assert!(
        (ratio - 1.0).abs() < 4.0 / count.sqrt(),
        "{what}: standard deviation {found_deviation}, expected {deviation}"
    );
}

#[test]
fn drawing_totals_of_matrix_cells_gives_the_same_distribution_of_scores_as_drawing_copies_of_rows() {
    let data = two_forecasts(1, 0.05);
    let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 2000, seed: 4 };
    let unweighted = Rows::new(Probabilities(&data.first), &data.labels).unwrap();
    for weights in [None, Some(&data.weights)] {
        let rows = weights.map_or(unweighted, |weights| unweighted.weighted(weights).unwrap());
        let ones = vec![1.0; N_ROWS];
        let other = Bootstrap { seed: 99, ..bootstrap };
        let matrices: Vec<Confusion> = (0..2000)
            .map(|replicate| {
                replicate_matrix(&other, replicate, &data.labels, &data.first, weights.unwrap_or(&ones), 0.4)
            })
            .collect();
        for name in ["tss", "precision", "f1", "tp", "total"] {
            let found = &bootstrap.scores(&rows, 0.4, &[score(name)]).unwrap()[0];
            let expected: Vec<f64> = matrices.iter().filter_map(|matrix| score(name).checked(matrix)).collect();
            assert_similar(found, &expected, &format!("{name}, weights {}", weights.is_some()));
        }
    }
}

#[test]
fn if_there_are_many_distinct_weights_the_bootstrap_draws_copies_row_by_row() {
    let data = two_forecasts(2, 0.3);
    let weights: Vec<f64> = (0..N_ROWS).map(|row| 1.0 + row as f64 / 1e3).collect();
    let distinct_weights = [weights.clone(), weights.iter().map(|weight| weight + 0.1234).collect()].concat();
    let (labels, p) = (data.labels.repeat(2), data.first.repeat(2));
    let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 20, seed: 4 };
    let rows = Rows::new(Probabilities(&p), &labels).unwrap().weighted(&distinct_weights).unwrap();
    let found = &bootstrap.scores(&rows, 0.5, &[score("f1")]).unwrap()[0];
    let value =
        |replicate| score("f1").value(&replicate_matrix(&bootstrap, replicate, &labels, &p, &distinct_weights, 0.5));
    let mut expected: Vec<f64> = (0..20).map(value).collect();
    expected.sort_by(f64::total_cmp);
    for (found, expected) in found.values().iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-12, "{found}, {expected}");
    }
}

#[test]
fn sorted_rows_are_divided_into_about_as_many_runs_as_allowed_without_splitting_equal_predictions() {
    let data = two_forecasts(3, 0.01);
    let rows = Rows::new(Probabilities(&data.first), &data.labels).unwrap();
    let sweep = sweep(&rows).unwrap();
    assert_eq!(sweep.runs(usize::MAX).len(), N_ROWS);
    for at_most in [1, 2, 50, 1000, 3999] {
        let runs = sweep.runs(at_most).len();
        assert!(runs <= at_most && 3 * runs >= at_most, "there are {runs} runs, but at most {at_most} are allowed");
    }
    assert_eq!(sweep.runs(0).len(), 1);
    // Rows with equal predictions are always in the same run of sorted rows, even if more runs are allowed.
    let ties = vec![0.25f32; N_ROWS];
    let ties = Rows::new(Probabilities(&ties), &data.labels).unwrap();
    assert_eq!(scorewise::sweep::sweep(&ties).unwrap().runs(100).len(), 1);
}

#[test]
fn best_threshold_between_runs_of_rows_has_the_same_distribution_as_the_best_threshold_between_single_rows() {
    let data = two_forecasts(5, 0.1);
    let rows = Rows::new(Probabilities(&data.first), &data.labels).unwrap();
    let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 1000, seed: 4 };
    let by_rows = Bootstrap { seed: 77, ..bootstrap }.best(&rows, &score("csi"), &[]).unwrap();
    for at_most in [usize::MAX, 1000] {
        let runs = sweep(&rows).unwrap().runs(at_most);
        let found = bootstrap.best_of_runs(&rows, &runs, &score("csi"), &[]).unwrap();
        assert_similar(&found.threshold, by_rows.threshold.values(), &format!("threshold, {at_most}"));
        assert_similar(&found.value, by_rows.value.values(), &format!("value, {at_most}"));
    }
    let short = Rows::new(Probabilities(&data.first[..10]), &data.labels[..10]).unwrap();
    let runs = sweep(&rows).unwrap().runs(10);
    let error = bootstrap.best_of_runs(&short, &runs, &score("csi"), &[]).unwrap_err();
    assert_eq!(error.to_string(), "wrong number of rows in runs: 4000, expected 10");
}

#[test]
fn bootstrap_of_single_row_runs_equals_bootstrap_of_rows_if_copies_are_drawn_row_by_row() {
    let data = two_forecasts(6, 0.1);
    let rows = Rows::new(Probabilities(&data.first), &data.labels).unwrap();
    let weighted = rows.weighted(&data.weights).unwrap();
    let runs = sweep(&rows).unwrap().runs(usize::MAX);
    for (resampling, rows) in [
        (Resampling::Poisson, &weighted),
        (Resampling::Stratified, &rows),
        (Resampling::Blocks(24), &rows),
        (Resampling::Blocks(24), &weighted),
    ] {
        let bootstrap = Bootstrap { resampling, replicates: 30, seed: 8 };
        let found = bootstrap.best_of_runs(rows, &runs, &score("tss"), &[]).unwrap();
        assert_eq!(found, bootstrap.best(rows, &score("tss"), &[]).unwrap(), "{resampling:?}");
    }
}

#[test]
fn paired_replicates_draw_the_same_rows_for_both_forecasts() {
    let data = two_forecasts(7, 0.1);
    let rows = Rows::new(Probabilities(&data.first), &data.labels).unwrap().weighted(&data.weights).unwrap();
    let (tss, far) = (score("tss"), score("far"));
    for resampling in [Resampling::Stratified, Resampling::Blocks(30)] {
        let bootstrap = Bootstrap { resampling, replicates: 50, seed: 2 };
        let at = (0.5, 0.6);
        let found = bootstrap.paired(&rows, Probabilities(&data.second), at, &[tss.clone(), far.clone()]).unwrap();
        for (score, found) in [&tss, &far].into_iter().zip(&found) {
            let value = |replicate, p: &[f64], at| {
                score.value(&replicate_matrix(&bootstrap, replicate, &data.labels, p, &data.weights, at))
            };
            let pairs: Vec<(f64, f64)> = (0..50)
                .map(|replicate| (value(replicate, &data.first, at.0), value(replicate, &data.second, at.1)))
                .collect();
            let mut expected: Vec<f64> = pairs.iter().map(|(first, second)| first - second).collect();
            expected.sort_by(f64::total_cmp);
            for (found, expected) in found.difference.values().iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-12, "{score}: {found}, {expected}");
            }
            let better = pairs
                .iter()
                .filter(|(first, second)| score.oriented_value(*first) > score.oriented_value(*second))
                .count();
            assert_eq!((found.first_better, found.second_better), (better, 50 - better), "{score}");
            assert_eq!((found.first.values().len(), found.second.undefined()), (50, 0));
        }
    }
}

#[test]
fn paired_bootstrap_has_the_same_distribution_whether_it_draws_totals_of_matrix_cells_or_copies_of_rows() {
    let data = two_forecasts(8, 0.1);
    let rows = Rows::new(Probabilities(&data.first), &data.labels).unwrap();
    let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 2000, seed: 2 };
    let found = &bootstrap.paired(&rows, Probabilities(&data.second), (0.5, 0.5), &[score("csi")]).unwrap()[0];
    let (ones, other) = (vec![1.0; N_ROWS], Bootstrap { seed: 50, ..bootstrap });
    let value =
        |replicate, p: &[f64]| score("csi").value(&replicate_matrix(&other, replicate, &data.labels, p, &ones, 0.5));
    let expected: Vec<f64> =
        (0..2000).map(|replicate| value(replicate, &data.first) - value(replicate, &data.second)).collect();
    assert_similar(&found.difference, &expected, "difference");
    // If a forecast is compared with itself, the difference of the scores is 0 in every replicate.
    let same = &bootstrap.paired(&rows, Probabilities(&data.first), (0.5, 0.5), &[score("csi")]).unwrap()[0];
    assert_eq!((same.difference.interval(1.0), same.first_better, same.second_better), (Some((0.0, 0.0)), 0, 0));
}

#[test]
fn paired_best_finds_the_best_thresholds_of_both_forecasts_on_the_same_drawn_rows() {
    let data = two_forecasts(9, 0.1);
    let rows = Rows::new(Probabilities(&data.first), &data.labels).unwrap();
    let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 40, seed: 2 };
    let second = Probabilities(data.second.as_slice());
    let found = bootstrap.paired_best(&rows, second, &score("f1"), &[], usize::MAX).unwrap();
    let best = |p: &[f64]| {
        let rows = Rows::new(Probabilities(p), &data.labels).unwrap();
        bootstrap.best(&rows, &score("f1"), &[]).unwrap().value
    };
    assert_eq!((&found.first, &found.second), (&best(&data.first), &best(&data.second)));
    assert!(found.first_better >= 38, "{}", found.first_better);
    let between_runs = bootstrap.paired_best(&rows, second, &score("f1"), &[], 500).unwrap();
    assert!((between_runs.difference.mean().unwrap() - found.difference.mean().unwrap()).abs() < 0.005);
    let short = Probabilities(&data.second[..10]);
    let error = bootstrap.paired(&rows, short, (0.5, 0.5), &[]).unwrap_err();
    assert_eq!(error.to_string(), "wrong number of rows in the second forecast: 10, expected 4000");
    let invalid = vec![1.5; N_ROWS];
    assert!(bootstrap.paired(&rows, Probabilities(&invalid), (0.5, 0.5), &[]).is_err());
}

#[test]
fn threshold_that_comes_nearest_to_a_condition_is_found() {
    let rows = Rows::new(Probabilities(&[0.9, 0.8, 0.6, 0.2]), &[false, true, true, false]).unwrap();
    let sweep = sweep(&rows).unwrap();
    let nearest = |text: &str| {
        let condition = &Condition::parse(text).unwrap()[0];
        condition.sides(&sweep.nearest(condition).unwrap().confusion)[0]
    };
    assert_eq!(nearest("precision >= 0.9"), Some(2.0 / 3.0));
    assert_eq!(nearest("precision > 0.9"), Some(2.0 / 3.0));
    assert_eq!(nearest("fn + 1 <= 0.5"), Some(1.0));
    assert_eq!(nearest("fn + 1 < 0.5"), Some(1.0));
    assert_eq!(nearest("tp = 1.6"), Some(2.0));
    assert_eq!(nearest("tp != 1"), Some(2.0)); // tp = 2 and tp = 0 are equally far from 1; tp = 2 has the wider interval
}

#[test]
fn zero_or_too_many_replicates_are_rejected() {
    let rows = Rows::new(Probabilities(&[0.2, 0.8]), &[false, true]).unwrap();
    for replicates in [0, MAX_REPLICATES + 1, usize::MAX] {
        let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates, seed: 0 };
        let message = bootstrap.scores(&rows, 0.5, &[score("f1")]).unwrap_err().to_string();
        assert!(message.contains("bootstrap replicates") && message.contains("must be at"), "{message}");
        assert!(bootstrap.best(&rows, &score("f1"), &[]).is_err());
    }
}
