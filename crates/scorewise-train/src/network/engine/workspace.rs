//! The forward and backward pass of one thread over a range of rows, panel by panel.
//!
//! A *panel* is a block of 32 rows, stored feature by feature (see `kernel`).

use super::kernel::{
    PANEL, add_dot_products, add_outer_products, backward, forward, transpose_to_panel, transpose_to_rows,
};
use super::look_up::{LOOK_UP_PANELS, LookUpBuffers, LookUpLayout, add_table_gradient, look_up, store_derivatives};
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

/// The layers of a network, and the positions at which the activations of a panel are stored.
#[derive(Clone, Debug)]
pub(super) struct EngineLayout {
    pub layers: Vec<LayerLayout>,
    /// The table of the look-up layer; `None` if the first layer is dense.
    look_up: Option<LookUpLayout>,
    /// Offset of the inputs of each layer in the hidden activations of a panel. The inputs of the first layer are features and not activations,
    /// so the first entry is not used.
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
            // A transposition writes a multiple of four columns.
            panel_activations += PANEL * layer.outputs.next_multiple_of(4);
        }
        EngineLayout { look_up: LookUpLayout::of_shape(shape), layers, offsets, panel_activations }
    }

    pub fn outputs(&self) -> usize {
        self.layers[self.layers.len() - 1].outputs
    }

    /// Number of panels that go through the first layer together in the forward pass.
    pub fn forward_panels(&self) -> usize {
        if self.look_up.is_some() { LOOK_UP_PANELS } else { 1 }
    }

    /// Distance between the logits of successive panels.
    fn logit_stride(&self) -> usize {
        // A transposition writes a multiple of four columns.
        PANEL * self.outputs().next_multiple_of(4)
    }
}

/// Scratch buffers for one thread.
#[derive(Debug)]
pub(super) struct Workspace {
    /// The features of the rows of one panel.
    input: AlignedBuffer,
    /// The logits of the panels that go through the first layer together.
    logits: AlignedBuffer,
    /// Hidden activations of a group of panels. Used if the batch is too large for all its activations to be stored.
    activations: AlignedBuffer,
    /// Gradients of the loss with respect to the outputs and with respect to the inputs of a layer.
    gradients: [AlignedBuffer; 2],
    /// Scratch space for the inputs of a dense layer after the first, row by row.
    rows: AlignedBuffer,
    look_up: LookUpBuffers,
}

impl Workspace {
    pub fn new(layout: &EngineLayout) -> Self {
        let widest = layout.layers.iter().map(|layer| layer.inputs.max(layer.outputs)).max().unwrap_or(1);
        let gradients = AlignedBuffer::zeros(PANEL_GROUP * PANEL * widest);
        let look_up = layout.look_up.as_ref();
        Workspace {
            input: AlignedBuffer::zeros(PANEL * layout.layers[0].stride),
            logits: AlignedBuffer::zeros(layout.forward_panels() * layout.logit_stride()),
            activations: AlignedBuffer::zeros(PANEL_GROUP.max(layout.forward_panels()) * layout.panel_activations),
            gradients: [gradients.clone(), gradients],
            rows: AlignedBuffer::zeros(PANEL_GROUP * PANEL * widest.next_multiple_of(PAD)),
            look_up: look_up.map(|look_up| LookUpBuffers::new(look_up, &layout.layers[0])).unwrap_or_default(),
        }
    }
}

