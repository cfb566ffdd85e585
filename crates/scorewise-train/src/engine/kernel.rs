//! The three products of a dense layer over panels of 32 rows.
//!
//! A panel holds 32 rows feature by feature, [feature][32], so vectors run along rows and widths such as 5, 20 or 50 need no
//! padding. Forward and backward multiply a panel by broadcast weights, bias and ReLU (or its gate) applied before the result
//! leaves the registers. The gradient of the weights is a sum of outer products over rows; there vectors run along the inputs,
//! which stand row by row, and no sum across a register is needed.

use super::lanes::Lanes;
use crate::net::Layer;

/// Rows of a panel.
pub(crate) const PANEL: usize = 32;

/// Calls a generic kernel with the constant that a number is, 1 to 8.
macro_rules! with_block {
    ($block:expr, $call:ident :: <$v:ident, $n:ident> ( $($argument:expr),* )) => {
        match $block {
            1 => $call::<$v, $n, 1>($($argument),*),
            2 => $call::<$v, $n, 2>($($argument),*),
            3 => $call::<$v, $n, 3>($($argument),*),
            4 => $call::<$v, $n, 4>($($argument),*),
            5 => $call::<$v, $n, 5>($($argument),*),
            6 => $call::<$v, $n, 6>($($argument),*),
            7 => $call::<$v, $n, 7>($($argument),*),
            _ => $call::<$v, $n, 8>($($argument),*),
        }
    };
}

/// A width in blocks of nearly equal size, none above `most`: a remainder of one would leave the pipeline idle.
///
/// (An iterator and not a function that takes a closure: a closure is compiled without the level's instructions.)
struct Blocks {
    start: usize,
    size: usize,
    larger: usize,
    left: usize,
}

impl Blocks {
    #[inline(always)]
    fn of(width: usize, most: usize) -> Self {
        let left = width.div_ceil(most);
        Blocks { start: 0, size: width / left, larger: width % left, left }
    }

    /// Start and size of the next block.
    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let size = self.size + usize::from(self.larger > 0);
        self.larger = self.larger.saturating_sub(1);
        self.start += size;
        Some((self.start - size, size))
    }
}

/// sums[block][·] += Σ scalar[block, step] · vector[step][·]: the one loop that all three products are, with B times N sums kept in
/// registers. `apart` says how far scalars lie apart from block to block and from step to step, `next` how far vectors do.
///
/// # Safety
/// As [`Lanes`]; scalars and vectors are there for every block and step.
#[inline(always)]
unsafe fn multiply<V: Lanes, const N: usize, const B: usize>(
    mut sums: [[V; N]; B],
    steps: usize,
    scalars: *const f32,
    apart: (usize, usize),
    vectors: *const f32,
    next: usize,
) -> [[V; N]; B] {
    // SAFETY: as the caller's.
    unsafe {
        for step in 0..steps {
            let mut vector = [V::splat(0.0); N];
            for (part, vector) in vector.iter_mut().enumerate() {
                *vector = V::load(vectors.add(step * next + part * V::WIDTH));
            }
            for (block, sums) in sums.iter_mut().enumerate() {
                let scalar = V::splat(*scalars.add(block * apart.0 + step * apart.1));
                for part in 0..N {
                    sums[part] = scalar.fused(vector[part], sums[part]);
                }
            }
        }
    }
    sums
}

/// out[o][·] = b[o] + Σᵢ W[o][i] in[i][·], cut at 0 where `relu`.
///
/// # Safety
/// As [`Lanes`]; `parameters` holds the layer, `input` and `output` its inputs and outputs times [`PANEL`] numbers.
#[inline(always)]
pub(crate) unsafe fn forward<V: Lanes>(
    layer: &Layer,
    parameters: *const f32,
    input: *const f32,
    output: *mut f32,
    relu: bool,
) {
    // SAFETY: offsets stay within what the caller promises.
    unsafe {
        match PANEL / V::WIDTH {
            2 => forward_panel::<V, 2>(layer, parameters, input, output, relu),
            _ => forward_panel::<V, 4>(layer, parameters, input, output, relu),
        }
    }
}

