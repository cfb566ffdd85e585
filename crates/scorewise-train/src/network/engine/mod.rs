//! The engine, which computes the forward and backward pass of a batch through a network and keeps the data in caches and registers.
//!
//! A batch is divided into *chunks* of a few hundred or thousand rows. The chunks are grouped into at most 16 *segments*, which run in
//! parallel. Both divisions depend only on the network and the batch. The gradient of a chunk is summed in f32, the gradients of the chunks
//! of a segment are added in f64, and the segments are added in a fixed order. So the results are bit-identical for any number of threads.
//!
//! A chunk is divided into *panels* of 32 rows. A panel goes through all layers before the next panel begins.

mod prefetch;
mod simd_vector;
mod simd_task;
mod kernel;
mod look_up;
mod workspace;

pub(crate) use simd_task::{SimdTask, run};
pub(crate) use simd_vector::SimdVector;

use rayon::ThreadPool;
use rayon::prelude::*;
use scorewise::InstructionSet;

use crate::network::{Network, NetworkShape};
use kernel::PANEL;
use look_up::TABLE_BLOCK;
pub(crate) use look_up::TableGradient;
use prefetch::Prefetch;
use scorewise_table::{AlignedBuffer, Matrix};
use workspace::{Backward, EngineLayout, Forward, PANEL_GROUP, Workspace};

/// Approximate number of products (weights times rows) in a chunk. Every chunk has a gradient that must be added to the sum; a chunk of this
/// size has enough work to make the cost of the addition small.
const CHUNK_PRODUCTS: usize = 1 << 23;
/// Maximum number of segments of a batch. The maximum limits the memory, because every segment that runs in parallel has its own gradient.
const MAX_SEGMENTS: usize = 16;
/// Maximum number of hidden activations that are stored for the backward pass (64 MiB). The activations of larger batches are computed
/// again in the backward pass, which needs less memory and more time.
const MAX_STORED_ACTIVATIONS: usize = 1 << 24;

/// Computes the logits and gradients of networks that all have the same shape. It owns the scratch buffers and the threads.
#[derive(Debug)]
pub struct Engine {
    instructions: InstructionSet,
    shape: NetworkShape,
    layout: EngineLayout,
    pool: Option<ThreadPool>,
    chunk_rows: usize,
    /// The buffers of each segment that runs in parallel. Without threads, all segments use the same buffers.
    segments: Vec<SegmentBuffers>,
    /// Hidden activations of all panels of the batch, unless there are more than [`MAX_STORED_ACTIVATIONS`].
    stored_activations: AlignedBuffer,
    /// The gradient of the batch in f64.
    total: Vec<f64>,
    /// The matrix of the last call of [`Engine::forward`], for the backward pass. The field `order` holds the rows of that call.
    matrix: Matrix,
    order: Vec<u32>,
}

/// The buffers of one segment. The chunks of a segment are processed one after the other and use the same buffers.
#[derive(Debug)]
struct SegmentBuffers {
    workspace: Workspace,
    /// The gradient of one chunk.
    gradient: AlignedBuffer,
    /// The sum of the gradients of the chunks that have been processed.
    sum: Vec<f64>,
}

impl SegmentBuffers {
    fn new(layout: &EngineLayout) -> Self {
        SegmentBuffers { workspace: Workspace::new(layout), gradient: AlignedBuffer::default(), sum: Vec::new() }
    }
}

impl Engine {
    /// An engine for networks of this shape that runs on the caller's thread, with the best instruction set that this machine supports.
    #[must_use]
    pub fn new(shape: &NetworkShape) -> Self {
        Engine::with_instructions(InstructionSet::best(), shape)
    }