/// Computes the hidden activations of the panels that go through the first layer together, one if the first layer is dense. The panels consist of
/// the rows `now`; the rows `next` are prefetched. If `logits` is given, computes the logits of the panels too.
///
/// # Safety
/// The conditions of [`SimdVector`] must hold, all rows must exist in the matrix, there must be at most [`EngineLayout::forward_panels`] panels, and
/// `activations` and `logits` must have room for them.
#[inline(always)]
unsafe fn forward_panels<V: SimdVector>(
    layout: &EngineLayout,
    parameters: *const f32,
    (input, buffers): (&mut AlignedBuffer, &mut LookUpBuffers),
    matrix: &Matrix,
    (now, next): (&[u32], &[u32]),
    activations: *mut f32,
    logits: Option<*mut f32>,
) {
    let (first, depth) = (&layout.layers[0], layout.layers.len());
    // SAFETY: the workspace is large enough; the caller guarantees that the rows exist, that `activations` and `logits` have room for all
    // panels, and that the instructions of V are supported.
    unsafe {
        let mut prefetch = Prefetch::new(matrix, next, &[], first.outputs.div_ceil(8));
        if let Some(look_up_layout) = &layout.look_up {
            prefetch.all::<V>();
            let output = match logits {
                Some(logits) if depth == 1 => (logits, layout.logit_stride()),
                None if depth == 1 => return,
                _ => (activations, layout.panel_activations),
            };
            let layouts = (look_up_layout, first);
            look_up::<V>(layouts, buffers, parameters, (matrix, now), output, depth > 1);
        }
        for (panel, now) in now.chunks(PANEL).enumerate() {
            let activations = activations.add(panel * layout.panel_activations);
            let mut from = input.as_ptr();
            if layout.look_up.is_none() {
                transpose_to_panel::<V>(&panel_rows(matrix, now), first.inputs, input.as_mut_ptr());
            }
            for (index, layer) in layout.layers.iter().enumerate() {
                let is_last = index + 1 == depth;
                let to = match logits {
                    Some(logits) if is_last => logits.add(panel * layout.logit_stride()),
                    None if is_last => break,
                    _ => activations.add(layout.offsets[index + 1]),
                };
                if index > 0 || layout.look_up.is_none() {
                    forward::<V>(layer, parameters, from, to, !is_last, &mut prefetch);
                }
                from = to;
            }
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
    /// Buffer for the hidden activations of every panel, which [`Backward`] uses; `None` if they are not stored.
    pub stored_activations: Option<&'a mut [f32]>,
}

impl SimdTask for Forward<'_> {
    #[inline(always)]
    unsafe fn run_with<V: SimdVector>(self) {
        let Forward { layout, workspace, parameters, matrix, order, logits, stored_activations } = self;
        let (parameters, outputs) = (parameters.as_ptr(), layout.outputs());
        let group_panels = layout.forward_panels();
        let group_rows = group_panels * PANEL;
        // If the activations are not stored, every group of panels overwrites those of the previous group.
        let (mut activations, step) = match stored_activations {
            Some(stored) => (stored.as_mut_ptr(), group_panels * layout.panel_activations),
            None => (workspace.activations.as_mut_ptr(), 0),
        };
        // SAFETY: the buffers are large enough for this many panels, the rows exist in the matrix, and `run` has checked the instructions
        // of V.
        unsafe {
            Prefetch::new(matrix, &order[..group_rows.min(order.len())], &[], 1).next::<V>();
            for (group, logits) in logits.chunks_mut(group_rows * outputs).enumerate() {
                let (now, later) =
                    order[group * group_rows..].split_at(group_rows.min(order.len() - group * group_rows));
                let next = &later[..group_rows.min(later.len())];
                let Workspace { input, look_up, logits: panel_logits, .. } = &mut *workspace;
                let to = Some(panel_logits.as_mut_ptr());
                forward_panels::<V>(layout, parameters, (input, look_up), matrix, (now, next), activations, to);
                for (logits, panel_logits) in
                    logits.chunks_mut(PANEL * outputs).zip(panel_logits.chunks_exact(layout.logit_stride()))
                {
                    if outputs == 1 {
                        logits.copy_from_slice(&panel_logits[..logits.len()]);
                    } else {
                        for (row, logits) in logits.chunks_exact_mut(outputs).enumerate() {
                            for (output, logit) in logits.iter_mut().enumerate() {
                                *logit = panel_logits[output * PANEL + row];
                            }
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
    pub gradient: &'a mut [f32],
}

impl SimdTask for Backward<'_> {
    #[inline(always)]
    unsafe fn run_with<V: SimdVector>(self) {
        let Backward { layout, workspace, parameters, matrix, order, logit_gradient, stored_activations, gradient } =
            self;
        let (parameters, gradient, outputs) = (parameters.as_ptr(), gradient.as_mut_ptr(), layout.outputs());
        let panel_stride = layout.panel_activations;
        let group_rows = PANEL_GROUP * PANEL;
        for (group, logit_gradient) in logit_gradient.chunks(group_rows * outputs).enumerate() {
            let (now, later) = order[group * group_rows..].split_at(group_rows.min(order.len() - group * group_rows));
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
                        let together = PANEL_GROUP.min(layout.forward_panels());
                        for (number, now) in now.chunks(together * PANEL).enumerate() {
                            let Workspace { input, look_up, activations, .. } = &mut *workspace;
                            let to = activations.as_mut_ptr().add(number * together * panel_stride);
                            forward_panels::<V>(layout, parameters, (input, look_up), matrix, (now, &[]), to, None);
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
                let Some(look_up_layout) = &layout.look_up else {
                    add_outer_products::<V>(
                        first,
                        output_gradient,
                        &rows[..panels],
                        gradient,
                        overwrite,
                        &mut prefetch,
                    );
                    continue;
                };
                prefetch.all::<V>();
                // The table has its gradient added for several groups together.
                let first_panel = group * PANEL_GROUP % LOOK_UP_PANELS;
                for panel in 0..panels {
                    let derivatives = output_gradient.add(panel * PANEL * first.outputs);
                    store_derivatives::<V>(first, &mut workspace.look_up, first_panel + panel, derivatives);
                }
                if later.is_empty() || first_panel + PANEL_GROUP == LOOK_UP_PANELS {
                    let start = (group * PANEL_GROUP - first_panel) * PANEL;
                    let rows = (matrix, &order[start..order.len() - later.len()]);
                    let layouts = (look_up_layout, first);
                    add_table_gradient::<V>(layouts, &mut workspace.look_up, rows, gradient, start == 0);
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
