//! The three matrix products of a dense layer (forward, backward, gradient of the weights) over panels of 32 rows.
//!
//! A panel is a transposed block of 32 rows, stored as `[feature][32]`. So a vector register holds one feature of several rows, and layer
//! widths such as 5, 20 or 50 need no padding. The forward and backward products multiply a panel by broadcast weights and apply the bias and
//! ReLU (or the derivative of ReLU) before the result leaves the registers. The gradient of the weights is a sum of outer products over rows.
//! For this product a register holds several inputs of one row, so that the lanes of a register need not be added up.

use std::hint::black_box;

use super::prefetch::Prefetch;
use super::simd_vector::SimdVector;
use crate::network::LayerLayout;

/// Number of rows in a panel, which is a transposed block of rows, stored as `[feature][PANEL]`.
pub(crate) const PANEL: usize = 32;

/// Calls a kernel with a block size from 1 to 12 that is known only at run time. A macro is needed because the kernel takes the block size as a
/// const generic parameter.
macro_rules! with_block {
    ($block:expr, $call:ident :: <$v:ident, $n:tt> ( $($argument:expr),* )) => {
        match $block {
            1 => $call::<$v, $n, 1>($($argument),*),
            2 => $call::<$v, $n, 2>($($argument),*),
            3 => $call::<$v, $n, 3>($($argument),*),
            4 => $call::<$v, $n, 4>($($argument),*),
            5 => $call::<$v, $n, 5>($($argument),*),
            6 => $call::<$v, $n, 6>($($argument),*),
            7 => $call::<$v, $n, 7>($($argument),*),
            8 => $call::<$v, $n, 8>($($argument),*),
            9 => $call::<$v, $n, 9>($($argument),*),
            10 => $call::<$v, $n, 10>($($argument),*),
            11 => $call::<$v, $n, 11>($($argument),*),
            _ => $call::<$v, $n, 12>($($argument),*),
        }
    };
}

/// Divides the `width` inputs or outputs of a layer into blocks of nearly equal size, none larger than `max_size`. Blocks of size `max_size` and
/// a small remainder would be slower, because a small block does not fill the pipeline of the processor.
///
/// This is an iterator and not a function with a closure, because a closure is compiled without the target features of the function around it.
struct RegisterBlocks {
    start: usize,
    /// Size of the smaller blocks. The first `larger` blocks have one element more.
    size: usize,
    larger: usize,
    remaining: usize,
}

impl RegisterBlocks {
    /// Divides `width` inputs or outputs into blocks of at most `max_size` inputs or outputs.
    #[inline(always)]
    fn new(width: usize, max_size: usize) -> Self {
        let remaining = width.div_ceil(max_size);
        RegisterBlocks { start: 0, size: width / remaining, larger: width % remaining, remaining }
    }

    /// Start and size of the next block.
    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        if self.remaining == 0 {
            return None;
        }
        self.remaining -= 1;
        let size = self.size + usize::from(self.larger > 0);
        self.larger = self.larger.saturating_sub(1);
        self.start += size;
        Some((self.start - size, size))
    }
}

/// The forward product of a layer: out[o][·] = b[o] + Σᵢ W[o][i] in[i][·], followed by ReLU if `relu` is set. Data for the next
/// panel (block of 32 rows) is prefetched while the product is computed.
///
/// # Safety
/// The conditions of [`SimdVector`] must hold, `parameters` must contain the layer, and `input` and `output` must have [`PANEL`] numbers for
/// each input and output of the layer.
#[inline(always)]
pub(crate) unsafe fn forward<V: SimdVector>(
    layer: &LayerLayout,
    parameters: *const f32,
    input: *const f32,
    output: *mut f32,
    relu: bool,
    prefetch: &mut Prefetch<'_>,
) {
    // SAFETY: offsets stay within the sizes that the caller guarantees.
    unsafe {
        match PANEL / V::WIDTH {
            2 => forward_panel::<V, 2>(layer, parameters, input, output, relu, prefetch),
            _ => forward_panel::<V, 4>(layer, parameters, input, output, relu, prefetch),
        }
    }
}

/// Computes the forward product of a layer for one panel of 32 rows. Each input or output of the panel fills `N` vector registers.
#[inline(always)]
unsafe fn forward_panel<V: SimdVector, const N: usize>(
    layer: &LayerLayout,
    parameters: *const f32,
    input: *const f32,
    output: *mut f32,
    relu: bool,
    prefetch: &mut Prefetch<'_>,
) {
    let mut blocks = RegisterBlocks::new(layer.outputs, (V::ACCUMULATORS / N).min(8));
    while let Some((start, size)) = blocks.next() {
        // SAFETY: the caller guarantees that the pointers are valid and that the instructions of V are supported.
        unsafe {
            prefetch.next::<V>();
            let weights = parameters.add(layer.weights + start * layer.stride);
            let (biases, output) = (parameters.add(layer.biases + start), output.add(start * PANEL));
            with_block!(size, forward_block::<V, N>(weights, layer.stride, biases, input, layer.inputs, output, relu));
        }
    }
}

