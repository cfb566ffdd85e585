//! What one thread works on: a run of rows through the network, and back.

use super::kernel::{PANEL, backward, columns_of, dots, forward, outer, rows_of};
use super::lanes::Lanes;
use super::level::Work;
use super::prefetch::{Prefetch, panel};
use crate::network::Layer;
use scorewise_table::Buffer;
use scorewise_table::{Matrix, PAD};

/// Panels whose weight gradient is summed in one go: more of them, and their rows leave the first cache.
pub(super) const TOGETHER: usize = 2;

/// Numbers that the second cache holds beside what else is in use.
const NEAR: usize = 1 << 18;

/// The layers, and where a panel's activations stand.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub layers: Vec<Layer>,
    /// Where the inputs of each layer but the first begin in the record of a panel; the first entry has no meaning.
    places: Vec<usize>,
    /// The length of a record: the activations of all hidden layers of one panel.
    pub record: usize,
}

impl Plan {
    pub fn new(layers: Vec<Layer>) -> Self {
        let mut record = 0;
        let mut places = vec![0];
        for layer in &layers[..layers.len() - 1] {
            places.push(record);
            record += PANEL * layer.outputs;
        }
        Plan { layers, places, record }
    }

    pub fn outputs(&self) -> usize {
        self.layers[self.layers.len() - 1].outputs
    }
}

/// Room for the panels in hand.
#[derive(Debug)]
pub(super) struct Desk {
    /// The features of one panel.
    input: Buffer,
    /// The logits of one panel.
    last: Buffer,
    /// Hidden activations of the panels that go together, where they are not kept for all.
    records: Buffer,
    /// Slopes by the outputs of a layer and by its inputs.
    slopes: [Buffer; 2],
    /// The inputs of a hidden layer row by row.
    rows: Buffer,
}

impl Desk {
    pub fn new(plan: &Plan) -> Self {
        let widest = plan.layers.iter().map(|layer| layer.inputs.max(layer.outputs)).max().unwrap_or(1);
        let slopes = Buffer::zeros(TOGETHER * PANEL * widest);
        Desk {
            input: Buffer::zeros(PANEL * plan.layers[0].stride),
            last: Buffer::zeros(PANEL * plan.outputs()),
            records: Buffer::zeros(TOGETHER * plan.record),
            slopes: [slopes.clone(), slopes],
            rows: Buffer::zeros(TOGETHER * PANEL * widest.next_multiple_of(PAD)),
        }
    }
}

/// The hidden activations of one panel.
///
/// # Safety
/// As [`Lanes`]; the rows are the matrix's, `record` has room for a panel's.
#[inline(always)]
unsafe fn hidden<V: Lanes>(
    plan: &Plan,
    parameters: *const f32,
    input: &mut Buffer,
    matrix: &Matrix,
    (now, next): (&[u32], &[u32]),
    record: *mut f32,
) {
    let first = &plan.layers[0];
    // SAFETY: the desk has room, and as the caller's.
    unsafe {
        columns_of::<V>(&panel(matrix, now), first.inputs, input.as_mut_ptr());
        let mut ahead = Prefetch::new(matrix, next, &[], first.outputs.div_ceil(8));
        let mut from = input.as_ptr();
        for (at, layer) in plan.layers[..plan.layers.len() - 1].iter().enumerate() {
            let to = record.add(plan.places[at + 1]);
            forward::<V>(layer, parameters, from, to, true, &mut ahead);
            from = to;
        }
    }
}

/// Rows to logits.
pub(super) struct Forward<'a> {
    pub plan: &'a Plan,
    pub desk: &'a mut Desk,
    pub parameters: &'a [f32],
    pub matrix: &'a Matrix,
    pub order: &'a [u32],
    pub logits: &'a mut [f32],
    /// A record for each panel, where they are kept.
    pub kept: Option<&'a mut [f32]>,
}

impl Work for Forward<'_> {
    #[inline(always)]
    unsafe fn with<V: Lanes>(self) {
        let Forward { plan, desk, parameters, matrix, order, logits, kept } = self;
        let (parameters, outputs, depth) = (parameters.as_ptr(), plan.outputs(), plan.layers.len());
        let (mut record, next) = match kept {
            Some(kept) => (kept.as_mut_ptr(), plan.record),
            None => (desk.records.as_mut_ptr(), 0),
        };
        // SAFETY: the buffers were sized for this many panels, the rows are the matrix's, and `run` has the instructions of V.
        unsafe {
            Prefetch::new(matrix, &order[..PANEL.min(order.len())], &[], 1).next::<V>();
            for (panel, logits) in logits.chunks_mut(PANEL * outputs).enumerate() {
                let (now, later) = order[panel * PANEL..].split_at(PANEL.min(order.len() - panel * PANEL));
                let soon = &later[..PANEL.min(later.len())];
                hidden::<V>(plan, parameters, &mut desk.input, matrix, (now, soon), record);
                let from =
                    if depth == 1 { desk.input.as_ptr() } else { record.add(plan.places[depth - 1]).cast_const() };
                let mut ahead = Prefetch::new(matrix, if depth == 1 { soon } else { &[] }, &[], outputs.div_ceil(8));
                forward::<V>(&plan.layers[depth - 1], parameters, from, desk.last.as_mut_ptr(), false, &mut ahead);
                if outputs == 1 {
                    logits.copy_from_slice(&desk.last[..logits.len()]);
                } else {
                    for (row, logits) in logits.chunks_exact_mut(outputs).enumerate() {
                        for (output, logit) in logits.iter_mut().enumerate() {
                            *logit = desk.last[output * PANEL + row];
                        }
                    }
                }
                record = record.add(next);
            }
        }
    }
}

