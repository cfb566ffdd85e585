//! The forward and backward pass of a look-up layer over panels of 32 rows.
//!
//! ```text
//! out = b + Σ_c (1 − f) T[k] + f T[k + 1]        for the position k + f of column c
//! ```
//!
//! The table T has one row for each position of each column, and the units of a row lie side by side. So a row of the batch reads one or two
//! rows of T for each column, and the cost does not depend on the number of positions.

use super::kernel::PANEL;
use super::simd_vector::SimdVector;
use crate::network::{LayerLayout, NetworkShape};

/// The rows of the table of a look-up layer that belong to one column of the matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TableColumn {
    /// Index of the first table row of the column.
    first: u32,
    /// The greatest position that the column can have.
    last: f32,
}

impl TableColumn {
    /// The columns of a look-up layer; empty if the first layer is dense.
    pub fn of_shape(shape: &NetworkShape) -> Vec<TableColumn> {
        let mut next = 0;
        let column = |positions: &usize| {
            let first = next as u32;
            next += positions;
            TableColumn { first, last: (positions - 1) as f32 }
        };
        shape.positions().iter().map(column).collect()
    }

    /// The row of the table at or before a position, and the share of the way to the next row. A position that the column does not have is
    /// replaced by the nearest one, and NaN by 0, so that the row always exists.
    #[inline(always)]
    fn row(self, position: f32) -> (usize, f32) {
        let position = position.max(0.0).min(self.last);
        let whole = position as u32;
        ((self.first + whole) as usize, position - whole as f32)
    }
}

/// Writes the outputs of a look-up layer for the 32 rows of a panel, row by row, with ReLU if `relu` is set.
///
/// # Safety
/// The conditions of [`SimdVector`] must hold, `parameters` must contain the layer, each row must have one number for each column, and
/// `output` must have room for 32 rows of the stride of the layer.
#[inline(always)]
pub(super) unsafe fn look_up<V: SimdVector>(
    layer: &LayerLayout,
    columns: &[TableColumn],
    parameters: *const f32,
    rows: &[*const f32; PANEL],
    output: *mut f32,
    relu: bool,
) {
    // SAFETY: `TableColumn::row` returns rows of the table, which the caller guarantees to lie in `parameters`.
    unsafe {
        let mut unit = 0;
        while unit < layer.stride {
            let table = parameters.add(layer.weights + unit);
            let (biases, output) = (parameters.add(layer.biases + unit), output.add(unit));
            unit += match (layer.stride - unit) / V::WIDTH {
                1 => look_up_units::<V, 1>(layer.stride, columns, table, biases, rows, output, relu),
                2 | 3 => look_up_units::<V, 2>(layer.stride, columns, table, biases, rows, output, relu),
                4..8 => look_up_units::<V, 4>(layer.stride, columns, table, biases, rows, output, relu),
                _ => look_up_units::<V, 8>(layer.stride, columns, table, biases, rows, output, relu),
            };
        }
    }
}

/// Computes the outputs of the units that fill `N` registers, for all rows of a panel. Returns the number of these units.
#[inline(always)]
unsafe fn look_up_units<V: SimdVector, const N: usize>(
    stride: usize,
    columns: &[TableColumn],
    table: *const f32,
    biases: *const f32,
    rows: &[*const f32; PANEL],
    output: *mut f32,
    relu: bool,
) -> usize {
    // SAFETY: the caller guarantees that the pointers are valid and that the instructions of V are supported.
    unsafe {
        for (number, row) in rows.iter().enumerate() {
            let mut sums = [V::splat(0.0); N];
            for (register, sum) in sums.iter_mut().enumerate() {
                *sum = V::load(biases.add(register * V::WIDTH));
            }
            for (column, table_column) in columns.iter().enumerate() {
                let (at, share) = table_column.row(*row.add(column));
                let from = table.add(at * stride);
                if share == 0.0 {
                    for (register, sum) in sums.iter_mut().enumerate() {
                        *sum = sum.plus(V::load(from.add(register * V::WIDTH)));
                    }
                } else {
                    let (low, high) = (V::splat(1.0 - share), V::splat(share));
                    let next = from.add(stride);
                    for (register, sum) in sums.iter_mut().enumerate() {
                        *sum = low.multiply_add(V::load(from.add(register * V::WIDTH)), *sum);
                        *sum = high.multiply_add(V::load(next.add(register * V::WIDTH)), *sum);
                    }
                }
            }
            for (register, sum) in sums.iter().enumerate() {
                let sum = if relu { sum.positive_part() } else { *sum };
                sum.store(output.add(number * stride + register * V::WIDTH));
            }
        }
        N * V::WIDTH
    }
}

/// Adds the gradient of the table and of the biases to `gradient`, given the gradient of the outputs of the layer row by row. Only the first `count`
/// rows of the panel are used.
///
/// # Safety
/// The conditions of [`look_up`] must hold; `output_gradient` must have 32 rows of the stride of the layer.
#[inline(always)]
pub(super) unsafe fn add_table_gradient<V: SimdVector>(
    layer: &LayerLayout,
    columns: &[TableColumn],
    rows: &[*const f32; PANEL],
    count: usize,
    output_gradient: *const f32,
    gradient: *mut f32,
) {
    // SAFETY: `TableColumn::row` returns rows of the table, and the caller guarantees that the pointers are valid and that the instructions of
    // V are supported.
    unsafe {
        let mut unit = 0;
        while unit < layer.stride {
            let (gradient, output_gradient) = (gradient.add(unit), output_gradient.add(unit));
            unit += match (layer.stride - unit) / V::WIDTH {
                1 => add_units::<V, 1>(layer, columns, &rows[..count], output_gradient, gradient),
                2 | 3 => add_units::<V, 2>(layer, columns, &rows[..count], output_gradient, gradient),
                4..8 => add_units::<V, 4>(layer, columns, &rows[..count], output_gradient, gradient),
                _ => add_units::<V, 8>(layer, columns, &rows[..count], output_gradient, gradient),
            };
        }
    }
}

