//! Checks every theorem of Marchetti et al. (2022), and the corrections of two of them, on thousands of random batches.
//!
//! Row weights are multiples of ⅛, so that sums of weights are exact in any order. A matrix is therefore bit-identical if it is computed in another
//! way. Only sums over intervals of thresholds have rounding errors.

#![allow(clippy::unwrap_used)] // a panic fails the test

use scorewise::sweep::sweep;
use scorewise::theory::{
    self, DEFAULT_FRACTIONS, Matrices, ScoreDistribution, bounds, calibrated_threshold, lipschitz, taylor,
};
use scorewise::{
    ClassCounts, Confusion, Direction, Error, ExactLoss, Logits, Prior, Probabilities, Rows, Score, ScoreLoss, Shape,
    is_positive,
};

use crate::common::{Batch, Random, all_scores, assert_close, check_random_batches, priors, score};

// ---------------------------------------------------------------------------------------------------------------------
// The expected confusion matrix

#[test]
fn class_counts_are_the_same_for_every_threshold_and_prior() {
    check_random_batches(1, 2000, |random, batch, prior| {
        let counts = batch.counts();
        let assert_same_counts = |found: ClassCounts| {
            assert_close(found.positives, counts.positives, 1e-13, prior);
            assert_close(found.negatives, counts.negatives, 1e-13, prior);
        };
        let matrices = Matrices::new(prior, &batch.rows()).unwrap();
        assert_eq!(matrices.counts(), counts);
        matrices.iter().for_each(|(confusion, _)| assert_eq!(confusion.counts(), counts));
        let sweep = sweep(&batch.rows()).unwrap();
        for threshold in [random.uniform(), 0.0, 0.25, 0.5, 1.0] {
            assert_eq!(sweep.at(threshold), batch.confusion_at(threshold));
            assert_same_counts(batch.confusion_at(threshold).counts());
        }
        assert_same_counts(matrices.expected().counts());
        assert_same_counts(ScoreLoss::new(score("tss"), prior.clone()).expect(&batch.rows()).unwrap().counts());
    });
}

#[test]
fn expected_matrix_is_the_mean_over_thresholds() {
    check_random_batches(2, 3000, |_, batch, prior| {
        let expected = Matrices::new(prior, &batch.rows()).unwrap().expected().array();
        let from_loss = ScoreLoss::new(score("f1"), prior.clone()).expect(&batch.rows()).unwrap().array();
        for cell in 0..4 {
            let brute = batch.brute_force_expectation(prior, |confusion| confusion.array()[cell]);
            assert_close(expected[cell], brute, 1e-12, &(prior, cell));
            assert_close(from_loss[cell], brute, 1e-12, &(prior, cell));
        }
        // TP = Σ w y F(p), computed directly from the definition; F is the distribution function of the prior.
        let positive_rows = (0..batch.labels.len()).filter(|row| batch.labels[*row]);
        let expected_hits: f64 = positive_rows.map(|row| batch.weight(row) * prior.cdf(batch.probabilities[row])).sum();
        assert_close(expected[3], expected_hits, 1e-12, prior);
    });
}

#[test]
fn covariance_and_deviation_difference_match_brute_force() {
    check_random_batches(3, 500, |_, batch, prior| {
        let matrices = Matrices::new(prior, &batch.rows()).unwrap();
        let (mean, [[tp, mixed], [also_mixed, fp]]) = (matrices.expected(), matrices.covariance());
        let brute = |number: &dyn Fn(&Confusion) -> f64| batch.brute_force_expectation(prior, number);
        assert_close(tp, brute(&|c| (c.tp - mean.tp).powi(2)), 1e-12, prior);
        assert_close(fp, brute(&|c| (c.fp - mean.fp).powi(2)), 1e-12, prior);
        assert_close(mixed, brute(&|c| (c.tp - mean.tp) * (c.fp - mean.fp)), 1e-12, prior);
        assert_eq!(mixed, also_mixed);
        // TP and FP both rise as the threshold falls, so their covariance is not negative.
        assert!(mixed >= -1e-12);
        let joint = brute(&|c| ((c.tn - mean.tn).abs() - (c.tp - mean.tp).abs()).abs());
        assert_close(matrices.deviation_difference(), joint, 1e-12, prior);
    });
}

