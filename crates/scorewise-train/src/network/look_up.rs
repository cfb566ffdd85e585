//! Trains the table of a look-up layer.
//!
//! The rows of the table are not trained directly. The contribution of a number to the first layer is a function of the number, linear between
//! its knots, and neighbouring knots should have similar values. So the trained weights are the increments from knot to knot, and a linear
//! term. Each increment, linear term and level also has a trained scale, with a greater learning rate than the weights: the network can quickly
//! switch an input off, or emphasise it, for all units at once.
//!
//! ```text
//! knot k of a number          T[k] = Σ_{1 ≤ j ≤ k} s_j w_j + x_k s v        x_k: the scaled value at the knot, v: the weights of the linear term
//! a frequent value            T[i] = s_i w_i + x_i s v
//! a level, or missing         T[i] = s_i w_i
//! ```
//!
//! The increments are the first layer of a network with piecewise-linear inputs (Gorishniy, Rubachev, Babenko 2022, On embeddings for
//! numerical features in tabular deep learning, NeurIPS 35); the scales are those of Holzmüller, Grinsztajn, Steinwart (2024, Better by
//! default, NeurIPS 37).

use scorewise::{InstructionSet, Purpose};
use scorewise_table::encode::BinnedColumn;
use scorewise_table::split::random;
use scorewise_table::{AlignedBuffer, PAD};

use super::engine::{SimdTask, SimdVector, run};
use super::optimiser::OptimiserState;
use super::settings::NetworkSettings;
use super::uniform;

/// Factor by which the learning rate of the trained scales exceeds that of the weights. With a factor of 6, the scales improved the mean log-loss on
/// ten tables by 0.4 % (two networks for each of five folds).
const SCALE_RATE: f32 = 6.0;

/// The trained parameters from which the table of a look-up layer is computed.
#[derive(Clone, Debug)]
pub(super) struct LookUpParameters {
    /// One row of weights for each position (the increment at a knot, a frequent value, or a level), then one row for the linear term of each column.
    weights: AlignedBuffer,
    /// One scale for each row of `weights`, then padding.
    scales: AlignedBuffer,
}

/// Trains the table of a look-up layer.
#[derive(Debug)]
pub(super) struct LookUpTraining<'a> {
    columns: &'a [BinnedColumn],
    /// Length of a row of the table: the number of units of the layer, rounded up to a multiple of the register width.
    stride: usize,
    pub parameters: LookUpParameters,
    gradient: LookUpParameters,
    optimisers: [OptimiserState; 2],
    instructions: InstructionSet,
}

impl<'a> LookUpTraining<'a> {
    /// A table with random weights for a layer with `outputs` units. If the layer is the only one of the network, all weights are 0: only the units
    /// of a hidden layer must differ from each other at the start. A level that no training row has is not trained; its weights are 0, so that it
    /// contributes nothing.
    pub fn new(
        columns: &'a [BinnedColumn],
        (outputs, is_only): (usize, bool),
        is_used: &[bool],
        settings: &NetworkSettings,
        seed: u64,
    ) -> Self {
        let stride = outputs.next_multiple_of(PAD);
        let positions: usize = columns.iter().map(BinnedColumn::positions).sum();
        let rows = positions + columns.len();
        let mut weights = AlignedBuffer::zeros(rows * stride);
        let mut scales = AlignedBuffer::zeros(rows.next_multiple_of(PAD));
        scales[..rows].fill(1.0);
        // The limit of Glorot initialisation for a dense layer in which a number has one input for each knot and a categorical column has one input.
        let inputs: usize = columns.iter().map(|column| column.knots.len().max(1)).sum();
        let limit = (6.0 / (inputs + outputs) as f64).sqrt();
        let mut random = random(seed, Purpose::InitialWeights, 1);
        for (row, weights) in weights.chunks_exact_mut(stride).enumerate() {
            if !is_only && is_used.get(row) != Some(&false) {
                weights[..outputs].iter_mut().for_each(|weight| *weight = uniform(&mut random, limit));
            }
        }
        let gradient = LookUpParameters { weights: weights.clone(), scales: scales.clone() };
        let mut training = LookUpTraining {
            columns,
            stride,
            optimisers: [
                OptimiserState::new(settings.optimiser, 0, Vec::new(), 0.0),
                OptimiserState::new(settings.optimiser, 0, Vec::new(), 0.0),
            ],
            parameters: LookUpParameters { weights, scales },
            gradient,
            instructions: InstructionSet::best(),
        };
        training.reset_optimisers(settings);
        training
    }

