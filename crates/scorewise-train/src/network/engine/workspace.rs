//! The forward and backward pass of one thread over a range of rows, panel by panel.
//!
//! A *panel* is a block of 32 rows, stored feature by feature (see `kernel`).

use super::kernel::{
    PANEL, add_dot_products, add_outer_products, backward, forward, transpose_to_panel, transpose_to_rows,
};
use super::look_up::{TABLE_BLOCK, TableBlock, TableColumn, look_up};
use super::prefetch::{Prefetch, panel_rows};
use super::simd_task::SimdTask;
use super::simd_vector::SimdVector;
use crate::network::{LayerLayout, NetworkShape};
use scorewise_table::AlignedBuffer;
use scorewise_table::{Matrix, PAD};

/// Number of panels over which the gradient of the weights is summed at once. The rows of more panels would not fit into the L1 cache.
pub(super) const PANEL_GROUP: usize = 2;

/// How many f32 numbers fit into the L2 cache together with the other data in use.
const L2_CACHE_NUMBERS: usize = 1 << 18;

/// The layers of a network, and the indices at which the activations of each layer begin in the buffer of a panel of rows.
#[derive(Clone, Debug)]
pub(super) struct EngineLayout {
    pub layers: Vec<LayerLayout>,
    /// The columns of the table of the look-up layer; empty if the first layer is dense.
    pub columns: Vec<TableColumn>,
    /// For each layer, the index at which its inputs begin in the hidden activations of a panel. The first entry is not used, because the inputs of
    /// the first layer are features and not activations.
    offsets: Vec<usize>,
    /// Number of hidden activations of one panel, summed over all layers.
    pub panel_activations: usize,
}

impl EngineLayout {
    pub fn new(shape: &NetworkShape) -> Self {
        let layers = shape.layers();
        let mut panel_activations = 0;
        let mut offsets = vec![0];
        for layer in &layers[..layers.len() - 1] {
            offsets.push(panel_activations);
            // The number of columns is rounded up, because a transposition writes a multiple of four columns.
            panel_activations += PANEL * layer.outputs.next_multiple_of(4);
        }
        EngineLayout { columns: TableColumn::of_shape(shape), layers, offsets, panel_activations }
    }

    /// Number of outputs of the last layer.
    pub fn outputs(&self) -> usize {
        self.layers[self.layers.len() - 1].outputs
    }
}

/// Scratch buffers for one thread.
#[derive(Debug)]
pub(super) struct Workspace {
    /// The features of the rows of one panel.
    input: AlignedBuffer,
    /// The logits of the rows of one panel.
    logits: AlignedBuffer,
    /// Hidden activations of a group of panels. Used if the batch is too large for all its activations to be stored.
    activations: AlignedBuffer,
    /// Two buffers that take turns: one holds the gradient with respect to the outputs of a layer, the other that with respect to its inputs.
    gradients: [AlignedBuffer; 2],
    /// Numbers that are stored row by row: in the forward pass the outputs of a look-up layer, in the backward pass the inputs of a dense layer.
    rows: AlignedBuffer,
    pub table_block: TableBlock,
}

impl Workspace {
    pub fn new(layout: &EngineLayout) -> Self {
        let widest = layout.layers.iter().map(|layer| layer.inputs.max(layer.outputs)).max().unwrap_or(1);
        let gradients = AlignedBuffer::zeros(PANEL_GROUP * PANEL * widest);
        Workspace {
            input: AlignedBuffer::zeros(PANEL * layout.layers[0].stride),
            logits: AlignedBuffer::zeros(PANEL * layout.outputs().next_multiple_of(4)),
            activations: AlignedBuffer::zeros(PANEL_GROUP * layout.panel_activations),
            gradients: [gradients.clone(), gradients],
            rows: AlignedBuffer::zeros(PANEL_GROUP * PANEL * widest.next_multiple_of(PAD)),
            table_block: TableBlock::new(&layout.layers[0], &layout.columns),
        }
    }
}

