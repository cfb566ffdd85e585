//! Optimisers: from a gradient to a step, over the flat list of parameters.

use scorewise_table::Buffer;
use serde::{Deserialize, Serialize};

use super::Network;
use super::engine::{Lanes, Level, Work, run};

/// How a gradient becomes a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Optimiser {
    /// Adam with decoupled weight decay
    // The paper's choice, and the default: gradients of score-oriented losses differ by orders of magnitude between layers and epochs.
    #[default]
    Adam,
    /// Gradient descent with momentum 0.9
    Sgd,
}

/// The optimiser of one training, with its state.
#[derive(Debug)]
pub(super) enum OptimiserState {
    Adam(Adam),
    Descent {
        descent: Descent,
        decay: f32,
        /// Ranges of the weights, which decay; biases do not.
        weights: Vec<std::ops::Range<usize>>,
    },
}

impl OptimiserState {
    pub fn new(optimiser: Optimiser, network: &Network, decay: f32) -> Self {
        match optimiser {
            Optimiser::Adam => {
                let mut adam = Adam::new(network);
                adam.decay = decay;
                OptimiserState::Adam(adam)
            }
            Optimiser::Sgd => {
                let layers = network.shape().layers();
                let weights = layers.iter().map(|layer| layer.weights..layer.biases).collect();
                OptimiserState::Descent { descent: Descent::new(network, MOMENTUM), decay, weights }
            }
        }
    }

    pub fn step(&mut self, parameters: &mut [f32], gradient: &[f32], rate: f32) {
        match self {
            OptimiserState::Adam(adam) => adam.step(parameters, gradient, rate),
            OptimiserState::Descent { descent, decay, weights } => {
                if *decay > 0.0 {
                    // Decoupled as in AdamW: applied to the weights before the step, without momentum.
                    let keep = 1.0 - rate * *decay;
                    for range in weights {
                        parameters[range.clone()].iter_mut().for_each(|weight| *weight *= keep);
                    }
                }
                descent.step(parameters, gradient, rate);
            }
        }
    }
}

/// Share of the last step that gradient descent keeps.
const MOMENTUM: f32 = 0.9;

/// Adam with decoupled weight decay (AdamW).
///
/// ```text
/// m ← β₁m + (1 − β₁)g        v ← β₂v + (1 − β₂)g²        θ ← θ − rate (m/(1 − β₁ᵗ) / (√(v/(1 − β₂ᵗ)) + ε) + decay θ)
/// ```
///
/// The defaults are Keras's, which the paper used: β₁ 0.9, β₂ 0.999, ε 1e-7. Biases do not decay.
///
/// Kingma, D. P. & Ba, J. (2015). Adam: a method for stochastic optimization. ICLR. Loshchilov, I. & Hutter, F. (2019).
/// Decoupled weight decay regularization. ICLR.
#[derive(Clone, Debug, PartialEq)]
pub struct Adam {
    /// β₁.
    pub momentum: f32,
    /// β₂.
    pub memory: f32,
    /// ε.
    pub epsilon: f32,
    /// Weight decay: the share of itself that a weight loses in a step of rate 1.
    pub decay: f32,
    mean: Buffer,
    square: Buffer,
    /// 1 where decay applies, 0 for biases.
    decays: Buffer,
    steps: i32,
    level: Level,
}

impl Adam {
    /// An optimiser for this network that has not taken a step.
    #[must_use]
    pub fn new(network: &Network) -> Self {
        Adam::at(Level::best(), network)
    }

    /// The same with the instructions of a given level.
    #[must_use]
    pub fn at(level: Level, network: &Network) -> Self {
        let zeros = Buffer::zeros(network.parameters.len());
        let mut decays = zeros.clone();
        decays.fill(1.0);
        for layer in network.shape().layers() {
            decays[layer.biases..layer.biases + layer.outputs].fill(0.0);
        }
        Adam {
            momentum: 0.9,
            memory: 0.999,
            epsilon: 1e-7,
            decay: 0.0,
            mean: zeros.clone(),
            square: zeros,
            decays,
            steps: 0,
            level,
        }
    }

    /// One step against the gradient.
    ///
    /// # Panics
    /// If a slice is not as long as the network's list of parameters.
    pub fn step(&mut self, parameters: &mut [f32], gradient: &[f32], rate: f32) {
        assert!(
            parameters.len() == self.mean.len() && gradient.len() == self.mean.len(),
            "the slices are as long as the list of parameters"
        );
        self.steps = self.steps.saturating_add(1);
        // The bias corrections of both means are folded into the rate, in f64: 1 − 0.999 loses digits in f32.
        let first = 1.0 - f64::from(self.momentum).powi(self.steps);
        let second = (1.0 - f64::from(self.memory).powi(self.steps)).sqrt();
        let (scale, epsilon) = ((f64::from(rate) * second / first) as f32, (f64::from(self.epsilon) * second) as f32);
        let shrink = rate * self.decay;
        run(self.level, AdamLoop { adam: self, parameters, gradient, scale, epsilon, shrink });
    }
}