    /// Replaces the optimisers by new ones, which have no running means of earlier gradients.
    pub fn reset_optimisers(&mut self, settings: &NetworkSettings) {
        let LookUpParameters { weights, scales } = &self.parameters;
        let all = std::iter::once(0..weights.len()).collect();
        self.optimisers = [
            OptimiserState::new(settings.optimiser, weights.len(), all, settings.weight_decay),
            OptimiserState::new(settings.optimiser, scales.len(), Vec::new(), 0.0),
        ];
    }

    /// Computes the table from the trained parameters.
    pub fn write_table(&self, table: &mut [f32]) {
        let LookUpTraining { columns, stride, parameters, .. } = self;
        run(self.instructions, WriteTable { columns, stride: *stride, parameters, table });
    }

    /// Takes one step of the optimisers, given the gradient with respect to the table.
    pub fn step(&mut self, table_gradient: &[f32], learning_rate: f32) {
        let LookUpTraining { columns, stride, parameters, gradient, optimisers, .. } = self;
        run(self.instructions, ParameterGradient { columns, stride: *stride, parameters, table_gradient, gradient });
        optimisers[0].step(&mut parameters.weights, &gradient.weights, learning_rate);
        optimisers[1].step(&mut parameters.scales, &gradient.scales, SCALE_RATE * learning_rate);
    }
}

/// A task that computes the table from the trained parameters.
struct WriteTable<'a> {
    columns: &'a [BinnedColumn],
    stride: usize,
    parameters: &'a LookUpParameters,
    table: &'a mut [f32],
}

impl SimdTask for WriteTable<'_> {
    #[inline(always)]
    unsafe fn run_with<V: SimdVector>(self) {
        let WriteTable { columns, stride, parameters: LookUpParameters { weights, scales }, table } = self;
        let positions: usize = columns.iter().map(BinnedColumn::positions).sum();
        assert!(table.len() == positions * stride && weights.len() == (positions + columns.len()) * stride);
        let (weights, table) = (weights.as_ptr(), table.as_mut_ptr());
        let mut first = 0;
        for (number, column) in columns.iter().enumerate() {
            let (knots, valued) = (column.knots.len(), column.knots.len() + column.own.len());
            let linear = positions + number;
            for unit in (0..stride).step_by(V::WIDTH) {
                // SAFETY: the lengths of the table and of the weights are checked above, and `run` has checked the instructions of V.
                unsafe {
                    let linear = V::splat(scales[linear]).times(V::load(weights.add(linear * stride + unit)));
                    let mut sum = V::splat(0.0);
                    for position in 0..column.positions() {
                        let at = (first + position) * stride + unit;
                        let scaled = V::splat(scales[first + position]).times(V::load(weights.add(at)));
                        let row = if position < knots {
                            if position > 0 {
                                sum = sum.plus(scaled);
                            }
                            linear.multiply_add(V::splat(column.knots[position]), sum)
                        } else if position < valued {
                            linear.multiply_add(V::splat(column.own[position - knots]), scaled)
                        } else {
                            scaled
                        };
                        row.store(table.add(at));
                    }
                }
            }
            first += column.positions();
        }
    }
}

/// A task that computes the gradient of the trained parameters from the gradient of the table.
struct ParameterGradient<'a> {
    columns: &'a [BinnedColumn],
    stride: usize,
    parameters: &'a LookUpParameters,
    table_gradient: &'a [f32],
    gradient: &'a mut LookUpParameters,
}