/// Slopes of the logits to those of the parameters.
pub(super) struct Backward<'a> {
    pub plan: &'a Plan,
    pub desk: &'a mut Desk,
    pub parameters: &'a [f32],
    pub matrix: &'a Matrix,
    pub order: &'a [u32],
    pub slopes: &'a [f32],
    /// What [`Forward`] kept; where it kept nothing, the activations are computed again.
    pub kept: Option<&'a [f32]>,
    pub gradient: &'a mut [f32],
}

impl Work for Backward<'_> {
    #[inline(always)]
    unsafe fn with<V: Lanes>(self) {
        let Backward { plan, desk, parameters, matrix, order, slopes, kept, gradient } = self;
        let (parameters, gradient, outputs) = (parameters.as_ptr(), gradient.as_mut_ptr(), plan.outputs());
        let group = TOGETHER * PANEL;
        for (start, slopes) in slopes.chunks(group * outputs).enumerate() {
            let order = &order[start * group..];
            let (now, later) = order.split_at(group.min(order.len()));
            let panels = now.len().div_ceil(PANEL);
            let mut nothing = Prefetch::new(matrix, &[], &[], 1);
            let mut places = [[std::ptr::null(); PANEL]; TOGETHER];
            // SAFETY: the buffers were sized for this many panels, the rows are the matrix's, and `run` has the instructions of V.
            unsafe {
                let records = match kept {
                    Some(kept) => kept.as_ptr().add(start * TOGETHER * plan.record),
                    None => {
                        for (panel, now) in now.chunks(PANEL).enumerate() {
                            let record = desk.records.as_mut_ptr().add(panel * plan.record);
                            hidden::<V>(plan, parameters, &mut desk.input, matrix, (now, &[]), record);
                        }
                        desk.records.as_ptr()
                    }
                };
                let (mut out, mut into) = {
                    let [out, into] = &mut desk.slopes;
                    spread(slopes, outputs, &mut out[..panels * PANEL * outputs]);
                    (out.as_mut_ptr(), into.as_mut_ptr())
                };
                for at in (1..plan.layers.len()).rev() {
                    let layer = &plan.layers[at];
                    let inputs = records.add(plan.places[at]);
                    if layer.inputs < 8 && layer.inputs * layer.outputs <= 64 {
                        // Too narrow for registers along the inputs.
                        dots::<V>(layer, panels, out, (inputs, plan.record), gradient, start == 0);
                    } else {
                        let rows = desk.rows.as_mut_ptr();
                        for (panel, places) in places[..panels].iter_mut().enumerate() {
                            let to = rows.add(panel * PANEL * layer.stride);
                            rows_of::<V>(inputs.add(panel * plan.record), layer.inputs, to, layer.stride);
                            for (row, place) in places.iter_mut().enumerate() {
                                *place = to.add(row * layer.stride);
                            }
                        }
                        outer::<V>(layer, out, &places[..panels], gradient, start == 0, &mut nothing);
                    }
                    for panel in 0..panels {
                        let slopes_out = out.add(panel * PANEL * layer.outputs);
                        let slopes_in = into.add(panel * PANEL * layer.inputs);
                        backward::<V>(layer, parameters, slopes_out, inputs.add(panel * plan.record), slopes_in);
                    }
                    std::mem::swap(&mut out, &mut into);
                }
                for (place, now) in places.iter_mut().zip(now.chunks(PANEL)) {
                    *place = panel(matrix, now);
                }
                let later = &later[..group.min(later.len())];
                // Activations of a batch that the second cache does not hold come from afar, too.
                let stretch = match kept {
                    Some(kept) if kept.len() > NEAR => {
                        let next = (start + 1) * TOGETHER * plan.record;
                        &kept[next.min(kept.len())..(next + later.len().div_ceil(PANEL) * plan.record).min(kept.len())]
                    }
                    _ => &[],
                };
                let first = &plan.layers[0];
                let goes = first.outputs.div_ceil(8) * first.stride.div_ceil(4 * V::WIDTH);
                let mut ahead = Prefetch::new(matrix, later, stretch, goes);
                outer::<V>(first, out, &places[..panels], gradient, start == 0, &mut ahead);
            }
        }
    }
}

/// Slopes below it are taken as 0. A sure network has rows whose slope is 1e-30 or 1e-40; multiplied by weights they fall below what
/// f32 holds in all digits, where a product takes the processor a hundred times as long. In a sum of others, or after Adam's ε, they change nothing.
const FAINT: f32 = 1e-20;

/// The slopes of the logits as panels; rows that a last panel lacks have none.
fn spread(slopes: &[f32], outputs: usize, panels: &mut [f32]) {
    let clear = |slope: &f32| if slope.abs() < FAINT { 0.0 } else { *slope };
    if outputs == 1 {
        let (now, rest) = panels.split_at_mut(slopes.len());
        now.iter_mut().zip(slopes).for_each(|(to, slope)| *to = clear(slope));
        rest.fill(0.0);
        return;
    }
    panels.fill(0.0);
    for (row, slopes) in slopes.chunks_exact(outputs).enumerate() {
        for (output, slope) in slopes.iter().enumerate() {
            panels[(row / PANEL * outputs + output) * PANEL + row % PANEL] = clear(slope);
        }
    }
}
