//! Neural networks with ReLU between the layers: parameters, training, and the engine that computes logits and gradients.
//!
//! ```text
//! a dense layer       out = W in + b                                    stored as W row by row, each row padded with zeros to a whole
//!                                                                       number of registers, then b
//! a look-up layer     out = b + Σ_c (1 − f_c) T[k_c] + f_c T[k_c + 1]   stored as one row of T for each position of each input, padded
//!                     where input c has the position k_c + f_c          likewise, then b
//! ```
//!
//! Only the first layer can be a look-up layer; it reads binned inputs (see [`BinnedColumn`](scorewise_table::encode::BinnedColumn)). A look-up
//! layer computes the same as a dense layer whose inputs are 1 − f at position k, f at position k + 1 and 0 elsewhere, but its cost does not depend
//! on the number of positions.
//!
//! All parameters are one flat list, so that an optimiser needs only one loop. The padding stays 0 during training: it is multiplied by inputs
//! that are 0, so its gradient is 0.
//!
//! | file | contents |
//! |---|---|
//! | `settings` | training settings, with the reason for every default |
//! | `initialisation` | moves the first predictions into the support of the prior |
//! | `optimiser` | turns a gradient into a change of the weights |
//! | `look_up` | trains the table of a look-up layer |
//! | `time_blocks` | batches of a time series |
//! | `training` | the training loop: steps and validation, controlled by a [`Course`](crate::fit::Course) |
//! | `engine` | computes the logits of a batch and the gradient of the parameters |

mod settings;
mod initialisation;
mod optimiser;
mod look_up;
mod time_blocks;
mod training;
mod engine;

pub use engine::Engine;
pub(crate) use engine::{SimdTask, SimdVector, run};
pub(crate) use initialisation::log_odds;
pub use initialisation::{centre, coverage, has_centre};
pub use optimiser::{Adam, Descent, Optimiser};
pub use settings::{BatchSize, HiddenLayers, NetworkSettings, WarmStart};
#[cfg(feature = "cuda")]
pub(crate) use training::NetworkRun;
pub use training::fit;

use rand_core::Rng;
use scorewise::Purpose;
use serde::{Deserialize, Serialize};

use scorewise_table::split::random;
use scorewise_table::{AlignedBuffer, PAD};

/// The widths of the layers of a network: the number of inputs, of units in each hidden layer, and of outputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkShape {
    widths: Vec<usize>,
    /// The number of positions (knots, frequent values and levels) of each input of a look-up layer; empty if the first layer is dense.
    positions: Vec<usize>,
}

/// The position of a layer in the flat list of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LayerLayout {
    pub inputs: usize,
    pub outputs: usize,
    /// Distance from the start of one row of weights to the start of the next. A dense layer has one row of weights for each output, a look-up
    /// layer has one for each position.
    pub stride: usize,
    /// Offset of the first weight in the flat list.
    pub weights: usize,
    /// Offset of the first bias in the flat list.
    pub biases: usize,
}

impl NetworkShape {
    /// The shape with the given widths; `None` if a width is 0. A network without hidden layers is a linear model.
    #[must_use]
    pub fn new(inputs: usize, hidden: &[usize], outputs: usize) -> Option<Self> {
        let widths: Vec<usize> = std::iter::once(inputs).chain(hidden.iter().copied()).chain([outputs]).collect();
        widths.iter().all(|width| *width > 0).then_some(NetworkShape { widths, positions: Vec::new() })
    }

    /// The shape of a network whose first layer is a look-up layer, with the given number of positions of each input; `None` if there are no inputs,
    /// if a width or a number of positions is 0, or if there are too many positions.
    #[must_use]
    pub fn look_up(positions: Vec<usize>, hidden: &[usize], outputs: usize) -> Option<Self> {
        let sum = positions.iter().try_fold(0usize, |sum, positions| sum.checked_add(*positions))?;
        // The rows of the table, one for each position, are numbered with u32. The positions of an input are f32 numbers, exact up to 2²⁴.
        let fits = positions.iter().all(|positions| (1..=1 << 24).contains(positions)) && sum <= u32::MAX as usize;
        NetworkShape::new(positions.len(), hidden, outputs)
            .filter(|_| fits)
            .map(|shape| NetworkShape { positions, ..shape })
    }

    /// For each input of a look-up layer, the number of rows of its table; empty if the first layer is dense.
    #[must_use]
    pub fn positions(&self) -> &[usize] {
        &self.positions
    }

    /// Number of parameters, including padding, in the table of a look-up layer, which comes first in the list of parameters; 0 if the first layer
    /// is dense.
    pub(crate) fn table_length(&self) -> usize {
        self.positions.iter().sum::<usize>() * self.widths[1].next_multiple_of(PAD)
    }

    /// The number of inputs, the number of units of each hidden layer, and the number of outputs.
    #[must_use]
    pub fn widths(&self) -> &[usize] {
        &self.widths
    }

