//! The forward and backward pass of a look-up layer over groups of up to eight panels of 32 rows.
//!
//! ```text
//! out = b + Σ_c (1 − f) T[k] + f T[k + 1]        for the position k + f of column c
//! ```
//!
//! The table T has one row for each position of each column, and the units of a row lie side by side. So a row of the batch reads one or two
//! rows of T for each column, and the cost does not depend on the number of positions.
//!
//! The rows of T that a row of the batch reads lie far apart, and T is larger than the L1 cache. So the layer is computed in parts: 16 units and a
//! few columns at a time. The table of such a part is copied to a buffer that stays in the L1 cache while all rows of the group are computed.

use std::ops::Range;

use scorewise_table::{AlignedBuffer, Matrix, PAD};

use super::kernel::{PANEL, transpose_to_panel, transpose_to_rows};
use super::prefetch::panel_rows;
use super::simd_vector::SimdVector;
use crate::network::{LayerLayout, NetworkShape};

/// Number of panels that are computed together. With more panels, the table is copied less often, but the sums of 16 units, 1 KiB for each panel
/// and register, need more of the L1 cache.
pub(super) const LOOK_UP_PANELS: usize = 8;
/// Number of units that are computed together: those of one cache line.
const UNITS: usize = PAD;
/// Maximum number of table rows in the copied part of the table. Each is copied with its difference to the next row, so this is 32 KiB.
const PART_ROWS: usize = 256;
/// Number of rows whose sums are computed at the same time. Each sum is a chain of dependent additions, so one alone would wait for its own results.
const CHAINS: usize = 4;

/// The table rows of one column of the matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TableColumn {
    /// Index of the first table row of the column, counted from the first table row of its part.
    first: u32,
    /// The greatest position that the column can have.
    last: f32,
}

/// A few successive columns, whose table rows are copied together.
#[derive(Clone, Debug, PartialEq)]
struct TablePart {
    columns: Range<usize>,
    /// The table rows of these columns.
    rows: Range<usize>,
}

impl TablePart {
    /// How many numbers [`LookUpBuffers::offsets`] counts for one table row: those of a cache line. A column that is too large to be copied alone has
    /// plain numbers of rows, because a large table has more than 2³² numbers.
    #[inline(always)]
    fn row_length(&self) -> usize {
        if self.rows.len() <= PART_ROWS { UNITS } else { 1 }
    }

    /// Whether the table of this part is copied for a group of `count` rows of the batch. It is not if the copy would cost more than it saves.
    #[inline(always)]
    fn is_copied(&self, count: usize) -> bool {
        self.rows.len() <= PART_ROWS.min(count * self.columns.len())
    }
}

/// The columns of a look-up layer, and their division into parts.
#[derive(Clone, Debug)]
pub(super) struct LookUpLayout {
    columns: Vec<TableColumn>,
    parts: Vec<TablePart>,
}

impl LookUpLayout {
    /// The layout of the look-up layer of a network; `None` if its first layer is dense.
    pub fn of_shape(shape: &NetworkShape) -> Option<Self> {
        let (mut columns, mut parts) = (Vec::new(), Vec::<TablePart>::new());
        let mut row = 0;
        for (number, positions) in shape.positions().iter().enumerate() {
            let end = row + positions;
            match parts.last_mut() {
                Some(part) if end - part.rows.start <= PART_ROWS => {
                    part.columns.end = number + 1;
                    part.rows.end = end;
                }
                _ => parts.push(TablePart { columns: number..number + 1, rows: row..end }),
            }
            let first = row - parts[parts.len() - 1].rows.start;
            columns.push(TableColumn { first: first as u32, last: (positions - 1) as f32 });
            row = end;
        }
        (!columns.is_empty()).then_some(LookUpLayout { columns, parts })
    }
}