/// Computes `B` outputs of a layer for one panel of 32 rows. Each input or output of the panel fills `N` vector registers.
#[inline(always)]
unsafe fn forward_block<V: SimdVector, const N: usize, const B: usize>(
    weights: *const f32,
    stride: usize,
    biases: *const f32,
    input: *const f32,
    inputs: usize,
    output: *mut f32,
    relu: bool,
) {
    // SAFETY: the caller guarantees that the pointers are valid and that the instructions of V are supported.
    unsafe {
        let mut sums = [[V::splat(0.0); N]; B];
        for (block, sums) in sums.iter_mut().enumerate() {
            *sums = [V::splat(*biases.add(block)); N];
        }
        // There is one pointer for each row of weights. `black_box` hides from the compiler that the rows are a stride apart. Otherwise the
        // compiler would keep one pointer and add the stride for every row in every step, and these additions cost as much as the products.
        let mut rows = [weights; B];
        for (block, row) in rows.iter_mut().enumerate() {
            *row = black_box(weights.add(block * stride));
        }
        for step in 0..inputs {
            let mut vector = [V::splat(0.0); N];
            for (register, vector) in vector.iter_mut().enumerate() {
                *vector = V::load(input.add(step * PANEL + register * V::WIDTH));
            }
            for (row, sums) in rows.iter().zip(&mut sums) {
                let weight = V::splat(*row.add(step));
                for register in 0..N {
                    sums[register] = weight.multiply_add(vector[register], sums[register]);
                }
            }
        }
        for (block, sums) in sums.iter().enumerate() {
            for (register, sum) in sums.iter().enumerate() {
                let sum = if relu { sum.positive_part() } else { *sum };
                sum.store(output.add(block * PANEL + register * V::WIDTH));
            }
        }
    }
}

/// The backward product of a layer: input_gradient[i][·] = Σₒ W[o][i] output_gradient[o][·] where input[i][·] > 0, else 0. The condition is the
/// derivative of the ReLU of the previous layer, whose output is `input`.
///
/// # Safety
/// The conditions of [`forward`] must hold.
#[inline(always)]
pub(crate) unsafe fn backward<V: SimdVector>(
    layer: &LayerLayout,
    parameters: *const f32,
    output_gradient: *const f32,
    input: *const f32,
    input_gradient: *mut f32,
) {
    // SAFETY: the caller guarantees that the pointers are valid and that the instructions of V are supported.
    unsafe {
        match PANEL / V::WIDTH {
            2 => backward_panel::<V, 2>(layer, parameters, output_gradient, input, input_gradient),
            _ => backward_panel::<V, 4>(layer, parameters, output_gradient, input, input_gradient),
        }
    }
}

/// Computes the gradient with respect to all inputs of a layer for one panel of 32 rows. Each input or output of the panel fills `N` vector
/// registers.
#[inline(always)]
unsafe fn backward_panel<V: SimdVector, const N: usize>(
    layer: &LayerLayout,
    parameters: *const f32,
    output_gradient: *const f32,
    input: *const f32,
    input_gradient: *mut f32,
) {
    let mut blocks = RegisterBlocks::new(layer.inputs, (V::ACCUMULATORS / N).min(12));
    while let Some((start, size)) = blocks.next() {
        // SAFETY: the caller guarantees that the pointers are valid and that the instructions of V are supported.
        unsafe {
            let weights = parameters.add(layer.weights + start);
            let (input, input_gradient) = (input.add(start * PANEL), input_gradient.add(start * PANEL));
            with_block!(
                size,
                backward_block::<V, N>(weights, layer.stride, output_gradient, layer.outputs, input, input_gradient)
            );
        }
    }
}

/// Computes the gradient with respect to `B` inputs of a layer for one panel of 32 rows. Each input or output of the panel fills `N` vector
/// registers.
#[inline(always)]
unsafe fn backward_block<V: SimdVector, const N: usize, const B: usize>(
    weights: *const f32,
    stride: usize,
    output_gradient: *const f32,
    outputs: usize,
    input: *const f32,
    input_gradient: *mut f32,
) {
    // SAFETY: the caller guarantees that the pointers are valid and that the instructions of V are supported.
    unsafe {
        let mut sums = [[V::splat(0.0); N]; B];
        for step in 0..outputs {
            let mut vector = [V::splat(0.0); N];
            for (register, vector) in vector.iter_mut().enumerate() {
                *vector = V::load(output_gradient.add(step * PANEL + register * V::WIDTH));
            }
            for (block, sums) in sums.iter_mut().enumerate() {
                let weight = V::splat(*weights.add(step * stride + block));
                for register in 0..N {
                    sums[register] = weight.multiply_add(vector[register], sums[register]);
                }
            }
        }
        for (block, sums) in sums.iter().enumerate() {
            for (register, sum) in sums.iter().enumerate() {
                let offset = block * PANEL + register * V::WIDTH;
                sum.keep_where_positive(V::load(input.add(offset))).store(input_gradient.add(offset));
            }
        }
    }
}

