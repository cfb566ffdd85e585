//! Compares the sweep over sorted predictions with evaluating every threshold, for every score, with ties, weights and conditions.

#![allow(clippy::unwrap_used)] // a panic fails the test

use crate::common::{Batch, Random, all_scores, score};
use scorewise::sweep::{Best, BlockLength, Bootstrap, Condition, Histogram, Resampling, sweep};
use scorewise::{Confusion, Error, Probabilities, Rows, Score};

/// A half-open interval of thresholds: the first number belongs to the interval, the second does not.
type ThresholdInterval = (f64, f64);

/// All intervals of thresholds on which the confusion matrix is constant, each with its matrix. The matrices are counted row by row, without a
/// sweep.
fn all_threshold_intervals(batch: &Batch) -> Vec<(ThresholdInterval, Confusion)> {
    let mut edges = batch.probabilities.clone();
    edges.push(0.0);
    edges.sort_by(f64::total_cmp);
    edges.dedup();
    let mut result: Vec<_> = edges.windows(2).map(|ends| ((ends[0], ends[1]), batch.confusion_at(ends[0]))).collect();
    let top = *edges.last().unwrap();
    result.push(((top, 1.0), batch.confusion_at(top)));
    result
}

/// The best value of a score over all thresholds, and all intervals that attain it; adjacent intervals are merged.
fn best_by_exhaustive_search(
    batch: &Batch,
    score: &Score,
    conditions: &[Condition],
) -> Option<(f64, Vec<ThresholdInterval>)> {
    let mut best: Option<(f64, f64, Vec<ThresholdInterval>)> = None;
    for (ends, confusion) in all_threshold_intervals(batch) {
        let Some(value) = score.checked(&confusion) else { continue };
        if !conditions.iter().all(|condition| condition.holds(&confusion)) {
            continue;
        }
        let oriented_value = score.oriented_value(value);
        match &mut best {
            Some((top, _, intervals)) if *top == oriented_value => match intervals.last_mut() {
                Some(last) if last.1 == ends.0 => last.1 = ends.1,
                _ => intervals.push(ends),
            },
            Some((top, ..)) if *top > oriented_value => {}
            _ => best = Some((oriented_value, value, vec![ends])),
        }
    }
    best.map(|(_, value, intervals)| (value, intervals))
}

/// How close a confusion matrix comes to satisfying a condition, where higher is closer; `None` if a side of the condition is undefined.
fn closeness(condition: &Condition, comparison: &str, confusion: &Confusion) -> Option<f64> {
    let [left, right] = condition.sides(confusion);
    let difference = left? - right?;
    Some(match comparison {
        ">=" | ">" => difference,
        "<=" | "<" => -difference,
        "=" => -difference.abs(),
        "!=" => difference.abs(),
        _ => panic!("{comparison}"),
    })
}

#[test]
fn the_threshold_nearest_to_a_condition_is_as_close_as_that_of_an_exhaustive_search() {
    let mut random = Random(23);
    for _ in 0..100 {
        let batch = Batch::random(&mut random);
        let sweep = sweep(&batch.rows()).unwrap();
        for left in ["pofd", "fp", "far", "miss_rate", "precision", "tp - fp", "tss"] {
            for comparison in [">=", ">", "<=", "<", "=", "!="] {
                for right in ["-3", "0", "0.9", "5", "2*fn"] {
                    let condition = &Condition::parse(&format!("{left} {comparison} {right}")).unwrap()[0];
                    let intervals = all_threshold_intervals(&batch);
                    let closeness = |confusion: &Confusion| closeness(condition, comparison, confusion);
                    let expected = intervals.iter().filter_map(|(_, confusion)| closeness(confusion)).reduce(f64::max);
                    let found = sweep.nearest(condition).and_then(|best| closeness(&best.confusion));
                    assert_eq!(found, expected, "{}", condition.text());
                }
            }
        }
    }
}