/// Scratch buffers of a look-up layer.
#[derive(Debug, Default)]
pub(super) struct LookUpBuffers {
    /// The positions of the rows of a panel, as `[column][32]`.
    panel: AlignedBuffer,
    /// For each panel, column and row, where the table row at or before the position begins in its part of the table, as `[panel][column][32]`.
    offsets: Vec<u32>,
    /// The share of the way to the next table row, in the same order.
    shares: AlignedBuffer,
    /// For each column, whether a row of the group lies between two table rows.
    is_between: Vec<bool>,
    /// The copy of a part of the table for 16 units, each table row with its difference to the next; or the gradient of a part of the table, one cache
    /// line for each table row.
    part: AlignedBuffer,
    /// The sums of 16 units for each row of the group.
    sums: AlignedBuffer,
    /// The gradient of the outputs of the layer for each row of the group, as `[block of 16 units][row][16]`.
    derivatives: AlignedBuffer,
}

/// Number of rows in the largest group.
const GROUP_ROWS: usize = LOOK_UP_PANELS * PANEL;

impl LookUpBuffers {
    pub fn new(layout: &LookUpLayout, layer: &LayerLayout) -> Self {
        let columns = layout.columns.len();
        LookUpBuffers {
            panel: AlignedBuffer::zeros(PANEL * columns.next_multiple_of(4)),
            offsets: vec![0; GROUP_ROWS * columns],
            shares: AlignedBuffer::zeros(GROUP_ROWS * columns),
            is_between: vec![false; columns],
            part: AlignedBuffer::zeros(2 * PART_ROWS * UNITS),
            sums: AlignedBuffer::zeros(GROUP_ROWS * UNITS),
            derivatives: AlignedBuffer::zeros(GROUP_ROWS * layer.stride),
        }
    }

    /// Finds the table rows that the rows `order` of the matrix need. A position that a column does not have is replaced by the nearest one, and NaN
    /// by 0, so that the table row always exists.
    ///
    /// # Safety
    /// The conditions of [`SimdVector`] must hold, and all rows must exist in the matrix, which must have one column for each column of the layer.
    #[inline(always)]
    unsafe fn locate<V: SimdVector>(&mut self, layout: &LookUpLayout, matrix: &Matrix, order: &[u32]) {
        let LookUpBuffers { panel, offsets, shares, is_between, .. } = self;
        let numbers = layout.columns.len() * PANEL;
        is_between.fill(false);
        for ((offsets, shares), order) in
            offsets.chunks_exact_mut(numbers).zip(shares.chunks_exact_mut(numbers)).zip(order.chunks(PANEL))
        {
            // SAFETY: the caller guarantees that the rows exist; they are padded to a multiple of 16 numbers, and `panel` has room for the columns.
            unsafe { transpose_to_panel::<V>(&panel_rows(matrix, order), layout.columns.len(), panel.as_mut_ptr()) };
            for part in &layout.parts {
                let length = part.row_length() as u32;
                for column in part.columns.clone() {
                    let TableColumn { first, last } = layout.columns[column];
                    let at = column * PANEL..(column + 1) * PANEL;
                    let mut is_whole = true;
                    let columns = offsets[at.clone()].iter_mut().zip(&mut shares[at.clone()]).zip(&panel[at]);
                    for ((offset, share), position) in columns {
                        let position = position.max(0.0).min(last);
                        // SAFETY: the position is not NaN and lies between 0 and the last position, which is below 2²⁴.
                        let whole = unsafe { position.to_int_unchecked::<i32>() };
                        *offset = (first + whole as u32) * length;
                        *share = position - whole as f32;
                        is_whole &= *share == 0.0;
                    }
                    is_between[column] |= !is_whole;
                }
            }
        }
    }
}

