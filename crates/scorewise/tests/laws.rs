//! Properties that every score, every prior and every loss must have. The tests run over the whole registry, so that a new score is tested
//! without changes to this file.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::collections::BTreeSet;

use crate::common::{Random, all_priors, all_scores, logits_and_labels, score};
use scorewise::score::{REGISTRY, no_skill};
use scorewise::{
    ClassCounts, Confusion, CrossEntropy, Direction, Error, ExactLoss, Logits, Loss, Prior, Probabilities, Rows, Score,
    ScoreLoss, Shape,
};

/// The score-oriented loss, which is computed from the score of the expected matrix, and the exact loss, which is computed from the expected score.
fn score_loss_and_exact_loss(score: &Score, prior: &Prior) -> [Loss; 2] {
    [
        Loss::Score(ScoreLoss::new(score.clone(), prior.clone())),
        Loss::Exact(ExactLoss::new(score.clone(), prior.clone())),
    ]
}

fn largest_magnitude(values: &[f64]) -> f64 {
    values.iter().fold(0f64, |largest, value| largest.max(value.abs()))
}

#[test]
fn gradient_matches_central_differences_for_every_score_prior_and_loss() {
    let mut random = Random(11);
    let (mut checked, mut skipped) = (0, 0);
    for prior in all_priors() {
        for score in all_scores() {
            let (logits, labels) = logits_and_labels(&mut random, 14, 0.4, 1.2);
            let weights: Vec<f64> = (0..14).map(|_| 0.2 + 2.0 * random.uniform()).collect();
            for loss in score_loss_and_exact_loss(&score, &prior) {
                let value = |logits: &[f64]| {
                    let rows = Rows::new(Logits(logits), &labels).unwrap().weighted(&weights).unwrap();
                    loss.value(&rows).unwrap()
                };
                let mut gradient = vec![0.0; logits.len()];
                let rows = Rows::new(Logits(&logits), &labels).unwrap().weighted(&weights).unwrap();
                loss.value_and_gradient(&rows, &mut gradient).unwrap();
                let largest_derivative = largest_magnitude(&gradient);
                for row in 0..logits.len() {
                    // The error of these differences is proportional to the fourth power of the step, so it is small even for a step that is large
                    // enough to keep the rounding errors small.
                    let step = 1e-4;
                    let value_after = |by: f64| {
                        let mut logits = logits.clone();
                        logits[row] += by;
                        value(&logits)
                    };
                    let difference = (8.0 * (value_after(step) - value_after(-step))
                        - (value_after(2.0 * step) - value_after(-2.0 * step)))
                        / (12.0 * step);
                    // At an end of the support of the prior and at a kink of the score, the loss has no derivative to compare with.
                    let probability = 1.0 / (1.0 + (-logits[row]).exp());
                    let (low, high) = prior.support();
                    let is_near_end = |end: f64| end > 0.0 && end < 1.0 && (probability - end).abs() < 2e-3;
                    let one_sided = [value_after(step) - value_after(0.0), value_after(0.0) - value_after(-step)]
                        .map(|change| change / step);
                    let is_kink = (one_sided[0] - one_sided[1]).abs() > 0.05 * largest_derivative + 1e-9;
                    // The exact expected score has a kink where two predictions are equal, so rows with nearly equal logits are skipped.
                    let is_neighbour = |other: &f64| *other != logits[row] && (other - logits[row]).abs() < 8.0 * step;
                    if is_near_end(low) || is_near_end(high) || is_kink || logits.iter().any(is_neighbour) {
                        skipped += 1;
                        continue;
                    }
                    checked += 1;
                    let error = (gradient[row] - difference).abs();
                    // Each value of the loss is accurate to a few units in the last place. A difference adds four values with the factors 8, 8, 1
                    // and 1 (18 in total) and divides the sum by 12 times the step.
                    let rounding = 4.0 * f64::EPSILON * 18.0 / (12.0 * step) * value(&logits).abs().max(1.0);
                    assert!(
                        error <= 1e-6 * difference.abs() + rounding,
                        "{score} under {prior}, {loss:?}, row {row}: {}, expected {difference}",
                        gradient[row]
                    );
                }
            }
        }
    }
    assert!(checked > 10 * skipped, "{checked} derivatives checked, {skipped} skipped");
}

