//! Binary loss: value and gradient agree with `scorewise` for every score and every prior, with and without weights.

#![allow(clippy::unwrap_used)] // a failed unwrap fails the test

mod common;

use burn::tensor::DType;
use common::{Batch, Random, distance, to_f32};
use scorewise::prior::FAMILIES;
use scorewise::score::REGISTRY;
use scorewise::{Logits, Real, Rows, Score, ScoreLoss};
use scorewise_burn::ScoreLossConfig;

/// Priors that are tested in addition to the registered example of each family of priors: narrow priors, shifted priors, and a mixture.
const MORE_PRIORS: [&str; 6] = [
    "uniform:0.2,0.7",
    "cosine:0.9,0.02",
    "triangular:0.1,0.1",
    "beta:0.5,0.5",
    "normal:0.1,0.02",
    "mix:0.2,logistic:0.8,0.01",
];

/// The loss and its gradient with respect to the logits, computed by `scorewise` in the precision of the logits.
fn scorewise_value_and_gradient<R: Real>(
    loss: &ScoreLoss,
    logits: &[R],
    labels: &[bool],
    weights: Option<&[R]>,
) -> (f64, Vec<f64>) {
    let rows = Rows::new(Logits(logits), labels).unwrap();
    let rows = weights.map_or(rows, |weights| rows.weighted(weights).unwrap());
    let mut gradient = vec![R::from_f64(0.0); logits.len()];
    let value = loss.value_and_gradient(&rows, &mut gradient).unwrap();
    (value, gradient.iter().map(|component| component.to_f64()).collect())
}

/// Compares the losses and gradients of burn with those of `scorewise` for all scores and priors. Returns the largest relative error, as `distance`
/// defines it, and panics if an error is not below the tolerance.
fn largest_distance(dtype: DType, tolerance: f64) -> f64 {
    let mut random = Random(7);
    let count = 301;
    let labels: Vec<bool> = (0..count).map(|_| random.uniform() < 0.3).collect();
    let targets: Vec<i64> = labels.iter().map(|label| i64::from(*label)).collect();
    let wide_logits = random.f32_values(count, -6.0, 6.0);
    let weights = random.f32_values(count, 0.0, 3.0);
    let priors: Vec<&str> = FAMILIES.iter().map(|family| family.example).chain(MORE_PRIORS).collect();
    let mut worst = (0.0, String::new());
    for prior in priors {
        // About half of the logits are drawn from the prior, so that a narrow prior has rows in its support.
        let parsed: scorewise::Prior = prior.parse().unwrap();
        let logits: Vec<f64> = wide_logits
            .iter()
            .map(|z| {
                let threshold = parsed.quantile(random.uniform());
                let logit_from_prior = (threshold / (1.0 - threshold)).ln() as f32;
                if random.uniform() < 0.5 { f64::from(logit_from_prior) } else { *z }
            })
            .collect();
        for score in REGISTRY.iter().filter_map(Score::example) {
            let burn = ScoreLossConfig::new(score.name().into()).with_prior(prior.into()).init();
            let loss = ScoreLoss::new(score.clone(), parsed.clone());
            for weights in [None, Some(weights.as_slice())] {
                let batch = Batch { logits: &logits, classes: 1, targets: &targets, weights };
                let got = batch.value_and_gradient(&burn, dtype);
                let expected = if dtype == DType::F64 {
                    scorewise_value_and_gradient(&loss, &logits, &labels, weights)
                } else {
                    scorewise_value_and_gradient(&loss, &to_f32(&logits), &labels, weights.map(to_f32).as_deref())
                };
                let distance = distance(&got, &expected);
                assert!(
                    distance < tolerance,
                    "{score} under {prior}: distance {distance}, got {}, expected {}",
                    got.0,
                    expected.0
                );
                if distance > worst.0 {
                    worst = (distance, format!("{score} under {prior}"));
                }
            }
        }
    }
    println!("{dtype:?}: largest distance {:.2e}, {}", worst.0, worst.1);
    worst.0
}

#[test]
fn the_loss_agrees_with_scorewise_in_f32_for_every_score_and_prior() {
    assert!(largest_distance(DType::F32, 1e-5) > 0.0);
}

#[test]
fn the_loss_agrees_with_scorewise_in_f64_for_every_score_and_prior() {
    assert!(largest_distance(DType::F64, 1e-10) < 1e-10);
}

#[test]
fn the_loss_of_a_custom_formula_agrees_with_scorewise() {
    let formula = "max(tp - fn, 0)^2/(total^2 + 1) - min(fp, fn)^1.5/(1 + exp(tp/total)) + 2^(tp/p) + abs(tn - tp)/n";
    let (logits, labels) = ([1.2, -0.4, 0.3, 2.0, -1.0], [true, false, true, true, false]);
    let burn = ScoreLossConfig::new(formula.into()).init();
    let loss = ScoreLoss::new(Score::parse(formula).unwrap(), scorewise::Prior::uniform());
    let targets = labels.map(i64::from);
    let got =
        Batch { logits: &logits, classes: 1, targets: &targets, weights: None }.value_and_gradient(&burn, DType::F64);
    assert!(distance(&got, &scorewise_value_and_gradient(&loss, &logits, &labels, None)) < 1e-12);
}

#[test]
fn a_batch_whose_rows_all_belong_to_one_class_has_a_finite_gradient() {
    let logits = [-0.5, 0.2, 1.5, -2.0];
    for labels in [[false; 4], [true; 4]] {
        let targets = labels.map(i64::from);
        for score in REGISTRY.iter().filter_map(Score::example) {
            for prior in FAMILIES {
                let burn = ScoreLossConfig::new(score.name().into()).with_prior(prior.example.into()).init();
                let loss = ScoreLoss::new(score.clone(), prior.example.parse().unwrap());
                let batch = Batch { logits: &logits, classes: 1, targets: &targets, weights: None };
                let got = batch.value_and_gradient(&burn, DType::F32);
                assert!(
                    got.0.is_finite() && got.1.iter().all(|component| component.is_finite()),
                    "{score}, {}",
                    prior.example
                );
                let expected = scorewise_value_and_gradient(&loss, &to_f32(&logits), &labels, None);
                assert!(
                    distance(&got, &expected) < 1e-5,
                    "{score}, {}: got {got:?}, expected {expected:?}",
                    prior.example
                );
            }
        }
    }
}

#[test]
fn saturated_logits_and_zero_weights_have_finite_gradients() {
    // All logits are saturated, and two of them are infinite.
    let saturated = [f64::INFINITY, f64::NEG_INFINITY, 200.0, -200.0];
    for score in REGISTRY.iter().filter_map(Score::example) {
        for prior in FAMILIES {
            let burn = ScoreLossConfig::new(score.name().into()).with_prior(prior.example.into()).init();
            for (targets, weights) in [([1, 0, 1, 0], [1.0; 4]), ([0, 1, 0, 1], [1.0; 4]), ([1, 1, 0, 0], [0.0; 4])] {
                let batch = Batch { logits: &saturated, classes: 1, targets: &targets, weights: Some(&weights) };
                let (value, gradient) = batch.value_and_gradient(&burn, DType::F32);
                assert!(
                    value.is_finite() && gradient.iter().all(|component| component.is_finite()),
                    "{score}, {}",
                    prior.example
                );
            }
        }
    }
}