/// Asserts that a sweep found the best value and the widest interval of an exhaustive search.
fn assert_same_optimum(
    found: Option<&Best>,
    expected: Option<(f64, Vec<ThresholdInterval>)>,
    batch: &Batch,
    score: &Score,
) {
    let what = format!("{score} on {:?}, {:?}, {:?}", batch.probabilities, batch.labels, batch.weights);
    match (found, expected) {
        (None, None) => {}
        (Some(found), Some((value, intervals))) => {
            assert_eq!(score.oriented_value(found.value), score.oriented_value(value), "{what}");
            assert_eq!(found.intervals, intervals.len(), "{what}: {found:?}, {intervals:?}");
            assert!(intervals.contains(&found.interval), "{what}: {found:?}, {intervals:?}");
            let width = |ends: &(f64, f64)| ends.1 - ends.0;
            assert!(
                intervals.iter().all(|ends| width(ends) <= width(&found.interval)),
                "{what}: the sweep must choose the widest of the best intervals"
            );
            assert!(
                found.interval.0 <= found.threshold && (found.threshold < found.interval.1 || found.interval.1 == 1.0)
            );
            assert_eq!(found.confusion, batch.confusion_at(found.threshold), "{what}");
        }
        (found, expected) => panic!("{what}: {found:?}, expected {expected:?}"),
    }
}

#[test]
fn best_threshold_equals_exhaustive_search() {
    let mut random = Random(21);
    let scores = all_scores();
    for _ in 0..400 {
        let batch = Batch::random(&mut random);
        let sweep = sweep(&batch.rows()).unwrap();
        for score in &scores {
            assert_same_optimum(
                sweep.best(score).as_ref(),
                best_by_exhaustive_search(&batch, score, &[]),
                &batch,
                score,
            );
        }
    }
}

#[test]
fn best_threshold_under_conditions_equals_exhaustive_search() {
    let mut random = Random(22);
    let texts = [
        "precision >= 0.3",
        "recall >= 0.8 and far <= 0.5",
        "tp + fp <= 5",
        "pofd < 0.1, recall > 0.2",
        "tss != 0",
        "fp = fn",
    ];
    for _ in 0..300 {
        let batch = Batch::random(&mut random);
        let sweep = sweep(&batch.rows()).unwrap();
        for text in texts {
            let conditions = Condition::parse(text).unwrap();
            for name in ["f1", "tss", "far", "frequency_bias", "precision", "cost(fp=1, fn=10)"] {
                let (score, found) = (score(name), sweep.best_subject_to(&score(name), &conditions));
                assert_same_optimum(
                    found.as_ref(),
                    best_by_exhaustive_search(&batch, &score, &conditions),
                    &batch,
                    &score,
                );
            }
        }
    }
}

/// Random predictions and labels. The batches are so large that the sweep uses radix sort, and branch and bound to find the best threshold.
/// `shape` selects how the predictions are distributed.
fn large_batch(random: &mut Random, rows: usize, shape: usize) -> (Vec<f32>, Vec<bool>) {
    let labels: Vec<bool> = (0..rows).map(|_| random.uniform() < [0.3, 0.01, 0.5, 0.3][shape]).collect();
    let predict = |label: &bool| {
        let p = if *label { random.uniform().sqrt() } else { random.uniform().powi(2) };
        (match shape {
            0 => p,
            1 => 1e-4 * p,                  // rare events with low predictions
            2 => (p * 50.0).round() / 50.0, // many ties
            _ => {
                if random.uniform() < 0.3 {
                    0.0
                } else {
                    p
                }
            } // about 30 % of the predictions are 0
        }) as f32
    };
    (labels.iter().map(predict).collect(), labels)
}

/// The highest `Score::oriented_value` over all thresholds. The rows are sorted by prediction, and the score is evaluated for every split of the
/// sorted rows that a threshold can make.
fn best_value_over_all_thresholds(probabilities: &[f32], labels: &[bool], score: &Score) -> f64 {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|a, b| probabilities[*b].total_cmp(&probabilities[*a]));
    let positives = labels.iter().filter(|label| **label).count() as f64;
    let negatives = labels.len() as f64 - positives;
    let (mut tp, mut fp, mut best) = (0.0, 0.0, f64::NEG_INFINITY);
    for rank in 0..=order.len() {
        let is_threshold = match (
            rank.checked_sub(1).map(|k| probabilities[order[k]]),
            order.get(rank).map(|row| probabilities[*row]),
        ) {
            (Some(above), Some(below)) => above > below,
            (Some(above), None) => above > 0.0,
            (None, _) => true,
        };
        if is_threshold {
            let confusion = Confusion::new(negatives - fp, fp, positives - tp, tp);
            best = score.checked(&confusion).map_or(best, |value| best.max(score.oriented_value(value)));
        }
        if let Some(row) = order.get(rank) {
            if labels[*row] {
                tp += 1.0;
            } else {
                fp += 1.0;
            }
        }
    }
    best
}