#[inline(always)]
unsafe fn add_units<V: SimdVector, const N: usize>(
    layer: &LayerLayout,
    columns: &[TableColumn],
    rows: &[*const f32],
    output_gradient: *const f32,
    gradient: *mut f32,
) -> usize {
    // SAFETY: the caller guarantees that the pointers are valid and that the instructions of V are supported.
    unsafe {
        let table = gradient.add(layer.weights);
        let mut biases = [V::splat(0.0); N];
        for (number, row) in rows.iter().enumerate() {
            let mut derivatives = [V::splat(0.0); N];
            for (register, derivative) in derivatives.iter_mut().enumerate() {
                *derivative = V::load(output_gradient.add(number * layer.stride + register * V::WIDTH));
                biases[register] = biases[register].plus(*derivative);
            }
            for (column, table_column) in columns.iter().enumerate() {
                let (at, share) = table_column.row(*row.add(column));
                let to = table.add(at * layer.stride);
                if share == 0.0 {
                    for (register, derivative) in derivatives.iter().enumerate() {
                        let to = to.add(register * V::WIDTH);
                        V::load(to).plus(*derivative).store(to);
                    }
                } else {
                    let (low, high) = (V::splat(1.0 - share), V::splat(share));
                    for (register, derivative) in derivatives.iter().enumerate() {
                        let to = to.add(register * V::WIDTH);
                        low.multiply_add(*derivative, V::load(to)).store(to);
                        let next = to.add(layer.stride);
                        high.multiply_add(*derivative, V::load(next)).store(next);
                    }
                }
            }
        }
        for (register, sum) in biases.iter().enumerate() {
            let to = gradient.add(layer.biases + register * V::WIDTH);
            V::load(to).plus(*sum).store(to);
        }
        N * V::WIDTH
    }
}

#[cfg(test)]
mod tests {
    use scorewise::{InstructionSet, Purpose};
    use scorewise_table::Matrix;
    use scorewise_table::split::random;

    use super::*;
    use crate::network::{Engine, Network, uniform};

    /// A network whose columns have few and many positions, and rows with positions between two table rows, at a table row, outside the table and NaN.
    fn case(rows: usize) -> (Network, Matrix) {
        let positions = vec![49, 1, 120, 7, 200, 306, 3, 49];
        let mut random = random(7, Purpose::InitialWeights, 0);
        let mut values = Vec::new();
        for row in 0..rows {
            for (column, positions) in positions.iter().enumerate() {
                let position = uniform(&mut random, 0.55) + 0.5;
                let position = position * (positions - 1) as f32;
                values.push(match (row + column) % 29 {
                    0 => f32::NAN,
                    1..14 => position.round(),
                    _ if column == 3 => position.round(),
                    _ => position,
                });
            }
        }
        let matrix = Matrix::new(positions.len(), &values).unwrap();
        (Network::glorot(NetworkShape::look_up(positions, &[40, 5], 1).unwrap(), 3), matrix)
    }

    fn logits_and_gradient(engine: &mut Engine, case: &(Network, Matrix), order: &[u32]) -> (Vec<f32>, Vec<f32>) {
        let (network, matrix) = case;
        let (mut logits, mut gradient) = (vec![0.0; order.len()], vec![0.0; network.parameters.len()]);
        engine.forward(network, matrix, order, &mut logits);
        let logit_gradient: Vec<f32> = order.iter().map(|row| (*row % 13) as f32 / 13.0 - 0.4).collect();
        engine.backward(network, &logit_gradient, &mut gradient);
        (logits, gradient)
    }

    #[test]
    fn rows_have_the_same_logits_and_add_the_same_gradient_in_a_batch_of_any_size() {
        let case = case(700);
        let order: Vec<u32> = (0..700).map(|row| row * 331 % 700).collect();
        for instructions in InstructionSet::supported() {
            let mut engine = Engine::with_instructions(instructions, case.0.shape());
            let (logits, gradient) = logits_and_gradient(&mut engine, &case, &order);
            let mut sum = vec![0.0; gradient.len()];
            for (order, logits) in order.chunks(3).zip(logits.chunks(3)) {
                let few = logits_and_gradient(&mut engine, &case, order);
                assert_eq!(few.0, logits, "{instructions:?}");
                sum.iter_mut().zip(few.1).for_each(|(sum, derivative): (&mut f64, f32)| *sum += f64::from(derivative));
            }
            let largest = sum.iter().fold(0.0, |largest: f64, derivative| largest.max(derivative.abs()));
            for (sum, derivative) in sum.iter().zip(gradient) {
                assert!((sum - f64::from(derivative)).abs() < 1e-5 * largest, "{instructions:?}: {derivative}, {sum}");
            }
        }
    }

    #[test]
    fn logits_and_gradient_of_a_look_up_layer_have_the_same_bits_for_any_number_of_threads() {
        let case = case(5000);
        let order: Vec<u32> = (0..5000).collect();
        for instructions in InstructionSet::supported() {
            let engine = || Engine::with_instructions(instructions, case.0.shape());
            let expected = logits_and_gradient(&mut engine(), &case, &order);
            for threads in [1, 2, 7] {
                let threaded = logits_and_gradient(&mut engine().with_threads(threads), &case, &order);
                assert!(threaded == expected, "{instructions:?}, {threads} threads");
            }
        }
    }
}