/// Adds up the gradient of the weights and biases of a layer over the rows r of one or more panels (blocks of 32 rows):
///
/// ```text
/// gradient of W[o][·] += Σ_r output_gradient[o][r] · input[r][·]        gradient of b[o] += Σ_r output_gradient[o][r]
/// ```
///
/// If `overwrite` is set, the sums replace the old gradient, which need not be set to 0 first. The rows may lie anywhere in memory,
/// because the inputs of the first layer are rows of the matrix. Data for the next panels is prefetched while the sums are computed.
///
/// # Safety
/// The conditions of [`forward`] must hold, `output_gradient` must have one panel for each entry of `rows`, and each row must have as many
/// numbers as the stride of the layer.
#[inline(always)]
pub(crate) unsafe fn add_outer_products<V: SimdVector>(
    layer: &LayerLayout,
    output_gradient: *const f32,
    rows: &[[*const f32; PANEL]],
    gradient: *mut f32,
    overwrite: bool,
    prefetch: &mut Prefetch<'_>,
) {
    // SAFETY: the caller guarantees that the pointers are valid and that the instructions of V are supported.
    unsafe {
        let vectors = layer.stride / V::WIDTH;
        let mut vector = 0;
        while vector < vectors {
            // Three registers of inputs times eight outputs use all 24 accumulators of AVX-512, and so do four registers times six outputs.
            let remaining = vectors - vector;
            let columns = if remaining == 5 || remaining == 6 { 3 } else { remaining.min(4) };
            let column = vector * V::WIDTH;
            let mut blocks = RegisterBlocks::new(layer.outputs, (V::ACCUMULATORS / columns).min(8));
            while let Some((start, size)) = blocks.next() {
                prefetch.next::<V>();
                let output_gradient = output_gradient.add(start * PANEL);
                let gradient = gradient.add(layer.weights + start * layer.stride + column);
                match columns {
                    1 => with_block!(
                        size,
                        outer_product_block::<V, 1>(layer, output_gradient, rows, column, gradient, overwrite)
                    ),
                    2 => with_block!(
                        size,
                        outer_product_block::<V, 2>(layer, output_gradient, rows, column, gradient, overwrite)
                    ),
                    3 => with_block!(
                        size,
                        outer_product_block::<V, 3>(layer, output_gradient, rows, column, gradient, overwrite)
                    ),
                    _ => with_block!(
                        size,
                        outer_product_block::<V, 4>(layer, output_gradient, rows, column, gradient, overwrite)
                    ),
                }
            }
            vector += columns;
        }
        for output in 0..layer.outputs {
            let mut sum = V::splat(0.0);
            for panel in 0..rows.len() {
                let output_gradient = output_gradient.add((panel * layer.outputs + output) * PANEL);
                for register in 0..PANEL / V::WIDTH {
                    sum = sum.plus(V::load(output_gradient.add(register * V::WIDTH)));
                }
            }
            let bias = gradient.add(layer.biases + output);
            *bias = sum.sum() + if overwrite { 0.0 } else { *bias };
        }
    }
}

/// Adds up the gradient of the weights between `B` outputs of a layer and the inputs that fill `C` vector registers.
#[inline(always)]
unsafe fn outer_product_block<V: SimdVector, const C: usize, const B: usize>(
    layer: &LayerLayout,
    output_gradient: *const f32,
    rows: &[[*const f32; PANEL]],
    column: usize,
    gradient: *mut f32,
    overwrite: bool,
) {
    // SAFETY: the caller guarantees that the pointers are valid and that the instructions of V are supported.
    unsafe {
        let mut sums = [[V::splat(0.0); C]; B];
        if !overwrite {
            for (block, sums) in sums.iter_mut().enumerate() {
                for (column, sum) in sums.iter_mut().enumerate() {
                    *sum = V::load(gradient.add(block * layer.stride + column * V::WIDTH));
                }
            }
        }
        for (panel, rows) in rows.iter().enumerate() {
            let output_gradient = output_gradient.add(panel * layer.outputs * PANEL);
            for (row, values) in rows.iter().enumerate() {
                let mut vector = [V::splat(0.0); C];
                for (register, vector) in vector.iter_mut().enumerate() {
                    *vector = V::load(values.add(column + register * V::WIDTH));
                }
                for (block, sums) in sums.iter_mut().enumerate() {
                    let derivative = V::splat(*output_gradient.add(block * PANEL + row));
                    for register in 0..C {
                        sums[register] = derivative.multiply_add(vector[register], sums[register]);
                    }
                }
            }
        }
        for (block, sums) in sums.iter().enumerate() {
            for (column, sum) in sums.iter().enumerate() {
                sum.store(gradient.add(block * layer.stride + column * V::WIDTH));
            }
        }
    }
}