/// Computes the hidden activations of one panel, which consists of the rows `now`, and prefetches the rows `next`. If `logits` is given,
/// computes the logits of the panel too.
///
/// # Safety
/// The conditions of [`SimdVector`] must hold, all rows must exist in the matrix, and `activations` and `logits` must have room for one panel.
#[inline(always)]
unsafe fn forward_panel<V: SimdVector>(
    layout: &EngineLayout,
    parameters: *const f32,
    (input, rows): (&mut AlignedBuffer, &mut AlignedBuffer),
    matrix: &Matrix,
    (now, next): (&[u32], &[u32]),
    activations: *mut f32,
    logits: Option<*mut f32>,
) {
    let (first, depth) = (&layout.layers[0], layout.layers.len());
    // SAFETY: the workspace is large enough; the caller guarantees that the rows exist, that `activations` and `logits` have room for one
    // panel, and that the instructions of V are supported.
    unsafe {
        let mut prefetch = Prefetch::new(matrix, next, &[], first.outputs.div_ceil(8));
        let is_dense = layout.columns.is_empty();
        if is_dense {
            transpose_to_panel::<V>(&panel_rows(matrix, now), first.inputs, input.as_mut_ptr());
        }
        let mut from = input.as_ptr();
        for (index, layer) in layout.layers.iter().enumerate() {
            let is_last = index + 1 == depth;
            let to = match logits {
                Some(logits) if is_last => logits,
                None if is_last => break,
                _ => activations.add(layout.offsets[index + 1]),
            };
            if index > 0 || is_dense {
                forward::<V>(layer, parameters, from, to, !is_last, &mut prefetch);
            } else {
                prefetch.all::<V>();
                let buffer = rows.as_mut_ptr();
                look_up::<V>(layer, &layout.columns, parameters, &panel_rows(matrix, now), buffer, !is_last);
                let rows: [*const f32; PANEL] = std::array::from_fn(|row| buffer.add(row * layer.stride).cast_const());
                transpose_to_panel::<V>(&rows, layer.outputs, to);
            }
            from = to;
        }
    }
}

/// A task that computes the logits of a range of rows.
pub(super) struct Forward<'a> {
    pub layout: &'a EngineLayout,
    pub workspace: &'a mut Workspace,
    pub parameters: &'a [f32],
    pub matrix: &'a Matrix,
    pub order: &'a [u32],
    pub logits: &'a mut [f32],
    /// The buffer in which the hidden activations of every panel are stored for [`Backward`]; `None` if they are not stored.
    pub stored_activations: Option<&'a mut [f32]>,
}

impl SimdTask for Forward<'_> {
    #[inline(always)]
    unsafe fn run_with<V: SimdVector>(self) {
        let Forward { layout, workspace, parameters, matrix, order, logits, stored_activations } = self;
        let (parameters, outputs) = (parameters.as_ptr(), layout.outputs());
        // If the activations are not stored, every panel overwrites those of the previous panel.
        let (mut activations, step) = match stored_activations {
            Some(stored) => (stored.as_mut_ptr(), layout.panel_activations),
            None => (workspace.activations.as_mut_ptr(), 0),
        };
        // SAFETY: the buffers are large enough for this many panels, the rows exist in the matrix, and `run` has checked the instructions
        // of V.
        unsafe {
            Prefetch::new(matrix, &order[..PANEL.min(order.len())], &[], 1).next::<V>();
            for (panel, logits) in logits.chunks_mut(PANEL * outputs).enumerate() {
                let (now, later) = order[panel * PANEL..].split_at(PANEL.min(order.len() - panel * PANEL));
                let next = &later[..PANEL.min(later.len())];
                let Workspace { input, rows, logits: panel_logits, .. } = &mut *workspace;
                let to = Some(panel_logits.as_mut_ptr());
                forward_panel::<V>(layout, parameters, (input, rows), matrix, (now, next), activations, to);
                if outputs == 1 {
                    logits.copy_from_slice(&workspace.logits[..logits.len()]);
                } else {
                    for (row, logits) in logits.chunks_exact_mut(outputs).enumerate() {
                        for (output, logit) in logits.iter_mut().enumerate() {
                            *logit = workspace.logits[output * PANEL + row];
                        }
                    }
                }
                activations = activations.add(step);
            }
        }
    }
}

