//! Optimisers, which use a gradient to change all parameters of a network.

use std::ops::Range;

use scorewise::InstructionSet;
use scorewise_table::AlignedBuffer;
use serde::{Deserialize, Serialize};

use super::Network;
use super::engine::{SimdTask, SimdVector, run};

/// The method that turns a gradient into a change of the parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Optimiser {
    /// Adam with decoupled weight decay
    // Adam is the choice of Marchetti et al. (2022). It is the default because the size of its steps hardly depends on the size of the gradient,
    // and gradients of score-oriented losses differ by orders of magnitude between layers and epochs.
    #[default]
    Adam,
    /// Gradient descent with momentum 0.9
    Sgd,
}

/// The optimiser of one training run, with its state.
#[derive(Debug)]
pub(super) enum OptimiserState {
    Adam(Adam),
    Descent {
        descent: Descent,
        decay: f32,
        /// Ranges of the weights in the list of parameters. Weight decay applies to weights but not to biases.
        weights: Vec<Range<usize>>,
    },
}

impl OptimiserState {
    /// The optimiser for a list of parameters of this length, which must be a multiple of the register width. Weight decay applies to the parameters
    /// in the ranges `weights`.
    pub fn new(optimiser: Optimiser, length: usize, weights: Vec<Range<usize>>, decay: f32) -> Self {
        match optimiser {
            Optimiser::Adam => {
                let mut adam = Adam::of_length(InstructionSet::best(), length, &weights);
                adam.decay = decay;
                OptimiserState::Adam(adam)
            }
            Optimiser::Sgd => OptimiserState::Descent { descent: Descent::of_length(length, MOMENTUM), decay, weights },
        }
    }

    /// Changes the parameters by one step with the learning rate `rate`.
    pub fn step(&mut self, parameters: &mut [f32], gradient: &[f32], rate: f32) {
        match self {
            OptimiserState::Adam(adam) => adam.step(parameters, gradient, rate),
            OptimiserState::Descent { descent, decay, weights } => {
                if *decay > 0.0 {
                    // The decay is decoupled from the gradient, as in AdamW: it is applied to the weights before the step, without momentum.
                    let remaining = 1.0 - rate * *decay;
                    for range in weights {
                        parameters[range.clone()].iter_mut().for_each(|weight| *weight *= remaining);
                    }
                }
                descent.step(parameters, gradient, rate);
            }
        }
    }

    /// Takes one step with the learning rate `rate`. The parameters are changed by `task`, which computes the gradient of a few parameters at a time
    /// and updates these parameters immediately. Weight decay applies to all of them.
    pub fn step_in(&mut self, instructions: InstructionSet, rate: f32, task: impl UpdateTask) {
        run(instructions, RuleTask { optimiser: self, rate, task });
    }
}

/// A computation that changes all parameters. How a gradient changes a parameter is decided by the [`UpdateRule`] that it gets when it runs.
pub(super) trait UpdateTask {
    /// Runs the computation. It must be `#[inline(always)]`, so that it is compiled with the target features of its caller.
    ///
    /// # Safety
    /// The conditions of [`SimdVector`] must hold.
    unsafe fn run_with<V: SimdVector>(self, rule: impl UpdateRule<V>);
}

/// Runs an [`UpdateTask`] with the update rule of an optimiser, which thereby takes one step.
struct RuleTask<'a, T> {
    optimiser: &'a mut OptimiserState,
    rate: f32,
    task: T,
}

impl<T: UpdateTask> SimdTask for RuleTask<'_, T> {
    #[inline(always)]
    unsafe fn run_with<V: SimdVector>(self) {
        // SAFETY: `run` has checked that the processor has the instructions of V.
        unsafe {
            match self.optimiser {
                OptimiserState::Adam(adam) => {
                    let constants = adam.advance(self.rate);
                    self.task.run_with(AdamStep::<V>::new(adam, constants));
                }
                OptimiserState::Descent { descent, decay, .. } => {
                    let (momentum, remaining) = (V::splat(descent.momentum), V::splat(1.0 - self.rate * *decay));
                    let (velocity, minus_rate) = (descent.velocity.as_mut_ptr(), V::splat(-self.rate));
                    self.task.run_with(DescentStep { velocity, momentum, remaining, minus_rate });
                }
            }
        }
    }
}

