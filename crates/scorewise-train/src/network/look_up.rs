//! Trains the table of a look-up layer.
//!
//! The rows of the table are not trained directly. The contribution of a number to the first layer is a function of the number, linear between
//! its knots, and neighbouring knots should have similar values. So the trained weights are the increments from knot to knot, and a linear
//! term. Each increment, linear term and level is also multiplied by a trained scale, whose learning rate is greater than that of the weights. With
//! the scale, the network can quickly switch an input off, or emphasise it, for all units of the layer together.
//!
//! ```text
//! knot k of a number          T[k] = Σ_{1 ≤ j ≤ k} s_j w_j + x_k s v
//! frequent value i            T[i] = s_i w_i + x_i s v
//! level i, or missing         T[i] = s_i w_i
//!
//! T: the rows of the table    w_j: the weights of knot, frequent value or level j (at a knot, the increment from the knot before)
//! s_j: the scale of w_j       v: the weights of the linear term        s: the scale of v
//! x_k: the number at knot k or of frequent value k, as `BinnedColumn` holds it
//! ```
//!
//! The increments are the first layer of a network with piecewise-linear inputs (Gorishniy, Rubachev, Babenko 2022, On embeddings for
//! numerical features in tabular deep learning, NeurIPS 35); the scales are those of Holzmüller, Grinsztajn, Steinwart (2024, Better by
//! default, NeurIPS 37).

use scorewise::{InstructionSet, Purpose};
use scorewise_table::encode::BinnedColumn;
use scorewise_table::split::random;
use scorewise_table::{AlignedBuffer, PAD};

use super::engine::{SimdTask, SimdVector, TableGradient, run};
use super::optimiser::{OptimiserState, UpdateRule, UpdateTask};
use super::settings::NetworkSettings;
use super::uniform;

/// The learning rate of the trained scales divided by the learning rate of the weights. With the value 6, the scales improved the mean log-loss on
/// ten data sets by 0.4 % (two networks for each of five folds).
const SCALE_RATE: f32 = 6.0;

/// The trained parameters from which the table of a look-up layer is computed.
#[derive(Clone, Debug)]
pub(super) struct LookUpParameters {
    /// One row of weights for each position (the increment at a knot, a frequent value, or a level), then one row for the linear term of each column.
    weights: AlignedBuffer,
    /// For each column one scale for each of its positions, one for its linear term, and padding to a multiple of [`PAD`].
    scales: AlignedBuffer,
}

impl LookUpParameters {
    /// Overwrites these parameters with a copy of `other`, which must belong to the same look-up layer.
    pub fn copy_from(&mut self, other: &Self) {
        self.weights.copy_from_slice(&other.weights);
        self.scales.copy_from_slice(&other.scales);
    }
}

/// Trains the table of a look-up layer.
#[derive(Debug)]
pub(super) struct LookUpTraining<'a> {
    columns: &'a [BinnedColumn],
    /// Length of a row of the table: the number of units of the layer, rounded up to a multiple of the register width.
    stride: usize,
    pub parameters: LookUpParameters,
    /// The gradient of the scales.
    scale_gradient: AlignedBuffer,
    /// The optimiser of a list of parameters that holds first all weights, then all scales.
    optimiser: OptimiserState,
    instructions: InstructionSet,
}

/// Number of scales of a column, with padding.
fn scales_of(column: &BinnedColumn) -> usize {
    (column.positions() + 1).next_multiple_of(PAD)
}