/// A task that computes the gradient with respect to the parameters from the gradient with respect to the logits of a range of rows.
pub(super) struct Backward<'a> {
    pub layout: &'a EngineLayout,
    pub workspace: &'a mut Workspace,
    pub parameters: &'a [f32],
    pub matrix: &'a Matrix,
    pub order: &'a [u32],
    pub logit_gradient: &'a [f32],
    /// The hidden activations that [`Forward`] has stored; if `None`, they are computed again.
    pub stored_activations: Option<&'a [f32]>,
    /// If set, the gradient of the table of a look-up layer is not computed here but later, by [`TableGradient`](super::look_up::TableGradient). Then
    /// there must be at most [`TABLE_BLOCK`] rows.
    pub leaves_table: bool,
    pub gradient: &'a mut [f32],
}

impl SimdTask for Backward<'_> {
    #[inline(always)]
    unsafe fn run_with<V: SimdVector>(self) {
        let Backward {
            layout,
            workspace,
            parameters,
            matrix,
            order,
            logit_gradient,
            stored_activations,
            leaves_table,
            gradient,
        } = self;
        let (parameters, gradient, outputs) = (parameters.as_ptr(), gradient.as_mut_ptr(), layout.outputs());
        let panel_stride = layout.panel_activations;
        let group_rows = PANEL_GROUP * PANEL;
        for (group, logit_gradient) in logit_gradient.chunks(group_rows * outputs).enumerate() {
            let order = &order[group * group_rows..];
            let (now, later) = order.split_at(group_rows.min(order.len()));
            let panels = now.len().div_ceil(PANEL);
            let overwrite = group == 0;
            let mut no_prefetch = Prefetch::new(matrix, &[], &[], 1);
            let mut rows = [[std::ptr::null(); PANEL]; PANEL_GROUP];
            // SAFETY: the buffers are large enough for this many panels, the rows exist in the matrix, and `run` has checked the
            // instructions of V.
            unsafe {
                let activations = match stored_activations {
                    Some(stored) => stored.as_ptr().add(group * PANEL_GROUP * panel_stride),
                    None => {
                        for (panel, now) in now.chunks(PANEL).enumerate() {
                            let Workspace { input, rows, activations, .. } = &mut *workspace;
                            let to = activations.as_mut_ptr().add(panel * panel_stride);
                            forward_panel::<V>(layout, parameters, (input, rows), matrix, (now, &[]), to, None);
                        }
                        workspace.activations.as_ptr()
                    }
                };
                let (mut output_gradient, mut input_gradient) = {
                    let [output_gradient, input_gradient] = &mut workspace.gradients;
                    to_panels(logit_gradient, outputs, &mut output_gradient[..panels * PANEL * outputs]);
                    (output_gradient.as_mut_ptr(), input_gradient.as_mut_ptr())
                };
                for index in (1..layout.layers.len()).rev() {
                    let layer = &layout.layers[index];
                    let inputs = activations.add(layout.offsets[index]);
                    if layer.inputs < 8 && layer.inputs * layer.outputs <= 64 {
                        // There are too few inputs to fill a register, so a register holds one input of several rows.
                        let inputs = (inputs, panel_stride);
                        add_dot_products::<V>(layer, panels, output_gradient, inputs, gradient, overwrite);
                    } else {
                        let buffer = workspace.rows.as_mut_ptr();
                        for (panel, rows) in rows[..panels].iter_mut().enumerate() {
                            let to = buffer.add(panel * PANEL * layer.stride);
                            transpose_to_rows::<V>(inputs.add(panel * panel_stride), layer.inputs, to, layer.stride);
                            for (row, pointer) in rows.iter_mut().enumerate() {
                                *pointer = to.add(row * layer.stride);
                            }
                        }
                        let rows = &rows[..panels];
                        add_outer_products::<V>(layer, output_gradient, rows, gradient, overwrite, &mut no_prefetch);
                    }
                    for panel in 0..panels {
                        let output_gradient = output_gradient.add(panel * PANEL * layer.outputs);
                        let input_gradient = input_gradient.add(panel * PANEL * layer.inputs);
                        let inputs = inputs.add(panel * panel_stride);
                        backward::<V>(layer, parameters, output_gradient, inputs, input_gradient);
                    }
                    std::mem::swap(&mut output_gradient, &mut input_gradient);
                }
                for (rows, now) in rows.iter_mut().zip(now.chunks(PANEL)) {
                    *rows = panel_rows(matrix, now);
                }
                let next = &later[..group_rows.min(later.len())];
                // If the stored activations do not fit into the L2 cache, the activations of the next group of panels are prefetched too.
                let next_activations = match stored_activations {
                    Some(stored) if stored.len() > L2_CACHE_NUMBERS => {
                        let start = (group + 1) * PANEL_GROUP * panel_stride;
                        let end = start + next.len().div_ceil(PANEL) * panel_stride;
                        &stored[start.min(stored.len())..end.min(stored.len())]
                    }
                    _ => &[],
                };
                let first = &layout.layers[0];
                let calls = first.outputs.div_ceil(8) * first.stride.div_ceil(4 * V::WIDTH);
                let mut prefetch = Prefetch::new(matrix, next, next_activations, calls);
                let rows = &rows[..panels];
                if layout.columns.is_empty() {
                    add_outer_products::<V>(first, output_gradient, rows, gradient, overwrite, &mut prefetch);
                    continue;
                }
                prefetch.all::<V>();
                let first_row = group * group_rows % TABLE_BLOCK;
                for (panel, rows) in rows.iter().enumerate() {
                    let derivatives = output_gradient.add(panel * PANEL * first.outputs);
                    workspace.table_block.set_panel::<V>(first, first_row / PANEL + panel, rows, derivatives);
                }
                let count = first_row + now.len();
                if count == TABLE_BLOCK || later.is_empty() {
                    let overwrite = group * group_rows < TABLE_BLOCK;
                    let block = &mut workspace.table_block;
                    if !leaves_table {
                        block.add_gradient::<V>(first, &layout.columns, count, gradient, overwrite);
                    }
                    block.add_bias_gradient::<V>(first, count, gradient, overwrite);
                }
            }
        }
    }
}