/// Share of the previous step that gradient descent with momentum adds to the next step.
const MOMENTUM: f32 = 0.9;

/// Adam with decoupled weight decay (AdamW).
///
/// ```text
/// m ← β₁m + (1 − β₁)g        v ← β₂v + (1 − β₂)g²        θ ← θ − rate (m/(1 − β₁ᵗ) / (√(v/(1 − β₂ᵗ)) + ε) + decay θ)
/// ```
///
/// The defaults are those of Keras, which Marchetti et al. (2022) used: β₁ = 0.9, β₂ = 0.999, ε = 1e-7. Biases do not decay.
///
/// Kingma, D. P. & Ba, J. (2015). Adam: a method for stochastic optimization. ICLR. Loshchilov, I. & Hutter, F. (2019).
/// Decoupled weight decay regularization. ICLR.
#[derive(Clone, Debug, PartialEq)]
pub struct Adam {
    /// The coefficient β₁ of the running mean of the gradient.
    pub momentum: f32,
    /// The coefficient β₂ of the running mean of the squared gradient.
    pub memory: f32,
    /// The constant ε that is added to the denominator.
    pub epsilon: f32,
    /// Weight decay: the fraction by which a weight shrinks in a step with learning rate 1.
    pub decay: f32,
    /// The running mean m of the gradient.
    mean: AlignedBuffer,
    /// The running mean v of the squared gradient.
    square: AlignedBuffer,
    /// For each parameter, 1 if weight decay applies to it (a weight), and 0 if not (a bias).
    decays: AlignedBuffer,
    steps: i32,
    instructions: InstructionSet,
}

impl Adam {
    /// The default values of β₁, β₂ and ε.
    pub(crate) const DEFAULTS: (f32, f32, f32) = (0.9, 0.999, 1e-7);

    /// Creates an optimiser for networks with as many parameters as this one.
    #[must_use]
    pub fn new(network: &Network) -> Self {
        Adam::with_instructions(InstructionSet::best(), network)
    }

    /// Creates an optimiser like [`Adam::new`], but with the given instruction set.
    #[must_use]
    pub fn with_instructions(instructions: InstructionSet, network: &Network) -> Self {
        Adam::of_length(instructions, network.parameters.len(), &network.weight_ranges().collect::<Vec<_>>())
    }

    /// An optimiser for `length` parameters. Weight decay applies to those in the ranges `weights`.
    fn of_length(instructions: InstructionSet, length: usize, weights: &[Range<usize>]) -> Self {
        let zeros = AlignedBuffer::zeros(length);
        let mut decays = zeros.clone();
        for range in weights {
            decays[range.clone()].fill(1.0);
        }
        Adam {
            momentum: Adam::DEFAULTS.0,
            memory: Adam::DEFAULTS.1,
            epsilon: Adam::DEFAULTS.2,
            decay: 0.0,
            mean: zeros.clone(),
            square: zeros,
            decays,
            steps: 0,
            instructions,
        }
    }

    /// Changes the parameters by one step in the direction that reduces the loss.
    ///
    /// # Panics
    /// If `parameters` or `gradient` is not as long as the network's list of parameters.
    pub fn step(&mut self, parameters: &mut [f32], gradient: &[f32], rate: f32) {
        assert!(
            parameters.len() == self.mean.len() && gradient.len() == self.mean.len(),
            "parameters and gradient must be as long as the optimiser's state"
        );
        let constants = self.advance(rate);
        run(self.instructions, AdamLoop { adam: self, parameters, gradient, constants });
    }

    /// Counts one more step, and returns the constants of this step.
    fn advance(&mut self, rate: f32) -> AdamConstants {
        self.steps = self.steps.saturating_add(1);
        // The bias corrections of both running means are included in the learning rate and in ε. They are computed in f64, because 1 − 0.999
        // loses digits in f32.
        let first = 1.0 - f64::from(self.momentum).powi(self.steps);
        let second = (1.0 - f64::from(self.memory).powi(self.steps)).sqrt();
        AdamConstants {
            scale: (f64::from(rate) * second / first) as f32,
            epsilon: (f64::from(self.epsilon) * second) as f32,
            shrink: rate * self.decay,
        }
    }
}

/// The constants of one step of Adam.
#[derive(Clone, Copy, Debug)]
struct AdamConstants {
    /// The learning rate, corrected for the bias of the running means.
    scale: f32,
    /// The constant ε, corrected for the bias of the running mean of the squared gradient.
    epsilon: f32,
    /// The fraction by which a weight shrinks in this step.
    shrink: f32,
}

