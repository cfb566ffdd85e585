//! ENGINE: a batch through the network and back, panel by panel, in caches and registers.
//!
//! A large batch is cut into parts whose number and size depend on the network and the batch alone. Each part's gradient is summed
//! in f32, the parts of a slot in f64, and the slots in their order: the same bits however many threads take part.

mod prefetch;
mod lanes;
mod level;
mod kernel;
mod desk;

pub(crate) use lanes::Lanes;
pub use level::Level;
pub(crate) use level::{Work, run};

use rayon::ThreadPool;
use rayon::prelude::*;

use crate::network::{Network, NetworkShape};
use desk::{Backward, Desk, Forward, Plan, TOGETHER};
use kernel::PANEL;
use prefetch::Prefetch;
use scorewise_table::{Buffer, Matrix};

/// Products of a weight and a row that are worth a part of their own.
const PART: usize = 1 << 23;
/// Slots at the most: each has room for a gradient of its own.
const SLOTS: usize = 16;
/// Activations that are kept for the way back, 64 MB; beyond them they are computed again, which takes less memory and more time.
const KEPT: usize = 1 << 24;

/// What trains or predicts with networks of one shape: the room that it needs, and its threads.
#[derive(Debug)]
pub struct Engine {
    level: Level,
    shape: NetworkShape,
    plan: Plan,
    pool: Option<ThreadPool>,
    /// Rows of a part.
    part: usize,
    slots: Vec<Slot>,
    /// Records of the batch's panels, where there is room for them.
    kept: Buffer,
    total: Vec<f64>,
    /// The batch of the last forward.
    matrix: Matrix,
    order: Vec<u32>,
}

/// What one part after the other is worked on with.
#[derive(Debug)]
struct Slot {
    desk: Desk,
    /// The gradient of a part.
    gradient: Buffer,
    /// The sum of those before it.
    sum: Vec<f64>,
}

impl Slot {
    fn new(plan: &Plan) -> Self {
        Slot { desk: Desk::new(plan), gradient: Buffer::default(), sum: Vec::new() }
    }
}

impl Engine {
    /// For networks of this shape, on the caller's thread, with the best instructions at hand.
    #[must_use]
    pub fn new(shape: &NetworkShape) -> Self {
        Engine::at(Level::best(), shape)
    }

    /// With the instructions of a level.
    #[must_use]
    pub fn at(level: Level, shape: &NetworkShape) -> Self {
        let plan = Plan::new(shape.layers());
        let weights: usize = plan.layers.iter().map(|layer| layer.inputs * layer.outputs).sum();
        Engine {
            level,
            shape: shape.clone(),
            pool: None,
            part: (PART / weights).clamp(256, 2048).next_multiple_of(TOGETHER * PANEL),
            slots: vec![Slot::new(&plan)],
            kept: Buffer::default(),
            total: Vec::new(),
            matrix: Matrix::default(),
            order: Vec::new(),
            plan,
        }
    }

