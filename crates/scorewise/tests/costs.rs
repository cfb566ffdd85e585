//! Tests of costs that differ from row to row: the search for the best threshold must find the lowest cost of all thresholds, and intervals of the
//! mean cost must contain the true mean cost in about 95 % of the cases.

#![allow(clippy::unwrap_used)] // a panic fails the test

use crate::common::{Random, score};
use scorewise::sweep::{BlockLength, Bootstrap, Condition, CostRows, Costs, Resampling, confusion, sweep};
use scorewise::{Error, Probabilities, Rows, is_positive};

/// A bootstrap in which rows are independent of each other.
const BOOTSTRAP: Bootstrap<'static> = Bootstrap { resampling: Resampling::Poisson, replicates: 1000, seed: 3 };

/// Forecasts with costs.
struct Sample {
    labels: Vec<bool>,
    probabilities: Vec<f64>,
    weights: Vec<f64>,
    false_alarms: Vec<f64>,
    misses: Vec<f64>,
}

impl Sample {
    /// Draws random rows with many equal predictions. The cost of a miss varies strongly.
    fn new(random: &mut Random, rows: usize) -> Self {
        let mut draw =
            |function: &dyn Fn(f64) -> f64| (0..rows).map(|_| function(random.uniform())).collect::<Vec<f64>>();
        let labels: Vec<bool> = draw(&|u| u).into_iter().map(|u| u < 0.3).collect();
        let noise = draw(&|u| u);
        let probabilities =
            labels.iter().zip(noise).map(|(label, u)| ((u + if *label { 0.5 } else { 0.0 }) * 10.0).round() / 15.0);
        let probabilities = probabilities.collect();
        Sample {
            labels,
            probabilities,
            weights: draw(&|u| (3.0 * u).floor()),
            false_alarms: draw(&|u| 1.0 + u),
            misses: draw(&|u| (4.0 * u).exp()),
        }
    }

    /// The rows, with sample weights if `is_weighted`.
    fn rows(&self, is_weighted: bool) -> Rows<'_, Probabilities<'_, f64>> {
        let rows = Rows::new(Probabilities(&self.probabilities), &self.labels).unwrap();
        rows.with_weights(is_weighted.then_some(self.weights.as_slice())).unwrap()
    }

    /// The rows with their costs.
    fn costs(&self, is_weighted: bool) -> CostRows<'_> {
        CostRows::new(&self.rows(is_weighted), &self.false_alarms, &self.misses).unwrap()
    }
}

/// Calls `check` for random samples with and without sample weights.
fn for_random_samples(mut check: impl FnMut(&Sample, bool)) {
    let mut random = Random(11);
    for case in 0..60 {
        let mut sample = Sample::new(&mut random, 1 + case);
        sample.weights[0] = 1.0;
        check(&sample, case % 2 == 0);
    }
}

#[test]
fn the_costs_at_a_threshold_are_sums_over_the_rows_that_are_predicted_wrongly() {
    for_random_samples(|sample, is_weighted| {
        for threshold in [0.0, 0.2, 0.5, 2.0 / 3.0, 1.0] {
            let mut expected = Costs::default();
            for row in 0..sample.labels.len() {
                let weight = if is_weighted { sample.weights[row] } else { 1.0 };
                expected.rows += weight;
                match (sample.labels[row], is_positive(sample.probabilities[row], threshold)) {
                    (false, true) => expected.false_alarms += weight * sample.false_alarms[row],
                    (true, false) => expected.misses += weight * sample.misses[row],
                    _ => {}
                }
            }
            let rows = sample.costs(is_weighted);
            assert_eq!(rows.at(threshold), expected);
            assert_eq!(rows.confusion(threshold), confusion(&sample.rows(is_weighted), threshold).unwrap());
        }
    });
}

