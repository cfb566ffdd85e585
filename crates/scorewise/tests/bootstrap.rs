//! Compares the fast bootstraps, which draw the cells of the matrix or the total number of copies in each run of consecutive sorted rows, with a
//! bootstrap that draws the number of copies of each row.

#![allow(clippy::unwrap_used)] // a panic fails the test

use crate::common::{Random, score};
use scorewise::sweep::{BlockLength, Bootstrap, BootstrapDistribution, Condition, MAX_REPLICATES, Resampling, sweep};
use scorewise::{Confusion, Probabilities, Rows, is_positive};
use statrs::distribution::{Beta, ContinuousCDF};

const N_ROWS: usize = 4000;

/// Two forecasts of the same rare events, the first with more skill, and weights with a few distinct values.
struct TwoForecasts {
    labels: Vec<bool>,
    first: Vec<f64>,
    second: Vec<f64>,
    weights: Vec<f64>,
}

/// Random forecasts of events that occur with the probability `event_rate`.
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
    bootstrap: &Bootstrap<'_>,
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
fn scores_have_the_same_distribution_whether_matrix_cells_or_copies_of_rows_are_drawn() {
    let data = two_forecasts(1, 0.05);
    let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 2000, seed: 4 };
    let unweighted = Rows::new(Probabilities(&data.first), &data.labels).unwrap();
    let distinct: Vec<f64> = (0..N_ROWS).map(|row| 1.0 + row as f64 / 1e3).collect();
    for weights in [None, Some(&data.weights), Some(&distinct)] {
        let rows = weights.map_or(unweighted, |weights| unweighted.weighted(weights).unwrap());
        let ones = vec![1.0; N_ROWS];
        let other = Bootstrap { seed: 99, ..bootstrap };
        let matrices: Vec<Confusion> = (0..2000)
            .map(|replicate| {
                replicate_matrix(&other, replicate, &data.labels, &data.first, weights.unwrap_or(&ones), 0.4)
            })
            .collect();
        for name in ["tss", "precision", "f1", "recall", "hss"] {
            let found = &bootstrap.scores(&rows, 0.4, &[score(name)]).unwrap()[0];
            let expected: Vec<f64> = matrices.iter().filter_map(|matrix| score(name).checked(matrix)).collect();
            assert_similar(found, &expected, &format!("{name}, weights {}", weights.is_some()));
        }
    }
}

#[test]
fn the_bootstrap_interval_of_precision_is_the_jeffreys_interval() {
    // Two cases: nine of ten alarms are hits, and all ten are. In the second case, a bootstrap of the rows would give an interval of width 0.
    let distribution = |hits: usize| {
        let labels: Vec<bool> = (0..40).map(|row| row < hits).collect();
        let p: Vec<f64> = (0..40).map(|row| if row < 10 { 0.9 } else { 0.1 }).collect();
        let rows = Rows::new(Probabilities(&p), &labels).unwrap();
        let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 40_000, seed: 3 };
        bootstrap.scores(&rows, 0.5, &[score("precision")]).unwrap()[0].interval(0.95).unwrap()
    };
    for hits in [9, 10] {
        let found = distribution(hits);
        let beta = Beta::new(hits as f64 + 0.5, 10.5 - hits as f64).unwrap();
        for (found, level) in [(found.0, 0.025), (found.1, 0.975)] {
            assert!((found - beta.inverse_cdf(level)).abs() < 0.005, "{hits} hits: the {level} quantile is {found}");
        }
    }
}

#[test]
fn rows_of_a_group_are_drawn_together_and_make_intervals_wider() {
    const ROWS: usize = 20_000;
    let mut random = Random(12);
    // In groups of ten rows with the same label and the same prediction, there is only as much information as in a tenth of the rows.
    let groups: Vec<u32> = (0..ROWS).map(|row| row as u32 / 10).collect();
    let of_group: Vec<(bool, f64)> = (0..ROWS / 10)
        .map(|_| {
            let label = random.uniform() < 0.2;
            (label, 0.3 * f64::from(u8::from(label)) + 0.6 * random.uniform())
        })
        .collect();
    let (labels, p): (Vec<bool>, Vec<f64>) = groups.iter().map(|group| of_group[*group as usize]).unzip();
    let rows = Rows::new(Probabilities(&p), &labels).unwrap();
    let bootstrap = Bootstrap { resampling: Resampling::Groups(&groups), replicates: 2000, seed: 5 };
    let mut copies = vec![0; ROWS];
    bootstrap.copies(3, &labels, &mut copies).unwrap();
    assert!(copies.chunks(10).all(|group| group.iter().all(|count| *count == group[0])));
    assert_eq!(copies.iter().sum::<u32>() as usize, ROWS);
    let ones = vec![1.0; ROWS];
    let expected: Vec<f64> = (0..2000)
        .map(|replicate| score("tss").value(&replicate_matrix(&bootstrap, replicate, &labels, &p, &ones, 0.4)))
        .collect();
    let found = &bootstrap.scores(&rows, 0.4, &[score("tss")]).unwrap()[0];
    assert_similar(found, &expected, "tss");
    let single_rows = Bootstrap { resampling: Resampling::Poisson, ..bootstrap };
    let narrow = single_rows.scores(&rows, 0.4, &[score("tss")]).unwrap()[0].deviation().unwrap();
    let ratio = found.deviation().unwrap() / narrow;
    assert!((ratio / 10f64.sqrt() - 1.0).abs() < 0.1, "groups make the standard deviation {ratio} times as large");
    let short = Bootstrap { resampling: Resampling::Groups(&groups[1..]), ..bootstrap };
    assert!(short.scores(&rows, 0.4, &[score("tss")]).unwrap_err().to_string().contains("groups"));
}