#[test]
fn large_sweeps_find_the_same_optimum_as_evaluating_all_thresholds() {
    let mut random = Random(23);
    for shape in 0..4 {
        let (probabilities, labels) = large_batch(&mut random, 150_000, shape);
        let sweep = sweep(&Rows::new(Probabilities(&probabilities), &labels).unwrap()).unwrap();
        for score in all_scores() {
            let found = sweep.best(&score).unwrap_or_else(|| panic!("{score}, shape {shape}"));
            assert_eq!(
                score.oriented_value(found.value),
                best_value_over_all_thresholds(&probabilities, &labels, &score),
                "{score}, shape {shape}"
            );
            assert_eq!(sweep.at(found.threshold), found.confusion);
        }
    }
}

#[test]
fn f32_and_f64_sweeps_agree_without_weights_and_with_all_weights_equal_to_1() {
    let mut random = Random(24);
    let (p_f32, labels) = large_batch(&mut random, 20_000, 2);
    let p_f64: Vec<f64> = p_f32.iter().map(|p| f64::from(*p)).collect();
    let (ones, ones_f32) = (vec![1.0f64; 20_000], vec![1.0f32; 20_000]);
    let sweeps = [
        sweep(&Rows::new(Probabilities(&p_f32), &labels).unwrap()).unwrap(),
        sweep(&Rows::new(Probabilities(&p_f64), &labels).unwrap()).unwrap(),
        sweep(&Rows::new(Probabilities(&p_f32), &labels).unwrap().weighted(&ones_f32).unwrap()).unwrap(),
        sweep(&Rows::new(Probabilities(&p_f64), &labels).unwrap().weighted(&ones).unwrap()).unwrap(),
    ];
    for score in all_scores() {
        let best = sweeps[0].best(&score);
        assert!(sweeps.iter().all(|sweep| sweep.best(&score) == best), "{score}");
    }
    assert_eq!(sweeps[0].rows(), 20_000);
    assert!(sweeps.iter().all(|sweep| sweep.counts() == sweeps[0].counts()));
}

#[test]
fn merged_sweeps_equal_the_sweep_of_all_rows() {
    let mut random = Random(25);
    for shape in 0..4 {
        let (probabilities, labels) = large_batch(&mut random, 5000, shape);
        let weights: Vec<f32> = (0..5000).map(|_| random.integer_below(9) as f32).collect();
        let part = |range: std::ops::Range<usize>| {
            let rows = Rows::new(Probabilities(&probabilities[range.clone()]), &labels[range.clone()]).unwrap();
            sweep(&rows.weighted(&weights[range]).unwrap()).unwrap()
        };
        let merged = part(0..17).merged(&part(17..3000)).unwrap().merged(&part(3000..5000)).unwrap();
        let whole = part(0..5000);
        for score in all_scores() {
            assert_eq!(merged.best(&score), whole.best(&score), "{score}");
        }
        let plain = sweep(&Rows::new(Probabilities(&probabilities), &labels).unwrap()).unwrap();
        assert!(matches!(plain.merged(&whole), Err(Error::Setting { .. })));
    }
}