#[test]
fn the_best_threshold_has_the_lowest_cost_of_all_thresholds_that_satisfy_the_conditions() {
    let conditions = Condition::parse("recall >= 0.6, fp <= 8").unwrap();
    for_random_samples(|sample, is_weighted| {
        let rows = sample.costs(is_weighted);
        for conditions in [&[], conditions.as_slice()] {
            // These thresholds include all predictions, which are multiples of 1/15, and values between any two different predictions.
            let looked_at = (0..=150).map(|step| f64::from(step) / 150.0).chain(sample.probabilities.iter().copied());
            let allowed = looked_at.filter(|threshold| {
                let matrix = rows.confusion(*threshold);
                conditions.iter().all(|condition| condition.holds(&matrix))
            });
            let lowest = allowed.map(|threshold| rows.at(threshold).total()).min_by(f64::total_cmp);
            let best = rows.best(conditions);
            assert_eq!(best.is_some(), lowest.is_some());
            let (Some(best), Some(lowest)) = (best, lowest) else { continue };
            assert!((best.costs.total() - lowest).abs() < 1e-9, "{best:?}, {lowest}");
            assert_eq!(best.costs, rows.at(best.threshold));
            assert!(best.interval.0 <= best.threshold && best.threshold <= best.interval.1);
            assert!(conditions.iter().all(|condition| condition.holds(&best.confusion)));
        }
    });
}

#[test]
fn the_intervals_cover_all_thresholds_and_each_has_the_costs_at_the_threshold_in_its_middle() {
    for_random_samples(|sample, is_weighted| {
        let rows = sample.costs(is_weighted);
        let mut end = 1.0;
        for ((low, high), costs) in rows.intervals() {
            assert_eq!(high, end);
            let expected = rows.at(0.5 * (low + high));
            assert!((costs.false_alarms - expected.false_alarms).abs() < 1e-9, "{costs:?}, {expected:?}");
            assert!((costs.misses - expected.misses).abs() < 1e-9, "{costs:?}, {expected:?}");
            assert_eq!((costs.misses == 0.0, costs.rows), (expected.misses == 0.0, expected.rows));
            end = low;
        }
        assert_eq!(end, 0.0);
    });
}

#[test]
fn the_total_cost_is_fp_plus_fn_of_the_matrix_in_which_each_row_has_its_cost_as_weight() {
    for_random_samples(|sample, is_weighted| {
        let rows = sample.costs(is_weighted);
        let weights: Vec<f64> = (0..sample.labels.len())
            .map(|row| {
                let cost = if sample.labels[row] { sample.misses[row] } else { sample.false_alarms[row] };
                cost * if is_weighted { sample.weights[row] } else { 1.0 }
            })
            .collect();
        let weighted =
            Rows::new(Probabilities(&sample.probabilities), &sample.labels).unwrap().weighted(&weights).unwrap();
        let expected = sweep(&weighted).unwrap().best(&score("fp + fn")).unwrap();
        let best = rows.best(&[]).unwrap();
        assert!((best.costs.total() - expected.value).abs() < 1e-9, "{best:?}, {expected:?}");
    });
}

#[test]
fn if_all_costs_are_1_the_interval_of_the_mean_cost_is_close_to_the_interval_of_the_error_rate() {
    let mut random = Random(5);
    let labels: Vec<bool> = (0..4000).map(|_| random.uniform() < 0.1).collect();
    let probabilities: Vec<f64> =
        labels.iter().map(|label| if (random.uniform() < 0.02) == *label { 0.2 } else { 0.8 }).collect();
    let rows = Rows::new(Probabilities(&probabilities), &labels).unwrap();
    let costs = CostRows::new(&rows, &[1.0; 4000], &[1.0; 4000]).unwrap();
    let bootstrap = Bootstrap { replicates: 20_000, ..BOOTSTRAP };
    let (low, high) = bootstrap.mean_cost(&costs, 0.5).unwrap().interval(0.95).unwrap();
    let errors = costs.at(0.5).total();
    assert!((60.0..110.0).contains(&errors));
    // The interval of Jeffreys for an error rate is close to the rate ± 1.96 standard errors if there are 60 to 110 errors in 4000 rows.
    let rate = errors / 4000.0;
    let deviation = (rate * (1.0 - rate) / 4000.0).sqrt();
    assert!((low - (rate - 1.96 * deviation)).abs() < 0.35 * deviation, "{low}, {rate}, {deviation}");
    assert!((high - (rate + 1.96 * deviation)).abs() < 0.35 * deviation, "{high}, {rate}, {deviation}");
}