/// Writes the outputs of a look-up layer for a group of rows, with ReLU if `relu` is set. The panels of the output are `panel_stride` numbers apart.
///
/// # Safety
/// The conditions of [`SimdVector`] must hold, `parameters` must contain the layer, all rows must exist in the matrix, which must have one column
/// for each input, there must be at most [`LOOK_UP_PANELS`] panels of rows, and `output` must have room for them.
#[inline(always)]
pub(super) unsafe fn look_up<V: SimdVector>(
    (layout, layer): (&LookUpLayout, &LayerLayout),
    buffers: &mut LookUpBuffers,
    parameters: *const f32,
    (matrix, order): (&Matrix, &[u32]),
    (output, panel_stride): (*mut f32, usize),
    relu: bool,
) {
    // SAFETY: `locate` returns existing table rows; the caller guarantees that the pointers are valid and that the instructions of V are supported.
    unsafe {
        buffers.locate::<V>(layout, matrix, order);
        let panels = order.len().div_ceil(PANEL);
        for unit in (0..layer.stride).step_by(UNITS) {
            let sums = buffers.sums.as_mut_ptr();
            for row in 0..panels * PANEL {
                copy_units::<V>(parameters.add(layer.biases + unit), sums.add(row * UNITS));
            }
            for part in &layout.parts {
                let table = parameters.add(layer.weights + part.rows.start * layer.stride + unit);
                let is_copied = part.is_copied(order.len());
                if is_copied {
                    copy_part::<V>(table, layer.stride, part.rows.len(), buffers.part.as_mut_ptr());
                }
                let all_between = buffers.is_between[part.columns.clone()].iter().all(|is_between| *is_between);
                let copy = buffers.part.as_ptr();
                for panel in 0..panels {
                    let sums = sums.add(panel * PANEL * UNITS);
                    match (is_copied, all_between, UNITS / V::WIDTH) {
                        (true, true, 1) => {
                            add_table_rows::<V, 1, true, true>(buffers, part, panel, (copy, 2 * UNITS), sums)
                        }
                        (true, false, 1) => {
                            add_table_rows::<V, 1, true, false>(buffers, part, panel, (copy, 2 * UNITS), sums)
                        }
                        (false, _, 1) => {
                            add_table_rows::<V, 1, false, false>(buffers, part, panel, (table, layer.stride), sums)
                        }
                        (true, true, _) => {
                            add_table_rows::<V, 2, true, true>(buffers, part, panel, (copy, 2 * UNITS), sums)
                        }
                        (true, false, _) => {
                            add_table_rows::<V, 2, true, false>(buffers, part, panel, (copy, 2 * UNITS), sums)
                        }
                        (false, _, _) => {
                            add_table_rows::<V, 2, false, false>(buffers, part, panel, (table, layer.stride), sums)
                        }
                    }
                }
            }
            if relu {
                for at in (0..panels * PANEL * UNITS).step_by(V::WIDTH) {
                    V::load(sums.add(at)).positive_part().store(sums.add(at));
                }
            }
            for panel in 0..panels {
                let sums = sums.add(panel * PANEL * UNITS).cast_const();
                let rows: [*const f32; PANEL] = std::array::from_fn(|row| sums.add(row * UNITS));
                let units = UNITS.min(layer.outputs - unit);
                transpose_to_panel::<V>(&rows, units, output.add(panel * panel_stride + unit * PANEL));
            }
        }
    }
}

/// Copies the numbers of 16 units.
#[inline(always)]
unsafe fn copy_units<V: SimdVector>(from: *const f32, to: *mut f32) {
    for register in (0..UNITS).step_by(V::WIDTH) {
        // SAFETY: the caller guarantees that the pointers are valid and that the instructions of V are supported.
        unsafe { V::load(from.add(register)).store(to.add(register)) };
    }
}