    /// Number of inputs.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.widths[0]
    }

    /// Number of outputs.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.widths[self.widths.len() - 1]
    }

    /// The position of every layer in the flat list of parameters.
    pub(crate) fn layers(&self) -> Vec<LayerLayout> {
        let mut next = 0;
        self.widths
            .windows(2)
            .enumerate()
            .map(|(number, pair)| {
                let (inputs, outputs) = (pair[0], pair[1]);
                let is_look_up = number == 0 && !self.positions.is_empty();
                let stride = if is_look_up { outputs } else { inputs }.next_multiple_of(PAD);
                let length = if is_look_up { self.table_length() } else { outputs * stride };
                let layer = LayerLayout { inputs, outputs, stride, weights: next, biases: next + length };
                next = layer.biases + outputs.next_multiple_of(PAD);
                layer
            })
            .collect()
    }

    /// Length of the flat list of parameters, including its padding.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.layers().last().map_or(0, |layer| layer.biases + layer.outputs.next_multiple_of(PAD))
    }

    /// Number of weights and biases, without the padding.
    #[must_use]
    pub fn free_parameters(&self) -> usize {
        self.dense_widths().windows(2).map(|pair| (pair[0] + 1) * pair[1]).sum()
    }

    /// The widths of the layers if a look-up layer is replaced by a dense layer that computes the same. This dense layer has one input for each
    /// position of each input of the look-up layer.
    pub(crate) fn dense_widths(&self) -> Vec<usize> {
        let mut widths = self.widths.clone();
        if !self.positions.is_empty() {
            widths[0] = self.positions.iter().sum();
        }
        widths
    }

    /// The index of one weight in the flat list of parameters. The weight connects unit `output` of layer `number` with input `input` of this layer.
    /// Each position of a look-up layer counts as an input.
    fn weight_index(&self, number: usize, layer: &LayerLayout, output: usize, input: usize) -> usize {
        if number == 0 && !self.positions.is_empty() {
            layer.weights + input * layer.stride + output
        } else {
            layer.weights + output * layer.stride + input
        }
    }
}

/// A network: its shape and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Network {
    shape: NetworkShape,
    /// The flat list of parameters, including its padding. Every row of weights begins at the beginning of a cache line.
    pub parameters: AlignedBuffer,
}

/// One dense layer without padding, as it is stored in files.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// The matrix of weights row by row, one row for each output.
    pub weights: Vec<f32>,
    /// One bias for each output.
    pub biases: Vec<f32>,
}

impl Network {
    /// Replaces every output z by `scale` · z + `shift`.
    pub(crate) fn rescale_output(&mut self, scale: f32, shift: f32) {
        let Some(last) = self.shape.layers().last().copied() else { return };
        self.parameters[last.weights..last.biases].iter_mut().for_each(|weight| *weight *= scale);
        for bias in &mut self.parameters[last.biases..last.biases + last.outputs] {
            *bias = scale * *bias + shift;
        }
    }

    /// A network with Glorot initialisation: weights drawn uniformly from ±√(6/(inputs + outputs)), and biases of 0.
    #[must_use]
    pub fn glorot(shape: NetworkShape, seed: u64) -> Self {
        let mut random = random(seed, Purpose::InitialWeights, 0);
        let mut parameters = AlignedBuffer::zeros(shape.parameters());
        let widths = shape.dense_widths();
        for (number, layer) in shape.layers().iter().enumerate() {
            let limit = (6.0 / (widths[number] + layer.outputs) as f64).sqrt();
            for output in 0..layer.outputs {
                for input in 0..widths[number] {
                    parameters[shape.weight_index(number, layer, output, input)] = uniform(&mut random, limit);
                }
            }
        }
        Network { shape, parameters }
    }

    /// The network with the given layers. If `positions` is not empty, the first layer is a look-up layer, and `positions` holds the number of
    /// positions of each of its inputs.
    /// `None` if there are no layers, if a layer has the wrong number of weights or biases, or if the outputs of one layer do not match the
    /// inputs of the next.
    #[must_use]
    pub fn from_layers(positions: &[usize], layers: &[Dense]) -> Option<Self> {
        let first = layers.first()?;
        let widths_match = layers.windows(2).all(|pair| pair[0].outputs == pair[1].inputs);
        let sizes_match = layers.iter().all(|layer| {
            layer.inputs.checked_mul(layer.outputs) == Some(layer.weights.len()) && layer.biases.len() == layer.outputs
        });
        if !widths_match || !sizes_match {
            return None;
        }
        let outputs: Vec<usize> = layers.iter().map(|layer| layer.outputs).collect();
        let (last, hidden) = outputs.split_last()?;
        let shape = if positions.is_empty() {
            NetworkShape::new(first.inputs, hidden, *last)?
        } else {
            NetworkShape::look_up(positions.to_vec(), hidden, *last)?
        };
        if shape.dense_widths()[0] != first.inputs {
            return None;
        }
        let mut parameters = AlignedBuffer::zeros(shape.parameters());
        for (number, (layout, layer)) in shape.layers().iter().zip(layers).enumerate() {
            for (output, weights) in layer.weights.chunks_exact(layer.inputs).enumerate() {
                for (input, weight) in weights.iter().enumerate() {
                    parameters[shape.weight_index(number, layout, output, input)] = *weight;
                }
            }
            parameters[layout.biases..layout.biases + layout.outputs].copy_from_slice(&layer.biases);
        }
        Some(Network { shape, parameters })
    }