    /// An engine for networks of this shape that runs on the caller's thread, with the given instruction set.
    #[must_use]
    pub fn with_instructions(instructions: InstructionSet, shape: &NetworkShape) -> Self {
        let layout = EngineLayout::new(shape);
        let weights: usize = layout.layers.iter().map(|layer| layer.inputs * layer.outputs).sum();
        Engine {
            instructions,
            shape: shape.clone(),
            pool: None,
            chunk_rows: (CHUNK_PRODUCTS / weights).clamp(256, 2048).next_multiple_of(PANEL_GROUP * PANEL),
            segments: vec![SegmentBuffers::new(&layout)],
            stored_activations: AlignedBuffer::default(),
            total: Vec::new(),
            matrix: Matrix::default(),
            order: Vec::new(),
            layout,
        }
    }

    /// This engine with the given number of threads, which are used for batches of thousands of rows. The results have the same bits for any
    /// number of threads. If the system cannot start threads, the caller's thread does all the work.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.pool = None;
        if threads > 1 {
            self.pool = rayon::ThreadPoolBuilder::new().num_threads(threads.min(MAX_SEGMENTS)).build().ok();
        }
        self
    }

    /// Computes the logits of the rows `order` of the matrix. `logits` is in the order of `order`, with the outputs of a row side by side.
    ///
    /// # Panics
    /// If the network does not have the shape of the engine, if the matrix or `logits` has the wrong size, or if a row does not exist.
    pub fn forward(&mut self, network: &Network, matrix: &Matrix, order: &[u32], logits: &mut [f32]) {
        self.order.clear();
        self.forward_pass(network, matrix, order, logits, self.stores_activations(order.len()));
        // The rows are remembered only after the pass has checked that they exist in the matrix.
        self.order.extend_from_slice(order);
        if !self.matrix.shares_values_with(matrix) {
            self.matrix = matrix.clone();
        }
    }

    /// Computes logits like [`forward`](Engine::forward), but stores nothing for [`backward`](Engine::backward): a later call of `backward` still
    /// refers to the last call of `forward`.
    ///
    /// # Panics
    /// Under the same conditions as [`forward`](Engine::forward).
    pub fn predict(&mut self, network: &Network, matrix: &Matrix, order: &[u32], logits: &mut [f32]) {
        self.forward_pass(network, matrix, order, logits, false);
    }

    /// Hints that the next batch consists of the given rows. The first rows are loaded into the cache while the current batch is still processed.
    pub fn prefetch(&self, matrix: &Matrix, order: &[u32]) {
        run(self.instructions, PrefetchRows { matrix, order: &order[..order.len().min(PANEL_GROUP * PANEL)] });
    }

    /// Whether the hidden activations of a batch with this number of rows are stored for the backward pass.
    fn stores_activations(&self, rows: usize) -> bool {
        rows.div_ceil(PANEL) * self.layout.panel_activations <= MAX_STORED_ACTIVATIONS
    }

    /// Computes the logits. If `store` is set, the hidden activations are stored for the backward pass.
    fn forward_pass(&mut self, network: &Network, matrix: &Matrix, order: &[u32], logits: &mut [f32], store: bool) {
        assert_eq!(network.shape(), &self.shape, "the network must have the same layer sizes as the engine");
        assert_eq!(
            network.parameters.len(),
            self.shape.parameters(),
            "the network must have as many parameters as its shape needs"
        );
        assert_eq!(matrix.columns(), self.layout.layers[0].inputs, "the matrix must have one column for each input");
        let highest = order.iter().fold(0, |highest, row| highest.max(*row));
        assert!(order.is_empty() || (highest as usize) < matrix.rows(), "every row must exist in the matrix");
        let outputs = self.layout.outputs();
        assert_eq!(logits.len(), order.len() * outputs, "there must be one logit for each row and output");
        let segment_rows = self.segment_rows(order.len());
        let Engine { instructions, layout, segments, stored_activations, pool, .. } = self;
        let (instructions, parameters) = (*instructions, &network.parameters[..]);
        let panel_activations = layout.panel_activations;
        if store && stored_activations.len() < order.len().div_ceil(PANEL) * panel_activations {
            stored_activations.resize(order.len().div_ceil(PANEL) * panel_activations);
        }
        // A linear model has no hidden activations.
        let store = store && panel_activations > 0;
        let mut storage =
            if store { Some(stored_activations.chunks_mut(segment_rows / PANEL * panel_activations)) } else { None };
        let inputs =
            order.chunks(segment_rows).zip(logits.chunks_mut(segment_rows * outputs)).map(|(order, logits)| {
                ForwardSegment { order, logits, stored_activations: storage.as_mut().and_then(Iterator::next) }
            });
        let process = |buffers: &mut SegmentBuffers, segment: ForwardSegment<'_>| {
            let ForwardSegment { order, logits, stored_activations } = segment;
            let workspace = &mut buffers.workspace;
            run(instructions, Forward { layout, workspace, parameters, matrix, order, logits, stored_activations });
        };
        match pool {
            Some(pool) if order.len() > segment_rows => {
                let segments: Vec<_> = segments.iter_mut().zip(inputs).collect();
                pool.install(|| segments.into_par_iter().for_each(|(buffers, segment)| process(buffers, segment)));
            }
            _ => inputs.for_each(|segment| process(&mut segments[0], segment)),
        }
    }

    /// Computes the gradient with respect to the parameters from the gradient with respect to the logits of the last call of
    /// [`forward`](Engine::forward). The padding of `gradient` must be 0 before the call, because not all of it is written.
    ///
    /// # Panics
    /// If `logit_gradient` or `gradient` has the wrong length.
    pub fn backward(&mut self, network: &Network, logit_gradient: &[f32], gradient: &mut [f32]) {
        self.backward_pass(network, logit_gradient, gradient, false);
    }

    /// Computes the gradient like [`backward`](Engine::backward), but if the batch is small, it leaves out the gradient of the table of a look-up
    /// layer. After this call, [`table_gradient`](Engine::table_gradient) returns the gradient of the table for a batch of any size.
    ///
    /// # Panics
    /// Under the same conditions as [`backward`](Engine::backward).
    pub(super) fn backward_without_table(&mut self, network: &Network, logit_gradient: &[f32], gradient: &mut [f32]) {
        self.backward_pass(network, logit_gradient, gradient, true);
    }

    /// The gradient with respect to the table of the look-up layer. Call this after [`backward_without_table`](Engine::backward_without_table), with
    /// the part of its `gradient` that belongs to the table.
    pub(super) fn table_gradient<'a>(&'a mut self, gradient: &'a [f32]) -> TableGradient<'a> {
        let leaves_table = self.leaves_table();
        let (layer, columns) = (&self.layout.layers[0], &self.layout.columns[..]);
        match &mut self.segments[0] {
            segment if leaves_table => {
                TableGradient::of_block(layer, columns, &mut segment.workspace.table_block, self.order.len())
            }
            _ => TableGradient::of_table(layer, columns, gradient),
        }
    }

    /// Whether the last call of [`forward`](Engine::forward) had at least one row, and all its rows fit into one chunk and one block of
    /// [`TABLE_BLOCK`] rows. If so, the gradient of the table can be computed later from this block.
    fn leaves_table(&self) -> bool {
        (1..=TABLE_BLOCK.min(self.chunk_rows)).contains(&self.order.len())
    }

    /// Computes the gradient. If `without_table` is set and the batch is small, the gradient of the table of a look-up layer is left for
    /// [`table_gradient`](Engine::table_gradient).
    fn backward_pass(&mut self, network: &Network, logit_gradient: &[f32], gradient: &mut [f32], without_table: bool) {
        let leaves_table = without_table && self.leaves_table();
        let outputs = self.layout.outputs();
        assert_eq!(
            logit_gradient.len(),
            self.order.len() * outputs,
            "there must be one derivative for each row and output of the last forward pass"
        );
        assert_eq!(gradient.len(), network.parameters.len(), "there must be one derivative for each parameter");
        assert_eq!(
            gradient.len(),
            self.shape.parameters(),
            "the network must have as many parameters as its shape needs"
        );
        assert_eq!(network.shape(), &self.shape, "the network must have the same layer sizes as the engine");
        let stored = self.stores_activations(self.order.len());
        let segment_rows = self.segment_rows(self.order.len());
        let Engine {
            instructions, layout, segments, stored_activations, pool, chunk_rows, matrix, order, total, ..
        } = self;
        let (instructions, chunk_rows, parameters) = (*instructions, *chunk_rows, &network.parameters[..]);
        let panel_activations = layout.panel_activations;
        let stored_activations = stored.then(|| &stored_activations[..order.len().div_ceil(PANEL) * panel_activations]);
        if order.is_empty() {
            gradient.fill(0.0);
            return;
        }
        if order.len() <= chunk_rows {
            let workspace = &mut segments[0].workspace;
            run(
                instructions,
                Backward {
                    layout,
                    workspace,
                    parameters,
                    matrix,
                    order,
                    logit_gradient,
                    stored_activations,
                    leaves_table,
                    gradient,
                },
            );
            return;
        }
        let length = gradient.len();
        let process = |(buffers, start): (&mut SegmentBuffers, usize)| {
            buffers.gradient.resize(length);
            buffers.sum.clear();
            buffers.sum.resize(length, 0.0);
            let end = (start + segment_rows).min(order.len());
            for start in (start..end).step_by(chunk_rows).rev() {
                let end = (start + chunk_rows).min(end);
                let chunk = Backward {
                    layout,
                    workspace: &mut buffers.workspace,
                    parameters,
                    matrix,
                    order: &order[start..end],
                    logit_gradient: &logit_gradient[start * outputs..end * outputs],
                    stored_activations: stored_activations.map(|stored| &stored[start / PANEL * panel_activations..]),
                    leaves_table: false,
                    gradient: &mut buffers.gradient[..],
                };
                run(instructions, chunk);
                add(&mut buffers.sum, buffers.gradient.iter().map(|derivative| f64::from(*derivative)));
            }
        };
        total.clear();
        total.resize(length, 0.0);
        // The last rows are processed first, because their data are still in the caches after the forward pass.
        let starts = (0..order.len()).step_by(segment_rows).rev();
        match pool {
            Some(pool) => {
                let running: Vec<_> = segments.iter_mut().zip(starts.clone()).collect();
                pool.install(|| running.into_par_iter().for_each(process));
                segments.iter().zip(starts).for_each(|(buffers, _)| add(total, buffers.sum.iter().copied()));
            }
            None => {
                for start in starts {
                    process((&mut segments[0], start));
                    add(total, segments[0].sum.iter().copied());
                }
            }
        }
        for (derivative, total) in gradient.iter_mut().zip(total) {
            *derivative = *total as f32;
        }
    }

    /// Number of rows in a segment if the batch has `rows` rows. If the engine has threads, this also creates the buffers of all segments.
    fn segment_rows(&mut self, rows: usize) -> usize {
        let chunks = rows.div_ceil(self.chunk_rows).max(1);
        let segment_rows = chunks.div_ceil(MAX_SEGMENTS) * self.chunk_rows;
        if self.pool.is_some() {
            let count = self.segments.len().max(chunks.min(MAX_SEGMENTS));
            self.segments.resize_with(count, || SegmentBuffers::new(&self.layout));
        }
        segment_rows
    }
}

/// The rows of one segment in the forward pass, with the buffers for their results.
struct ForwardSegment<'a> {
    order: &'a [u32],
    logits: &'a mut [f32],
    stored_activations: Option<&'a mut [f32]>,
}

/// Adds each term to the sum with the same index, in f64.
fn add(sums: &mut [f64], terms: impl Iterator<Item = f64>) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += term;
    }
}

/// A task that prefetches rows of a matrix.
struct PrefetchRows<'a> {
    matrix: &'a Matrix,
    order: &'a [u32],
}

impl SimdTask for PrefetchRows<'_> {
    #[inline(always)]
    unsafe fn run_with<V: SimdVector>(self) {
        // SAFETY: `run` has checked that the processor has the instructions of V.
        unsafe { Prefetch::new(self.matrix, self.order, &[], 1).next::<V>() };
    }
}
