//! ENGINE: a batch through the network and back, panel by panel, in caches and registers.

mod buffer;
mod lanes;
mod level;
mod kernel;

pub(crate) use lanes::Lanes;
pub use level::Level;
pub(crate) use level::{Work, run};

use buffer::Buffer;
use kernel::{PANEL, backward, forward, outer, transpose};

use crate::net::{Layer, Network, Shape};

/// Panels whose weight gradient is summed in one go: their rows stay in the second cache.
const TOGETHER: usize = 8;

/// Rows of features, each padded with zeros to a whole number of registers.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    stride: usize,
    values: Buffer,
}

impl Matrix {
    /// From rows that stand one after the other; nothing where they are not whole.
    #[must_use]
    pub fn new(columns: usize, values: &[f32]) -> Option<Self> {
        if columns == 0 || !values.len().is_multiple_of(columns) {
            return None;
        }
        let (rows, stride) = (values.len() / columns, columns.next_multiple_of(crate::net::PAD));
        let mut padded = Buffer::zeros(rows * stride);
        for (row, values) in padded.chunks_exact_mut(stride).zip(values.chunks_exact(columns)) {
            row[..columns].copy_from_slice(values);
        }
        Some(Matrix { rows, columns, stride, values: padded })
    }

    /// So many rows of zeros; nothing where there is no column or the size is beyond counting.
    #[must_use]
    pub fn zeros(rows: usize, columns: usize) -> Option<Self> {
        let stride = columns.checked_next_multiple_of(crate::net::PAD).filter(|stride| *stride > 0)?;
        let values = Buffer::many_zeros(rows.checked_mul(stride)?);
        Some(Matrix { rows, columns, stride, values })
    }

    /// The features of a row.
    ///
    /// # Panics
    /// Where there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.stride..][..self.columns]
    }

    /// All rows with their padding, and how long a padded row is.
    pub(crate) fn padded_mut(&mut self) -> (&mut [f32], usize) {
        (&mut self.values, self.stride)
    }

    /// How many rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many features.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }
}

/// The buffers of one thread that trains or predicts.
#[derive(Debug)]
pub struct Engine {
    level: Level,
    layers: Vec<Layer>,
    /// The batch's inputs row by row, padded.
    rows: Buffer,
    /// The inputs of each layer as panels, and last the logits.
    panels: Vec<Buffer>,
    /// Slopes by the inputs of a layer and by its outputs, for the panels that go together.
    slopes: [Buffer; 2],
    /// The inputs of each hidden layer row by row, for the panels that go together. One buffer a layer, so that the padding of its
    /// rows is never written and stays 0.
    transposed: Vec<Buffer>,
    batch: usize,
}

impl Engine {
    /// For networks of this shape, with the best instructions at hand.
    #[must_use]
    pub fn new(shape: &Shape) -> Self {
        Engine::at(Level::best(), shape)
    }

    /// With the instructions of a level.
    #[must_use]
    pub fn at(level: Level, shape: &Shape) -> Self {
        let layers = shape.layers();
        let widest = shape.widths().iter().copied().max().unwrap_or(1);
        let slopes = Buffer::zeros(TOGETHER * PANEL * widest);
        Engine {
            level,
            rows: Buffer::default(),
            panels: vec![Buffer::default(); layers.len() + 1],
            slopes: [slopes.clone(), slopes],
            transposed: layers.iter().map(|layer| Buffer::zeros(TOGETHER * PANEL * layer.stride)).collect(),
            layers,
            batch: 0,
        }
    }

    /// The logits of some rows of the matrix, in their order; with several outputs, row by row.
    ///
    /// # Panics
    /// Where network, matrix and `logits` do not fit each other: that is decided where they are made.
    pub fn forward(&mut self, network: &Network, matrix: &Matrix, order: &[u32], logits: &mut [f32]) {
        assert_eq!(network.shape().layers(), self.layers, "a network of the engine's shape");
        assert_eq!(matrix.columns, self.layers[0].inputs, "a matrix with the network's inputs");
        assert!(order.iter().all(|row| (*row as usize) < matrix.rows), "rows of the matrix");
        let outputs = self.layers[self.layers.len() - 1].outputs;
        assert_eq!(logits.len(), order.len() * outputs, "a logit for each row and output");
        self.resize(order.len());
        run(self.level, Forward { engine: self, network, matrix, order });
        let last = &self.panels[self.layers.len()];
        for (row, logits) in logits.chunks_exact_mut(outputs).enumerate() {
            let panel = &last[row / PANEL * outputs * PANEL..];
            for (output, logit) in logits.iter_mut().enumerate() {
                *logit = panel[output * PANEL + row % PANEL];
            }
        }
    }

    /// Writes the gradient of the parameters for the rows of the last [`forward`](Engine::forward), given that of their logits.
    /// (The padding is left as it is: 0, in a list that was made so.)
    ///
    /// # Panics
    /// Where `slopes` or `gradient` do not fit.
    pub fn backward(&mut self, network: &Network, slopes: &[f32], gradient: &mut [f32]) {
        let outputs = self.layers[self.layers.len() - 1].outputs;
        assert_eq!(slopes.len(), self.batch * outputs, "a slope for each row and output");
        assert_eq!(gradient.len(), network.parameters.len(), "a slope for each parameter");
        assert_eq!(network.shape().layers(), self.layers, "a network of the engine's shape");
        run(self.level, Backward { engine: self, network, logit_slopes: slopes, gradient });
    }