#[test]
fn intervals_of_the_mean_cost_contain_the_true_mean_cost_in_about_95_of_100_samples() {
    // In the first case all rows are independent. In the second case ten rows form a group with the same label, cost and prediction. About a tenth
    // of the rows is positive, and the cost of a miss varies by a factor of 20.
    for (rows_of_group, name) in [(1, "rows"), (10, "groups")] {
        let mut random = Random(17);
        let (samples, groups) = (800, 400);
        let group_of_row: Vec<u32> = (0..groups * rows_of_group).map(|row| (row / rows_of_group) as u32).collect();
        let (probability_of_false_alarm, probability_of_miss) = (0.1, 0.3);
        // The mean of exp(3 u) for a uniform u is (e³ − 1)/3.
        let truth = 0.9 * probability_of_false_alarm + 0.1 * probability_of_miss * (3f64.exp() - 1.0) / 3.0;
        let mut contained = 0;
        for sample in 0..samples {
            let (mut labels, mut probabilities, mut misses) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..groups {
                let label = random.uniform() < 0.1;
                let error = random.uniform() < if label { probability_of_miss } else { probability_of_false_alarm };
                let miss = (3.0 * random.uniform()).exp();
                for _ in 0..rows_of_group {
                    labels.push(label);
                    probabilities.push(if label == error { 0.2 } else { 0.8 });
                    misses.push(miss);
                }
            }
            let rows = Rows::new(Probabilities(&probabilities), &labels).unwrap();
            let costs = CostRows::new(&rows, &vec![1.0; labels.len()], &misses).unwrap();
            let resampling = if rows_of_group == 1 { Resampling::Poisson } else { Resampling::Groups(&group_of_row) };
            let bootstrap = Bootstrap { resampling, replicates: 400, seed: sample };
            let (low, high) = bootstrap.mean_cost(&costs, 0.5).unwrap().interval(0.95).unwrap();
            contained += u32::from(low <= truth && truth <= high);
        }
        let share = f64::from(contained) / samples as f64;
        assert!((0.93..=0.97).contains(&share), "{name}: {share}");
    }
}

#[test]
fn without_errors_the_interval_of_the_mean_cost_reaches_from_almost_0_to_the_cost_of_a_few_errors() {
    let labels: Vec<bool> = (0..100).map(|row| row % 10 == 0).collect();
    let probabilities: Vec<f64> = labels.iter().map(|label| f64::from(u8::from(*label))).collect();
    let rows = Rows::new(Probabilities(&probabilities), &labels).unwrap();
    let costs = CostRows::new(&rows, &[2.0; 100], &[2.0; 100]).unwrap();
    let (low, high) = BOOTSTRAP.mean_cost(&costs, 0.5).unwrap().interval(0.95).unwrap();
    // Jeffreys: the 2.5 % and 97.5 % quantiles of the gamma distribution with shape ½ are 0.0005 and 2.51 errors.
    assert!(low < 0.001 && (0.04..0.06).contains(&high), "{low}, {high}");
    let free = CostRows::new(&rows, &[0.0; 100], &[0.0; 100]).unwrap();
    assert_eq!(BOOTSTRAP.mean_cost(&free, 0.5).unwrap().interval(0.95), Some((0.0, 0.0)));
}

#[test]
fn replicates_with_one_copy_of_each_row_have_the_best_threshold_of_the_rows() {
    for_random_samples(|sample, is_weighted| {
        let rows = sample.costs(is_weighted);
        let best = rows.best(&[]).unwrap();
        // A block that is as long as the sample contains every row once, so every replicate equals the sample.
        let resampling = Resampling::Blocks(BlockLength::Rows(rows.len()));
        let found = Bootstrap { resampling, replicates: 3, seed: 4 }.best_cost(&rows, &[]).unwrap();
        assert_eq!(found.threshold.interval(0.95), Some((best.threshold, best.threshold)));
        let (low, high) = found.value.interval(0.95).unwrap();
        assert!((low - best.costs.per_row()).abs() < 1e-12 && (high - best.costs.per_row()).abs() < 1e-12);
    });
}

