//! Changes the initial weights of a network so that its first predictions lie inside the support of the prior.
//!
//! Outside the support the density of the prior is 0, and so is the gradient. A network whose first predictions all lie outside it never learns. So
//! the output biases are set to give every class a probability s inside the support of its prior, and the weights of the last layer are scaled
//! down until all first predictions lie inside the support too.
//!
//! ```text
//! one logit                    s = E τ, the mean of the prior                       bias = ln(s/(1 − s))
//! one logit for each class     s = E τ, then every s moves toward an end of         bias = ln s
//!                              its support, by the same share of the distance
//!                              for all classes, until Σ s = 1
//! ```
//!
//! Such probabilities do not always exist. For example, if three classes have thresholds between 0.4 and 0.6, three probabilities in this range
//! cannot sum to 1. Then some class has all its predictions outside the support and is never learnt, so training needs a warm start with
//! cross-entropy.

use scorewise::Prior;
use scorewise::multiclass::softmax;

use super::Network;
use super::engine::Engine;
use scorewise_table::Matrix;

/// Share of the predictions that lie inside the support of their prior. Each row has one prediction for each of its logits. `priors` holds one prior
/// for all logits of a row, or one for each logit; if `priors` is empty, all predictions count as inside.
#[must_use]
pub fn coverage(priors: &[Prior], logits: &[f32], outputs: usize) -> f64 {
    if priors.is_empty() || logits.is_empty() {
        return 1.0;
    }
    let supports: Vec<(f64, f64)> = prior_of_each_output(priors, outputs).map(Prior::support).collect();
    let inside = |low: f64, x: f64, high: f64| usize::from(low < x && x < high);
    let count: usize = if let [(low, high)] = supports[..] {
        let (low, high) = (log_odds(low), log_odds(high));
        logits.iter().map(|logit| inside(low, f64::from(*logit), high)).sum()
    } else {
        let mut row_probabilities = vec![0.0; outputs];
        let row = |logits: &[f32]| {
            softmax(logits, &mut row_probabilities);
            row_probabilities
                .iter()
                .zip(&supports)
                .map(|(probability, (low, high))| inside(*low, *probability, *high))
                .sum::<usize>()
        };
        logits.chunks_exact(outputs).map(row).sum()
    };
    count as f64 / logits.len() as f64
}

/// Whether there are class probabilities that sum to 1 and all lie inside the supports of their priors, at some distance from the ends. This is
/// always true for one output, and if there are no priors.
#[must_use]
pub fn has_centre(priors: &[Prior], outputs: usize) -> bool {
    priors.is_empty() || class_probabilities(&prior_of_each_output(priors, outputs).collect::<Vec<_>>()).is_some()
}

/// Changes the output layer so that the predictions of the given rows lie inside the supports of the priors. Does nothing if [`has_centre`] is
/// false.
pub fn centre(network: &mut Network, priors: &[Prior], engine: &mut Engine, matrix: &Matrix, rows: &[u32]) {
    let Some(last) = network.shape().layers().last().copied() else { return };
    if priors.is_empty() {
        return;
    }
    let priors: Vec<&Prior> = prior_of_each_output(priors, last.outputs).collect();
    let Some(class_probabilities) = class_probabilities(&priors) else { return };
    let biases = last.biases..last.biases + last.outputs;
    let weights = last.weights..last.weights + last.outputs * last.stride;
    network.parameters[biases.clone()].fill(0.0);
    let mut logits = vec![0.0; rows.len() * last.outputs];
    engine.predict(network, matrix, rows, &mut logits);
    let farthest = f64::from(logits.iter().fold(0f32, |farthest, logit| farthest.max(logit.abs())));
    let max_distance = max_logit_distance(&priors, &class_probabilities);
    let scale = if farthest > max_distance { max_distance / farthest } else { 1.0 };
    network.parameters[weights].iter_mut().for_each(|weight| *weight *= scale as f32);
    for (bias, probability) in network.parameters[biases].iter_mut().zip(&class_probabilities) {
        *bias = if last.outputs == 1 { log_odds(*probability) } else { probability.ln() } as f32;
    }
}

