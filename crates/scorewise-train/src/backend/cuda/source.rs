//! Writes the CUDA source of the kernel for one shape of networks and one loss: constants and calls for each layer, followed by `network.cu`.

use std::fmt::Write as _;

use scorewise::Loss;

use crate::fit::Objective;
use crate::network::NetworkShape;

/// Number of threads of a block, which trains one network.
pub(super) const THREADS: usize = 256;
/// Number of rows that go through the network together.
const ROWS: usize = 64;
/// Distance between the activations of two units in shared memory.
const STRIDE: usize = 68;
/// Greatest number of units of a layer and of inputs, so that each thread owns at most 16 weights of a layer.
pub(super) const MAX_WIDTH: usize = 64;
/// Bytes of the variables in shared memory besides parameters and activations (`Shared` in `network.cu`), rounded up.
const SHARED_VARIABLES: usize = 1280;
/// Bytes of shared memory of a multiprocessor that the blocks on it can use together (compute capability 8.0 has the least: 164 KiB, less 1 KiB for
/// each block).
const SHARED_MEMORY: usize = 160 * 1024;

/// The positions of the parameters of a layer in the kernel's list: the weights by input, padded to a multiple of 4 outputs, then the biases.
#[derive(Clone, Copy, Debug)]
pub(super) struct KernelLayer {
    pub inputs: usize,
    pub outputs: usize,
    /// Number of outputs including the padding.
    pub padded: usize,
    /// Position of the first weight.
    pub start: usize,
}

/// The layers of the kernel for networks of this shape.
pub(super) fn layers(shape: &NetworkShape) -> Vec<KernelLayer> {
    let mut start = 0;
    let layer = |pair: &[usize]| {
        let (inputs, outputs) = (pair[0], pair[1]);
        let padded = outputs.next_multiple_of(4);
        let layer = KernelLayer { inputs, outputs, padded, start };
        start += (inputs + 1) * padded;
        layer
    };
    shape.widths().windows(2).map(layer).collect()
}

/// Length of the kernel's list of parameters.
pub(super) fn parameters(shape: &NetworkShape) -> usize {
    layers(shape).last().map_or(0, |layer| layer.start + (layer.inputs + 1) * layer.padded)
}

/// Bytes of shared memory that a block needs.
pub(super) fn shared_bytes(shape: &NetworkShape) -> usize {
    let widths = shape.widths();
    let units: usize = widths[..widths.len() - 1].iter().sum();
    4 * (parameters(shape) + units * STRIDE) + SHARED_VARIABLES
}

/// Number of blocks that share a multiprocessor.
pub(super) fn blocks(shape: &NetworkShape) -> usize {
    (SHARED_MEMORY / shared_bytes(shape)).clamp(1, 4)
}

/// Whether the kernel can train networks of this shape.
pub(super) fn fits(shape: &NetworkShape) -> bool {
    shape.positions().is_empty()
        && shape.outputs() == 1
        && shape.widths().iter().all(|width| *width <= MAX_WIDTH)
        && shared_bytes(shape) <= SHARED_MEMORY
}

/// The numbers of rows and columns of a tile, at most 4 each, with the fewest elements such that the tiles of a `rows` × `columns` matrix are not more
/// than the threads. Of equally small tiles, the one that is most nearly square is chosen.
fn tile(rows: usize, columns: usize, columns_of_tile: &[usize]) -> (usize, usize) {
    let mut tiles: Vec<(usize, usize)> = (1..=4).flat_map(|r| columns_of_tile.iter().map(move |c| (r, *c))).collect();
    tiles.sort_by_key(|(r, c)| (r * c, r.abs_diff(*c)));
    let fits = |(r, c): &(usize, usize)| rows.div_ceil(*r) * columns.div_ceil(*c) <= THREADS;
    tiles.into_iter().find(fits).unwrap_or((4, 4))
}