impl<'a> LookUpTraining<'a> {
    /// Begins the training of the table of a layer with `outputs` units. The weights are random; but if the layer is the only one of the network
    /// (`is_only`), they are 0, because only the units of a hidden layer must differ from each other at the start. `is_used` says for each position
    /// whether it is used in training. If not, its weights are 0 and stay 0, so that a new level contributes nothing.
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
        let mut scales = AlignedBuffer::zeros(columns.iter().map(scales_of).sum());
        let mut first_scale = 0;
        for column in columns {
            scales[first_scale..=first_scale + column.positions()].fill(1.0);
            first_scale += scales_of(column);
        }
        // The limit of the weights is that of Glorot initialisation, which depends on the number of inputs. Here a column counts as one input for
        // each of its knots, or as one input if it has no knots.
        let inputs: usize = columns.iter().map(|column| column.knots.len().max(1)).sum();
        let limit = (6.0 / (inputs + outputs) as f64).sqrt();
        let mut random = random(seed, Purpose::InitialWeights, 1);
        for (row, weights) in weights.chunks_exact_mut(stride).enumerate() {
            if !is_only && is_used.get(row) != Some(&false) {
                weights[..outputs].iter_mut().for_each(|weight| *weight = uniform(&mut random, limit));
            }
        }
        let scale_gradient = AlignedBuffer::zeros(scales.len());
        let mut training = LookUpTraining {
            columns,
            stride,
            optimiser: OptimiserState::new(settings.optimiser, 0, Vec::new(), 0.0),
            parameters: LookUpParameters { weights, scales },
            scale_gradient,
            instructions: InstructionSet::best(),
        };
        training.reset_optimiser(settings);
        training
    }

    /// Replaces the optimiser by a new one, which has no running means of earlier gradients.
    pub fn reset_optimiser(&mut self, settings: &NetworkSettings) {
        let LookUpParameters { weights, scales } = &self.parameters;
        let decaying = std::iter::once(0..weights.len()).collect();
        let length = weights.len() + scales.len();
        self.optimiser = OptimiserState::new(settings.optimiser, length, decaying, settings.weight_decay);
    }

    /// Computes the table from the trained parameters.
    pub fn write_table(&self, table: &mut [f32]) {
        let LookUpTraining { columns, stride, parameters, .. } = self;
        run(self.instructions, WriteTable { columns, stride: *stride, parameters, table });
    }

    /// Takes one step of the optimiser, given the gradient with respect to the table, and computes the new table.
    pub fn step(&mut self, table_gradient: TableGradient<'_>, learning_rate: f32, table: &mut [f32]) {
        let LookUpTraining { columns, stride, parameters, scale_gradient, optimiser, instructions } = self;
        let task = TableStep { columns, stride: *stride, parameters, table_gradient, scale_gradient, table };
        optimiser.step_in(*instructions, learning_rate, task);
    }
}

/// Runs a block of code over all units of a row, from left to right. Each run covers the units in `N` registers, where `N` is 4, 2 or 1, the largest
/// that still fits. `N` is a constant in the block, so that it can be a const generic argument.
macro_rules! for_units {
    ($stride:expr, $v:ident, $unit:ident, $registers:ident => $call:expr) => {
        let mut $unit = 0;
        while $unit < $stride {
            match ($stride - $unit) / $v::WIDTH {
                1 => {
                    const $registers: usize = 1;
                    $call;
                    $unit += $v::WIDTH;
                }
                2 | 3 => {
                    const $registers: usize = 2;
                    $call;
                    $unit += 2 * $v::WIDTH;
                }
                _ => {
                    const $registers: usize = 4;
                    $call;
                    $unit += 4 * $v::WIDTH;
                }
            }
        }
    };
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
        let (mut first, mut first_scale) = (0, 0);
        for (number, column) in columns.iter().enumerate() {
            let (rows, scales) = ((first, positions + number), &scales[first_scale..][..scales_of(column)]);
            for_units!(stride, V, unit, N => {
                // SAFETY: the lengths of the table and of the weights are checked above, and `run` has checked that the processor has the instructions of V.
                unsafe { write_column::<V, N>(column, rows, stride, (weights.add(unit), scales), table.add(unit)) }
            });
            first += column.positions();
            first_scale += scales_of(column);
        }
    }
}

