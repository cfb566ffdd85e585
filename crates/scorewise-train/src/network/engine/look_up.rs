//! The forward and backward pass of a look-up layer over panels of 32 rows.
//!
//! ```text
//! out = b + Σ_c ((1 − f) T[k] + f T[k + 1])        where the input of column c is the position k + f
//! ```
//!
//! The table T has one or more table rows for each column. Here k is the index of one of them, and 0 ≤ f < 1 interpolates toward the next. A table
//! row holds the weights of all units side by side. Each data row reads one or two table rows for each column, however many table rows there are.

use scorewise_table::AlignedBuffer;

use super::kernel::{PANEL, transpose_to_panel, transpose_to_rows};
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
    /// For each column of a look-up layer, the table rows that belong to it; empty if the first layer is dense.
    pub fn of_shape(shape: &NetworkShape) -> Vec<TableColumn> {
        let mut next = 0;
        let column = |positions: &usize| {
            let first = next as u32;
            next += positions;
            TableColumn { first, last: (positions - 1) as f32 }
        };
        shape.positions().iter().map(column).collect()
    }

    /// Splits a position k + f into k, the index of a table row of this column, and the fraction f, which interpolates toward the next table row.
    /// A position outside of the column is first replaced by the nearest position inside, and NaN by 0.
    #[inline(always)]
    fn place(self, position: f32) -> (u32, f32) {
        let position = position.max(0.0).min(self.last);
        // SAFETY: the number is between 0 and 2²⁴. The safe conversion `as u32` is not used, because the compiler does not vectorise it:
        // it must also handle numbers that u32 cannot hold.
        let whole = unsafe { position.to_int_unchecked::<i32>() };
        (whole as u32, position - whole as f32)
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
    // SAFETY: `TableColumn::place` returns rows of the table, which the caller guarantees to lie in `parameters`.
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
                let (at, share) = table_column.place(*row.add(column));
                let from = table.add((table_column.first + at) as usize * stride);
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

/// Number of data rows in a block. The gradient of the table is computed block by block. For each column, the data rows of a block are sorted by
/// the table row that they use, so that the sums for one table row stay in registers. The derivatives of a larger block would leave too little
/// room in the caches for the table.
pub(super) const TABLE_BLOCK: usize = 16 * PANEL;

/// A block of data rows, from which the gradient of the table of a look-up layer is computed.
#[derive(Debug)]
pub(super) struct TableBlock {
    /// The inputs of the layer: the position of every data row in every column, transposed into panels of 32 rows.
    positions: AlignedBuffer,
    /// The gradient with respect to the outputs of the layer, row by row.
    derivatives: AlignedBuffer,
    /// For each data row, the whole part k of its position k + f in one column, which is the index of a table row of this column.
    places: Vec<u32>,
    /// For each data row, the fraction f of its position: the table row in `places` has the weight 1 − f, and the next table row the weight f.
    shares: Vec<f32>,
    /// For each data row, the index in `derivatives` at which its derivatives begin, and its entry of `shares`; sorted by `places`.
    sorted: Vec<(u32, f32)>,
    /// For each table row of one column, the index in `sorted` at which its data rows end.
    ends: Vec<u32>,
    /// The gradient of the table rows of one column, for [`TableGradient`].
    column_gradient: AlignedBuffer,
}

/// The gradient with respect to the table of a look-up layer, one column at a time.
///
/// A small batch fits into one [`TableBlock`]. Then the gradient of each column is computed only when it is used, because the gradient of one column
/// fits into the L1 cache, while the gradient of the whole table hardly fits into the L2 cache.
#[derive(Debug)]
pub(crate) struct TableGradient<'a> {
    layer: &'a LayerLayout,
    columns: &'a [TableColumn],
    source: TableGradientSource<'a>,
}