#[test]
fn exact_optimum_lies_between_the_best_score_of_a_histogram_and_its_bound() {
    let mut random = Random(26);
    for shape in 0..4 {
        let (probabilities, labels) = large_batch(&mut random, 30_000, shape);
        let rows = Rows::new(Probabilities(&probabilities), &labels).unwrap();
        let exact = sweep(&rows).unwrap();
        for bits in [16, 20] {
            let mut whole = Histogram::new(bits).unwrap();
            for start in (0..30_000).step_by(7000) {
                let end = (start + 7000).min(30_000);
                let mut part = Histogram::new(bits).unwrap();
                part.add(&Rows::new(Probabilities(&probabilities[start..end]), &labels[start..end]).unwrap()).unwrap();
                whole.merge(&part).unwrap();
            }
            for name in ["f1", "tss", "csi", "far", "mcc", "frequency_bias", "accuracy"] {
                let (score, found) = (score(name), whole.best(&score(name)).unwrap());
                let exact_best = score.oriented_value(exact.best(&score).unwrap().value);
                let (found_best, bound) = (score.oriented_value(found.best.value), score.oriented_value(found.bound));
                assert!(
                    found_best <= exact_best && exact_best <= bound,
                    "{name}: found {found_best}, exact optimum {exact_best}, bound {bound}"
                );
                // The reported matrix is exact: it equals the matrix of the rows at the same threshold.
                assert_eq!(exact.at(found.best.threshold), found.best.confusion, "{name}, {bits} bits, shape {shape}");
                if name != "far" {
                    assert!(
                        exact_best - found_best < 0.02,
                        "{name}: the histogram finds {found_best}, but the exact optimum is {exact_best}"
                    );
                }
            }
        }
    }
    assert!(Histogram::new(8).unwrap_err().to_string().contains("between 16 and 24"));
}

#[test]
fn curve_contains_every_best_threshold_and_tp_never_increases_with_the_threshold() {
    let mut random = Random(27);
    for shape in 0..4 {
        let (probabilities, labels) = large_batch(&mut random, 50_000, shape);
        let sweep = sweep(&Rows::new(Probabilities(&probabilities), &labels).unwrap()).unwrap();
        let scores = all_scores();
        let curve = sweep.curve(&scores, 200);
        assert!(curve.len() <= 200 + scores.len() + 2, "{}", curve.len());
        for pair in curve.windows(2) {
            assert!(pair[0].thresholds.1 <= pair[1].thresholds.0 && pair[0].confusion.tp >= pair[1].confusion.tp);
        }
        for score in &scores {
            let best = sweep.best(score).unwrap();
            let oriented_values = curve
                .iter()
                .filter_map(|point| score.checked(&point.confusion))
                .map(|value| score.oriented_value(value));
            assert_eq!(oriented_values.fold(f64::NEG_INFINITY, f64::max), score.oriented_value(best.value), "{score}");
        }
        for point in &curve {
            assert_eq!(sweep.at(point.thresholds.0), point.confusion);
        }
    }
}

#[test]
fn best_threshold_is_correct_for_ties_and_for_predictions_of_zero_and_one() {
    // If all predictions are equal, there are two confusion matrices: one with no row and one with all rows predicted positive.
    let rows = Rows::new(Probabilities(&[0.4, 0.4, 0.4]), &[true, false, true]).unwrap();
    let found = sweep(&rows).unwrap().best(&score("f1")).unwrap();
    assert_eq!((found.interval, found.value), ((0.0, 0.4), 4.0 / 5.0));
    let no_alarms = sweep(&rows).unwrap().best(&score("specificity")).unwrap();
    assert_eq!(no_alarms.interval, (0.4, 1.0));
    // A prediction of 0 is never above a threshold; a prediction of 1 is above every threshold except 1.
    let rows = Rows::new(Probabilities(&[0.0, 1.0]), &[true, true]).unwrap();
    let recall = sweep(&rows).unwrap().best(&score("recall")).unwrap();
    assert_eq!((recall.value, recall.interval), (0.5, (0.0, 1.0)));
    // If two predictions are adjacent floating-point numbers, the midpoint between them must not be rounded up to the larger prediction.
    let (low, high) = (0.3f64, 0.3f64.next_up());
    let neighbours = [low, high];
    let rows = Rows::new(Probabilities(&neighbours), &[false, true]).unwrap();
    let tss = sweep(&rows).unwrap().best(&score("tss")).unwrap();
    assert_eq!((tss.value, tss.threshold), (1.0, low));
    // There is no best threshold if the score is undefined at every threshold or if no threshold satisfies the condition.
    let rows = Rows::new(Probabilities(&[0.2, 0.8]), &[false, false]).unwrap();
    assert_eq!(sweep(&rows).unwrap().best(&score("recall")), None);
    let unsatisfiable = Condition::parse("fp > 5").unwrap();
    assert_eq!(sweep(&rows).unwrap().best_subject_to(&score("specificity"), &unsatisfiable), None);
    assert!(sweep(&Rows::new(Probabilities(&[0.2, 1.2]), &[false, true]).unwrap()).is_err());
    assert!(sweep(&Rows::new(Probabilities(&[0.2, f64::NAN]), &[false, true]).unwrap()).is_err());
    // A prediction of −0 (negative zero) is treated as 0.
    let rows = Rows::new(Probabilities(&[0.0, -0.0, 0.5]), &[true, false, true]).unwrap();
    assert_eq!(sweep(&rows).unwrap().at(0.0), Confusion::new(1.0, 0.0, 1.0, 1.0));
}