// ---------------------------------------------------------------------------------------------------------------------
// Exact expected score

#[test]
fn expected_score_equals_brute_force_for_every_score() {
    let scores = all_scores();
    check_random_batches(4, 1000, |_, batch, prior| {
        let matrices = Matrices::new(prior, &batch.rows()).unwrap();
        for score in &scores {
            let distribution = matrices.score_distribution(score).unwrap();
            let brute = batch.brute_force_expectation(prior, |confusion| score.value(confusion));
            assert_close(distribution.mean(), brute, 1e-12, &(score.name(), prior));
            let square = batch.brute_force_expectation(prior, |confusion| (score.value(confusion) - brute).powi(2));
            assert_close(distribution.variance(), square, 1e-11, &(score.name(), prior));
            let gap = brute - score.value(&matrices.expected());
            assert_close(matrices.jensen_gap(score).unwrap(), gap, 1e-12, &(score.name(), prior));
        }
    });
}

#[test]
fn tails_and_quantiles_of_a_score_match_brute_force() {
    check_random_batches(5, 1000, |random, batch, prior| {
        let csi = score("csi");
        let distribution = ScoreDistribution::new(&csi, prior, &batch.rows()).unwrap();
        assert!(distribution.atoms().windows(2).all(|pair| pair[0].value < pair[1].value));
        assert_close(distribution.atoms().iter().map(|atom| atom.probability).sum(), 1.0, 1e-12, prior);
        assert_eq!(
            distribution.range(),
            (distribution.atoms()[0].value, distribution.atoms()[distribution.atoms().len() - 1].value)
        );
        let (centre, epsilon) = (random.uniform(), 0.5 * random.uniform());
        let indicator = |holds: bool| f64::from(u8::from(holds));
        let tail = batch.brute_force_expectation(prior, |c| indicator((csi.value(c) - centre).abs() >= epsilon));
        assert_close(distribution.tail_probability(centre, epsilon), tail, 1e-12, prior);
        let below = batch.brute_force_expectation(prior, |c| indicator(csi.value(c) <= centre));
        assert_close(distribution.cdf(centre), below, 1e-12, prior);
        let mad = batch.brute_force_expectation(prior, |c| (csi.value(c) - centre).abs());
        assert_close(distribution.mean_absolute_deviation(centre), mad, 1e-12, prior);
        // The quantile is the smallest value x of the score with P(score ≤ x) ≥ level.
        let level = random.uniform();
        let quantile = distribution.quantile(level);
        assert!(distribution.cdf(quantile) >= level - 1e-12);
        let before = distribution.atoms().iter().rev().find(|atom| atom.value < quantile);
        assert!(before.is_none_or(|atom| distribution.cdf(atom.value) < level + 1e-12));
    });
}

#[test]
fn expected_score_agrees_with_a_million_random_thresholds() {
    let mut random = Random(6);
    let labels: Vec<bool> = (0..200).map(|_| random.uniform() < 0.2).collect();
    let predict = |label: &bool| if *label { random.uniform().sqrt() } else { random.uniform().powi(2) };
    let batch = Batch { probabilities: labels.iter().map(predict).collect(), labels, weights: None };
    let mut sorted = batch.probabilities.clone();
    sorted.sort_by(f64::total_cmp);
    let scores = ["f1", "csi", "tss", "mcc", "hss"].map(score);
    // The scores are tabulated by the rank of the threshold: the number of predictions that are not above the threshold.
    let at = |rank: usize| batch.confusion_at(if rank == 0 { 0.0 } else { sorted[rank - 1] });
    let table: Vec<_> = (0..=sorted.len()).map(|rank| scores.each_ref().map(|score| score.value(&at(rank)))).collect();
    for (text, draws) in [("uniform", 1_000_000), ("cosine:0.4,0.3", 1_000_000), ("beta:2,5", 100_000)] {
        let prior: Prior = text.parse().unwrap();
        let (mut sums, mut squares) = ([0.0; 5], [0.0; 5]);
        for threshold in prior.sample(7).take(draws) {
            let values = &table[sorted.partition_point(|p| !is_positive(*p, threshold))];
            for k in 0..5 {
                sums[k] += values[k];
                squares[k] += values[k] * values[k];
            }
        }
        for (k, score) in scores.iter().enumerate() {
            let mean = sums[k] / draws as f64;
            let standard_error = ((squares[k] / draws as f64 - mean * mean) / draws as f64).sqrt();
            let exact = ScoreDistribution::new(score, &prior, &batch.rows()).unwrap().mean();
            assert!(
                (mean - exact).abs() <= 4.0 * standard_error,
                "{score}, {text}: {mean}, expected {exact} ± {standard_error}"
            );
        }
    }
}