/// Computes the table rows of one column, for the units that `N` registers hold. The weights of the positions of the column begin in row `first` of
/// the weights; the weights of its linear term are row `linear_row`.
#[inline(always)]
unsafe fn write_column<V: SimdVector, const N: usize>(
    column: &BinnedColumn,
    (first, linear_row): (usize, usize),
    stride: usize,
    (weights, scales): (*const f32, &[f32]),
    table: *mut f32,
) {
    let (knots, valued) = (column.knots.len(), column.knots.len() + column.own.len());
    // SAFETY: the caller guarantees that the pointers are valid and that the instructions of V are supported.
    unsafe {
        let (mut linear, mut sums) = ([V::splat(0.0); N], [V::splat(0.0); N]);
        for (register, linear) in linear.iter_mut().enumerate() {
            let weights = V::load(weights.add(linear_row * stride + register * V::WIDTH));
            *linear = V::splat(scales[column.positions()]).times(weights);
        }
        for (position, scale) in scales[..column.positions()].iter().enumerate() {
            let at = (first + position) * stride;
            let scale = V::splat(*scale);
            for register in 0..N {
                let at = at + register * V::WIDTH;
                let scaled = scale.times(V::load(weights.add(at)));
                let row = if position < knots {
                    if position > 0 {
                        sums[register] = sums[register].plus(scaled);
                    }
                    linear[register].multiply_add(V::splat(column.knots[position]), sums[register])
                } else if position < valued {
                    linear[register].multiply_add(V::splat(column.own[position - knots]), scaled)
                } else {
                    scaled
                };
                row.store(table.add(at));
            }
        }
    }
}

/// A task that takes a step of the optimiser and computes the new table. Each column is finished before the next one begins, because the gradient,
/// the parameters and the table of one column fit into the L1 cache, and those of all columns do not.
struct TableStep<'a> {
    columns: &'a [BinnedColumn],
    stride: usize,
    parameters: &'a mut LookUpParameters,
    table_gradient: TableGradient<'a>,
    scale_gradient: &'a mut [f32],
    table: &'a mut [f32],
}

impl UpdateTask for TableStep<'_> {
    #[inline(always)]
    unsafe fn run_with<V: SimdVector>(self, rule: impl UpdateRule<V>) {
        let TableStep {
            columns,
            stride,
            parameters: LookUpParameters { weights, scales },
            mut table_gradient,
            scale_gradient,
            table,
        } = self;
        let positions: usize = columns.iter().map(BinnedColumn::positions).sum();
        assert!(table_gradient.rows() == positions && weights.len() == (positions + columns.len()) * stride);
        assert!(scale_gradient.len() == scales.len() && table.len() == positions * stride);
        scale_gradient.fill(0.0);
        let (scale_parameters, weights, table) = (weights.len(), weights.as_mut_ptr(), table.as_mut_ptr());
        // SAFETY: the caller guarantees that the instructions of V are supported.
        let scale_rule = unsafe { rule.without_decay(SCALE_RATE) };
        let (mut first, mut first_scale) = (0, 0);
        for (number, column) in columns.iter().enumerate() {
            let (rows, count) = ((first, positions + number), scales_of(column));
            let scale_gradient = &mut scale_gradient[first_scale..][..count];
            // SAFETY: the caller guarantees that the instructions of V are supported.
            let gradient = unsafe { table_gradient.column::<V>(number) };
            for_units!(stride, V, unit, N => {
                let scales = (&scales[first_scale..][..count], &mut *scale_gradient);
                // SAFETY: the lengths of all lists are checked above, and the caller guarantees that the instructions of V are supported.
                unsafe { step_column::<V, N>(column, rows, (stride, unit), weights, scales, gradient, rule) }
            });
            let scales = &mut scales[first_scale..][..count];
            for at in (0..count).step_by(V::WIDTH) {
                // SAFETY: the number of scales is a multiple of the register width. The optimiser was made for all weights followed by all scales.
                unsafe {
                    let (old, gradient) = (V::load(scales.as_ptr().add(at)), V::load(scale_gradient.as_ptr().add(at)));
                    let new = scale_rule.update(scale_parameters + first_scale + at, old, gradient);
                    new.store(scales.as_mut_ptr().add(at));
                }
            }
            for_units!(stride, V, unit, N => {
                // SAFETY: the lengths of the table and of the weights are checked above, and the caller guarantees that the instructions of V are supported.
                unsafe { write_column::<V, N>(column, rows, stride, (weights.add(unit), scales), table.add(unit)) }
            });
            first += column.positions();
            first_scale += count;
        }
    }
}