/// Copies the table rows of a part for 16 units, each with its difference to the next row. The row after the last one, which belongs to the next part
/// or to the biases, is read too; a position never lies between the two.
#[inline(always)]
unsafe fn copy_part<V: SimdVector>(table: *const f32, stride: usize, rows: usize, to: *mut f32) {
    for register in (0..UNITS).step_by(V::WIDTH) {
        // SAFETY: the caller guarantees that the pointers are valid and that the instructions of V are supported.
        unsafe {
            let (mut from, mut to) = (table.add(register), to.add(register));
            let mut row = V::load(from);
            for _ in 0..rows {
                from = from.add(stride);
                let next = V::load(from);
                row.store(to);
                next.minus(row).store(to.add(UNITS));
                to = to.add(2 * UNITS);
                row = next;
            }
        }
    }
}

/// Adds the table rows of a part to the sums of a panel, for 16 units, which fill `N` registers. If `COPIED` is set, `table` is a copy by
/// [`copy_part`]. If `ALL_BETWEEN` is set, all columns have rows that lie between two table rows.
#[inline(always)]
unsafe fn add_table_rows<V: SimdVector, const N: usize, const COPIED: bool, const ALL_BETWEEN: bool>(
    buffers: &LookUpBuffers,
    part: &TablePart,
    panel: usize,
    (table, stride): (*const f32, usize),
    sums: *mut f32,
) {
    // SAFETY: the caller guarantees that the pointers are valid and that the instructions of V are supported.
    unsafe {
        let factor = if COPIED { 2 } else { stride / part.row_length() };
        let first = (panel * buffers.is_between.len() + part.columns.start) * PANEL;
        let is_between = &buffers.is_between[part.columns.clone()];
        for row in (0..PANEL).step_by(CHAINS) {
            let mut offsets = buffers.offsets.as_ptr().add(first + row);
            let mut shares = buffers.shares.as_ptr().add(first + row);
            let to = sums.add(row * UNITS);
            let mut chains = [[V::splat(0.0); N]; CHAINS];
            for (chain, sums) in chains.iter_mut().enumerate() {
                for (register, sum) in sums.iter_mut().enumerate() {
                    *sum = V::load(to.add(chain * UNITS + register * V::WIDTH));
                }
            }
            for is_between in is_between {
                for (chain, sums) in chains.iter_mut().enumerate() {
                    let from = table.add(*offsets.add(chain) as usize * factor);
                    let share = V::splat(*shares.add(chain));
                    for (register, sum) in sums.iter_mut().enumerate() {
                        let from = from.add(register * V::WIDTH);
                        let low = V::load(from);
                        *sum = sum.plus(low);
                        if COPIED && (ALL_BETWEEN || *is_between) {
                            *sum = share.multiply_add(V::load(from.add(UNITS)), *sum);
                        } else if !COPIED && *is_between {
                            *sum = share.multiply_add(V::load(from.add(stride)).minus(low), *sum);
                        }
                    }
                }
                offsets = offsets.add(PANEL);
                shares = shares.add(PANEL);
            }
            for (chain, sums) in chains.iter().enumerate() {
                for (register, sum) in sums.iter().enumerate() {
                    sum.store(to.add(chain * UNITS + register * V::WIDTH));
                }
            }
        }
    }
}

/// Stores the gradient of the outputs of a panel of a group, for [`add_table_gradient`].
///
/// # Safety
/// The conditions of [`look_up`] must hold; `output_gradient` must have [`PANEL`] numbers for each output of the layer.
#[inline(always)]
pub(super) unsafe fn store_derivatives<V: SimdVector>(
    layer: &LayerLayout,
    buffers: &mut LookUpBuffers,
    panel: usize,
    output_gradient: *const f32,
) {
    for unit in (0..layer.stride).step_by(UNITS) {
        // SAFETY: the buffer has room for a group of panels, and the caller guarantees that the instructions of V are supported.
        unsafe {
            let to = buffers.derivatives.as_mut_ptr().add(unit * GROUP_ROWS + panel * PANEL * UNITS);
            let units = UNITS.min(layer.outputs - unit);
            transpose_to_rows::<V>(output_gradient.add(unit * PANEL), units, to, UNITS);
        }
    }
}