/// The loop of one step over all parameters.
struct AdamLoop<'a> {
    adam: &'a mut Adam,
    parameters: &'a mut [f32],
    gradient: &'a [f32],
    scale: f32,
    epsilon: f32,
    shrink: f32,
}

impl Work for AdamLoop<'_> {
    #[inline(always)]
    unsafe fn with<V: Lanes>(self) {
        let AdamLoop { adam, parameters, gradient, scale, epsilon, shrink } = self;
        assert!(parameters.len().is_multiple_of(V::WIDTH), "a network's list is padded to whole registers");
        let length = parameters.len();
        let (parameters, gradient, decays) = (parameters.as_mut_ptr(), gradient.as_ptr(), adam.decays.as_ptr());
        let (mean, square) = (adam.mean.as_mut_ptr(), adam.square.as_mut_ptr());
        // SAFETY: `step` has found all lists to be of one length, which registers divide; `run` has the instructions of V.
        unsafe {
            let (new_mean, new_square) = (V::splat(1.0 - adam.momentum), V::splat(1.0 - adam.memory));
            let (minus_scale, minus_shrink) = (V::splat(-scale), V::splat(-shrink));
            let (minus, epsilon) = (V::splat(-1.0), V::splat(epsilon));
            // The means of a dead unit decay toward denormal numbers, with which arithmetic is a hundred times slower. So the first mean is
            // rounded to multiples of a tiny grain, and the second has a lower bound whose root is negligible beside ε.
            let (grain, minus_grain, least) = (V::splat(1e-22), V::splat(-1e-22), V::splat(1e-33));
            for at in (0..length).step_by(V::WIDTH) {
                let gradient = V::load(gradient.add(at));
                let (old_mean, old_square) = (V::load(mean.add(at)), V::load(square.add(at)));
                let first = new_mean.fused(minus.fused(old_mean, gradient), old_mean.plus(grain)).plus(minus_grain);
                let second =
                    new_square.fused(gradient.fused(gradient, minus.times(old_square)), old_square).at_least(least);
                first.store(mean.add(at));
                second.store(square.add(at));
                let old = V::load(parameters.add(at));
                let kept =
                    if shrink == 0.0 { old } else { minus_shrink.fused(V::load(decays.add(at)).times(old), old) };
                minus_scale.fused(first.over_root(second, epsilon), kept).store(parameters.add(at));
            }
        }
    }
}

/// Gradient descent with momentum.
///
/// ```text
/// v ← momentum v + g        θ ← θ − rate v
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Descent {
    /// Share of the last step that is kept.
    pub momentum: f32,
    velocity: Vec<f32>,
}

impl Descent {
    /// An optimiser for this network that has not taken a step.
    #[must_use]
    pub fn new(network: &Network, momentum: f32) -> Self {
        Descent { momentum, velocity: vec![0.0; network.parameters.len()] }
    }

    /// One step against the gradient.
    ///
    /// # Panics
    /// If a slice is not as long as the network's list of parameters.
    pub fn step(&mut self, parameters: &mut [f32], gradient: &[f32], rate: f32) {
        assert!(
            parameters.len() == self.velocity.len() && gradient.len() == self.velocity.len(),
            "the slices are as long as the list of parameters"
        );
        for ((parameter, gradient), velocity) in parameters.iter_mut().zip(gradient).zip(&mut self.velocity) {
            *velocity = self.momentum * *velocity + gradient;
            *parameter -= rate * *velocity;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::NetworkShape;

    #[test]
    fn weights_decay_and_biases_do_not_with_every_optimiser() {
        for optimiser in [Optimiser::Adam, Optimiser::Sgd] {
            let mut network = Network::glorot(NetworkShape::new(3, &[2], 1).unwrap(), 1);
            network.parameter_indices().iter().for_each(|index| network.parameters[*index] = 1.0);
            let zero = vec![0.0; network.parameters.len()];
            OptimiserState::new(optimiser, &network, 0.5).step(&mut network.parameters, &zero, 0.1);
            for layer in network.shape().layers() {
                assert_eq!(network.parameters[layer.weights], 0.95, "{optimiser:?}");
                assert_eq!(network.parameters[layer.biases], 1.0, "{optimiser:?}");
            }
        }
    }
}