#[test]
fn gradient_of_the_exact_loss_matches_central_differences_and_its_formula() {
    let mut random = Random(8);
    for round in 0..200 {
        let size = 2 + random.integer_below(30);
        // Distinct logits differ by at least 0.2, so that a small step does not change their order. In every second round, pairs of logits are
        // equal; the gradient with respect to such a logit is the mean of the two one-sided gradients.
        let tied = round % 2 == 1;
        let logits: Vec<f64> =
            (0..size).map(|k| (if tied { k / 2 } else { k }) as f64 * 0.2 - 0.1 * size as f64).collect();
        let labels: Vec<bool> = (0..size).map(|_| random.uniform() < 0.4).collect();
        let prior = &priors()[round % priors().len()];
        let score = score(["f1", "csi", "tss", "mcc", "hss"][round % 5]);
        let loss = ExactLoss::new(score.clone(), prior.clone());
        let mut gradient = vec![0.0; size];
        loss.value_and_gradient(&Rows::new(Logits(&logits), &labels).unwrap(), &mut gradient).unwrap();
        let value = |logits: &[f64]| loss.value(&Rows::new(Logits(logits), &labels).unwrap()).unwrap();
        for row in 0..size {
            let value_after = |step: f64| {
                let mut logits = logits.clone();
                logits[row] += step;
                value(&logits)
            };
            let central = |step: f64| (value_after(step) - value_after(-step)) / (2.0 * step);
            // Where logits are equal, the second derivatives on the two sides differ, so the error of a central difference is of first order in
            // the step. Extrapolation from two steps removes this error.
            let numeric = 2.0 * central(5e-6) - central(1e-5);
            assert_close(gradient[row], numeric, 1e-7, &(score.name(), prior, row));
            if !tied {
                // The gradient of the loss 1 − s is f(p) p (1 − p) [s(row predicted negative) − s(row predicted positive)], where p is the
                // probability of the row, f the density of the prior and s the score.
                let score_with = |counted_positive: bool| {
                    let mut confusion = Confusion::default();
                    for other in 0..size {
                        let above = if other == row { counted_positive } else { logits[other] > logits[row] };
                        *match (labels[other], above) {
                            (false, false) => &mut confusion.tn,
                            (false, true) => &mut confusion.fp,
                            (true, false) => &mut confusion.fn_,
                            (true, true) => &mut confusion.tp,
                        } += 1.0;
                    }
                    score.value(&confusion)
                };
                let expected = prior.logit_density(logits[row]) * (score_with(false) - score_with(true));
                assert_close(gradient[row], expected, 1e-13, &(score.name(), prior, row));
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Gradient of the score loss

#[test]
fn gradient_of_the_score_loss_depends_on_the_other_rows_only_through_two_derivatives_of_the_score() {
    let scores = ["tss", "f1", "csi", "hss", "accuracy", "mcc", "far"].map(score);
    check_random_batches(9, 700, |random, batch, prior| {
        let score = &scores[random.integer_below(scores.len())];
        let logits: Vec<f64> = batch.labels.iter().map(|_| 6.0 * random.uniform() - 3.0).collect();
        let rows = Rows::new(Logits(&logits), &batch.labels).unwrap();
        let loss = ScoreLoss::new(score.clone(), prior.clone());
        let mut gradient = vec![0.0; logits.len()];
        let value = loss.value_and_gradient(&rows, &mut gradient).unwrap();
        let confusion = loss.expect(&rows).unwrap();
        let derivatives = score.formula().derivatives(&confusion);
        let (g1, g0) = (derivatives.tp - derivatives.fn_, derivatives.fp - derivatives.tn);
        let sign = if score.direction() == Direction::Lower { -1.0 } else { 1.0 };
        for (row, z) in logits.iter().enumerate() {
            let p = 1.0 / (1.0 + (-z).exp());
            let g = if batch.labels[row] { g1 } else { g0 };
            assert_close(gradient[row], -sign * g * prior.pdf(p) * p * (1.0 - p), 1e-11, &(score.name(), prior));
        }
        // If the batch is split in two parts, the sum of their matrices gives the same loss and the same gradient as the whole batch.
        let split = random.integer_below(logits.len());
        if split > 0 {
            let part = |range: std::ops::Range<usize>| {
                Rows::new(Logits(&logits[range.clone()]), &batch.labels[range]).unwrap()
            };
            let (first, second) = (part(0..split), part(split..logits.len()));
            let whole = loss.expect(&first).unwrap() + loss.expect(&second).unwrap();
            assert_close(loss.of(&whole).unwrap(), value, 1e-11, &(score.name(), prior));
            let derivatives = loss.derivatives(&whole).unwrap();
            let mut parts = vec![0.0; logits.len()];
            loss.gradient_with(derivatives, &first, &mut parts[..split]).unwrap();
            loss.gradient_with(derivatives, &second, &mut parts[split..]).unwrap();
            parts
                .iter()
                .zip(&gradient)
                .for_each(|(part, whole)| assert_close(*part, *whole, 1e-10, &(score.name(), prior)));
        }
    });
}

#[test]
fn linear_scores_have_the_same_derivatives_at_every_matrix() {
    let mut random = Random(10);
    for score in all_scores().iter().filter(|score| score.shape() == Shape::Linear) {
        for _ in 0..100 {
            let counts = ClassCounts {
                positives: 1.0 + random.integer_below(50) as f64,
                negatives: 1.0 + random.integer_below(50) as f64,
            };
            let mut derivatives = || {
                let (tp, fp) = (counts.positives * random.uniform(), counts.negatives * random.uniform());
                score.formula().reduced(&Confusion::at(tp, fp, &counts))
            };
            let (first, second) = (derivatives(), derivatives());
            assert_close(first.positive, second.positive, 1e-12, &score.name());
            assert_close(first.negative, second.negative, 1e-12, &score.name());
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The theorems of Marchetti et al. (2022)

#[test]
fn theorem_1_expected_linear_score_is_the_score_of_the_expected_matrix() {
    let scores: Vec<_> = all_scores().into_iter().filter(|score| score.shape() == Shape::Linear).collect();
    assert!(scores.len() >= 16, "only {} linear scores", scores.len());
    check_random_batches(11, 2000, |_, batch, prior| {
        let matrices = Matrices::new(prior, &batch.rows()).unwrap();
        for score in &scores {
            let (mean, plug_in) =
                (matrices.score_distribution(score).unwrap().mean(), score.value(&matrices.expected()));
            assert_close(mean, plug_in, 1e-12, &(score.name(), prior));
            assert_close(
                matrices.jensen_gap(score).unwrap(),
                0.0,
                1e-12 * plug_in.abs().max(1.0),
                &(score.name(), prior),
            );
        }
    });
}

#[test]
fn theorem_1_tail_bound_holds_for_every_score_around_its_mean() {
    let scores = all_scores();
    check_random_batches(12, 500, |random, batch, prior| {
        let matrices = Matrices::new(prior, &batch.rows()).unwrap();
        for score in &scores {
            let distribution = matrices.score_distribution(score).unwrap();
            let (low, high) = distribution.range();
            for fraction in [0.1, 0.5, 0.6, 0.75, 0.9, 1.0, random.uniform()] {
                let bound = bounds::score(&distribution, fraction * (high - low).max(1e-6));
                assert!(bound.exact <= bound.bound, "{score}, {prior}: {bound:?}");
            }
        }
    });
}

#[test]
fn proposition_1_bounds_hold_and_the_corrected_bound_of_the_trace_is_tighter() {
    check_random_batches(13, 3000, |random, batch, prior| {
        let matrices = Matrices::new(prior, &batch.rows()).unwrap();
        let counts = matrices.counts();
        let largest = counts.positives.max(counts.negatives).max(1.0);
        let (low, high) = matrices.distribution_of(|confusion| confusion.tn + confusion.tp).range();
        assert!(high - low <= counts.positives.max(counts.negatives));
        for fraction in [0.05, 0.3, 0.6, 0.75, 0.9, 1.0, random.uniform()] {
            let epsilon = fraction * largest;
            let trace = bounds::trace(&matrices, epsilon);
            for bound in [bounds::negatives(&matrices, epsilon), bounds::positives(&matrices, epsilon), trace.clone()] {
                assert!(bound.exact <= bound.bound, "{prior}: {bound:?}");
            }
            assert!(trace.bound <= bounds::trace_as_printed(&counts, epsilon));
        }
        // FP + TN and FN + TP are constant, so FP deviates from its mean by as much as TN, and FN by as much as TP.
        let mean = matrices.expected();
        let epsilon = 0.37 * largest;
        let false_alarms = matrices.distribution_of(|confusion| confusion.fp).tail_probability(mean.fp, epsilon);
        assert_close(bounds::negatives(&matrices, epsilon).exact, false_alarms, 1e-12, prior);
        let misses = matrices.distribution_of(|confusion| confusion.fn_).tail_probability(mean.fn_, epsilon);
        assert_close(bounds::positives(&matrices, epsilon).exact, misses, 1e-12, prior);
    });
}

#[test]
fn corrected_theorem_2_holds_for_lipschitz_scores() {
    let names = [
        "accuracy",
        "recall",
        "specificity",
        "tss",
        "hss1",
        "net_benefit(threshold=0.2)",
        "f1",
        "f2",
        "csi",
        "hss",
        "ets",
        "tversky",
        "iba",
        "min_class_accuracy",
        "braun_blanquet",
    ];
    let scores = names.map(score);
    let mut bounded = [0; 15];
    check_random_batches(14, 2000, |_, batch, prior| {
        let matrices = Matrices::new(prior, &batch.rows()).unwrap();
        for (score, bounded) in scores.iter().zip(&mut bounded) {
            if let Some(bound) = bounds::mean_absolute_deviation(score, &matrices).unwrap() {
                assert!(bound.exact <= bound.bound + 1e-13, "{score}, {prior}: {bound:?}");
                *bounded += 1;
            }
        }
    });
    // A score may have no bound if all rows of a batch are of the same class. Every score must have a bound in more than half of the batches.
    assert!(bounded.iter().all(|count| *count > 1000), "{bounded:?}");
}

#[test]
fn theorem_2_as_printed_is_false_for_two_clusters_of_predictions() {
    // There are 100 negatives with prediction 0.1 and 100 positives with prediction 0.9. The threshold lies between 0.1 and 0.9 with probability
    // 0.8. Accuracy is then 1, and otherwise ½. The accuracy of the expected matrix is 0.9, so the mean absolute deviation from it is
    // 0.8 · 0.1 + 0.2 · 0.4 = 0.16.
    let mut probabilities = vec![0.1; 100];
    probabilities.extend([0.9; 100]);
    let labels: Vec<bool> = (0..200).map(|row| row >= 100).collect();
    let rows = Rows::new(Probabilities(&probabilities), &labels).unwrap();
    let matrices = Matrices::new(&Prior::uniform(), &rows).unwrap();
    let accuracy = score("accuracy");
    let printed = bounds::mean_absolute_deviation_as_printed(&accuracy, &matrices).unwrap().unwrap();
    assert_close(printed.exact, 0.16, 1e-12, &"left side");
    assert_close(printed.bound, 0.5 / 200.0 * 52.0, 2e-4, &"right side");
    assert!(printed.exact > printed.bound);
    let corrected = bounds::mean_absolute_deviation(&accuracy, &matrices).unwrap().unwrap();
    assert_close(corrected.bound, 2.0 * 0.13, 1e-9, &"corrected");
    assert!(corrected.exact <= corrected.bound);
}

#[test]
fn lipschitz_constant_bounds_the_change_of_a_score_between_any_two_matrices() {
    let mut random = Random(15);
    for score in all_scores() {
        for _ in 0..20 {
            let counts = ClassCounts { positives: 40.0 * random.uniform(), negatives: 40.0 * random.uniform() };
            let Some(k) = lipschitz(&score, &counts) else { continue };
            let mut matrix = || {
                // Some values are exactly 0 or `all`, because most scores have their largest gradient at matrices with such values.
                let mut part = |all: f64| all * (1.4 * random.uniform() - 0.2).clamp(0.0, 1.0);
                Confusion::at(part(counts.positives), part(counts.negatives), &counts)
            };
            for _ in 0..50 {
                let (a, b) = (matrix(), matrix());
                let change = (a.tp - b.tp).abs().max((a.fp - b.fp).abs());
                let difference = (score.value(&a) - score.value(&b)).abs();
                assert!(difference <= k * change * (1.0 + 1e-9) + 1e-12, "{score}: {a:?} to {b:?}");
            }
        }
    }
}

#[test]
fn lipschitz_constants_match_known_constants() {
    for (p, n) in [(30.0, 170.0), (50.0, 50.0), (3.0, 997.0), (800.0, 200.0), (1.25, 7.375)] {
        let counts = ClassCounts { positives: p, negatives: n };
        for (name, expected) in [
            ("accuracy", 2.0 / (p + n)),
            ("recall", 1.0 / p),
            ("tss", 1.0 / p + 1.0 / n),
            ("f1", 2.0 / p),
            ("csi", 2.0 / p),
            ("hss1", 2.0 / p),
            ("net_benefit(threshold=0.2)", 1.25 / (p + n)),
        ] {
            let constant = lipschitz(&score(name), &counts).unwrap();
            assert!(
                constant >= expected && constant <= 1.001_001 * expected,
                "{name}: {constant}, expected {expected}"
            );
        }
        for name in ["precision", "npv", "mcc", "g_mean"] {
            assert_eq!(lipschitz(&score(name), &counts), None, "{name}");
        }
    }
}

#[test]
fn lipschitz_constants_of_linear_fractional_scores_are_accurate_to_a_thousandth() {
    let mut random = Random(20);
    for score in all_scores().iter().filter(|score| score.shape() != Shape::Nonlinear) {
        for round in 0..5 {
            let positives = 1.0 + 300.0 * random.uniform();
            let negatives = if round == 0 { positives } else { 1.0 + 3000.0 * random.uniform() };
            let counts = ClassCounts { positives, negatives };
            let Some(found) = lipschitz(score, &counts) else { continue };
            let mut largest = 0.0f64;
            for (tp, fp) in (0..=100).flat_map(|tp| (0..=100).map(move |fp| (tp, fp))) {
                let (tp, fp) = (positives * f64::from(tp) / 100.0, negatives * f64::from(fp) / 100.0);
                let derivatives = score.formula().reduced(&Confusion::at(tp, fp, &counts));
                largest = largest.max(derivatives.positive.abs() + derivatives.negative.abs());
            }
            assert!(
                found >= largest && found <= 1.001_001 * largest,
                "{score}, {counts:?}: {found}, expected {largest}"
            );
        }
    }
}

#[test]
fn taylor_approximation_is_exact_for_linear_scores() {
    let scores: Vec<_> = all_scores().into_iter().filter(|score| score.shape() == Shape::Linear).collect();
    check_random_batches(16, 500, |_, batch, prior| {
        let matrices = Matrices::new(prior, &batch.rows()).unwrap();
        for score in &scores {
            let exact = matrices.score_distribution(score).unwrap().mean();
            assert_close(taylor(score, &matrices).unwrap(), exact, 1e-12, &(score.name(), prior));
        }
    });
}

#[test]
fn taylor_approximation_is_on_average_more_accurate_than_the_score_of_the_expected_matrix_under_narrow_priors() {
    let mut random = Random(17);
    for prior in ["cosine:0.5,0.1", "cosine:0.4,0.2", "normal:0.5,0.05"].map(|text| text.parse::<Prior>().unwrap()) {
        let (mut plug_in, mut second_order) = (0.0, 0.0);
        for _ in 0..1000 {
            let batch = Batch::random(&mut random);
            let matrices = Matrices::new(&prior, &batch.rows()).unwrap();
            let f1 = score("f1");
            let exact = matrices.score_distribution(&f1).unwrap().mean();
            plug_in += (matrices.score_of_expectation(&f1).unwrap() - exact).abs();
            second_order += (taylor(&f1, &matrices).unwrap() - exact).abs();
        }
        assert!(
            second_order < 0.5 * plug_in,
            "{prior}: the errors sum to {second_order} for the Taylor approximation, and to {plug_in} for the score of the expected matrix"
        );
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Threshold of a calibrated model

#[test]
fn calibrated_threshold_agrees_with_the_best_threshold_of_calibrated_predictions() {
    let mut random = Random(18);
    let probabilities: Vec<f64> = (0..400_000).map(|_| random.uniform().powi(3)).collect();
    let labels: Vec<bool> = probabilities.iter().map(|p| random.uniform() < *p).collect();
    let rows = Rows::new(Probabilities(&probabilities), &labels).unwrap();
    let sweep = sweep(&rows).unwrap();
    let counts = sweep.counts();
    let base_rate = counts.positives / (counts.positives + counts.negatives);
    let closed = |name: &str, best: f64| match name {
        "accuracy" | "hss1" => Some(0.5),
        "tss" | "balanced_accuracy" => Some(base_rate),
        "f1" => Some(best / 2.0),
        "csi" => Some(best / (1.0 + best)),
        "cost(fp=1, fn=4)" => Some(1.0 / 5.0),
        "net_benefit(threshold=0.3)" => Some(0.3),
        _ => None,
    };
    for name in [
        "accuracy",
        "hss1",
        "tss",
        "balanced_accuracy",
        "f1",
        "csi",
        "cost(fp=1, fn=4)",
        "net_benefit(threshold=0.3)",
        "f2",
        "hss",
        "ets",
    ] {
        let score = score(name);
        let best = sweep.best(&score).unwrap();
        let threshold = calibrated_threshold(&score, &counts, best.value).unwrap();
        if let Some(expected) = closed(name, best.value) {
            assert_close(threshold, expected, 1e-12, &name);
        }
        // A score is flat near its best threshold, so the threshold is accurate only to about the cube root of 1/rows, but the score is much more
        // accurate.
        assert!((best.threshold - threshold).abs() < 0.03, "{name}: {}, expected {threshold}", best.threshold);
        let shortfall = score.oriented_value(best.value) - score.oriented_value(score.value(&sweep.at(threshold)));
        assert!(
            (0.0..0.001).contains(&shortfall),
            "{name} at the calibrated threshold is lower than the best by {shortfall}"
        );
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The theory report: all exact values and bounds for one score, prior and set of rows

#[test]
fn theory_report_agrees_with_separately_computed_values() {
    let scores = ["f1", "tss", "mcc", "far", "frequency_bias"].map(score);
    check_random_batches(19, 300, |random, batch, prior| {
        let score = &scores[random.integer_below(scores.len())];
        let theory = theory::report(score, prior, &batch.rows(), &DEFAULT_FRACTIONS, None).unwrap();
        let matrices = Matrices::new(prior, &batch.rows()).unwrap();
        let distribution = matrices.score_distribution(score).unwrap();
        assert_eq!(theory.expected_confusion, matrices.expected());
        assert_eq!(theory.expected_score, distribution.mean());
        assert_eq!(theory.score_of_expectation, score.value(&matrices.expected()));
        assert_eq!(theory.jensen_gap, theory.expected_score - theory.score_of_expectation);
        assert_eq!(theory.deviation, distribution.standard_deviation());
        assert_eq!(theory.taylor, taylor(score, &matrices));
        assert_eq!(theory.lipschitz, lipschitz(score, &matrices.counts()));
        assert!(theory.bounds.iter().all(|bound| bound.exact <= bound.bound + 1e-13), "{:?}", theory.bounds);
        let best = sweep(&batch.rows()).unwrap().best(score).map(|best| best.value);
        // The results of `oriented_value` are compared, because two different values may be equally far from the ideal value.
        assert_eq!(
            matrices.best(score).map(|value| score.oriented_value(value)),
            best.map(|value| score.oriented_value(value))
        );
        assert_eq!(
            theory.calibrated_threshold,
            best.and_then(|best| calibrated_threshold(score, &matrices.counts(), best))
        );
    });
}

#[test]
fn theory_report_is_the_same_for_f32_logits_f64_logits_and_probabilities() {
    let logits = [2.5f32, 1.0, 0.5, -0.25, -1.0, -3.0];
    let labels = [true, true, false, true, false, false];
    let logits_f64 = logits.map(f64::from);
    let probabilities = logits_f64.map(|z| 1.0 / (1.0 + (-z).exp()));
    let (f1, prior) = (score("f1"), Prior::uniform());
    let from_f32 =
        theory::report(&f1, &prior, &Rows::new(Logits(&logits), &labels).unwrap(), &DEFAULT_FRACTIONS, None).unwrap();
    let exact =
        theory::report(&f1, &prior, &Rows::new(Logits(&logits_f64), &labels).unwrap(), &DEFAULT_FRACTIONS, None)
            .unwrap();
    let other = theory::report(
        &f1,
        &prior,
        &Rows::new(Probabilities(&probabilities), &labels).unwrap(),
        &DEFAULT_FRACTIONS,
        None,
    )
    .unwrap();
    assert_eq!(from_f32, exact);
    assert_close(other.expected_score, exact.expected_score, 1e-14, &"expected score");
    assert_eq!(other.bounds.len(), exact.bounds.len());
    assert_eq!(other.calibrated_threshold, exact.calibrated_threshold);
}

#[test]
fn theory_report_rejects_invalid_input() {
    let labels = [true, false];
    let rows = Rows::new(Probabilities(&[0.7, 0.2]), &labels).unwrap();
    let report = |score: &Score, fractions: &[f64]| theory::report(score, &Prior::uniform(), &rows, fractions, None);
    let message = report(&score("f1"), &[0.5, 0.0]).unwrap_err().to_string();
    assert_eq!(message, "fractions must be finite numbers above 0, not 0");
    let overflow = report(&score("exp(1000*tp)"), &DEFAULT_FRACTIONS).unwrap_err();
    assert_eq!(overflow, Error::NotFinite { score: "exp(1000*tp)".into() });
    let invalid = Rows::new(Probabilities(&[0.7, 1.2]), &labels).unwrap();
    let message =
        theory::report(&score("f1"), &Prior::uniform(), &invalid, &DEFAULT_FRACTIONS, None).unwrap_err().to_string();
    assert_eq!(message, "probabilities, row 1: 1.2 is not between 0 and 1");
}

#[test]
fn theory_report_of_a_score_that_is_not_lipschitz_has_no_bound_of_the_mean_absolute_deviation() {
    let rows = Rows::new(Probabilities(&[0.8, 0.6, 0.4, 0.2]), &[true, false, true, false]).unwrap();
    let names = |text: &str| -> Vec<String> {
        let theory = theory::report(&score(text), &Prior::uniform(), &rows, &[0.75], Some(0.5)).unwrap();
        theory.bounds.into_iter().map(|bound| bound.name).collect()
    };
    let tails = ["P(|TN − E[TN]| ≥ 1.5)", "P(|TP − E[TP]| ≥ 1.5)", "P(|tr − E[tr]| ≥ 1.5)"];
    assert_eq!(names("accuracy")[..3], tails);
    assert_eq!(names("accuracy")[3..], ["P(|s − E[s]| ≥ 0.1875)", "E|s − s(E[CM])|"]);
    assert_eq!(names("precision")[3..], ["P(|s − E[s]| ≥ 0.75)"]);
}