    fn resize(&mut self, batch: usize) {
        self.batch = batch;
        let panels = batch.div_ceil(PANEL);
        let widths = self.layers.iter().map(|layer| layer.inputs).chain([self.layers[self.layers.len() - 1].outputs]);
        for (buffer, width) in self.panels.iter_mut().zip(widths) {
            buffer.resize(panels * PANEL * width);
        }
        self.rows.resize(panels * PANEL * self.layers[0].stride);
    }
}

struct Forward<'a> {
    engine: &'a mut Engine,
    network: &'a Network,
    matrix: &'a Matrix,
    order: &'a [u32],
}

impl Work for Forward<'_> {
    #[inline(always)]
    unsafe fn with<V: Lanes>(self) {
        let Forward { engine, network, matrix, order } = self;
        let first = engine.layers[0];
        let parameters = network.parameters.as_ptr();
        let all = order;
        for (panel, order) in all.chunks(PANEL).enumerate() {
            // The rows of a shuffled batch lie anywhere: ask for the next panel's while this one is computed.
            for row in all.iter().skip((panel + 1) * PANEL).take(PANEL) {
                for at in (0..first.stride).step_by(crate::net::PAD) {
                    // SAFETY: a place inside the matrix, as `forward` has checked.
                    unsafe { V::expect_at(matrix.values.as_ptr().add(*row as usize * matrix.stride + at)) };
                }
            }
            // Gather the rows; those that a last panel lacks are zeros.
            let rows = &mut engine.rows[panel * PANEL * first.stride..(panel + 1) * PANEL * first.stride];
            for (to, row) in rows.chunks_exact_mut(first.stride).zip(order) {
                let from = &matrix.values[*row as usize * matrix.stride..][..first.stride];
                // A handful of registers: calling the library's copy would take longer.
                for at in (0..first.stride).step_by(V::WIDTH) {
                    // SAFETY: both sides are a stride long, a whole number of registers.
                    unsafe { V::load(from.as_ptr().add(at)).store(to.as_mut_ptr().add(at)) };
                }
            }
            rows[order.len() * first.stride..].fill(0.0);
            // SAFETY: the buffers were sized for this many panels, and `run` has the instructions of V.
            unsafe {
                let input = engine.panels[0].as_mut_ptr().add(panel * PANEL * first.inputs);
                transpose::<V>(rows.as_ptr(), first.stride, PANEL, first.inputs, input, PANEL);
                for (at, layer) in engine.layers.iter().enumerate() {
                    let input = engine.panels[at].as_ptr().add(panel * PANEL * layer.inputs);
                    let output = engine.panels[at + 1].as_mut_ptr().add(panel * PANEL * layer.outputs);
                    forward::<V>(layer, parameters, input, output, at + 1 < engine.layers.len());
                }
            }
        }
    }
}

struct Backward<'a> {
    engine: &'a mut Engine,
    network: &'a Network,
    logit_slopes: &'a [f32],
    gradient: &'a mut [f32],
}

impl Work for Backward<'_> {
    #[inline(always)]
    unsafe fn with<V: Lanes>(self) {
        let Backward { engine, network, logit_slopes, gradient } = self;
        let (parameters, gradient) = (network.parameters.as_ptr(), gradient.as_mut_ptr());
        let panels = engine.batch.div_ceil(PANEL);
        let outputs = engine.layers[engine.layers.len() - 1].outputs;
        for start in (0..panels).step_by(TOGETHER) {
            let count = TOGETHER.min(panels - start);
            let [out, into] = &mut engine.slopes;
            let (mut out, mut into) = (out, into);
            // The slopes of the logits as panels; rows that a last panel lacks have none.
            out[..count * PANEL * outputs].fill(0.0);
            let rows = start * PANEL..((start + count) * PANEL).min(engine.batch);
            for (row, slopes) in
                logit_slopes[rows.start * outputs..rows.end * outputs].chunks_exact(outputs).enumerate()
            {
                for (output, slope) in slopes.iter().enumerate() {
                    out[(row / PANEL * outputs + output) * PANEL + row % PANEL] = *slope;
                }
            }
            for at in (0..engine.layers.len()).rev() {
                let layer = engine.layers[at];
                // SAFETY: the buffers were sized for this many panels, and `run` has the instructions of V.
                unsafe {
                    let inputs = engine.panels[at].as_ptr().add(start * PANEL * layer.inputs);
                    let rows = if at == 0 {
                        engine.rows.as_ptr().add(start * PANEL * layer.stride)
                    } else {
                        let transposed = engine.transposed[at].as_mut_ptr();
                        for panel in 0..count {
                            let to = transposed.add(panel * PANEL * layer.stride);
                            let from = inputs.add(panel * PANEL * layer.inputs);
                            transpose::<V>(from, PANEL, layer.inputs, PANEL, to, layer.stride);
                        }
                        transposed.cast_const()
                    };
                    outer::<V>(&layer, count, out.as_ptr(), rows, gradient, start == 0);
                    if at > 0 {
                        for panel in 0..count {
                            let slopes_out = out.as_ptr().add(panel * PANEL * layer.outputs);
                            let slopes_in = into.as_mut_ptr().add(panel * PANEL * layer.inputs);
                            backward::<V>(
                                &layer,
                                parameters,
                                slopes_out,
                                inputs.add(panel * PANEL * layer.inputs),
                                slopes_in,
                            );
                        }
                        std::mem::swap(&mut out, &mut into);
                    }
                }
            }
        }
    }
}