/// Probabilities that lie inside the supports of the priors: the mean of the prior for one logit, and probabilities that sum to 1 for several
/// logits. `None` if all probabilities that sum to 1 lie outside the supports or close to their ends.
fn class_probabilities(priors: &[&Prior]) -> Option<Vec<f64>> {
    if let [prior] = priors {
        return Some(vec![prior.mean()]);
    }
    let sum = |value: &dyn Fn(&Prior) -> f64| priors.iter().map(|prior| value(prior)).sum::<f64>();
    let mean = sum(&Prior::mean);
    let end = |prior: &Prior| if mean > 1.0 { prior.support().0 } else { prior.support().1 };
    let ends = sum(&end);
    let share_of_way = if mean == 1.0 { 0.0 } else { (1.0 - mean) / (ends - mean) };
    // A probability may go at most 95 % of the way from the mean of the prior to the end of its support, so that
    // predictions somewhat above and below the probability still lie inside the support.
    (0.0..0.95)
        .contains(&share_of_way)
        .then(|| priors.iter().map(|prior| prior.mean() + share_of_way * (end(prior) - prior.mean())).collect())
}

/// The greatest allowed difference between a logit and its output bias. If no difference is greater, no prediction lies where the density of the
/// prior is close to 0.
fn max_logit_distance(priors: &[&Prior], class_probabilities: &[f64]) -> f64 {
    // With several classes, the log-odds of a class depend on its own logit and on those of the other classes, so they can change by
    // twice as much as a single logit.
    let moves = if class_probabilities.len() == 1 { 1.0 } else { 2.0 };
    let distance_to_limit = |(prior, probability): (&&Prior, &f64)| {
        // Near the ends of a wide support the density is nearly 0, and so is the gradient. So the limits of the predictions are the 1 % and 99 %
        // quantiles of the prior. If the point halfway between `probability` and an end of the support is closer to this end, it is the limit.
        let (start, end) = prior.support();
        let low = prior.quantile(0.01).min(0.5 * (start + probability));
        let high = prior.quantile(0.99).max(0.5 * (end + probability));
        (log_odds(*probability) - log_odds(low)).min(log_odds(high) - log_odds(*probability)) / moves
    };
    // A tenth of the distance is left as a margin, so that the first step of the optimiser does not move predictions out of the support.
    0.9 * priors.iter().zip(class_probabilities).map(distance_to_limit).fold(f64::INFINITY, f64::min)
}

/// For each logit of a row, its prior. If there is only one prior, it is the prior of every logit.
fn prior_of_each_output(priors: &[Prior], outputs: usize) -> impl Iterator<Item = &Prior> {
    (0..outputs).filter_map(move |output| priors.get(output).or(priors.first()))
}

/// The log-odds ln(p/(1 − p)) of a probability; infinite at 0 and 1.
pub(crate) fn log_odds(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The priors that these texts describe.
    fn parse_priors(texts: &[&str]) -> Vec<Prior> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    /// The result of [`class_probabilities`] for the priors that these texts describe.
    fn probabilities_of(texts: &[&str]) -> Option<Vec<f64>> {
        class_probabilities(&parse_priors(texts).iter().collect::<Vec<_>>())
    }

    #[test]
    fn class_probabilities_lie_inside_the_supports_and_sum_to_one() {
        assert_eq!(probabilities_of(&["cosine:0.3,0.1"]).unwrap(), [0.3]);
        let third = probabilities_of(&["uniform", "uniform", "uniform"]).unwrap();
        assert!(third.iter().all(|probability| (probability - 1.0 / 3.0).abs() < 1e-15));
        let unlike = ["cosine:0.5,0.3", "cosine:0.5,0.1", "cosine:0.2,0.2"];
        let class_probabilities = probabilities_of(&unlike).unwrap();
        assert!((class_probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        for (probability, prior) in class_probabilities.iter().zip(parse_priors(&unlike)) {
            assert!(
                prior.support().0 < *probability && *probability < prior.support().1,
                "{probability} under {prior:?}"
            );
        }
        assert!(probabilities_of(&["cosine:0.5,0.1"; 3]).is_none());
        assert!(probabilities_of(&["cosine:0.1,0.05"; 3]).is_none());
        assert!(has_centre(&parse_priors(&["uniform"]), 3) && !has_centre(&parse_priors(&["cosine:0.5,0.1"]), 3));
    }

    #[test]
    fn coverage_counts_the_predictions_of_all_rows_and_classes() {
        let one = parse_priors(&["cosine:0.05,0.04"]);
        assert_eq!(coverage(&one, &[-2.9, 0.0], 1), 0.5);
        assert_eq!(coverage(&[], &[-2.9, 0.0], 1), 1.0);
        // The probabilities are ½, ¼ and ¼: only that of the first class lies inside (0.4, 0.6).
        assert_eq!(coverage(&parse_priors(&["cosine:0.5,0.1"]), &[2f32.ln(), 0.0, 0.0], 3), 1.0 / 3.0);
    }
}