/// Changes the weights of one column by one step of the optimiser, for the units that `N` registers hold. Also adds what these units contribute to
/// the gradient of the scales of the column.
#[inline(always)]
unsafe fn step_column<V: SimdVector, const N: usize>(
    column: &BinnedColumn,
    (first, linear_row): (usize, usize),
    (stride, unit): (usize, usize),
    weights: *mut f32,
    (scales, scale_gradient): (&[f32], &mut [f32]),
    column_gradient: *const f32,
    rule: impl UpdateRule<V>,
) {
    let (knots, valued) = (column.knots.len(), column.knots.len() + column.own.len());
    // SAFETY: the caller guarantees that the pointers are valid and that the instructions of V are supported.
    unsafe {
        let zero = [V::splat(0.0); N];
        let (mut linear, mut later) = (zero, zero);
        for position in (0..column.positions()).rev() {
            let row = first + position;
            let mut own = zero;
            for (register, own) in own.iter_mut().enumerate() {
                *own = V::load(column_gradient.add(position * stride + unit + register * V::WIDTH));
            }
            if position < valued {
                let value =
                    V::splat(if position < knots { column.knots[position] } else { column.own[position - knots] });
                for register in 0..N {
                    linear[register] = value.multiply_add(own[register], linear[register]);
                }
            }
            if position < knots {
                // An increment changes the rows of its own knot and of all later knots.
                for register in 0..N {
                    later[register] = later[register].plus(own[register]);
                }
                let gradient = if position == 0 { zero } else { later };
                step_row(row * stride + unit, weights, scales[position], gradient, &mut scale_gradient[position], rule);
            } else {
                step_row(row * stride + unit, weights, scales[position], own, &mut scale_gradient[position], rule);
            }
        }
        let (at, last) = (linear_row * stride + unit, column.positions());
        step_row(at, weights, scales[last], linear, &mut scale_gradient[last], rule);
    }
}