/// Computes the same sums as [`add_outer_products`] for a layer with few inputs: the gradient of each weight is a dot product over the rows.
/// The inputs of successive panels (blocks of 32 rows) are `panel_stride` numbers apart.
///
/// # Safety
/// The conditions of [`add_outer_products`] must hold, and the layer must have fewer than eight inputs.
#[inline(always)]
pub(crate) unsafe fn add_dot_products<V: SimdVector>(
    layer: &LayerLayout,
    panels: usize,
    output_gradient: *const f32,
    (inputs, panel_stride): (*const f32, usize),
    gradient: *mut f32,
    overwrite: bool,
) {
    for output in 0..layer.outputs {
        // SAFETY: the caller guarantees that the pointers are valid and that the instructions of V are supported.
        unsafe {
            let mut sums = [V::splat(0.0); 8];
            for panel in 0..panels {
                let output_gradient = output_gradient.add((panel * layer.outputs + output) * PANEL);
                let inputs = inputs.add(panel * panel_stride);
                for row in (0..PANEL).step_by(V::WIDTH) {
                    let derivative = V::load(output_gradient.add(row));
                    for (input, sum) in sums[..layer.inputs].iter_mut().enumerate() {
                        *sum = derivative.multiply_add(V::load(inputs.add(input * PANEL + row)), *sum);
                    }
                    sums[7] = sums[7].plus(derivative);
                }
            }
            let weights = gradient.add(layer.weights + output * layer.stride);
            for (input, sum) in sums[..layer.inputs].iter().enumerate() {
                let weight = weights.add(input);
                *weight = sum.sum() + if overwrite { 0.0 } else { *weight };
            }
            let bias = gradient.add(layer.biases + output);
            *bias = sums[7].sum() + if overwrite { 0.0 } else { *bias };
        }
    }
}

/// Transposes 32 rows into a panel: panel[column][row] = rows[row][column]. The number of columns is rounded up to a multiple of 4.
///
/// # Safety
/// The conditions of [`SimdVector`] must hold, and the rows and the panel must have room for the rounded number of columns.
#[inline(always)]
pub(crate) unsafe fn transpose_to_panel<V: SimdVector>(rows: &[*const f32; PANEL], columns: usize, panel: *mut f32) {
    for (half, rows) in rows.as_chunks::<16>().0.iter().enumerate() {
        let mut from = *rows;
        for column in (0..columns).step_by(4) {
            // SAFETY: the caller guarantees that the pointers are valid and that the instructions of V are supported.
            unsafe { V::transpose(&from, panel.add(column * PANEL + 16 * half), PANEL) };
            from = from.map(|row| row.wrapping_add(4));
        }
    }
}

/// Transposes a panel into 32 rows: rows[row][column] = panel[column][row]. Each row is filled up with zeros to a multiple of 16 columns.
///
/// # Safety
/// The conditions of [`SimdVector`] must hold, the panel must have `columns` columns, and each row must have room for the number of columns
/// rounded up to a multiple of 16.
#[inline(always)]
pub(crate) unsafe fn transpose_to_rows<V: SimdVector>(
    panel: *const f32,
    columns: usize,
    rows: *mut f32,
    stride: usize,
) {
    static ZEROS: [f32; PANEL] = [0.0; PANEL];
    for column in (0..columns).step_by(16) {
        let panel = panel.wrapping_add(column * PANEL);
        let to = rows.wrapping_add(column);
        // SAFETY: the caller guarantees that the pointers are valid and that the instructions of V are supported.
        unsafe {
            if columns - column >= 16 {
                // The columns of the panel are a constant distance apart in memory, so the compiler needs only one pointer to address all of them.
                for row in (0..PANEL).step_by(4) {
                    let mut from = [panel; 16];
                    for (at, from) in from.iter_mut().enumerate() {
                        *from = panel.wrapping_add(at * PANEL + row);
                    }
                    V::transpose(&from, to.add(row * stride), stride);
                }
            } else {
                let mut from = [ZEROS.as_ptr(); 16];
                for (at, from) in from.iter_mut().enumerate().take(columns - column) {
                    *from = panel.wrapping_add(at * PANEL);
                }
                for row in (0..PANEL).step_by(4) {
                    V::transpose(&from.map(|column| column.add(row)), to.add(row * stride), stride);
                }
            }
        }
    }
}