#[test]
fn losses_and_gradients_of_f32_rows_agree_with_those_of_f64_rows() {
    let mut random = Random(12);
    for prior in all_priors()
        .into_iter()
        .chain(["cosine:0.5,0.01", "triangular:0.7,0.05", "triangular:0.7,0.1"].map(|text| text.parse().unwrap()))
    {
        for score in all_scores() {
            let (logits, labels) = logits_and_labels(&mut random, 300, 0.2, 4.0);
            let logits_f32: Vec<f32> = logits.iter().map(|z| *z as f32).collect();
            // The f64 logits are exactly the f32 logits, so that only the arithmetic differs.
            let logits_f64: Vec<f64> = logits_f32.iter().map(|z| f64::from(*z)).collect();
            for loss in score_loss_and_exact_loss(&score, &prior) {
                let (mut gradient_f32, mut gradient_f64) = (vec![0f32; 300], vec![0f64; 300]);
                let value_f32 = loss
                    .value_and_gradient(&Rows::new(Logits(&logits_f32), &labels).unwrap(), &mut gradient_f32)
                    .unwrap();
                let value_f64 = loss
                    .value_and_gradient(&Rows::new(Logits(&logits_f64), &labels).unwrap(), &mut gradient_f64)
                    .unwrap();
                assert!(
                    (value_f32 - value_f64).abs() <= 1e-5 * value_f64.abs().max(1.0),
                    "{score} under {prior}: {value_f32}, expected {value_f64}"
                );
                let largest_derivative = largest_magnitude(&gradient_f64);
                for (got, expected) in gradient_f32.iter().zip(&gradient_f64) {
                    let error = (f64::from(*got) - expected).abs();
                    assert!(error <= 1e-5 * largest_derivative, "{score} under {prior}: {got}, expected {expected}");
                }
            }
        }
    }
}

