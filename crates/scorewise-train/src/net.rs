//! NET: a dense network with ReLU between its layers, as one flat list of numbers.
//!
//! ```text
//! layer: out = W in + b        stored as W row by row, each row padded with zeros to a whole number of registers, then b
//! ```
//!
//! The padding is part of the list and stays 0: the inputs it would multiply are 0, so its gradient is 0, and an optimiser
//! leaves it where it is. One flat list makes an optimiser one loop.

use rand_core::Rng;
use scorewise::Purpose;

use scorewise_table::PAD;
use scorewise_table::split::random;

/// How many inputs, hidden units in each layer, and outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    widths: Vec<usize>,
}

/// Where a layer's numbers stand in the flat list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layer {
    pub inputs: usize,
    pub outputs: usize,
    /// From one row of weights to the next.
    pub stride: usize,
    pub weights: usize,
    pub biases: usize,
}

impl Shape {
    /// From the inputs to the outputs; no hidden layer is a linear model. Every width is at least 1.
    #[must_use]
    pub fn new(inputs: usize, hidden: &[usize], outputs: usize) -> Option<Self> {
        let widths: Vec<usize> = std::iter::once(inputs).chain(hidden.iter().copied()).chain([outputs]).collect();
        widths.iter().all(|width| *width > 0).then_some(Shape { widths })
    }

    /// Inputs, hidden widths, outputs.
    #[must_use]
    pub fn widths(&self) -> &[usize] {
        &self.widths
    }

    pub(crate) fn layers(&self) -> Vec<Layer> {
        let mut next = 0;
        self.widths
            .windows(2)
            .map(|pair| {
                let (inputs, outputs) = (pair[0], pair[1]);
                let stride = inputs.next_multiple_of(PAD);
                let layer = Layer { inputs, outputs, stride, weights: next, biases: next + outputs * stride };
                next = layer.biases + outputs.next_multiple_of(PAD);
                layer
            })
            .collect()
    }

    /// The length of the flat list, padding included.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.layers().last().map_or(0, |layer| layer.biases + layer.outputs.next_multiple_of(PAD))
    }

    /// Weights and biases, without the padding.
    #[must_use]
    pub fn free_parameters(&self) -> usize {
        self.widths.windows(2).map(|pair| (pair[0] + 1) * pair[1]).sum()
    }
}

/// A network: its shape and its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    shape: Shape,
    /// The flat list, padding included.
    pub parameters: Vec<f32>,
}

/// One layer without padding, as files carry it.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    /// Numbers that go in.
    pub inputs: usize,
    /// Numbers that come out.
    pub outputs: usize,
    /// Row by row, a row for each output.
    pub weights: Vec<f32>,
    /// One for each output.
    pub biases: Vec<f32>,
}

impl Network {
    /// Glorot-uniform weights, ±√(6/(inputs + outputs)), and biases of 0, the same for the same seed.
    #[must_use]
    pub fn glorot(shape: Shape, seed: u64) -> Self {
        let mut random = random(seed, Purpose::FirstWeights, 0);
        let mut parameters = vec![0.0; shape.parameters()];
        for layer in shape.layers() {
            let limit = (6.0 / (layer.inputs + layer.outputs) as f64).sqrt();
            for output in 0..layer.outputs {
                let start = layer.weights + output * layer.stride;
                for weight in &mut parameters[start..start + layer.inputs] {
                    let unit = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                    *weight = (limit * (2.0 * unit - 1.0)) as f32;
                }
            }
        }
        Network { shape, parameters }
    }

    /// From layers without padding; nothing where one does not fit the next, or numbers are too few or too many.
    #[must_use]
    pub fn from_layers(layers: &[Dense]) -> Option<Self> {
        let first = layers.first()?;
        let follows = layers.windows(2).all(|pair| pair[0].outputs == pair[1].inputs);
        let whole = layers.iter().all(|layer| {
            layer.inputs.checked_mul(layer.outputs) == Some(layer.weights.len()) && layer.biases.len() == layer.outputs
        });
        if !follows || !whole {
            return None;
        }
        let outputs: Vec<usize> = layers.iter().map(|layer| layer.outputs).collect();
        let (last, hidden) = outputs.split_last()?;
        let shape = Shape::new(first.inputs, hidden, *last)?;
        let mut parameters = vec![0.0; shape.parameters()];
        for (place, layer) in shape.layers().iter().zip(layers) {
            for (output, weights) in layer.weights.chunks_exact(place.inputs).enumerate() {
                let start = place.weights + output * place.stride;
                parameters[start..start + place.inputs].copy_from_slice(weights);
            }
            parameters[place.biases..place.biases + place.outputs].copy_from_slice(&layer.biases);
        }
        Some(Network { shape, parameters })
    }

    /// The layers without padding.
    #[must_use]
    pub fn to_layers(&self) -> Vec<Dense> {
        let dense = |place: Layer| {
            let rows = self.parameters[place.weights..].chunks(place.stride).take(place.outputs);
            Dense {
                inputs: place.inputs,
                outputs: place.outputs,
                weights: rows.flat_map(|row| &row[..place.inputs]).copied().collect(),
                biases: self.parameters[place.biases..place.biases + place.outputs].to_vec(),
            }
        };
        self.shape.layers().into_iter().map(dense).collect()
    }

    /// The shape.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The places in the flat list that are no padding, layer by layer: weights row by row, then biases.
    #[must_use]
    pub fn places(&self) -> Vec<usize> {
        let mut places = Vec::with_capacity(self.shape.free_parameters());
        for layer in self.shape.layers() {
            for output in 0..layer.outputs {
                let start = layer.weights + output * layer.stride;
                places.extend(start..start + layer.inputs);
            }
            places.extend(layer.biases..layer.biases + layer.outputs);
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adult_net_has_its_3581_parameters() {
        let shape = Shape::new(48, &[50, 20, 5], 1).unwrap();
        assert_eq!(shape.free_parameters(), 48 * 50 + 50 + 50 * 20 + 20 + 20 * 5 + 5 + 5 + 1);
        assert_eq!(shape.free_parameters(), 3581);
        let network = Network::glorot(shape, 1);
        assert_eq!(network.places().len(), 3581);
        let padding: f32 = {
            let mut rest = network.parameters.clone();
            network.places().iter().for_each(|place| rest[*place] = 0.0);
            rest.iter().map(|x| x.abs()).sum()
        };
        assert_eq!(padding, 0.0);
        assert!(Shape::new(3, &[0], 1).is_none());
    }

    #[test]
    fn layers_go_out_and_come_back_the_same() {
        for (inputs, hidden) in [(3, vec![]), (48, vec![50, 20, 5]), (16, vec![1, 32])] {
            let network = Network::glorot(Shape::new(inputs, &hidden, 2).unwrap(), 7);
            assert_eq!(Network::from_layers(&network.to_layers()), Some(network));
        }
    }

    #[test]
    fn layers_that_do_not_fit_are_no_network() {
        let layers = Network::glorot(Shape::new(3, &[4], 1).unwrap(), 7).to_layers();
        assert_eq!(Network::from_layers(&[]), None);
        assert_eq!(Network::from_layers(&[layers[1].clone(), layers[0].clone()]), None);
        let mut short = layers.clone();
        short[0].weights.pop();
        assert_eq!(Network::from_layers(&short), None);
        let mut long = layers;
        long[1].biases.push(0.0);
        assert_eq!(Network::from_layers(&long), None);
    }
}