#[test]
fn valid_conditions_are_parsed_and_invalid_ones_are_rejected() {
    let texts: Vec<String> = Condition::parse("precision >= 0.3 and tp/(tp+fn) > 2*far, fn <= 3")
        .unwrap()
        .iter()
        .map(|condition| condition.text().to_string())
        .collect();
    assert_eq!(texts, ["precision >= 0.3", "tp/(tp+fn) > 2*far", "fn <= 3"]);
    for (text, part) in [
        ("precision", "a condition needs a comparison"),
        ("precision >= ", "ends too early"),
        ("precison >= 0.3", "did you mean `precision`?"),
        ("precision >= 0.3 recall", "an operator is missing"),
        ("", "ends too early"),
    ] {
        let error = Condition::parse(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn number_of_copies_of_a_row_follows_the_resampling_scheme() {
    let mut random = Random(28);
    let labels: Vec<bool> = (0..5000).map(|_| random.uniform() < 0.1).collect();
    let positives = labels.iter().filter(|label| **label).count() as u32;
    let row_counts = |resampling: Resampling, replicate: usize, seed: u64| {
        let mut counts = vec![0; labels.len()];
        Bootstrap { resampling, replicates: 10, seed }.copies(replicate, &labels, &mut counts).unwrap();
        counts
    };
    for resampling in [Resampling::Poisson, Resampling::Stratified, Resampling::Blocks(BlockLength::Rows(48))] {
        assert_eq!(row_counts(resampling, 3, 1), row_counts(resampling, 3, 1));
        assert_ne!(row_counts(resampling, 3, 1), row_counts(resampling, 4, 1));
        assert_ne!(row_counts(resampling, 3, 1), row_counts(resampling, 3, 2));
    }
    // In Poisson resampling with mean 1, a row has k copies with probability e⁻¹/k!.
    let mut rows_by_count = [0f64; 16];
    for replicate in 0..100 {
        row_counts(Resampling::Poisson, replicate, 7).iter().for_each(|count| rows_by_count[*count as usize] += 1.0);
    }
    let mut probability = (-1f64).exp();
    for (k, rows) in rows_by_count.iter().enumerate().take(7) {
        let (expected, total) = (5e5 * probability, 5e5);
        assert!(
            (rows - expected).abs() < 5.0 * (total * probability).sqrt(),
            "{rows} rows have {k} copies, expected {expected}"
        );
        probability /= (k + 1) as f64;
    }
    for replicate in 0..10 {
        let counts = row_counts(Resampling::Stratified, replicate, 7);
        let of_positive_rows: u32 =
            counts.iter().zip(&labels).filter(|(_, label)| **label).map(|(count, _)| count).sum();
        assert_eq!((of_positive_rows, counts.iter().sum()), (positives, 5000));
        let counts = row_counts(Resampling::Blocks(BlockLength::Rows(48)), replicate, 7);
        assert_eq!(counts.iter().sum::<u32>(), 5000);
        // Blocks of 48 neighbouring rows are copied together, so the numbers of copies of neighbouring rows differ only at the ends of a block.
        let changes = counts.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(changes < 5000 / 48 * 3, "{changes}");
    }
}

#[test]
fn bootstrap_replicates_equal_weighted_sweeps_and_their_interval_contains_the_best_score() {
    let mut random = Random(29);
    let (probabilities, labels) = large_batch(&mut random, 3000, 0);
    let rows = Rows::new(Probabilities(&probabilities), &labels).unwrap();
    let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 200, seed: 3 };
    let best = bootstrap.best(&rows, &score("tss"), &[]).unwrap();
    let value = sweep(&rows).unwrap().best(&score("tss")).unwrap();
    let (low, high) = best.value.interval(0.95).unwrap();
    assert!(low < value.value && value.value < high && high - low < 0.1);
    // Each replicate equals a sweep of the rows, weighted by their numbers of copies.
    let mut expected: Vec<f64> = (0..200)
        .map(|replicate| {
            let mut counts = vec![0; 3000];
            bootstrap.copies(replicate, &labels, &mut counts).unwrap();
            let weights: Vec<f32> = counts.iter().map(|count| *count as f32).collect();
            sweep(&rows.weighted(&weights).unwrap()).unwrap().best(&score("tss")).unwrap().threshold
        })
        .collect();
    expected.sort_by(f64::total_cmp);
    assert_eq!(best.threshold.values(), expected);
    // At a fixed threshold, the standard deviation of accuracy is close to that of a binomial proportion.
    let accuracy = &bootstrap.scores(&rows, 0.5, &[score("accuracy")]).unwrap()[0];
    let at_half = score("accuracy").value(&sweep(&rows).unwrap().at(0.5));
    let binomial = (at_half * (1.0 - at_half) / 3000.0).sqrt();
    assert!((accuracy.deviation().unwrap() / binomial - 1.0).abs() < 0.2, "{accuracy:?}");
    assert_eq!((accuracy.undefined(), accuracy.values().len()), (0, 200));
    let invalid = Bootstrap { replicates: 0, ..bootstrap };
    assert!(invalid.best(&rows, &score("f1"), &[]).unwrap_err().to_string().contains("at least 1"));
    let invalid = Bootstrap { resampling: Resampling::Blocks(BlockLength::Rows(0)), ..bootstrap };
    assert!(invalid.scores(&rows, 0.5, &[]).unwrap_err().to_string().contains("at least one row long"));
}

#[cfg(feature = "rayon")]
#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let mut random = Random(30);
    let (probabilities, labels) = large_batch(&mut random, 300_000, 0);
    let weights: Vec<f32> = (0..300_000).map(|_| random.uniform() as f32).collect();
    let rows = Rows::new(Probabilities(&probabilities), &labels).unwrap().weighted(&weights).unwrap();
    let subset = Rows::new(Probabilities(&probabilities[..2000]), &labels[..2000]).unwrap();
    let results_with = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let sweep = sweep(&rows).unwrap();
            let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 50, seed: 1 };
            (sweep.all_best(&all_scores()), sweep.counts(), bootstrap.best(&subset, &score("csi"), &[]).unwrap())
        })
    };
    let one = results_with(1);
    assert!([2, 3, 7].into_iter().all(|threads| results_with(threads) == one));
}

