//! OPTIM: from a gradient to a step, over the flat list of parameters.

use crate::engine::{Lanes, Level, Work, run};
use crate::net::Network;
use scorewise_table::Buffer;

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
    mean: Buffer,
    square: Buffer,
    /// 1 where decay applies, 0 for biases.
    decays: Buffer,
    steps: i32,
    level: Level,
}

impl Adam {
    /// For this network, at rest.
    #[must_use]
    pub fn new(network: &Network) -> Self {
        Adam::at(Level::best(), network)
    }

    /// With the instructions of a level.
    #[must_use]
    pub fn at(level: Level, network: &Network) -> Self {
        let rest = Buffer::zeros(network.parameters.len());
        let mut decays = rest.clone();
        decays.fill(1.0);
        for layer in network.shape().layers() {
            decays[layer.biases..layer.biases + layer.outputs].fill(0.0);
        }
        Adam {
            momentum: 0.9,
            memory: 0.999,
            epsilon: 1e-7,
            decay: 0.0,
            mean: rest.clone(),
            square: rest,
            decays,
            steps: 0,
            level,
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
        run(self.level, AdamLoop { adam: self, parameters, gradient, scale, epsilon, shrink });
    }
}

/// The step of every parameter.
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
            // Where a unit is dead, both means would fade until f32 can hold them only in its slow way, a hundred times slower. So
            // the first is rounded to what a grain can be told from, and the second ends at a number whose root is nothing beside ε.
            let (grain, minus_grain, least) = (V::splat(1e-22), V::splat(-1e-22), V::splat(1e-33));
            for at in (0..length).step_by(V::WIDTH) {
                let slope = V::load(gradient.add(at));
                let (old_mean, old_square) = (V::load(mean.add(at)), V::load(square.add(at)));
                let first = new_mean.fused(minus.fused(old_mean, slope), old_mean.plus(grain)).plus(minus_grain);
                let second = new_square.fused(slope.fused(slope, minus.times(old_square)), old_square).at_least(least);
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
