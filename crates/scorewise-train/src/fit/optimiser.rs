//! One door to the optimisers.

use serde::{Deserialize, Serialize};

use crate::net::Network;
use crate::optim::{Adam, Descent};

/// How a gradient becomes a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Adam: every parameter has a rate of its own. The paper's, and the default: score-oriented slopes differ by orders of magnitude
    /// between layers and epochs.
    Adam,
    /// Plain descent with momentum.
    Descent {
        /// How much of the last step is kept; 0.9 is usual.
        momentum: f32,
    },
}

/// An optimiser at work on one network.
#[derive(Debug)]
pub(crate) enum Optimiser {
    Adam(Adam),
    Descent {
        descent: Descent,
        decay: f32,
        /// Where weights stand, which decay, and not biases, which do not.
        weights: Vec<std::ops::Range<usize>>,
    },
}

impl Optimiser {
    pub fn new(method: Method, network: &Network, decay: f32) -> Self {
        match method {
            Method::Adam => {
                let mut adam = Adam::new(network);
                adam.decay = decay;
                Optimiser::Adam(adam)
            }
            Method::Descent { momentum } => {
                let layers = network.shape().layers();
                let weights = layers.iter().map(|layer| layer.weights..layer.biases).collect();
                Optimiser::Descent { descent: Descent::new(network, momentum), decay, weights }
            }
        }
    }

    pub fn step(&mut self, parameters: &mut [f32], gradient: &[f32], rate: f32) {
        match self {
            Optimiser::Adam(adam) => adam.step(parameters, gradient, rate),
            Optimiser::Descent { descent, decay, weights } => {
                if *decay > 0.0 {
                    // Decoupled as with Adam: of the weights before the step, and not through the momentum.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Shape;

    #[test]
    fn weights_decay_and_biases_do_not_whatever_the_method() {
        for method in [Method::Adam, Method::Descent { momentum: 0.9 }] {
            let mut network = Network::glorot(Shape::new(3, &[2], 1).unwrap(), 1);
            network.places().iter().for_each(|place| network.parameters[*place] = 1.0);
            let still = vec![0.0; network.parameters.len()];
            Optimiser::new(method, &network, 0.5).step(&mut network.parameters, &still, 0.1);
            for layer in network.shape().layers() {
                assert_eq!(network.parameters[layer.weights], 0.95, "{method:?}");
                assert_eq!(network.parameters[layer.biases], 1.0, "{method:?}");
            }
        }
    }
}