#[inline(always)]
unsafe fn forward_panel<V: Lanes, const N: usize>(
    layer: &Layer,
    parameters: *const f32,
    input: *const f32,
    output: *mut f32,
    relu: bool,
) {
    let mut blocks = Blocks::of(layer.outputs, (V::SUMS / N).min(8));
    while let Some((start, size)) = blocks.next() {
        // SAFETY: as the caller's.
        unsafe {
            let weights = parameters.add(layer.weights + start * layer.stride);
            let (biases, output) = (parameters.add(layer.biases + start), output.add(start * PANEL));
            with_block!(size, forward_block::<V, N>(weights, layer.stride, biases, input, layer.inputs, output, relu));
        }
    }
}

#[inline(always)]
unsafe fn forward_block<V: Lanes, const N: usize, const B: usize>(
    weights: *const f32,
    stride: usize,
    biases: *const f32,
    input: *const f32,
    inputs: usize,
    output: *mut f32,
    relu: bool,
) {
    // SAFETY: as the caller's.
    unsafe {
        let mut sums = [[V::splat(0.0); N]; B];
        for (block, sums) in sums.iter_mut().enumerate() {
            *sums = [V::splat(*biases.add(block)); N];
        }
        sums = multiply(sums, inputs, weights, (stride, 1), input, PANEL);
        for (block, sums) in sums.iter().enumerate() {
            for (part, sum) in sums.iter().enumerate() {
                let sum = if relu { sum.positive_part() } else { *sum };
                sum.store(output.add(block * PANEL + part * V::WIDTH));
            }
        }
    }
}

/// slopes_in[i][·] = Σₒ W[o][i] slopes_out[o][·], where input[i][·] is above 0.
///
/// # Safety
/// As [`forward`].
#[inline(always)]
pub(crate) unsafe fn backward<V: Lanes>(
    layer: &Layer,
    parameters: *const f32,
    slopes_out: *const f32,
    input: *const f32,
    slopes_in: *mut f32,
) {
    // SAFETY: as the caller's.
    unsafe {
        match PANEL / V::WIDTH {
            2 => backward_panel::<V, 2>(layer, parameters, slopes_out, input, slopes_in),
            _ => backward_panel::<V, 4>(layer, parameters, slopes_out, input, slopes_in),
        }
    }
}

#[inline(always)]
unsafe fn backward_panel<V: Lanes, const N: usize>(
    layer: &Layer,
    parameters: *const f32,
    slopes_out: *const f32,
    input: *const f32,
    slopes_in: *mut f32,
) {
    let mut blocks = Blocks::of(layer.inputs, (V::SUMS / N).min(8));
    while let Some((start, size)) = blocks.next() {
        // SAFETY: as the caller's.
        unsafe {
            let weights = parameters.add(layer.weights + start);
            let (input, slopes_in) = (input.add(start * PANEL), slopes_in.add(start * PANEL));
            with_block!(
                size,
                backward_block::<V, N>(weights, layer.stride, slopes_out, layer.outputs, input, slopes_in)
            );
        }
    }
}

#[inline(always)]
unsafe fn backward_block<V: Lanes, const N: usize, const B: usize>(
    weights: *const f32,
    stride: usize,
    slopes_out: *const f32,
    outputs: usize,
    input: *const f32,
    slopes_in: *mut f32,
) {
    // SAFETY: as the caller's.
    unsafe {
        let mut sums = [[V::splat(0.0); N]; B];
        sums = multiply(sums, outputs, weights, (1, stride), slopes_out, PANEL);
        for (block, sums) in sums.iter().enumerate() {
            for (part, sum) in sums.iter().enumerate() {
                let at = block * PANEL + part * V::WIDTH;
                sum.where_positive(V::load(input.add(at))).store(slopes_in.add(at));
            }
        }
    }
}