/// Adds the gradient of the table and of the biases to `gradient`, given the gradient of the outputs of the layer for a group of rows, which
/// [`store_derivatives`] has stored. If `overwrite` is set, the sums replace the old values.
///
/// # Safety
/// The conditions of [`look_up`] must hold.
#[inline(always)]
pub(super) unsafe fn add_table_gradient<V: SimdVector>(
    (layout, layer): (&LookUpLayout, &LayerLayout),
    buffers: &mut LookUpBuffers,
    (matrix, order): (&Matrix, &[u32]),
    gradient: *mut f32,
    overwrite: bool,
) {
    // SAFETY: `locate` returns existing table rows; the caller guarantees that the pointers are valid and that the instructions of V are supported.
    unsafe {
        buffers.locate::<V>(layout, matrix, order);
        for unit in (0..layer.stride).step_by(UNITS) {
            let derivatives = buffers.derivatives.as_ptr().add(unit * GROUP_ROWS);
            add_bias_gradient::<V>(derivatives, order.len(), gradient.add(layer.biases + unit), overwrite);
            for part in &layout.parts {
                let table = gradient.add(layer.weights + part.rows.start * layer.stride + unit);
                let is_copied = part.is_copied(order.len());
                let (to, length) = if is_copied { (buffers.part.as_mut_ptr(), UNITS) } else { (table, layer.stride) };
                for row in 0..part.rows.len() {
                    if overwrite {
                        fill_units::<V>(to.add(row * length));
                    } else if is_copied {
                        copy_units::<V>(table.add(row * layer.stride), to.add(row * UNITS));
                    }
                }
                let all_between = buffers.is_between[part.columns.clone()].iter().all(|is_between| *is_between);
                let (from, to_rows) = ((derivatives, order.len()), (to, length));
                match (is_copied, all_between, UNITS / V::WIDTH) {
                    (true, true, 1) => add_to_table_rows::<V, 1, true, true>(buffers, part, from, to_rows),
                    (true, false, 1) => add_to_table_rows::<V, 1, true, false>(buffers, part, from, to_rows),
                    (false, _, 1) => add_to_table_rows::<V, 1, false, false>(buffers, part, from, to_rows),
                    (true, true, _) => add_to_table_rows::<V, 2, true, true>(buffers, part, from, to_rows),
                    (true, false, _) => add_to_table_rows::<V, 2, true, false>(buffers, part, from, to_rows),
                    (false, _, _) => add_to_table_rows::<V, 2, false, false>(buffers, part, from, to_rows),
                }
                for row in 0..if is_copied { part.rows.len() } else { 0 } {
                    copy_units::<V>(to.add(row * UNITS), table.add(row * layer.stride));
                }
            }
        }
    }
}

/// Sets the numbers of 16 units to 0.
#[inline(always)]
unsafe fn fill_units<V: SimdVector>(to: *mut f32) {
    for register in (0..UNITS).step_by(V::WIDTH) {
        // SAFETY: the caller guarantees that the pointer is valid and that the instructions of V are supported.
        unsafe { V::splat(0.0).store(to.add(register)) };
    }
}

/// Adds the derivatives of `count` rows, for 16 units, to the gradient of the biases.
#[inline(always)]
unsafe fn add_bias_gradient<V: SimdVector>(derivatives: *const f32, count: usize, biases: *mut f32, overwrite: bool) {
    for register in (0..UNITS).step_by(V::WIDTH) {
        // SAFETY: the caller guarantees that the pointers are valid and that the instructions of V are supported.
        unsafe {
            let mut total = if overwrite { V::splat(0.0) } else { V::load(biases.add(register)) };
            for start in (0..count).step_by(PANEL) {
                let mut sum = V::splat(0.0);
                for row in start..count.min(start + PANEL) {
                    sum = sum.plus(V::load(derivatives.add(row * UNITS + register)));
                }
                total = total.plus(sum);
            }
            total.store(biases.add(register));
        }
    }
}