impl SimdTask for ParameterGradient<'_> {
    #[inline(always)]
    unsafe fn run_with<V: SimdVector>(self) {
        let ParameterGradient {
            columns,
            stride,
            parameters: LookUpParameters { weights, scales },
            table_gradient,
            gradient,
        } = self;
        let positions: usize = columns.iter().map(BinnedColumn::positions).sum();
        assert!(table_gradient.len() == positions * stride && weights.len() == (positions + columns.len()) * stride);
        assert!(gradient.weights.len() == weights.len() && gradient.scales.len() == scales.len());
        gradient.scales.fill(0.0);
        let (weights, table_gradient, to) = (weights.as_ptr(), table_gradient.as_ptr(), gradient.weights.as_mut_ptr());
        let mut first = 0;
        for (number, column) in columns.iter().enumerate() {
            let (knots, valued) = (column.knots.len(), column.knots.len() + column.own.len());
            let linear_row = positions + number;
            for unit in (0..stride).step_by(V::WIDTH) {
                // SAFETY: the lengths of all lists are checked above, and `run` has checked the instructions of V.
                unsafe {
                    let (mut linear, mut later) = (V::splat(0.0), V::splat(0.0));
                    for position in (0..column.positions()).rev() {
                        let row = first + position;
                        let own = V::load(table_gradient.add(row * stride + unit));
                        let scaled = if position < knots {
                            // An increment changes the rows of its own knot and of all later knots.
                            later = later.plus(own);
                            linear = V::splat(column.knots[position]).multiply_add(own, linear);
                            if position == 0 { V::splat(0.0) } else { later }
                        } else {
                            if position < valued {
                                linear = V::splat(column.own[position - knots]).multiply_add(own, linear);
                            }
                            own
                        };
                        V::splat(scales[row]).times(scaled).store(to.add(row * stride + unit));
                        gradient.scales[row] += scaled.times(V::load(weights.add(row * stride + unit))).sum();
                    }
                    V::splat(scales[linear_row]).times(linear).store(to.add(linear_row * stride + unit));
                    gradient.scales[linear_row] += linear.times(V::load(weights.add(linear_row * stride + unit))).sum();
                }
            }
            first += column.positions();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<BinnedColumn> {
        vec![
            BinnedColumn { knots: vec![-1.0, 0.5, 2.0], own: vec![0.25], own_positions: vec![0.8], levels: 1 },
            BinnedColumn { levels: 3, ..BinnedColumn::default() },
            BinnedColumn { knots: vec![-1.0, 1.0], levels: 2, ..BinnedColumn::default() },
        ]
    }

    fn training(columns: &[BinnedColumn]) -> LookUpTraining<'_> {
        let mut training = LookUpTraining::new(columns, (20, false), &[], &NetworkSettings::default(), 3);
        let mut random = random(5, Purpose::InitialWeights, 0);
        training.parameters.weights.iter_mut().for_each(|weight| *weight = uniform(&mut random, 1.0));
        training.parameters.scales[..15].iter_mut().for_each(|scale| *scale = 1.0 + uniform(&mut random, 0.5));
        training
    }

    #[test]
    fn a_table_row_is_the_sum_of_the_increments_up_to_its_knot_and_of_the_linear_term() {
        let columns = columns();
        let training = training(&columns);
        let mut table = vec![0.0; 12 * 32];
        training.write_table(&mut table);
        let LookUpParameters { weights, scales } = &training.parameters;
        let scaled = |row: usize, unit: usize| f64::from(scales[row]) * f64::from(weights[row * 32 + unit]);
        for unit in 0..20 {
            let linear = scaled(12, unit);
            let expected = [
                -linear,
                scaled(1, unit) + 0.5 * linear,
                scaled(1, unit) + scaled(2, unit) + 2.0 * linear,
                scaled(3, unit) + 0.25 * linear,
                scaled(4, unit),
                scaled(5, unit),
                scaled(6, unit),
                scaled(7, unit),
                -scaled(14, unit),
                scaled(9, unit) + scaled(14, unit),
                scaled(10, unit),
                scaled(11, unit),
            ];
            for (row, expected) in expected.into_iter().enumerate() {
                assert!((f64::from(table[row * 32 + unit]) - expected).abs() < 1e-5, "row {row}, unit {unit}");
            }
        }
    }

    #[test]
    fn gradient_of_the_parameters_matches_differences_of_the_table() {
        // A weighted sum of the table is linear in every single weight and scale, so a difference quotient gives its exact derivative.
        let columns = columns();
        let mut training = training(&columns);
        let mut random = random(9, Purpose::InitialWeights, 0);
        let factors: Vec<f32> = (0..12 * 32).map(|_| uniform(&mut random, 1.0)).collect();
        let sum = |training: &LookUpTraining<'_>| -> f64 {
            let mut table = vec![0.0; 12 * 32];
            training.write_table(&mut table);
            table.iter().zip(&factors).map(|(entry, factor)| f64::from(*entry) * f64::from(*factor)).sum()
        };
        let LookUpTraining { columns: cols, stride, parameters, gradient, .. } = &mut training;
        let task = ParameterGradient { columns: cols, stride: *stride, parameters, table_gradient: &factors, gradient };
        run(InstructionSet::best(), task);
        let gradient = training.gradient.clone();
        let step = 0.25; // exact in f32, and large: the sum is linear in every single parameter
        for row in 0..15 {
            for unit in [0, 7, 19] {
                let before = sum(&training);
                training.parameters.weights[row * 32 + unit] += step;
                let difference = (sum(&training) - before) / f64::from(step);
                training.parameters.weights[row * 32 + unit] -= step;
                let computed = f64::from(gradient.weights[row * 32 + unit]);
                assert!((computed - difference).abs() < 1e-4, "weight {row}, {unit}: {computed}, {difference}");
            }
            let before = sum(&training);
            training.parameters.scales[row] += step;
            let difference = (sum(&training) - before) / f64::from(step);
            training.parameters.scales[row] -= step;
            let computed = f64::from(gradient.scales[row]);
            assert!((computed - difference).abs() < 1e-3, "scale {row}: {computed}, {difference}");
        }
    }
}
