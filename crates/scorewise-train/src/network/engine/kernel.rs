//! The three products of a dense layer over panels of 32 rows.
//!
//! A panel holds 32 rows feature by feature, [feature][32], so vectors run along rows and widths such as 5, 20 or 50 need no
//! padding. Forward and backward multiply a panel by broadcast weights, bias and ReLU (or its gate) applied before the result
//! leaves the registers. The gradient of the weights is a sum of outer products over rows; there vectors run along the inputs,
//! which stand row by row, and no sum across a register is needed.

use std::hint::black_box;

use super::lanes::Lanes;
use super::prefetch::Prefetch;
use crate::network::Layer;

/// Rows of a panel.
pub(crate) const PANEL: usize = 32;

/// Calls a generic kernel with the constant that a number is, 1 to 8.
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

/// out[o][·] = b[o] + Σᵢ W[o][i] in[i][·], cut at 0 where `relu`. What comes next is asked for along the way.
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
    ahead: &mut Prefetch<'_>,
) {
    // SAFETY: offsets stay within what the caller promises.
    unsafe {
        match PANEL / V::WIDTH {
            2 => forward_panel::<V, 2>(layer, parameters, input, output, relu, ahead),
            _ => forward_panel::<V, 4>(layer, parameters, input, output, relu, ahead),
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
    ahead: &mut Prefetch<'_>,
) {
    let mut blocks = Blocks::of(layer.outputs, (V::SUMS / N).min(8));
    while let Some((start, size)) = blocks.next() {
        // SAFETY: as the caller's.
        unsafe {
            ahead.next::<V>();
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
        // A pointer for each row of weights, hidden from the compiler: knowing how they are related, it would keep one and add the
        // stride seven times in every step, and those additions cost as much as the products.
        let mut rows = [weights; B];
        for (block, row) in rows.iter_mut().enumerate() {
            *row = black_box(weights.add(block * stride));
        }
        for step in 0..inputs {
            let mut vector = [V::splat(0.0); N];
            for (part, vector) in vector.iter_mut().enumerate() {
                *vector = V::load(input.add(step * PANEL + part * V::WIDTH));
            }
            for (row, sums) in rows.iter().zip(&mut sums) {
                let weight = V::splat(*row.add(step));
                for part in 0..N {
                    sums[part] = weight.fused(vector[part], sums[part]);
                }
            }
        }
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
    let mut blocks = Blocks::of(layer.inputs, (V::SUMS / N).min(12));
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
        for step in 0..outputs {
            let mut vector = [V::splat(0.0); N];
            for (part, vector) in vector.iter_mut().enumerate() {
                *vector = V::load(slopes_out.add(step * PANEL + part * V::WIDTH));
            }
            for (block, sums) in sums.iter_mut().enumerate() {
                let weight = V::splat(*weights.add(step * stride + block));
                for part in 0..N {
                    sums[part] = weight.fused(vector[part], sums[part]);
                }
            }
        }
        for (block, sums) in sums.iter().enumerate() {
            for (part, sum) in sums.iter().enumerate() {
                let at = block * PANEL + part * V::WIDTH;
                sum.where_positive(V::load(input.add(at))).store(slopes_in.add(at));
            }
        }
    }
}

/// gradient W[o][·] += Σ_rows slopes[o][row] · row[·] over one or more panels, and gradient b[o] += Σ_rows slopes[o][row]; or `=`
/// where it is `fresh`, which saves clearing it first. The rows stand anywhere: those of the first layer are the matrix's own. What comes
/// next is asked for along the way.
///
/// # Safety
/// As [`forward`]; `slopes` holds as many panels as there are rows for, and each row has the layer's stride.
#[inline(always)]
pub(crate) unsafe fn outer<V: Lanes>(
    layer: &Layer,
    slopes: *const f32,
    rows: &[[*const f32; PANEL]],
    gradient: *mut f32,
    fresh: bool,
    ahead: &mut Prefetch<'_>,
) {
    // SAFETY: as the caller's.
    unsafe {
        let vectors = layer.stride / V::WIDTH;
        let mut vector = 0;
        while vector < vectors {
            // Three registers of inputs by eight outputs fill the register file, as four by six do.
            let left = vectors - vector;
            let columns = if left == 5 || left == 6 { 3 } else { left.min(4) };
            let column = vector * V::WIDTH;
            let mut blocks = Blocks::of(layer.outputs, (V::SUMS / columns).min(8));
            while let Some((start, size)) = blocks.next() {
                ahead.next::<V>();
                let slopes = slopes.add(start * PANEL);
                let gradient = gradient.add(layer.weights + start * layer.stride + column);
                match columns {
                    1 => with_block!(size, outer_block::<V, 1>(layer, slopes, rows, column, gradient, fresh)),
                    2 => with_block!(size, outer_block::<V, 2>(layer, slopes, rows, column, gradient, fresh)),
                    3 => with_block!(size, outer_block::<V, 3>(layer, slopes, rows, column, gradient, fresh)),
                    _ => with_block!(size, outer_block::<V, 4>(layer, slopes, rows, column, gradient, fresh)),
                }
            }
            vector += columns;
        }
        for output in 0..layer.outputs {
            let mut sum = V::splat(0.0);
            for panel in 0..rows.len() {
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
unsafe fn outer_block<V: Lanes, const C: usize, const B: usize>(
    layer: &Layer,
    slopes: *const f32,
    rows: &[[*const f32; PANEL]],
    column: usize,
    gradient: *mut f32,
    fresh: bool,
) {
    // SAFETY: as the caller's.
    unsafe {
        let mut sums = [[V::splat(0.0); C]; B];
        if !fresh {
            for (block, sums) in sums.iter_mut().enumerate() {
                for (column, sum) in sums.iter_mut().enumerate() {
                    *sum = V::load(gradient.add(block * layer.stride + column * V::WIDTH));
                }
            }
        }
        for (panel, rows) in rows.iter().enumerate() {
            let slopes = slopes.add(panel * layer.outputs * PANEL);
            for (row, place) in rows.iter().enumerate() {
                let mut vector = [V::splat(0.0); C];
                for (part, vector) in vector.iter_mut().enumerate() {
                    *vector = V::load(place.add(column + part * V::WIDTH));
                }
                for (block, sums) in sums.iter_mut().enumerate() {
                    let slope = V::splat(*slopes.add(block * PANEL + row));
                    for part in 0..C {
                        sums[part] = slope.fused(vector[part], sums[part]);
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

/// What [`outer`] does, for a layer of few inputs: a sum of products for each weight, vectors along the rows. The inputs are panels
/// that lie so far apart.
///
/// # Safety
/// As [`outer`]; there are fewer than eight inputs.
#[inline(always)]
pub(crate) unsafe fn dots<V: Lanes>(
    layer: &Layer,
    panels: usize,
    slopes: *const f32,
    (inputs, apart): (*const f32, usize),
    gradient: *mut f32,
    fresh: bool,
) {
    for output in 0..layer.outputs {
        // SAFETY: as the caller's.
        unsafe {
            let mut sums = [V::splat(0.0); 8];
            for panel in 0..panels {
                let slopes = slopes.add((panel * layer.outputs + output) * PANEL);
                let inputs = inputs.add(panel * apart);
                for part in (0..PANEL).step_by(V::WIDTH) {
                    let slope = V::load(slopes.add(part));
                    for (input, sum) in sums[..layer.inputs].iter_mut().enumerate() {
                        *sum = slope.fused(V::load(inputs.add(input * PANEL + part)), *sum);
                    }
                    sums[7] = sums[7].plus(slope);
                }
            }
            let weights = gradient.add(layer.weights + output * layer.stride);
            for (input, sum) in sums[..layer.inputs].iter().enumerate() {
                let weight = weights.add(input);
                *weight = sum.sum() + if fresh { 0.0 } else { *weight };
            }
            let bias = gradient.add(layer.biases + output);
            *bias = sums[7].sum() + if fresh { 0.0 } else { *bias };
        }
    }
}

/// The rows of a panel turned into columns: panel[column][row] = row[column] for the columns and those that fill up four.
///
/// # Safety
/// As [`Lanes`]; rows and panel have room for `columns` and those that fill up four.
#[inline(always)]
pub(crate) unsafe fn columns_of<V: Lanes>(rows: &[*const f32; PANEL], columns: usize, panel: *mut f32) {
    for (half, rows) in rows.as_chunks::<16>().0.iter().enumerate() {
        let mut from = *rows;
        for column in (0..columns).step_by(4) {
            // SAFETY: as the caller's.
            unsafe { V::turn(&from, panel.add(column * PANEL + 16 * half), PANEL) };
            from = from.map(|row| row.wrapping_add(4));
        }
    }
}

/// A panel turned into rows: rows[row][column] = panel[column][row], and 0 in the columns that fill up sixteen.
///
/// # Safety
/// As [`Lanes`]; there is room for `columns` columns of a panel, and for rows with those that fill up sixteen.
#[inline(always)]
pub(crate) unsafe fn rows_of<V: Lanes>(panel: *const f32, columns: usize, rows: *mut f32, stride: usize) {
    static NOTHING: [f32; PANEL] = [0.0; PANEL];
    for column in (0..columns).step_by(16) {
        let mut from = [NOTHING.as_ptr(); 16];
        for (at, from) in from.iter_mut().enumerate().take(columns - column) {
            *from = panel.wrapping_add((column + at) * PANEL);
        }
        for row in (0..PANEL).step_by(4) {
            // SAFETY: as the caller's.
            unsafe { V::turn(&from.map(|run| run.add(row)), rows.add(row * stride + column), stride) };
        }
    }
}
