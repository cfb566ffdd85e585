//! START: never stuck. Where the first predictions lie, and how to put them where the prior can see them.
//!
//! Outside the prior's support the density is 0 and so is the gradient: a network whose first predictions all fall outside
//! never moves. The cure is to begin inside: the output bias at logit(mean of the prior), and the last layer scaled down until
//! every first prediction lies in the support.

use scorewise::Prior;

use crate::engine::{Engine, Matrix};
use crate::net::Network;

/// The share of predictions that lie inside the prior's support.
#[must_use]
pub fn coverage(prior: &Prior, logits: &[f32]) -> f64 {
    let (low, high) = logit_support(prior);
    let inside = logits.iter().filter(|logit| low < f64::from(**logit) && f64::from(**logit) < high).count();
    inside as f64 / logits.len().max(1) as f64
}

/// Puts the first predictions of these rows inside the prior's support, by the output layer alone.
pub fn centre(network: &mut Network, prior: &Prior, engine: &mut Engine, matrix: &Matrix, rows: &[u32]) {
    let layers = network.shape().layers();
    let Some(last) = layers.last() else { return };
    let middle = logit(prior.mean());
    let mut logits = vec![0.0; rows.len() * last.outputs];
    network.parameters[last.biases..last.biases + last.outputs].fill(0.0);
    engine.forward(network, matrix, rows, &mut logits);
    let farthest = logits.iter().fold(0f32, |farthest, logit| farthest.max(logit.abs()));
    let (low, high) = logit_support(prior);
    // A tenth of the way is kept free, so that the first step does not leave the support either.
    let room = 0.9 * (middle - low).min(high - middle);
    if f64::from(farthest) > room {
        let scale = (room / f64::from(farthest)) as f32;
        let weights = last.weights..last.weights + last.outputs * last.stride;
        network.parameters[weights].iter_mut().for_each(|weight| *weight *= scale);
    }
    network.parameters[last.biases..last.biases + last.outputs].fill(middle as f32);
}

/// The support on the scale of the logits; infinite where it reaches an end of [0, 1].
fn logit_support(prior: &Prior) -> (f64, f64) {
    let (low, high) = prior.support();
    (logit(low), logit(high))
}

fn logit(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}