/// How an optimiser changes the parameters in one vector register. It is used in loops that compute the gradient of a few parameters and use it
/// immediately.
pub(super) trait UpdateRule<V: SimdVector>: Copy {
    /// The parameters that fill one register, beginning with parameter `index`, after weight decay and one step. `old` are the parameters before.
    ///
    /// # Safety
    /// The conditions of [`SimdVector`] must hold, and the parameters must exist in the list for which the optimiser was made.
    unsafe fn update(self, index: usize, old: V, gradient: V) -> V;

    /// The same rule for parameters that do not decay and whose learning rate is `factor` times that of the others.
    ///
    /// # Safety
    /// The conditions of [`SimdVector`] must hold.
    unsafe fn without_decay(self, factor: f32) -> Self;
}

/// One step of Adam with its constants in registers.
#[derive(Clone, Copy)]
struct AdamStep<V> {
    mean: *mut f32,
    square: *mut f32,
    new_mean: V,
    new_square: V,
    minus_scale: V,
    minus_shrink: V,
    epsilon: V,
    minus: V,
    grain: V,
    minus_grain: V,
    minimum: V,
}

impl<V: SimdVector> AdamStep<V> {
    #[inline(always)]
    unsafe fn new(adam: &mut Adam, constants: AdamConstants) -> Self {
        // SAFETY: the caller guarantees that the conditions of `SimdVector` hold.
        unsafe {
            AdamStep {
                mean: adam.mean.as_mut_ptr(),
                square: adam.square.as_mut_ptr(),
                new_mean: V::splat(1.0 - adam.momentum),
                new_square: V::splat(1.0 - adam.memory),
                minus_scale: V::splat(-constants.scale),
                minus_shrink: V::splat(-constants.shrink),
                epsilon: V::splat(constants.epsilon),
                minus: V::splat(-1.0),
                // The gradient of a unit whose ReLU is 0 for all rows is 0, so its running means decay toward denormal numbers, with which arithmetic
                // is a hundred times slower. To avoid denormal numbers, the running mean of the gradient is rounded to multiples of a tiny number, and
                // that of the squared gradient has a lower bound whose square root is negligible compared with ε.
                grain: V::splat(1e-22),
                minus_grain: V::splat(-1e-22),
                minimum: V::splat(1e-33),
            }
        }
    }

    /// Takes one step for the parameters that fill one register, beginning with parameter `index`: updates the running means of their gradient, and
    /// returns the new parameters. `decayed` holds the old parameters after weight decay.
    #[inline(always)]
    unsafe fn step(self, index: usize, decayed: V, gradient: V) -> V {
        // SAFETY: the caller guarantees that the parameters exist and that the conditions of `SimdVector` hold.
        unsafe {
            let (mean, square) = (self.mean.add(index), self.square.add(index));
            let (old_mean, old_square) = (V::load(mean), V::load(square));
            let first = self
                .new_mean
                .multiply_add(self.minus.multiply_add(old_mean, gradient), old_mean.plus(self.grain))
                .plus(self.minus_grain);
            let second = self
                .new_square
                .multiply_add(gradient.multiply_add(gradient, self.minus.times(old_square)), old_square)
                .maximum(self.minimum);
            first.store(mean);
            second.store(square);
            self.minus_scale.multiply_add(first.over_root(second, self.epsilon), decayed)
        }
    }
}

impl<V: SimdVector> UpdateRule<V> for AdamStep<V> {
    #[inline(always)]
    unsafe fn update(self, index: usize, old: V, gradient: V) -> V {
        // SAFETY: the caller guarantees that the parameters exist and that the conditions of `SimdVector` hold.
        unsafe { self.step(index, self.minus_shrink.multiply_add(old, old), gradient) }
    }

    #[inline(always)]
    unsafe fn without_decay(self, factor: f32) -> Self {
        // SAFETY: the caller guarantees that the conditions of `SimdVector` hold.
        unsafe {
            AdamStep { minus_scale: self.minus_scale.times(V::splat(factor)), minus_shrink: V::splat(0.0), ..self }
        }
    }
}