#[test]
fn losses_stay_finite_at_extreme_logits_and_weights() {
    let logits: Vec<f64> = vec![1e4, -1e4, 0.0, 700.0, -745.0, 36.0, -37.0, 1e-300, 88.0, -104.0];
    let labels = [true, false, true, false, true, false, true, false, true, false];
    let weights = [1.0, 0.0, 1e12, 1e-12, 1.0, 1e12, 0.0, 1.0, 3.0, 1e12];
    let all = |label: bool| [label; 10];
    for prior in all_priors() {
        for score in all_scores() {
            let mut losses = score_loss_and_exact_loss(&score, &prior).to_vec();
            losses.push(Loss::CrossEntropy(CrossEntropy::plain()));
            losses.push(Loss::CrossEntropy(CrossEntropy::weighted(50.0, 1.0).unwrap()));
            for loss in losses {
                for labels in [&labels, &all(true), &all(false)] {
                    let logits_f32: Vec<f32> = logits.iter().map(|z| *z as f32).collect();
                    let weights_f32: Vec<f32> = weights.iter().map(|w| *w as f32).collect();
                    for weighted in [false, true] {
                        let mut rows = Rows::new(Logits(&logits), labels).unwrap();
                        let mut rows_f32 = Rows::new(Logits(&logits_f32), labels).unwrap();
                        if weighted {
                            rows = rows.weighted(&weights).unwrap();
                            rows_f32 = rows_f32.weighted(&weights_f32).unwrap();
                        }
                        let (mut gradient, mut gradient_f32) = ([0f64; 10], [0f32; 10]);
                        let value = loss.value_and_gradient(&rows, &mut gradient).unwrap();
                        let value_f32 = loss.value_and_gradient(&rows_f32, &mut gradient_f32).unwrap();
                        assert!(value.is_finite() && value_f32.is_finite(), "{score} under {prior}");
                        let finite = gradient.iter().all(|derivative| derivative.is_finite())
                            && gradient_f32.iter().all(|derivative| derivative.is_finite());
                        assert!(
                            finite,
                            "{score} under {prior}: the gradient must be finite: {gradient:?}, {gradient_f32:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn losses_are_finite_if_all_weights_are_zero() {
    for loss in score_loss_and_exact_loss(&score("f1"), &Prior::uniform()) {
        let (logits, labels, weights) = ([0.3, -0.2], [true, false], [0.0, 0.0]);
        let rows = Rows::new(Logits(&logits), &labels).unwrap().weighted(&weights).unwrap();
        let mut gradient = [1.0; 2];
        assert_eq!(loss.value_and_gradient(&rows, &mut gradient).unwrap(), 1.0);
        assert_eq!(gradient, [0.0; 2]);
    }
}

#[test]
fn invalid_rows_are_reported() {
    let labels = [true, false, true];
    let loss = ScoreLoss::new(score("f1"), Prior::uniform());
    let text = |error: Error| error.to_string();
    assert_eq!(Rows::new(Logits::<f64>(&[]), &[]).unwrap_err(), Error::Empty);
    let nan = [0.0f32, f32::NAN, 0.0];
    let rows = Rows::new(Logits(&nan), &labels).unwrap();
    assert_eq!(text(loss.value(&rows).unwrap_err()), "logits, row 1: not a number");
    let too_large = [0.5f32, 0.5, 1.5];
    let rows = Rows::new(Probabilities(&too_large), &labels).unwrap();
    assert_eq!(text(loss.value(&rows).unwrap_err()), "probabilities, row 2: 1.5 is not between 0 and 1");
    for (weights, message) in [
        ([1.0, -1.0, 1.0], "weights, row 1: -1 is not a finite number at or above 0"),
        ([1.0, 1.0, f64::NAN], "weights, row 2: not a number"),
        ([f64::INFINITY, 1.0, 1.0], "weights, row 0: inf is not a finite number at or above 0"),
    ] {
        let rows = Rows::new(Logits(&[0.0, 0.1, 0.2]), &labels).unwrap().weighted(&weights).unwrap();
        assert_eq!(text(loss.value(&rows).unwrap_err()), message);
        assert_eq!(text(CrossEntropy::plain().value(&rows).unwrap_err()), message);
    }
    let rows = Rows::new(Logits(&[0.0, 0.1, 0.2]), &labels).unwrap();
    let mut short = [0.0; 2];
    assert_eq!(
        text(loss.value_and_gradient(&rows, &mut short).unwrap_err()),
        "wrong number of rows in gradient: 2, expected 3"
    );
    assert!(
        text(Rows::new(Logits(&[0.0]), &labels).unwrap_err()).contains("wrong number of rows in labels: 3, expected 1")
    );
    let overflow = ScoreLoss::new(score("exp(1000*tp)"), Prior::uniform());
    assert!(text(overflow.value(&rows).unwrap_err()).contains("not finite for these rows"));
}

#[test]
fn an_integer_weight_acts_like_copies_of_a_row_and_row_order_does_not_matter() {
    let mut random = Random(13);
    for prior in all_priors() {
        for score in all_scores() {
            let (logits, labels) = logits_and_labels(&mut random, 40, 0.3, 2.0);
            let weights: Vec<f64> = (0..40).map(|_| random.integer_below(4) as f64).collect();
            let mut copies: Vec<usize> =
                (0..40).flat_map(|row| std::iter::repeat_n(row, weights[row] as usize)).collect();
            for at in (1..copies.len()).rev() {
                copies.swap(at, random.integer_below(at + 1));
            }
            let copied_logits: Vec<f64> = copies.iter().map(|row| logits[*row]).collect();
            let copied_labels: Vec<bool> = copies.iter().map(|row| labels[*row]).collect();
            for loss in score_loss_and_exact_loss(&score, &prior) {
                let weighted = Rows::new(Logits(&logits), &labels).unwrap().weighted(&weights).unwrap();
                let copied = Rows::new(Logits(&copied_logits), &copied_labels).unwrap();
                let (one, other) = (loss.value(&weighted).unwrap(), loss.value(&copied).unwrap());
                assert!(
                    (one - other).abs() <= 1e-11 * one.abs().max(1.0),
                    "{score} under {prior}: {one} with weights, {other} with copies"
                );
            }
        }
    }
}

#[test]
fn computing_the_gradient_in_batches_gives_the_gradient_of_all_rows() {
    let mut random = Random(14);
    let (logits, labels) = logits_and_labels(&mut random, 1000, 0.05, 3.0);
    for prior in all_priors() {
        for name in ["f1", "mcc", "tss", "csi", "0.5*tss + 0.5*hss"] {
            let loss = ScoreLoss::new(score(name), prior.clone());
            let mut all_rows = vec![0.0; 1000];
            let value = loss.value_and_gradient(&Rows::new(Logits(&logits), &labels).unwrap(), &mut all_rows).unwrap();
            let batch =
                |range: std::ops::Range<usize>| Rows::new(Logits(&logits[range.clone()]), &labels[range]).unwrap();
            let ranges = [0..1, 1..130, 130..131, 131..700, 700..1000];
            let sum: Confusion = ranges.clone().map(|range| loss.expect(&batch(range)).unwrap()).into_iter().sum();
            let derivatives = loss.derivatives(&sum).unwrap();
            assert!((loss.of(&sum).unwrap() - value).abs() < 1e-12);
            for range in ranges {
                let mut gradient = vec![0.0; range.len()];
                loss.gradient_with(derivatives, &batch(range.clone()), &mut gradient).unwrap();
                for (got, expected) in gradient.iter().zip(&all_rows[range]) {
                    assert!((got - expected).abs() <= 1e-12 * largest_magnitude(&all_rows), "{name} under {prior}");
                }
            }
        }
    }
}

#[test]
fn losses_of_linear_scores_are_unbiased_over_mini_batches_given_the_class_counts_of_the_data_set() {
    let mut random = Random(15);
    // Three of the sixty rows are positive, so most of the batches of six rows have no positive.
    let (logits, mut labels) = logits_and_labels(&mut random, 60, 0.0, 2.0);
    labels[20] = true;
    labels[21] = true;
    let counts = ClassCounts { positives: 3.0, negatives: 57.0 };
    for score in all_scores().into_iter().filter(|score| score.shape() == Shape::Linear) {
        if matches!(score.direction(), Direction::Toward(_)) {
            continue; // the loss of this score is |s − ideal|, which is not linear
        }
        let plain = ScoreLoss::new(score.clone(), "cosine:0.4,0.4".parse().unwrap());
        let global = plain.clone().with_class_counts(counts, 60).unwrap();
        let mut all_rows = vec![0.0; 60];
        let value = plain.value_and_gradient(&Rows::new(Logits(&logits), &labels).unwrap(), &mut all_rows).unwrap();
        let (mut mean, mut gradients) = (0.0, vec![0.0; 60]);
        for start in (0..60).step_by(6) {
            let rows = Rows::new(Logits(&logits[start..start + 6]), &labels[start..start + 6]).unwrap();
            let mut gradient = vec![0.0; 6];
            mean += global.value_and_gradient(&rows, &mut gradient).unwrap() / 10.0;
            gradients[start..start + 6].copy_from_slice(&gradient);
        }
        assert!((mean - value).abs() < 1e-12, "{score}: {mean}, expected {value}");
        for (got, expected) in gradients.iter().zip(&all_rows) {
            assert!((got / 10.0 - expected).abs() < 1e-13, "{score}: {got}, expected {expected}");
        }
        // The loss of a batch without positives must be finite; with the class counts of that batch alone, recall would be 0/0.
        let rows = Rows::new(Logits(&logits[6..12]), &labels[6..12]).unwrap();
        assert!(global.value(&rows).unwrap().is_finite());
    }
    let f1 = ScoreLoss::new(score("f1"), Prior::uniform());
    assert!(f1.with_class_counts(counts, 60).unwrap_err().to_string().contains("linear in the matrix; `f1` is not"));
}

#[test]
fn shape_derived_from_a_formula_agrees_with_the_shape_found_from_values_and_derivatives() {
    // The library derives the shape (linear, linear-fractional or nonlinear) from the formula. This test determines the shape independently,
    // from values and derivatives at random matrices.
    let mut random = Random(16);
    for score in all_scores() {
        let expected = match (has_constant_gradient(&score, &mut random), preserves_cross_ratios(&score, &mut random)) {
            (true, _) => Shape::Linear,
            (false, true) => Shape::LinearFractional,
            (false, false) => Shape::Nonlinear,
        };
        assert_eq!(score.shape(), expected, "{score}");
    }
    for (text, shape) in [
        ("tss", Shape::Linear),
        ("f1", Shape::LinearFractional),
        ("mcc", Shape::Nonlinear),
        ("1 - far", Shape::LinearFractional),
        ("0.5*tss + 0.5*csi", Shape::Nonlinear),
        ("abs(tss)", Shape::Nonlinear),
    ] {
        assert_eq!(score(text).shape(), shape, "{text}");
    }
}

/// Whether the derivatives at fixed class counts are the same at several random matrices, as they are for a linear score.
fn has_constant_gradient(score: &Score, random: &mut Random) -> bool {
    let (p, n) = (7.0 + 50.0 * random.uniform(), 9.0 + 90.0 * random.uniform());
    let mut derivatives = || {
        let (tp, fp) = (p * random.uniform(), n * random.uniform());
        let reduced = score.formula().reduced(&Confusion::new(n - fp, fp, p - tp, tp));
        (reduced.positive, reduced.negative)
    };
    let first = derivatives();
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (a.abs() + b.abs()) + 1e-12;
    (0..20).map(|_| derivatives()).all(|other| close(first.0, other.0) && close(first.1, other.1))
}

/// Whether the cross-ratio of the scores at four points of a random line in (TP, FP) equals the cross-ratio of the points. This is so for a
/// quotient of linear functions, which is a projective map on every line, but in general not for other functions.
fn preserves_cross_ratios(score: &Score, random: &mut Random) -> bool {
    (0..20).all(|_| {
        let (p, n) = (7.0 + 50.0 * random.uniform(), 9.0 + 90.0 * random.uniform());
        let (from, to) = ([random.uniform(), random.uniform()], [random.uniform(), random.uniform()]);
        let value = |t: f64| {
            let (tp, fp) = (p * (from[0] + t * (to[0] - from[0])), n * (from[1] + t * (to[1] - from[1])));
            score.value(&Confusion::new(n - fp, fp, p - tp, tp))
        };
        let t = [0.0, 0.35, 0.7, 1.0];
        let s = t.map(value);
        let one = (s[0] - s[2]) * (s[1] - s[3]) * (t[0] - t[3]) * (t[1] - t[2]);
        let other = (s[0] - s[3]) * (s[1] - s[2]) * (t[0] - t[2]) * (t[1] - t[3]);
        (one - other).abs() <= 1e-8 * (one.abs() + other.abs()) + 1e-24
    })
}

#[test]
fn every_score_has_the_range_the_perfect_value_and_the_direction_that_the_registry_states() {
    let mut random = Random(17);
    for score in all_scores() {
        let row = score.row().unwrap();
        let (low, high) = row.range;
        for _ in 0..2000 {
            let mut cell =
                || if random.integer_below(6) == 0 { 0.0 } else { (10f64.powf(4.0 * random.uniform())).floor() };
            let confusion = Confusion::new(cell(), cell(), cell(), cell());
            if let Some(value) = score.checked(&confusion) {
                assert!(
                    value >= low - 1e-9 && value <= high + 1e-9,
                    "{score} of {confusion:?} is {value}, which is outside its registered range"
                );
                assert_eq!(
                    value,
                    score.value(&confusion),
                    "{score}: a report and a loss must give the same value for a matrix"
                );
            } else {
                assert!(score.value(&confusion).is_finite());
            }
        }
        let perfect = score.checked(&Confusion::new(70.0, 0.0, 0.0, 30.0));
        if let (Some(declared), Some(value)) = (row.perfect, perfect) {
            assert!((declared - value).abs() < 1e-12, "{score} of a perfect forecast: {value}, expected {declared}");
        }
        // A matrix with fewer misses and fewer false alarms must not have a worse score.
        let (good, bad) = (Confusion::new(80.0, 10.0, 2.0, 8.0), Confusion::new(60.0, 30.0, 6.0, 4.0));
        let gain = score.oriented_value(score.value(&good)) - score.oriented_value(score.value(&bad));
        assert!(gain >= 0.0, "{score}: {gain}");
    }
}

#[test]
fn skill_scores_are_zero_for_forecasts_without_skill() {
    for name in ["tss", "hss", "ets", "mcc", "orss", "yules_y", "leverage", "edi", "sedi", "seds", "markedness"] {
        assert_eq!(no_skill(&score(name)), Some(0.0), "{name}");
    }
    assert_eq!(no_skill(&score("balanced_accuracy")), Some(0.5));
    assert_eq!(no_skill(&score("lift")), Some(1.0));
    assert_eq!(no_skill(&score("f1")), None);
}

#[test]
fn identities_between_scores_hold() {
    let mut random = Random(18);
    let value = |text: &str, confusion: &Confusion| score(text).value(confusion);
    for _ in 0..500 {
        let mut cell = || 1.0 + (1000.0 * random.uniform()).floor();
        let c = Confusion::new(cell(), cell(), cell(), cell());
        let counts = c.counts();
        let pi = counts.positives / c.total();
        for (one, other) in [
            (value("csi", &c), value("f1", &c) / (2.0 - value("f1", &c))),
            (value("ets", &c), value("hss", &c) / (2.0 - value("hss", &c))),
            (value("balanced_accuracy", &c), 0.5 * (value("tss", &c) + 1.0)),
            (value("leverage", &c), pi * (1.0 - pi) * value("tss", &c)),
            (value("mcc", &c).powi(2), value("tss", &c) * value("markedness", &c)),
            (value("relative_economic_value(PI)".replace("PI", &pi.to_string()).as_str(), &c), value("tss", &c)),
            (value("tversky(0.5, 0.5)", &c), value("f1", &c)),
            (value("tversky(1, 1)", &c), value("csi", &c)),
            (value("fbeta", &c), value("f1", &c)),
            (value("hss1", &c), 1.0 - (c.fp + c.fn_) / counts.positives),
            (value("discriminant_power", &c), 3f64.sqrt() / std::f64::consts::PI * value("odds_ratio", &c).ln()),
            (value("2*precision*recall/(precision + recall)", &c), value("f1", &c)),
        ] {
            assert!((one - other).abs() <= 1e-12 * one.abs().max(1.0), "{one} and {other} must be equal for {c:?}");
        }
    }
}

#[test]
fn registry_names_are_valid_and_unique() {
    let reserved = [
        "tp", "fp", "fn", "tn", "p", "n", "total", "sqrt", "ln", "exp", "abs", "min", "max", "and", "alarms", "per",
        "with",
    ];
    let mut seen = BTreeSet::new();
    for row in REGISTRY {
        for name in std::iter::once(&row.name).chain(row.aliases) {
            assert!(!reserved.contains(name), "the name {name} is reserved");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'), "{name}");
            assert!(name.starts_with(|c: char| c.is_ascii_lowercase()), "{name}");
            assert!(seen.insert(*name), "the name {name} is used more than once");
            let parsed = Score::parse(&format!(
                "{name}{}",
                if row.parameters.iter().any(|p| p.default.is_none()) { "(0.1)" } else { "" }
            ));
            assert!(parsed.unwrap().name().starts_with(row.name), "an alias must be printed as the name of its score");
        }
        assert!(!row.reference.is_empty(), "{} has no reference", row.name);
        let has_minimum = row.direction == Direction::Lower && row.range.0.is_finite();
        assert!(!has_minimum || row.perfect.is_some(), "{}", row.name);
    }
}

#[test]
fn invalid_rows_are_reported_under_every_prior() {
    let labels = [true, false, true];
    for prior in all_priors() {
        let loss = ScoreLoss::new(score("f1"), prior.clone());
        let logits = [0.5, f64::NAN, -1.0];
        let logits_f32 = logits.map(|z| z as f32);
        let too_large = [0.5, 0.2, 7.0];
        let message = |result: scorewise::Result<f64>| result.unwrap_err().to_string();
        let rows_f64 = Rows::new(Logits(&logits), &labels).unwrap();
        assert_eq!(message(loss.value(&rows_f64)), "logits, row 1: not a number", "{prior}");
        assert_eq!(
            message(loss.value_and_gradient(&rows_f64, &mut [0.0; 3])),
            "logits, row 1: not a number",
            "{prior}"
        );
        let rows_f32 = Rows::new(Logits(&logits_f32), &labels).unwrap();
        assert_eq!(
            message(loss.value_and_gradient(&rows_f32, &mut [0.0; 3])),
            "logits, row 1: not a number",
            "{prior}"
        );
        let too_large = Rows::new(Probabilities(&too_large), &labels).unwrap();
        let expected = "probabilities, row 2: 7 is not between 0 and 1";
        assert_eq!(message(loss.value(&too_large)), expected, "{prior}");
        assert!(prior.cdf(f64::NAN).is_nan() && prior.logit_density(f64::NAN).is_nan());
    }
}

#[test]
fn losses_of_logits_in_the_far_tail_stay_finite() {
    let mut priors = all_priors();
    let extreme = [
        "kumaraswamy:0.01,0.01",
        "kumaraswamy:0.01,1",
        "kumaraswamy:1,1",
        "beta:0.01,0.01",
        "beta:1,1",
        "beta:1000,1000",
        "normal:0.5,0.0375",
        "normal:0,1e-6",
        "logistic:1,1e6",
        "cosine:0.5,0.5",
        "cosine:0.5,1e-9",
    ];
    priors.extend(extreme.map(|text| text.parse().unwrap()));
    for prior in priors {
        for score in all_scores() {
            for logit in [10.0, 37.0, 87.5, 104.0, 350.0, 715.0, 740.6, 744.0, 745.2, 1e4, f64::INFINITY] {
                for (labels, weights) in [
                    ([true, false], [1.0, 1.0]),
                    ([true, false], [0.0, 1.0]),
                    ([false, false], [1.0, 1e12]),
                    ([true, true], [1e-40, 1e-40]),
                    ([true, false], [1e12, 1e-12]),
                ] {
                    for sign in [1.0, -1.0] {
                        let logits = [sign * logit, sign * (logit - 0.25)];
                        let loss = ScoreLoss::new(score.clone(), prior.clone());
                        let rows = Rows::new(Logits(&logits), &labels).unwrap().weighted(&weights).unwrap();
                        let mut gradient = [0.0; 2];
                        let what =
                            format!("{score} under {prior}, logits {logits:?}, labels {labels:?}, weights {weights:?}");
                        let value = loss
                            .value_and_gradient(&rows, &mut gradient)
                            .unwrap_or_else(|error| panic!("{what}: {error}"));
                        assert!(
                            value.is_finite() && gradient.iter().all(|derivative| derivative.is_finite()),
                            "{what}: {gradient:?}"
                        );
                        let (logits_f32, weights_f32) = (logits.map(|z| z as f32), weights.map(|w| w as f32));
                        let rows = Rows::new(Logits(&logits_f32), &labels).unwrap().weighted(&weights_f32).unwrap();
                        let mut gradient = [0f32; 2];
                        let value = loss
                            .value_and_gradient(&rows, &mut gradient)
                            .unwrap_or_else(|error| panic!("{what}: {error}"));
                        assert!(
                            value.is_finite() && gradient.iter().all(|derivative| derivative.is_finite()),
                            "f32 {what}: {gradient:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn expected_matrix_of_f32_rows_is_accurate_near_the_ends_of_the_support() {
    for text in ["cosine:0.5,0.1", "triangular:0.5,0.2", "epanechnikov:0.5,0.2", "quartic:0.5,0.2", "uniform:0.4,0.6"] {
        let prior: Prior = text.parse().unwrap();
        let (low, high) = prior.support();
        let mut last = 0.0;
        for k in -2000..=2000 {
            // The points are spaced densely over the whole support of the prior and slightly beyond its ends.
            let p = (0.5 * (low + high) + 0.55 * (high - low) * f64::from(k) / 2000.0) as f32;
            let rows = Rows::new(Probabilities(std::slice::from_ref(&p)), &[true]).unwrap();
            let f = ScoreLoss::new(score("recall"), prior.clone()).expect(&rows).unwrap().tp;
            let exact = prior.cdf(f64::from(p));
            assert!(
                (0.0..=1.0).contains(&f) && f >= last - 1e-7,
                "{text}: F must not decrease, but F({p}) = {f}, and F at the previous point is {last}"
            );
            assert!((f - exact).abs() <= 2e-6, "{text}: F({p}) = {f}, expected {exact}");
            last = f;
        }
        // Near the lower end of the support (one hundredth of its width above it), the distribution function is small but must still be accurate.
        let p = (low + 0.01 * (high - low)) as f32;
        let rows = Rows::new(Probabilities(std::slice::from_ref(&p)), &[true]).unwrap();
        let f = ScoreLoss::new(score("recall"), prior.clone()).expect(&rows).unwrap().tp;
        assert!((f / prior.cdf(f64::from(p)) - 1.0).abs() < 1e-3, "{text}: {f}");
    }
}

#[test]
fn formulas_with_division_by_a_variable_are_not_classified_as_linear() {
    for text in
        ["1/(1 + fn/tp)", "n/(1 + tn/fp)", "tp/((fn/tp) + p/p)", "tp*fp/fp", "2*precision*recall/(precision + recall)"]
    {
        assert_ne!(score(text).shape(), Shape::Linear, "{text}");
    }
    assert_eq!(score("recall/1 + tp/(p + n)").shape(), Shape::Linear);
    let counts = ClassCounts { positives: 1000.0, negatives: 3000.0 };
    let refused = |text: &str| {
        ScoreLoss::new(score(text), Prior::uniform()).with_class_counts(counts, 4000).unwrap_err().to_string()
    };
    // The following formula is linear only if there are at most 700 positives.
    assert!(refused("recall + max(p - 700, 0)*tp*fp").contains("linear"));
    assert!(refused("frequency_bias").contains("the distance from 1"));
}

#[test]
fn infinite_cross_entropy_is_reported_as_an_error() {
    let logits = [f64::INFINITY, 0.0];
    let rows = Rows::new(Logits(&logits), &[false, true]).unwrap();
    assert!(CrossEntropy::plain().value(&rows).unwrap_err().to_string().contains("cross-entropy"));
    let weighted = rows.weighted(&[0.0, 1.0]).unwrap();
    assert!((CrossEntropy::plain().value(&weighted).unwrap() - 2f64.ln()).abs() < 1e-15);
}