#[test]
fn the_corrected_cost_is_nearer_to_the_cost_on_new_rows_than_the_apparent_cost_is() {
    let mut random = Random(23);
    let future = Sample::new(&mut random, 50_000);
    let future = future.costs(false);
    let (mut apparent, mut corrected, mut truth) = (0.0, 0.0, 0.0);
    for seed in 0..200 {
        let sample = Sample::new(&mut random, 40);
        let rows = sample.costs(false);
        let best = rows.best(&[]).unwrap();
        let Some(estimate) = Bootstrap { seed, ..BOOTSTRAP }.corrected_best_cost(&rows, &[]).unwrap() else { continue };
        apparent += best.costs.per_row();
        corrected += estimate.value;
        truth += future.at(best.threshold).per_row();
        let (low, high) = estimate.distribution.interval(0.95).unwrap();
        assert!(low <= high);
    }
    assert!(apparent < truth, "{apparent}, {truth}");
    assert!((corrected - truth).abs() < 0.5 * (truth - apparent), "{apparent}, {corrected}, {truth}");
}

#[test]
fn a_forecast_costs_as_much_as_itself_and_less_than_its_inverse() {
    let sample = Sample::new(&mut Random(31), 400);
    let rows = sample.costs(false);
    let inverse: Vec<f64> = sample.probabilities.iter().map(|p| 1.0 - p).collect();
    let inverse = Rows::new(Probabilities(&inverse), &sample.labels).unwrap();
    let inverse = CostRows::new(&inverse, &sample.false_alarms, &sample.misses).unwrap();
    let same = BOOTSTRAP.paired_costs(&rows, &rows, [0.5, 0.5]).unwrap();
    assert_eq!(same.difference.interval(0.95), Some((0.0, 0.0)));
    let other = BOOTSTRAP.paired_costs(&rows, &inverse, [0.5, 0.5]).unwrap();
    assert!(other.difference.interval(0.95).unwrap().1 < 0.0 && other.first_better > 990);
    let tuned = BOOTSTRAP.paired_best_costs(&rows, &inverse).unwrap();
    assert!(tuned.difference.interval(0.95).unwrap().1 < 0.0);
    let same = BOOTSTRAP.paired_best_costs(&rows, &rows).unwrap();
    assert_eq!((same.first_better, same.second_better), (0, 0));
}

#[test]
fn invalid_costs_are_reported_unless_the_label_of_the_row_excludes_the_error() {
    let rows = Rows::new(Probabilities(&[0.2, 0.8]), &[false, true]).unwrap();
    assert!(CostRows::new(&rows, &[1.0, f64::NAN], &[-1.0, 2.0]).is_ok());
    let error = CostRows::new(&rows, &[-1.0, 1.0], &[1.0, 1.0]).unwrap_err();
    assert_eq!(error.to_string(), "costs of false alarms, row 0: -1 is not a finite number at or above 0");
    let error = CostRows::new(&rows, &[1.0, 1.0], &[1.0, f64::NAN]).unwrap_err();
    assert!(matches!(error, Error::NotANumber { what: "costs of misses", row: 1 }), "{error}");
    let error = CostRows::new(&rows, &[1.0], &[1.0, 1.0]).unwrap_err();
    assert_eq!(error.to_string(), "wrong number of rows in costs of false alarms: 1, expected 2");
    let error = CostRows::new(&rows, &[1e300, 1.0], &[1.0, 1.0]).unwrap_err();
    assert_eq!(error.to_string(), "costs are too large: their sum is not finite");
    let weights = [0.0, 0.0];
    let error = CostRows::new(&rows.weighted(&weights).unwrap(), &[1.0, 1.0], &[1.0, 1.0]).unwrap_err();
    assert_eq!(error.to_string(), "weights are 0 for all rows; at least one row needs a weight above 0");
}