/// A task that takes one step of Adam, in a loop over all parameters.
struct AdamLoop<'a> {
    adam: &'a mut Adam,
    parameters: &'a mut [f32],
    gradient: &'a [f32],
    constants: AdamConstants,
}

impl SimdTask for AdamLoop<'_> {
    #[inline(always)]
    unsafe fn run_with<V: SimdVector>(self) {
        let AdamLoop { adam, parameters, gradient, constants } = self;
        assert!(parameters.len().is_multiple_of(V::WIDTH), "the list of parameters must be padded to whole registers");
        let length = parameters.len();
        let (parameters, gradient, decays) = (parameters.as_mut_ptr(), gradient.as_ptr(), adam.decays.as_ptr());
        // SAFETY: `step` has checked that all lists have the same length, which is a multiple of the register width. `run` has checked that the
        // processor has the instructions of V.
        unsafe {
            let step = AdamStep::<V>::new(adam, constants);
            for index in (0..length).step_by(V::WIDTH) {
                let old = V::load(parameters.add(index));
                let decayed = if constants.shrink == 0.0 {
                    old
                } else {
                    step.minus_shrink.multiply_add(V::load(decays.add(index)).times(old), old)
                };
                step.step(index, decayed, V::load(gradient.add(index))).store(parameters.add(index));
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
    /// Share of the previous step that is added to the next step.
    pub momentum: f32,
    velocity: Vec<f32>,
}

impl Descent {
    /// Creates an optimiser for networks with as many parameters as this one.
    #[must_use]
    pub fn new(network: &Network, momentum: f32) -> Self {
        Descent::of_length(network.parameters.len(), momentum)
    }

    /// An optimiser for `length` parameters.
    fn of_length(length: usize, momentum: f32) -> Self {
        Descent { momentum, velocity: vec![0.0; length] }
    }

    /// Changes the parameters by one step in the direction that reduces the loss.
    ///
    /// # Panics
    /// If `parameters` or `gradient` is not as long as the network's list of parameters.
    pub fn step(&mut self, parameters: &mut [f32], gradient: &[f32], rate: f32) {
        assert!(
            parameters.len() == self.velocity.len() && gradient.len() == self.velocity.len(),
            "parameters and gradient must be as long as the optimiser's state"
        );
        for ((parameter, gradient), velocity) in parameters.iter_mut().zip(gradient).zip(&mut self.velocity) {
            *velocity = self.momentum * *velocity + gradient;
            *parameter -= rate * *velocity;
        }
    }
}

/// One step of gradient descent with its constants in registers.
#[derive(Clone, Copy)]
struct DescentStep<V> {
    velocity: *mut f32,
    momentum: V,
    /// The share of a weight that remains after its decay.
    remaining: V,
    minus_rate: V,
}

impl<V: SimdVector> UpdateRule<V> for DescentStep<V> {
    #[inline(always)]
    unsafe fn update(self, index: usize, old: V, gradient: V) -> V {
        // SAFETY: the caller guarantees that the parameters exist and that the conditions of `SimdVector` hold.
        unsafe {
            let at = self.velocity.add(index);
            let velocity = self.momentum.multiply_add(V::load(at), gradient);
            velocity.store(at);
            self.minus_rate.multiply_add(velocity, self.remaining.times(old))
        }
    }

    #[inline(always)]
    unsafe fn without_decay(self, factor: f32) -> Self {
        // SAFETY: the caller guarantees that the conditions of `SimdVector` hold.
        unsafe { DescentStep { minus_rate: self.minus_rate.times(V::splat(factor)), remaining: V::splat(1.0), ..self } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::NetworkShape;

    #[test]
    fn with_every_optimiser_weights_decay_and_biases_do_not() {
        for optimiser in [Optimiser::Adam, Optimiser::Sgd] {
            let mut network = Network::glorot(NetworkShape::new(3, &[2], 1).unwrap(), 1);
            network.parameter_indices().iter().for_each(|index| network.parameters[*index] = 1.0);
            let zero = vec![0.0; network.parameters.len()];
            let weights = network.weight_ranges().collect();
            OptimiserState::new(optimiser, zero.len(), weights, 0.5).step(&mut network.parameters, &zero, 0.1);
            for layer in network.shape().layers() {
                assert_eq!(network.parameters[layer.weights], 0.95, "{optimiser:?}");
                assert_eq!(network.parameters[layer.biases], 1.0, "{optimiser:?}");
            }
        }
    }
}