    /// The layers of the network, without padding. A look-up layer is returned as a dense layer that computes the same.
    #[must_use]
    pub fn to_layers(&self) -> Vec<Dense> {
        let widths = self.shape.dense_widths();
        let dense = |(number, layout): (usize, LayerLayout)| {
            let (inputs, outputs) = (widths[number], layout.outputs);
            let index = |at: usize| self.shape.weight_index(number, &layout, at / inputs, at % inputs);
            let weights = (0..inputs * outputs).map(|at| self.parameters[index(at)]).collect();
            Dense { inputs, outputs, weights, biases: self.parameters[layout.biases..layout.biases + outputs].to_vec() }
        };
        self.shape.layers().into_iter().enumerate().map(dense).collect()
    }

    /// The shape of the network.
    #[must_use]
    pub fn shape(&self) -> &NetworkShape {
        &self.shape
    }

    /// Indices of all weights and biases in the flat list, without the padding. For each layer, the weights come row by row, then the biases.
    #[must_use]
    pub fn parameter_indices(&self) -> Vec<usize> {
        let mut indices = Vec::with_capacity(self.shape.free_parameters());
        let widths = self.shape.dense_widths();
        for (number, layer) in self.shape.layers().iter().enumerate() {
            for output in 0..layer.outputs {
                indices.extend((0..widths[number]).map(|input| self.shape.weight_index(number, layer, output, input)));
            }
            indices.extend(layer.biases..layer.biases + layer.outputs);
        }
        indices
    }

    /// Ranges of the weights of all layers in the flat list of parameters, including their padding. Weight decay applies to weights but not to
    /// biases.
    pub(crate) fn weight_ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.shape.layers().into_iter().map(|layer| layer.weights..layer.biases)
    }
}

/// A uniformly distributed random number between −limit and limit.
fn uniform(random: &mut impl Rng, limit: f64) -> f32 {
    let unit = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    (limit * (2.0 * unit - 1.0)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_network_for_adult_has_3581_parameters_and_its_padding_is_zero() {
        let shape = NetworkShape::new(48, &[50, 20, 5], 1).unwrap();
        assert_eq!(shape.free_parameters(), 48 * 50 + 50 + 50 * 20 + 20 + 20 * 5 + 5 + 5 + 1);
        assert_eq!(shape.free_parameters(), 3581);
        let network = Network::glorot(shape, 1);
        assert_eq!(network.parameter_indices().len(), 3581);
        let padding: f32 = {
            let mut rest = network.parameters.clone();
            network.parameter_indices().iter().for_each(|index| rest[*index] = 0.0);
            rest.iter().map(|x| x.abs()).sum()
        };
        assert_eq!(padding, 0.0);
        assert!(NetworkShape::new(3, &[0], 1).is_none());
    }

    #[test]
    fn a_network_is_the_same_after_a_round_trip_through_its_layers() {
        for (inputs, hidden) in [(3, vec![]), (48, vec![50, 20, 5]), (16, vec![1, 32])] {
            let network = Network::glorot(NetworkShape::new(inputs, &hidden, 2).unwrap(), 7);
            assert_eq!(Network::from_layers(&[], &network.to_layers()), Some(network));
            let shape = NetworkShape::look_up(vec![3; inputs], &hidden, 2).unwrap();
            let network = Network::glorot(shape, 7);
            let positions = vec![3; inputs];
            assert_eq!(Network::from_layers(&positions, &network.to_layers()), Some(network));
        }
    }

    #[test]
    fn an_input_of_a_look_up_layer_must_have_between_1_and_2_pow_24_positions() {
        assert!(NetworkShape::look_up(vec![3, 1 << 24], &[4], 1).is_some());
        assert!(NetworkShape::look_up(vec![3, (1 << 24) + 1], &[4], 1).is_none());
        assert!(NetworkShape::look_up(vec![3, 0], &[4], 1).is_none());
    }

    #[test]
    fn layers_with_mismatched_sizes_are_refused() {
        let layers = Network::glorot(NetworkShape::new(3, &[4], 1).unwrap(), 7).to_layers();
        assert_eq!(Network::from_layers(&[], &[]), None);
        assert_eq!(Network::from_layers(&[], &[layers[1].clone(), layers[0].clone()]), None);
        let mut short = layers.clone();
        short[0].weights.pop();
        assert_eq!(Network::from_layers(&[], &short), None);
        let mut long = layers;
        long[1].biases.push(0.0);
        assert_eq!(Network::from_layers(&[], &long), None);
        assert_eq!(Network::from_layers(&[2, 2], &long[..1]), None);
    }
}