/// Changes as many weights of a row as `N` registers hold, from index `at` of the list of weights. `gradient` is the gradient with respect to the
/// products scale · weight. Also adds the contribution of these weights to the gradient of the scale.
#[inline(always)]
unsafe fn step_row<V: SimdVector, const N: usize>(
    at: usize,
    weights: *mut f32,
    scale: f32,
    gradient: [V; N],
    scale_gradient: &mut f32,
    rule: impl UpdateRule<V>,
) {
    // SAFETY: the caller guarantees that the pointers are valid and that the instructions of V are supported.
    unsafe {
        let (scale, mut products) = (V::splat(scale), V::splat(0.0));
        for (register, gradient) in gradient.iter().enumerate() {
            let at = at + register * V::WIDTH;
            let old = V::load(weights.add(at));
            products = gradient.multiply_add(old, products);
            rule.update(at, old, scale.times(*gradient)).store(weights.add(at));
        }
        *scale_gradient += products.sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Engine, NetworkShape, Optimiser};

    fn columns() -> Vec<BinnedColumn> {
        vec![
            BinnedColumn { knots: vec![-1.0, 0.5, 2.0], own: vec![0.25], own_positions: vec![0.8], levels: 1 },
            BinnedColumn { levels: 3, ..BinnedColumn::default() },
            BinnedColumn { knots: vec![-1.0, 1.0], levels: 2, ..BinnedColumn::default() },
        ]
    }

    /// For each row of weights, the index of its scale.
    fn scale_of_row(columns: &[BinnedColumn]) -> Vec<usize> {
        let (mut of_positions, mut of_linear_terms, mut first) = (Vec::new(), Vec::new(), 0);
        for column in columns {
            of_positions.extend(first..first + column.positions());
            of_linear_terms.push(first + column.positions());
            first += scales_of(column);
        }
        [of_positions, of_linear_terms].concat()
    }

    fn training(columns: &[BinnedColumn]) -> LookUpTraining<'_> {
        let mut training = LookUpTraining::new(columns, (20, false), &[], &NetworkSettings::default(), 3);
        let mut random = random(5, Purpose::InitialWeights, 0);
        training.parameters.weights.iter_mut().for_each(|weight| *weight = uniform(&mut random, 1.0));
        for at in scale_of_row(columns) {
            training.parameters.scales[at] = 1.0 + uniform(&mut random, 0.5);
        }
        training
    }

    #[test]
    fn a_table_row_is_the_sum_of_the_increments_up_to_its_knot_and_of_the_linear_term() {
        let columns = columns();
        let training = training(&columns);
        let mut table = vec![0.0; 12 * 32];
        training.write_table(&mut table);
        let LookUpParameters { weights, scales } = &training.parameters;
        let scale_of_row = scale_of_row(&columns);
        let scaled =
            |row: usize, unit: usize| f64::from(scales[scale_of_row[row]]) * f64::from(weights[row * 32 + unit]);
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
    fn the_gradient_of_the_trained_parameters_equals_a_difference_quotient() {
        // A weighted sum of the entries of the table is linear in each weight and each scale while the others are fixed, so a difference quotient
        // gives its exact derivative.
        let columns = columns();
        let mut training = training(&columns);
        let mut random = random(9, Purpose::InitialWeights, 0);
        let factors: Vec<f32> = (0..12 * 32).map(|_| uniform(&mut random, 1.0)).collect();
        let sum = |training: &LookUpTraining<'_>| -> f64 {
            let mut table = vec![0.0; 12 * 32];
            training.write_table(&mut table);
            table.iter().zip(&factors).map(|(entry, factor)| f64::from(*entry) * f64::from(*factor)).sum()
        };
        // A step of gradient descent with a learning rate of 1 subtracts the gradient.
        let settings = NetworkSettings { optimiser: Optimiser::Sgd, weight_decay: 0.0, ..NetworkSettings::default() };
        let parameters = training.parameters.clone();
        training.reset_optimiser(&settings);
        let shape = NetworkShape::look_up(columns.iter().map(BinnedColumn::positions).collect(), &[20], 1).unwrap();
        let mut table = vec![0.0; 12 * 32];
        training.step(Engine::new(&shape).table_gradient(&factors), 1.0, &mut table);
        let mut expected_table = vec![0.0; 12 * 32];
        training.write_table(&mut expected_table);
        assert_eq!(table, expected_table);
        let after = std::mem::replace(&mut training.parameters, parameters);
        let minus = |before: f32, after: f32| f64::from(before) - f64::from(after);
        let step = 0.25; // exact in f32; a large step is allowed, because the sum is linear in each parameter while the others are fixed
        for (row, scale) in scale_of_row(&columns).into_iter().enumerate() {
            for unit in [0, 7, 19] {
                let before = sum(&training);
                training.parameters.weights[row * 32 + unit] += step;
                let difference = (sum(&training) - before) / f64::from(step);
                training.parameters.weights[row * 32 + unit] -= step;
                let at = row * 32 + unit;
                let computed = minus(training.parameters.weights[at], after.weights[at]);
                assert!((computed - difference).abs() < 1e-4, "weight {row}, {unit}: {computed}, {difference}");
            }
            let before = sum(&training);
            training.parameters.scales[scale] += step;
            let difference = (sum(&training) - before) / f64::from(step);
            training.parameters.scales[scale] -= step;
            let computed = minus(training.parameters.scales[scale], after.scales[scale]) / f64::from(SCALE_RATE);
            assert!((computed - difference).abs() < 1e-3, "scale {row}: {computed}, {difference}");
        }
    }
}