/// gradient W[o][·] += Σ_rows slopes[o][row] · in[row][·] over one or more panels, and gradient b[o] += Σ_rows slopes[o][row]; or
/// `=` where it is `fresh`, which saves clearing it first.
///
/// # Safety
/// As [`forward`]; `slopes` holds `panels` panels, `rows` as many rows of the layer's stride.
#[inline(always)]
pub(crate) unsafe fn outer<V: Lanes>(
    layer: &Layer,
    panels: usize,
    slopes: *const f32,
    rows: *const f32,
    gradient: *mut f32,
    fresh: bool,
) {
    // SAFETY: as the caller's.
    unsafe {
        let vectors = layer.stride / V::WIDTH;
        let mut vector = 0;
        while vector < vectors {
            // Three registers of inputs by eight outputs fill the register file; two, or one, where three do not divide.
            let left = vectors - vector;
            let columns = if left == 4 { 2 } else { left.min(3) };
            let column = vector * V::WIDTH;
            let mut blocks = Blocks::of(layer.outputs, (V::SUMS / columns).min(8));
            while let Some((start, size)) = blocks.next() {
                let (slopes, rows) = (slopes.add(start * PANEL), rows.add(column));
                let gradient = gradient.add(layer.weights + start * layer.stride + column);
                let (stride, outputs) = (layer.stride, layer.outputs);
                match columns {
                    1 => outer_columns::<V, 1>(size, panels, outputs, slopes, rows, stride, gradient, fresh),
                    2 => outer_columns::<V, 2>(size, panels, outputs, slopes, rows, stride, gradient, fresh),
                    _ => outer_columns::<V, 3>(size, panels, outputs, slopes, rows, stride, gradient, fresh),
                }
            }
            vector += columns;
        }
        for output in 0..layer.outputs {
            let mut sum = V::splat(0.0);
            for panel in 0..panels {
                let slopes = slopes.add((panel * layer.outputs + output) * PANEL);
                for part in 0..PANEL / V::WIDTH {
                    sum = sum.plus(V::load(slopes.add(part * V::WIDTH)));
                }
            }
            let bias = gradient.add(layer.biases + output);
            *bias = sum.sum() + if fresh { 0.0 } else { *bias };
        }
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments)] // one step of the dispatch to constants; a struct would only be taken apart again
unsafe fn outer_columns<V: Lanes, const C: usize>(
    size: usize,
    panels: usize,
    outputs: usize,
    slopes: *const f32,
    rows: *const f32,
    stride: usize,
    gradient: *mut f32,
    fresh: bool,
) {
    // SAFETY: as the caller's.
    unsafe { with_block!(size, outer_block::<V, C>(panels, outputs, slopes, rows, stride, gradient, fresh)) }
}

#[inline(always)]
unsafe fn outer_block<V: Lanes, const C: usize, const B: usize>(
    panels: usize,
    outputs: usize,
    slopes: *const f32,
    rows: *const f32,
    stride: usize,
    gradient: *mut f32,
    fresh: bool,
) {
    // SAFETY: as the caller's.
    unsafe {
        let mut sums = [[V::splat(0.0); C]; B];
        if !fresh {
            for (block, sums) in sums.iter_mut().enumerate() {
                for (column, sum) in sums.iter_mut().enumerate() {
                    *sum = V::load(gradient.add(block * stride + column * V::WIDTH));
                }
            }
        }
        for panel in 0..panels {
            let slopes = slopes.add(panel * outputs * PANEL);
            let rows = rows.add(panel * PANEL * stride);
            sums = multiply(sums, PANEL, slopes, (PANEL, 1), rows, stride);
        }
        for (block, sums) in sums.iter().enumerate() {
            for (column, sum) in sums.iter().enumerate() {
                sum.store(gradient.add(block * stride + column * V::WIDTH));
            }
        }
    }
}

/// Runs as columns: to[b·to_stride + a] = from[a·from_stride + b] for a below `across` and b below `along`.
///
/// # Safety
/// As [`Lanes`]; `from` has `across` runs of `along` numbers, `to` has `along` runs of `across`.
#[inline(always)]
pub(crate) unsafe fn transpose<V: Lanes>(
    from: *const f32,
    from_stride: usize,
    across: usize,
    along: usize,
    to: *mut f32,
    to_stride: usize,
) {
    // SAFETY: as the caller's.
    unsafe {
        if across < 8 || along < 8 {
            for a in 0..across {
                for b in 0..along {
                    *to.add(b * to_stride + a) = *from.add(a * from_stride + b);
                }
            }
            return;
        }
        // Where eight do not divide, the last block goes over what the one before it turned: cheaper than single numbers.
        for a in (0..across).step_by(8) {
            let a = a.min(across - 8);
            for b in (0..along).step_by(8) {
                let b = b.min(along - 8);
                V::turn(from.add(a * from_stride + b), from_stride, to.add(b * to_stride + a), to_stride);
            }
        }
    }
}