#[test]
fn results_are_bit_identical_with_and_without_rayon() {
    // The expected bits must be the same with and without the feature `rayon` and on every machine. If they change, published results change.
    let mut random = Random(31);
    let (probabilities, labels) = large_batch(&mut random, 200_000, 0);
    let weights: Vec<f32> = (0..200_000).map(|_| random.uniform() as f32).collect();
    let rows = Rows::new(Probabilities(&probabilities), &labels).unwrap().weighted(&weights).unwrap();
    let best = sweep(&rows).unwrap().best(&score("csi")).unwrap();
    let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 20, seed: 9 };
    let subset = Rows::new(Probabilities(&probabilities[..5000]), &labels[..5000]).unwrap();
    let thresholds = bootstrap.best(&subset, &score("tss"), &[]).unwrap().threshold;
    let numbers = [
        best.value,
        best.threshold,
        best.confusion.tp,
        best.confusion.fp,
        thresholds.values()[0],
        thresholds.mean().unwrap(),
    ];
    let expected = [
        4_601_810_336_809_724_589,
        4_601_365_257_917_562_880,
        4_672_437_648_802_540_106,
        4_672_349_194_494_690_382,
        4_599_334_820_181_442_560,
        4_600_773_173_576_938_291,
    ];
    assert_eq!(numbers.map(f64::to_bits), expected, "{numbers:?}");
}