#[test]
fn bootstrap_blocks_are_longer_for_more_autocorrelated_series() {
    let mut random = Random(31);
    let rows = 4000;
    let mut state = 0.0;
    // The error of the forecast, `state`, is the same for about twenty consecutive rows.
    let labels: Vec<bool> = (0..rows).map(|_| random.uniform() < 0.3).collect();
    let p: Vec<f64> = labels
        .iter()
        .map(|label| {
            if random.uniform() < 0.05 {
                state = random.uniform();
            }
            (0.3 * f64::from(u8::from(*label)) + 0.7 * state).min(1.0)
        })
        .collect();
    let series = Rows::new(Probabilities(&p), &labels).unwrap();
    let bootstrap = Bootstrap { resampling: Resampling::Blocks(BlockLength::Auto), replicates: 1000, seed: 2 };
    let length =
        |rows: &Rows<'_, Probabilities<'_, f64>>| match bootstrap.with_block_length(rows, 0.5, &score("f1")).resampling
        {
            Resampling::Blocks(BlockLength::Rows(length)) => length,
            other => panic!("no block length was chosen: {other}"),
        };
    assert!((20..400).contains(&length(&series)), "{}", length(&series));
    let shuffled: Vec<usize> = (0..rows).map(|row| row * 1687 % rows).collect();
    let (labels, p): (Vec<bool>, Vec<f64>) = shuffled.iter().map(|row| (labels[*row], p[*row])).unzip();
    let shuffled = Rows::new(Probabilities(&p), &labels).unwrap();
    // A block has at least as many rows as the cube root of the number of rows, which is 15.9 here.
    assert_eq!(length(&shuffled), 16);
    let deviation = |rows| bootstrap.scores(rows, 0.5, &[score("f1")]).unwrap()[0].deviation().unwrap();
    assert!(deviation(&series) > 1.5 * deviation(&shuffled));
    let mut copies = vec![0; rows];
    let message = bootstrap.copies(0, &labels, &mut copies).unwrap_err().to_string();
    assert!(message.contains("length"), "{message}");
}

#[test]
fn the_corrected_score_of_a_forecast_without_skill_is_near_zero() {
    let (mut apparent, mut corrected, mut data_sets) = (0.0, 0.0, 0.0);
    for seed in 0..60 {
        let mut random = Random(1000 + seed);
        let labels: Vec<bool> = (0..150).map(|_| random.uniform() < 0.2).collect();
        let p: Vec<f64> = (0..150).map(|_| random.uniform()).collect();
        let rows = Rows::new(Probabilities(&p), &labels).unwrap();
        let sweep = sweep(&rows).unwrap();
        let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 100, seed };
        let found = bootstrap.corrected_best(&rows, &sweep.runs(usize::MAX), &score("tss"), &[]).unwrap().unwrap();
        assert_eq!(found.confusion.total().round(), 150.0);
        apparent += sweep.best(&score("tss")).unwrap().value;
        corrected += found.value.unwrap();
        data_sets += 1.0;
    }
    // The true TSS is 0 at every threshold. The standard error of the mean of sixty corrected scores is about 0.015.
    assert!(apparent / data_sets > 0.1, "{}", apparent / data_sets);
    assert!((corrected / data_sets).abs() < 0.045, "{}", corrected / data_sets);
}

#[test]
fn the_number_of_runs_is_at_most_the_limit_and_at_least_a_third_of_it_and_equal_predictions_stay_together() {
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
fn combining_sorted_rows_into_runs_does_not_change_the_distribution_of_the_best_threshold() {
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
    assert_eq!(error.to_string(), "wrong number of rows in the runs of sorted rows: 4000, expected 10");
}

#[test]
fn if_copies_are_drawn_for_each_row_the_bootstrap_of_runs_of_one_row_equals_the_bootstrap_of_rows() {
    let data = two_forecasts(6, 0.1);
    let rows = Rows::new(Probabilities(&data.first), &data.labels).unwrap();
    let weighted = rows.weighted(&data.weights).unwrap();
    let runs = sweep(&rows).unwrap().runs(usize::MAX);
    for (resampling, rows) in [
        (Resampling::Poisson, &weighted),
        (Resampling::Stratified, &rows),
        (Resampling::Blocks(BlockLength::Rows(24)), &rows),
        (Resampling::Blocks(BlockLength::Rows(24)), &weighted),
    ] {
        let bootstrap = Bootstrap { resampling, replicates: 30, seed: 8 };
        let found = bootstrap.best_of_runs(rows, &runs, &score("tss"), &[]).unwrap();
        assert_eq!(found, bootstrap.best(rows, &score("tss"), &[]).unwrap(), "{resampling:?}");
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