/// The CUDA source of the kernel `train` for networks of this shape and this loss; `None` if the kernel does not have this loss.
pub(super) fn source(shape: &NetworkShape, objective: &Objective) -> Option<String> {
    let mut text = String::new();
    match objective {
        Objective::Binary(Loss::Score(loss)) => {
            write!(text, "#define CROSS_ENTROPY 0\n{}", loss.score().cuda_loss()).ok()?;
        }
        Objective::Binary(Loss::CrossEntropy(loss)) => {
            let (positive, negative) = loss.class_weights();
            writeln!(
                text,
                "#define CROSS_ENTROPY 1\n#define POSITIVE_WEIGHT {positive:?}\n#define NEGATIVE_WEIGHT {negative:?}"
            )
            .ok()?;
        }
        _ => return None,
    }
    let layers = layers(shape);
    let units: usize = layers.iter().map(|layer| layer.inputs).sum();
    let mut at = 0;
    // The activations that a layer reads, and the logits at the end.
    let mut activations: Vec<String> = layers
        .iter()
        .map(|layer| {
            let text = format!("activations + {}", at * STRIDE);
            at += layer.inputs;
            text
        })
        .collect();
    activations.push("shared.logits".into());
    let [mut forward, mut owned, mut load, mut store, mut backward] = [const { String::new() }; 5];
    for (number, layer) in layers.iter().enumerate() {
        let KernelLayer { inputs, outputs, start, .. } = *layer;
        let is_last = number + 1 == layers.len();
        let (from, to) = (&activations[number], &activations[number + 1]);
        // A thread reads 1, 2 or 4 weights or rows at a time.
        let (tile_outputs, tile_rows) = match tile(outputs, ROWS, &[1, 2, 4]) {
            (3, rows) => (4, rows),
            other => other,
        };
        write!(
            forward,
            "forward<{inputs}, {outputs}, {tile_outputs}, {tile_rows}, {relu}>(parameters + {start}, {from}, {to}); __syncthreads(); ",
            relu = !is_last
        )
        .ok()?;
        let (k, o) = tile(inputs, outputs, &[1, 2, 3, 4]);
        let size = k * o;
        let arguments = format!("{inputs}, {outputs}, {k}, {o}");
        write!(
            owned,
            "float gradient{number}[{size}] = {{}}, mean{number}[{size}], square{number}[{size}], bias{number} = 0.0f, bias_mean{number} = 0.0f, \
             bias_square{number} = 0.0f; "
        )
        .ok()?;
        for (text, is_store) in [(&mut load, false), (&mut store, true)] {
            for moment in ["mean", "square"] {
                write!(
                    text,
                    "moments<{arguments}, {is_store}>(network.{moment} + {start}, {moment}{number}, bias_{moment}{number}); "
                )
                .ok()?;
            }
        }
        let mut step = format!("add_gradient<{arguments}>({from}, {to}, gradient{number}, bias{number}); ");
        let (tile_inputs, tile_rows) = tile(inputs, ROWS, &[1, 2, 4]);
        if number > 0 {
            write!(
                step,
                "float delta{number}[{}]; input_delta<{inputs}, {outputs}, {tile_inputs}, {tile_rows}>(parameters + {start}, {to}, delta{number}); ",
                tile_inputs * tile_rows
            )
            .ok()?;
        }
        step.push_str("__syncthreads(); ");
        if number > 0 {
            write!(step, "store_delta<{inputs}, {tile_inputs}, {tile_rows}>({from}, delta{number}); ").ok()?;
        }
        write!(
            step,
            "if (last) update<{arguments}>(parameters + {start}, gradient{number}, mean{number}, square{number}, bias{number}, bias_mean{number}, \
             bias_square{number}, step); __syncthreads(); "
        )
        .ok()?;
        backward.insert_str(0, &step);
    }
    let defines: [(&str, &dyn std::fmt::Display); 9] = [
        ("INPUTS", &layers[0].inputs),
        ("PARAMETERS", &parameters(shape)),
        ("UNITS", &units),
        ("BLOCKS", &blocks(shape)),
        ("FORWARD", &forward),
        ("OWNED", &owned),
        ("LOAD_MOMENTS", &load),
        ("STORE_MOMENTS", &store),
        ("BACKWARD", &backward),
    ];
    for (name, value) in defines {
        writeln!(text, "#define {name} {value}").ok()?;
    }
    text.push_str(include_str!("network.cu"));
    Some(text)
}