    /// The same with so many threads for batches of thousands of rows; the results are the same to the bit. (Where the system
    /// gives no threads, the caller's does the work.)
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.pool = None;
        if threads > 1 {
            self.pool = rayon::ThreadPoolBuilder::new().num_threads(threads.min(SLOTS)).build().ok();
        }
        self
    }

    /// The logits of some rows of the matrix, in their order; with several outputs, row by row.
    ///
    /// # Panics
    /// Where network, matrix and `logits` do not fit each other: that is decided where they are made.
    pub fn forward(&mut self, network: &Network, matrix: &Matrix, order: &[u32], logits: &mut [f32]) {
        self.order.clear();
        self.pass(network, matrix, order, logits, self.keeps(order.len()));
        // Only now: they have been found to fit.
        self.order.extend_from_slice(order);
        if !self.matrix.shares_values_with(matrix) {
            self.matrix = matrix.clone();
        }
    }

    /// The same without a way back: nothing is kept for [`backward`](Engine::backward), which still belongs to the last forward.
    ///
    /// # Panics
    /// As [`forward`](Engine::forward).
    pub fn predict(&mut self, network: &Network, matrix: &Matrix, order: &[u32], logits: &mut [f32]) {
        self.pass(network, matrix, order, logits, false);
    }

    /// A hint that these rows are the next batch: they are fetched from memory while the last one is still worked on.
    pub fn prefetch(&self, matrix: &Matrix, order: &[u32]) {
        run(self.level, Hint { matrix, order: &order[..order.len().min(TOGETHER * PANEL)] });
    }

    /// Whether there is room to keep what the way back needs.
    fn keeps(&self, rows: usize) -> bool {
        rows.div_ceil(PANEL) * self.plan.record <= KEPT
    }

    fn pass(&mut self, network: &Network, matrix: &Matrix, order: &[u32], logits: &mut [f32], keep: bool) {
        assert_eq!(network.shape(), &self.shape, "a network of the engine's shape");
        assert_eq!(network.parameters.len(), self.shape.parameters(), "all parameters of the shape");
        assert_eq!(matrix.columns(), self.plan.layers[0].inputs, "a matrix with the network's inputs");
        // One number tells it, and comparing all of them with it is quick.
        let highest = order.iter().fold(0, |highest, row| highest.max(*row));
        assert!(order.is_empty() || (highest as usize) < matrix.rows(), "rows of the matrix");
        let outputs = self.plan.outputs();
        assert_eq!(logits.len(), order.len() * outputs, "a logit for each row and output");
        let rows = self.divide(order.len());
        let Engine { level, plan, slots, kept, pool, .. } = self;
        let (level, parameters) = (*level, &network.parameters[..]);
        let record = plan.record;
        if keep && kept.len() < order.len().div_ceil(PANEL) * record {
            kept.resize(order.len().div_ceil(PANEL) * record);
        }
        // A linear model has nothing to keep.
        let keep = keep && record > 0;
        let mut records = if keep { Some(kept.chunks_mut(rows / PANEL * record)) } else { None };
        let stretches = order.chunks(rows).zip(logits.chunks_mut(rows * outputs)).map(|(order, logits)| Stretch {
            order,
            logits,
            kept: records.as_mut().and_then(Iterator::next),
        });
        let work = |slot: &mut Slot, Stretch { order, logits, kept }: Stretch<'_>| {
            let desk = &mut slot.desk;
            run(level, Forward { plan, desk, parameters, matrix, order, logits, kept });
        };
        match pool {
            Some(pool) if order.len() > rows => {
                let parts: Vec<_> = slots.iter_mut().zip(stretches).collect();
                pool.install(|| parts.into_par_iter().for_each(|(slot, stretch)| work(slot, stretch)));
            }
            _ => stretches.for_each(|stretch| work(&mut slots[0], stretch)),
        }
    }

    /// Writes the gradient of the parameters for the rows of the last [`forward`](Engine::forward), given that of their logits.
    /// (The padding is left as it is: 0, in a list that was made so.)
    ///
    /// # Panics
    /// Where `slopes` or `gradient` do not fit.
    pub fn backward(&mut self, network: &Network, slopes: &[f32], gradient: &mut [f32]) {
        let outputs = self.plan.outputs();
        assert_eq!(slopes.len(), self.order.len() * outputs, "a slope for each row and output");
        assert_eq!(gradient.len(), network.parameters.len(), "a slope for each parameter");
        assert_eq!(gradient.len(), self.shape.parameters(), "all parameters of the shape");
        assert_eq!(network.shape(), &self.shape, "a network of the engine's shape");
        let keeps = self.keeps(self.order.len());
        let rows = self.divide(self.order.len());
        let Engine { level, plan, slots, kept, pool, part, matrix, order, total, .. } = self;
        let (level, part, parameters) = (*level, *part, &network.parameters[..]);
        let kept = keeps.then(|| &kept[..order.len().div_ceil(PANEL) * plan.record]);
        if order.is_empty() {
            gradient.fill(0.0);
            return;
        }
        if order.len() <= part {
            let desk = &mut slots[0].desk;
            run(level, Backward { plan, desk, parameters, matrix, order, slopes, kept, gradient });
            return;
        }
        let length = gradient.len();
        // The parts of one slot, summed.
        let work = |(slot, start): (&mut Slot, usize)| {
            slot.gradient.resize(length);
            slot.sum.clear();
            slot.sum.resize(length, 0.0);
            let end = (start + rows).min(order.len());
            for start in (start..end).step_by(part).rev() {
                let end = (start + part).min(end);
                let (order, slopes) = (&order[start..end], &slopes[start * outputs..end * outputs]);
                let kept = kept.map(|kept| &kept[start / PANEL * plan.record..]);
                let (desk, gradient) = (&mut slot.desk, &mut slot.gradient[..]);
                run(level, Backward { plan, desk, parameters, matrix, order, slopes, kept, gradient });
                add(&mut slot.sum, slot.gradient.iter().map(|slope| f64::from(*slope)));
            }
        };
        total.clear();
        total.resize(length, 0.0);
        // The last rows first: the way forward has left them in the caches.
        let starts = (0..order.len()).step_by(rows).rev();
        match pool {
            Some(pool) => {
                let parts: Vec<_> = slots.iter_mut().zip(starts.clone()).collect();
                pool.install(|| parts.into_par_iter().for_each(work));
                slots.iter().zip(starts).for_each(|(slot, _)| add(total, slot.sum.iter().copied()));
            }
            None => {
                for start in starts {
                    work((&mut slots[0], start));
                    add(total, slots[0].sum.iter().copied());
                }
            }
        }
        for (slope, total) in gradient.iter_mut().zip(total) {
            *slope = *total as f32;
        }
    }

    /// The rows of a slot, and a slot for each thread's turn.
    fn divide(&mut self, rows: usize) -> usize {
        let parts = rows.div_ceil(self.part).max(1);
        let rows = parts.div_ceil(SLOTS) * self.part;
        if self.pool.is_some() {
            self.slots.resize_with(self.slots.len().max(parts.min(SLOTS)), || Slot::new(&self.plan));
        }
        rows
    }
}

/// Rows of one slot on the way forward.
struct Stretch<'a> {
    order: &'a [u32],
    logits: &'a mut [f32],
    kept: Option<&'a mut [f32]>,
}

/// Adds up, in f64.
fn add(sums: &mut [f64], terms: impl Iterator<Item = f64>) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += term;
    }
}

struct Hint<'a> {
    matrix: &'a Matrix,
    order: &'a [u32],
}

impl Work for Hint<'_> {
    #[inline(always)]
    unsafe fn with<V: Lanes>(self) {
        // SAFETY: `run` has the instructions of V.
        unsafe { Prefetch::new(self.matrix, self.order, &[], 1).next::<V>() };
    }
}