/// Derivatives closer to 0 than this are set to 0. For rows of which the network is very sure, derivatives are as small as 1e-30 or 1e-40.
/// Multiplied by weights they become denormal numbers, with which arithmetic is a hundred times slower. Setting them to 0 does not change the
/// result: they are lost to rounding when they are added to other derivatives, and Adam's ε is much greater.
const NEGLIGIBLE: f32 = 1e-20;

/// Transposes the gradient with respect to the logits into panels. If the last panel has fewer than 32 rows, it is filled up with zeros.
fn to_panels(logit_gradient: &[f32], outputs: usize, panels: &mut [f32]) {
    let flush = |derivative: &f32| if derivative.abs() < NEGLIGIBLE { 0.0 } else { *derivative };
    if outputs == 1 {
        let (present, absent) = panels.split_at_mut(logit_gradient.len());
        present.iter_mut().zip(logit_gradient).for_each(|(to, derivative)| *to = flush(derivative));
        absent.fill(0.0);
        return;
    }
    panels.fill(0.0);
    for (row, derivatives) in logit_gradient.chunks_exact(outputs).enumerate() {
        for (output, derivative) in derivatives.iter().enumerate() {
            panels[(row / PANEL * outputs + output) * PANEL + row % PANEL] = flush(derivative);
        }
    }
}