/// Adds the derivatives of `count` rows, for 16 units, to the gradient of the table rows of a part.
#[inline(always)]
unsafe fn add_to_table_rows<V: SimdVector, const N: usize, const COPIED: bool, const ALL_BETWEEN: bool>(
    buffers: &LookUpBuffers,
    part: &TablePart,
    (derivatives, count): (*const f32, usize),
    (table, stride): (*mut f32, usize),
) {
    // SAFETY: the caller guarantees that the pointers are valid and that the instructions of V are supported.
    unsafe {
        let (factor, stride) = if COPIED { (1, UNITS) } else { (stride / part.row_length(), stride) };
        let is_between = &buffers.is_between[part.columns.clone()];
        for row in 0..count {
            let first = (row / PANEL * buffers.is_between.len() + part.columns.start) * PANEL + row % PANEL;
            let mut offset = buffers.offsets.as_ptr().add(first);
            let mut share = buffers.shares.as_ptr().add(first);
            let mut row_derivatives = [V::splat(0.0); N];
            for (register, derivative) in row_derivatives.iter_mut().enumerate() {
                *derivative = V::load(derivatives.add(row * UNITS + register * V::WIDTH));
            }
            for is_between in is_between {
                let to = table.add(*offset as usize * factor);
                let shares = V::splat(*share);
                for (register, derivative) in row_derivatives.iter().enumerate() {
                    let to = to.add(register * V::WIDTH);
                    if ALL_BETWEEN || *is_between {
                        // At the last position of a part, the next table row belongs to another part or to the biases, but then the share is 0.
                        let high = shares.times(*derivative);
                        V::load(to).plus(derivative.minus(high)).store(to);
                        let next = to.add(stride);
                        V::load(next).plus(high).store(next);
                    } else {
                        V::load(to).plus(*derivative).store(to);
                    }
                }
                offset = offset.add(PANEL);
                share = share.add(PANEL);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use scorewise::{InstructionSet, Purpose};
    use scorewise_table::split::random;

    use super::*;
    use crate::network::{Engine, Network, uniform};

    /// Rows with positions between two table rows, at a table row, outside the table and NaN, and a network with several parts of columns, of which
    /// one is larger than a copy.
    fn case(rows: usize) -> (Network, Matrix) {
        let positions = vec![49, 1, 120, 7, 200, PART_ROWS + 50, 3, 49];
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
    fn copying_the_table_changes_no_logit_and_adds_the_same_gradient() {
        let case = case(700);
        let order: Vec<u32> = (0..700).map(|row| row * 331 % 700).collect();
        for instructions in InstructionSet::supported() {
            let mut engine = Engine::with_instructions(instructions, case.0.shape());
            let (logits, gradient) = logits_and_gradient(&mut engine, &case, &order);
            let mut sum = vec![0.0; gradient.len()];
            // The table of a part has more rows than three rows of the batch read, so nothing is copied.
            assert!(LookUpLayout::of_shape(case.0.shape()).unwrap().parts.iter().all(|part| !part.is_copied(3)));
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

    #[test]
    fn columns_are_divided_into_parts_that_fit_a_copy() {
        let layout = LookUpLayout::of_shape(case(1).0.shape()).unwrap();
        let parts: Vec<_> = layout.parts.iter().map(|part| (part.columns.clone(), part.rows.clone())).collect();
        assert_eq!(parts, [(0..4, 0..177), (4..5, 177..377), (5..6, 377..683), (6..8, 683..735)]);
        assert_eq!(layout.columns[7], TableColumn { first: 3, last: 48.0 });
        assert!(layout.parts[0].is_copied(256) && !layout.parts[2].is_copied(100_000));
        assert!(LookUpLayout::of_shape(&NetworkShape::new(3, &[4], 1).unwrap()).is_none());
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