/// Where the gradient of a column comes from.
#[derive(Debug)]
enum TableGradientSource<'a> {
    /// The gradient of the whole table has been computed.
    Table(&'a [f32]),
    /// The gradient is not computed yet. It will be summed over the data rows at the beginning of the block; the number says how many.
    Block(&'a mut TableBlock, usize),
}

impl<'a> TableGradient<'a> {
    /// Wraps the gradient of the whole table, which has already been computed.
    pub(super) fn of_table(layer: &'a LayerLayout, columns: &'a [TableColumn], gradient: &'a [f32]) -> Self {
        let table = TableGradient { layer, columns, source: TableGradientSource::Table(gradient) };
        assert!(gradient.len() >= table.rows() * layer.stride, "the gradient must cover all rows of the table");
        table
    }

    /// A gradient that is computed later, column by column, from the first `count` data rows of the block.
    pub(super) fn of_block(
        layer: &'a LayerLayout,
        columns: &'a [TableColumn],
        block: &'a mut TableBlock,
        count: usize,
    ) -> Self {
        let longest = columns.iter().map(|column| column.last as usize + 1).max().unwrap_or(0);
        if block.column_gradient.len() < longest * layer.stride {
            block.column_gradient.resize(longest * layer.stride);
        }
        TableGradient { layer, columns, source: TableGradientSource::Block(block, count) }
    }

    /// Number of rows of the table.
    pub fn rows(&self) -> usize {
        self.columns.last().map_or(0, |column| column.first as usize + column.last as usize + 1)
    }

    /// The gradient of the table rows of a column. The pointer is valid until the next call of `column`.
    ///
    /// # Safety
    /// The conditions of [`SimdVector`] must hold.
    #[inline(always)]
    pub unsafe fn column<V: SimdVector>(&mut self, number: usize) -> *const f32 {
        let column = self.columns[number];
        match &mut self.source {
            TableGradientSource::Table(gradient) => gradient[column.first as usize * self.layer.stride..].as_ptr(),
            TableGradientSource::Block(block, count) => {
                let to = block.column_gradient.as_mut_ptr();
                // SAFETY: `of_block` has made room for the longest column; the caller guarantees that the instructions of V are supported.
                unsafe { block.add_column_gradient::<V>(self.layer, (number, column), *count, to, true) };
                to
            }
        }
    }
}

impl TableBlock {
    /// Creates an empty block. It has room for [`TABLE_BLOCK`] data rows, or for none if the first layer is dense.
    pub fn new(layer: &LayerLayout, columns: &[TableColumn]) -> Self {
        let rows = if columns.is_empty() { 0 } else { TABLE_BLOCK };
        TableBlock {
            positions: AlignedBuffer::zeros(rows * columns.len().next_multiple_of(4)),
            derivatives: AlignedBuffer::zeros(rows * layer.stride),
            places: vec![0; rows],
            shares: vec![0.0; rows],
            sorted: vec![(0, 0.0); rows],
            ends: Vec::new(),
            column_gradient: AlignedBuffer::default(),
        }
    }

    /// Copies 32 data rows into panel `number` of the block: their inputs `rows`, and the gradient with respect to their outputs. The array
    /// `output_gradient` holds this gradient unit by unit; the block stores it row by row.
    ///
    /// # Safety
    /// The conditions of [`SimdVector`] must hold, each row must have one number for each column, rounded up to a multiple of 4, and
    /// `output_gradient` must be a panel of all outputs.
    #[inline(always)]
    pub unsafe fn set_panel<V: SimdVector>(
        &mut self,
        layer: &LayerLayout,
        number: usize,
        rows: &[*const f32; PANEL],
        output_gradient: *const f32,
    ) {
        let positions = &mut self.positions[number * PANEL * layer.inputs.next_multiple_of(4)..];
        let derivatives = &mut self.derivatives[number * PANEL * layer.stride..];
        // SAFETY: the block has room for this panel; the caller guarantees the sizes of `rows` and `output_gradient`, and that the instructions of V
        // are supported.
        unsafe {
            transpose_to_panel::<V>(rows, layer.inputs, positions.as_mut_ptr());
            transpose_to_rows::<V>(output_gradient, layer.outputs, derivatives.as_mut_ptr(), layer.stride);
        }
    }

    /// Adds up the gradient of the table over the first `count` data rows of the block, and adds it to `gradient`, which begins with the first
    /// parameter of the network. If `overwrite` is set, the sums replace the old gradient.
    ///
    /// # Safety
    /// The conditions of [`SimdVector`] must hold, `gradient` must contain the layer, and the panels of these rows must have been set.
    #[inline(always)]
    pub unsafe fn add_gradient<V: SimdVector>(
        &mut self,
        layer: &LayerLayout,
        columns: &[TableColumn],
        count: usize,
        gradient: *mut f32,
        overwrite: bool,
    ) {
        for (number, column) in columns.iter().enumerate() {
            // SAFETY: the caller guarantees that `gradient` contains the layer, and that the instructions of V are supported.
            unsafe {
                let to = gradient.add(layer.weights + column.first as usize * layer.stride);
                self.add_column_gradient::<V>(layer, (number, *column), count, to, overwrite);
            }
        }
    }

    /// Adds up the gradient of the table rows of one column over the first `count` data rows of the block, and adds it to the array that begins at
    /// `gradient`. If `overwrite` is set, the sums replace the old gradient.
    #[inline(always)]
    unsafe fn add_column_gradient<V: SimdVector>(
        &mut self,
        layer: &LayerLayout,
        (number, column): (usize, TableColumn),
        count: usize,
        gradient: *mut f32,
        overwrite: bool,
    ) {
        self.sort(layer, number, column, count);
        let mut unit = 0;
        while unit < layer.stride {
            // SAFETY: the caller guarantees that `gradient` has room for the column, and that the instructions of V are supported.
            unsafe {
                unit += match (layer.stride - unit) / V::WIDTH {
                    1 => self.add_units::<V, 1>(layer.stride, unit, gradient, overwrite),
                    2 | 3 => self.add_units::<V, 2>(layer.stride, unit, gradient, overwrite),
                    _ => self.add_units::<V, 4>(layer.stride, unit, gradient, overwrite),
                };
            }
        }
    }

    /// Adds up the gradient of the biases over the first `count` data rows of the block, and adds it to `gradient`, which begins with the first
    /// parameter of the network. If `overwrite` is set, the sums replace the old gradient.
    ///
    /// # Safety
    /// The conditions of [`add_gradient`](TableBlock::add_gradient) must hold.
    #[inline(always)]
    pub unsafe fn add_bias_gradient<V: SimdVector>(
        &self,
        layer: &LayerLayout,
        count: usize,
        gradient: *mut f32,
        overwrite: bool,
    ) {
        for unit in (0..layer.stride).step_by(V::WIDTH) {
            // SAFETY: the caller guarantees that `gradient` contains the layer, and that the instructions of V are supported.
            unsafe {
                let to = gradient.add(layer.biases + unit);
                let mut sum = if overwrite { V::splat(0.0) } else { V::load(to) };
                for derivatives in self.derivatives.chunks_exact(layer.stride).take(count) {
                    sum = sum.plus(V::load(derivatives.as_ptr().add(unit)));
                }
                sum.store(to);
            }
        }
    }

    /// Sorts the first `count` data rows of the block by the table row that they use in a column (a counting sort).
    #[inline(always)]
    fn sort(&mut self, layer: &LayerLayout, number: usize, column: TableColumn, count: usize) {
        let TableBlock { positions, places, shares, sorted, ends, .. } = self;
        let panels = positions.chunks_exact(PANEL * layer.inputs.next_multiple_of(4));
        let places_and_shares = places.as_chunks_mut::<PANEL>().0.iter_mut().zip(shares.as_chunks_mut::<PANEL>().0);
        for ((places, shares), panel) in places_and_shares.zip(panels) {
            let positions = &panel.as_chunks::<PANEL>().0[number];
            for row in 0..PANEL {
                (places[row], shares[row]) = column.place(positions[row]);
            }
        }
        let table_rows = column.last as usize + 1;
        ends.clear();
        ends.resize(table_rows + 1, 0);
        let (places, shares, sorted) = (&places[..count], &shares[..count], &mut sorted[..count]);
        for place in places {
            debug_assert!((*place as usize) < table_rows);
            // SAFETY: `TableColumn::place` returns an index below `table_rows`, and `ends` has `table_rows + 1` elements.
            unsafe { *ends.get_unchecked_mut(*place as usize + 1) += 1 };
        }
        // Here `ends[k + 1]` is the number of data rows that use table row k. The next loop makes `ends[k]` the index in `sorted` at which these data
        // rows begin. The last loop increments `ends[k]` for each of these data rows that it writes, so it becomes the index at which they end.
        let mut sum = 0;
        for end in ends.iter_mut() {
            sum += *end;
            *end = sum;
        }
        let mut start = 0;
        for (place, share) in places.iter().zip(shares) {
            // SAFETY: `TableColumn::place` returns an index below `table_rows`, and each of the `count` data rows has its own entry in `sorted`,
            // because the data rows at every table row have been counted.
            unsafe {
                let end = ends.get_unchecked_mut(*place as usize);
                *sorted.get_unchecked_mut(*end as usize) = (start, *share);
                *end += 1;
            }
            start += layer.stride as u32;
        }
        ends.pop();
    }

    /// Adds derivatives to the gradient of one column, which begins at `table`. The derivatives are those of the unit `unit` and its successors, as
    /// many as fill `N` registers. Returns the number of these units. The data rows must be sorted by the column.
    #[inline(always)]
    unsafe fn add_units<V: SimdVector, const N: usize>(
        &self,
        stride: usize,
        unit: usize,
        table: *mut f32,
        overwrite: bool,
    ) -> usize {
        // SAFETY: `sort` has written valid indices into `derivatives`; the caller guarantees that `table` has room for all table rows of the column,
        // and that the instructions of V are supported.
        unsafe {
            let derivatives = self.derivatives.as_ptr().add(unit);
            let zero = [V::splat(0.0); N];
            let (mut next, mut start, mut is_next_zero) = (zero, 0, true);
            for (at, end) in self.ends.iter().enumerate() {
                // A data row with the fraction f adds 1 − f times its derivatives to its own table row (`sums`), and f times its derivatives to the
                // next table row (`next`). So `sums` begins with the value of `next` from the previous table row.
                let mut sums = std::mem::replace(&mut next, zero);
                let rows = &self.sorted[start..*end as usize];
                for (row, share) in rows {
                    let (low, high) = (V::splat(1.0 - share), V::splat(*share));
                    for register in 0..N {
                        let derivative = V::load(derivatives.add(*row as usize + register * V::WIDTH));
                        sums[register] = low.multiply_add(derivative, sums[register]);
                        next[register] = high.multiply_add(derivative, next[register]);
                    }
                }
                let to = table.add(at * stride + unit);
                for (register, sum) in sums.iter().enumerate() {
                    let to = to.add(register * V::WIDTH);
                    if overwrite {
                        sum.store(to);
                    } else if !(is_next_zero && rows.is_empty()) {
                        V::load(to).plus(*sum).store(to);
                    }
                }
                (start, is_next_zero) = (*end as usize, rows.is_empty());
            }
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

    /// A network with a look-up layer, and data rows for it. Some columns have many table rows. The positions of the data rows lie between two
    /// table rows, exactly at a table row or outside of the table, or are NaN.
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

    /// The logits of the rows in `order`, and the gradient of the parameters for a fixed gradient with respect to the logits.
    fn logits_and_gradient(engine: &mut Engine, case: &(Network, Matrix), order: &[u32]) -> (Vec<f32>, Vec<f32>) {
        let (network, matrix) = case;
        let (mut logits, mut gradient) = (vec![0.0; order.len()], vec![0.0; network.parameters.len()]);
        engine.forward(network, matrix, order, &mut logits);
        let logit_gradient: Vec<f32> = order.iter().map(|row| (*row % 13) as f32 / 13.0 - 0.4).collect();
        engine.backward(network, &logit_gradient, &mut gradient);
        (logits, gradient)
    }

    /// Compares the logits and the gradient of a batch with those of batches of three rows.
    fn compare_with_small_batches(case: &(Network, Matrix), order: &[u32]) {
        for instructions in InstructionSet::supported() {
            let mut engine = Engine::with_instructions(instructions, case.0.shape());
            let (logits, gradient) = logits_and_gradient(&mut engine, case, order);
            let mut sum = vec![0.0; gradient.len()];
            for (order, logits) in order.chunks(3).zip(logits.chunks(3)) {
                let few = logits_and_gradient(&mut engine, case, order);
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
    fn the_logits_and_the_gradient_of_a_look_up_layer_do_not_depend_on_the_batch_size() {
        let order: Vec<u32> = (0..1100).map(|row| row * 331 % 1100).collect();
        let case = case(1100);
        // The last block of these batches is partly filled, full, has a single row, or is the only block.
        for rows in [1100, 2 * TABLE_BLOCK, TABLE_BLOCK + 1, TABLE_BLOCK - 1] {
            compare_with_small_batches(&case, &order[..rows]);
        }
    }

    #[test]
    fn the_table_gradient_is_the_same_if_each_column_is_computed_only_when_it_is_used() {
        /// A task that appends the gradient of the whole table to a list. The fields are the gradient, the number of table rows of each column, the
        /// length of a table row, and the list.
        struct CopyGradient<'a>(TableGradient<'a>, &'a [usize], usize, &'a mut Vec<f32>);
        impl crate::network::engine::SimdTask for CopyGradient<'_> {
            unsafe fn run_with<V: SimdVector>(mut self) {
                for (number, positions) in self.1.iter().enumerate() {
                    // SAFETY: a column has one table row for each position, and `run` has checked that the processor has the instructions of V.
                    let column = unsafe { std::slice::from_raw_parts(self.0.column::<V>(number), positions * self.2) };
                    self.3.extend_from_slice(column);
                }
            }
        }
        let (network, matrix) = case(1100);
        let (positions, stride) = (network.shape().positions(), network.shape().layers()[0].stride);
        let length = network.shape().table_length();
        for instructions in InstructionSet::supported() {
            for rows in [1, 100, TABLE_BLOCK, TABLE_BLOCK + 1, 1100] {
                let mut engine = Engine::with_instructions(instructions, network.shape());
                let order: Vec<u32> = (0..rows as u32).collect();
                let (logits, gradient) = logits_and_gradient(&mut engine, &(network.clone(), matrix.clone()), &order);
                assert_eq!(logits.len(), rows);
                let logit_gradient: Vec<f32> = order.iter().map(|row| (*row % 13) as f32 / 13.0 - 0.4).collect();
                let (mut later, mut table) = (vec![0.0; gradient.len()], Vec::new());
                engine.backward_without_table(&network, &logit_gradient, &mut later);
                let source = engine.table_gradient(&later[..length]);
                crate::network::engine::run(instructions, CopyGradient(source, positions, stride, &mut table));
                assert!(table == gradient[..length], "{instructions:?}, {rows} rows");
                assert!(later[length..] == gradient[length..], "{instructions:?}, {rows} rows");
            }
        }
    }

    #[test]
    fn the_table_gradient_is_right_if_almost_all_rows_have_the_same_position() {
        let positions = vec![3000, 2, 1];
        let values: Vec<f32> =
            (0..1100).flat_map(|row| [if row == 7 { 41.5 } else { 2998.25 }, (row % 2) as f32 / 2.0, 0.0]).collect();
        let network = Network::glorot(NetworkShape::look_up(positions, &[20, 5], 1).unwrap(), 3);
        compare_with_small_batches(&(network, Matrix::new(3, &values).unwrap()), &(0..1100).collect::<Vec<_>>());
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
