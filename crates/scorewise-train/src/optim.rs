//! OPTIM: from a gradient to a step, over the flat list of parameters.

use crate::engine::{Lanes, Level, Work, run};
use crate::net::Network;

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
    /// By how much of themselves weights shrink in a step of rate 1.
    pub decay: f32,
    mean: Vec<f32>,
    square: Vec<f32>,
    /// 1 where decay applies, 0 for biases.
    decays: Vec<f32>,
    steps: i32,
}

impl Adam {
    /// For this network, at rest.
    #[must_use]
    pub fn new(network: &Network) -> Self {
        let length = network.parameters.len();
        let mut decays = vec![1.0; length];
        for layer in network.shape().layers() {
            decays[layer.biases..layer.biases + layer.outputs].fill(0.0);
        }
        let rest = vec![0.0; length];
        Adam {
            momentum: 0.9,
            memory: 0.999,
            epsilon: 1e-7,
            decay: 0.0,
            mean: rest.clone(),
            square: rest,
            decays,
            steps: 0,
        }
    }

    /// One step against the gradient.
    ///
    /// # Panics
    /// Where the lists are not as long as the network's.
    pub fn step(&mut self, parameters: &mut [f32], gradient: &[f32], rate: f32) {
        assert!(
            parameters.len() == self.mean.len() && gradient.len() == self.mean.len(),
            "lists of the network's length"
        );
        self.steps = self.steps.saturating_add(1);
        // The corrections of the two means folded into the rate, in f64: 1 − 0.999 loses digits in f32.
        let first = 1.0 - f64::from(self.momentum).powi(self.steps);
        let second = (1.0 - f64::from(self.memory).powi(self.steps)).sqrt();
        let (scale, epsilon) = ((f64::from(rate) * second / first) as f32, (f64::from(self.epsilon) * second) as f32);
        let shrink = rate * self.decay;
        run(Level::best(), AdamLoop { adam: self, parameters, gradient, scale, epsilon, shrink });
    }
}

/// The step of every parameter; no vector is named, but compiled inside [`run`] the loop has the level's registers.
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
        let (new_mean, new_square) = (1.0 - adam.momentum, 1.0 - adam.memory);
        // One length for all lists, so that the compiler needs no checks inside the loop.
        let length = parameters.len();
        let (gradient, decays) = (&gradient[..length], &adam.decays[..length]);
        let (mean, square) = (&mut adam.mean[..length], &mut adam.square[..length]);
        for at in 0..length {
            let slope = gradient[at];
            mean[at] += new_mean * (slope - mean[at]);
            square[at] += new_square * (slope * slope - square[at]);
            parameters[at] -= scale * mean[at] / (square[at].sqrt() + epsilon) + shrink * decays[at] * parameters[at];
        }
    }
}

/// Plain descent with momentum.
///
/// ```text
/// v ← momentum v + g        θ ← θ − rate v
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Descent {
    /// How much of the last step is kept.
    pub momentum: f32,
    velocity: Vec<f32>,
}

impl Descent {
    /// For this network, at rest.
    #[must_use]
    pub fn new(network: &Network, momentum: f32) -> Self {
        Descent { momentum, velocity: vec![0.0; network.parameters.len()] }
    }

    /// One step against the gradient.
    ///
    /// # Panics
    /// Where the lists are not as long as the network's.
    pub fn step(&mut self, parameters: &mut [f32], gradient: &[f32], rate: f32) {
        assert!(
            parameters.len() == self.velocity.len() && gradient.len() == self.velocity.len(),
            "lists of the network's length"
        );
        for ((parameter, slope), velocity) in parameters.iter_mut().zip(gradient).zip(&mut self.velocity) {
            *velocity = self.momentum * *velocity + slope;
            *parameter -= rate * *velocity;
        }
    }
}