#[test]
fn overflowing_scores_and_conditions_are_treated_as_undefined() {
    let rows = Rows::new(Probabilities(&[0.2, 0.8]), &[false, true]).unwrap();
    let sweep = sweep(&rows).unwrap();
    assert_eq!(sweep.best(&score("1e300*1e300*total")), None);
    let overflow = Condition::parse("exp(1000*total) > 1").unwrap();
    assert_eq!(sweep.best_subject_to(&score("f1"), &overflow), None);
    assert!(sweep.curve(&[score("f1")], usize::MAX).len() <= 5);
}

#[test]
fn curve_steps_probability_bins_and_curve_areas_match_hand_computed_values() {
    let probabilities = [0.9, 0.8, 0.8, 0.5, 0.3, 0.3, 0.1, 0.0];
    let labels = [true, true, false, true, false, true, false, false];
    let sweep = sweep(&Rows::new(Probabilities(&probabilities), &labels).unwrap()).unwrap();
    let step = sweep.step(0.6);
    assert_eq!((step.thresholds, step.confusion), ((0.5, 0.8), Confusion::new(3.0, 1.0, 2.0, 2.0)));
    assert_eq!(
        (step.threshold(), sweep.step(1.0).thresholds, sweep.step(0.0).thresholds),
        (0.7, (0.9, 1.0), (0.0, 0.1))
    );

    let bins: Vec<_> = sweep.bins(2).iter().map(|bin| (bin.low, bin.high, bin.positives, bin.negatives)).collect();
    assert_eq!(bins, [(0.0, 0.5, 1.0, 3.0), (0.5, 1.0, 3.0, 1.0)]); // 0.5 belongs to the second bin
    assert_eq!(sweep.bins(2)[0].mean, Some((0.3 + 0.3 + 0.1) / 4.0));
    assert_eq!(sweep.bins(10)[6].mean, None);

    // The ROC area is the share of the 16 pairs of a positive and a negative in which the positive has the higher prediction; a tie counts ½.
    // The positive at 0.9 is higher in 4 pairs, the one at 0.8 in 3½, the one at 0.5 in 3 and the one at 0.3 in 2½.
    assert_eq!(sweep.areas().roc, Some((4.0 + 3.5 + 3.0 + 2.5) / 16.0));
    // The average precision has four steps; each adds a quarter of the positives, with precision 1/1, 2/3, 3/4 and 4/6.
    assert_eq!(sweep.areas().average_precision, Some((1.0 + 2.0 / 3.0 + 3.0 / 4.0 + 4.0 / 6.0) / 4.0));
}

#[test]
fn probability_bins_sum_to_the_class_counts_and_each_point_of_a_curve_has_the_matrix_at_its_thresholds() {
    let mut random = Random(91);
    for shape in 0..4 {
        let (probabilities, labels) = large_batch(&mut random, 5000, shape);
        let rows = Rows::new(Probabilities(&probabilities), &labels).unwrap();
        let sweep = sweep(&rows).unwrap();
        for count in [1, 7, 50] {
            let bins = sweep.bins(count);
            let positives: f64 = bins.iter().map(|bin| bin.positives).sum();
            let negatives: f64 = bins.iter().map(|bin| bin.negatives).sum();
            assert_eq!((positives, negatives), (sweep.counts().positives, sweep.counts().negatives));
            for bin in bins {
                assert!(bin.mean.is_none_or(|mean| (bin.low..=bin.high).contains(&mean)), "{bin:?}");
            }
        }
        for k in 0..=40 {
            let threshold = f64::from(k) / 40.0;
            let step = sweep.step(threshold);
            assert_eq!((step.confusion, sweep.at(step.threshold())), (sweep.at(threshold), sweep.at(threshold)));
            assert!(step.thresholds.0 <= threshold && threshold <= step.thresholds.1);
        }
    }
}
