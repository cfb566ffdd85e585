//! Computes the logits of rows.
//!
//! Every node of a tree sends a row to the left if the value of one feature lies in an interval, so a row goes through a tree without branches that
//! a processor could predict wrongly. Several rows go through a tree at the same time: while one waits for memory at a node, the others can go on.

use scorewise_table::Matrix;

use super::{TreeNode, Trees};

/// Number of rows whose features are computed together.
const BLOCK: usize = 256;
/// Number of rows that go through a tree at the same time.
const ROWS: usize = 8;

/// A node of a tree in a form that is fast to evaluate. `slot` is an index into the list of the features of a row, which has two entries for each
/// feature. A row goes to the left if the entry at this index is at least `low` and at most `high`. A leaf is its own left child and sends all
/// rows to the left, so that a row stays in the leaf that it has reached.
#[derive(Clone, Copy, Debug)]
struct FastNode {
    slot: u32,
    low: f32,
    high: f32,
    left: u32,
}

/// Trees in a form that is fast to evaluate.
struct FastTrees {
    nodes: Vec<FastNode>,
    /// The value of each leaf; 0 for other nodes.
    values: Vec<f32>,
    roots: Vec<u32>,
}

impl FastTrees {
    /// Converts trees to the form that is fast to evaluate, and checks the indices on which the unsafe code of `leaves` relies.
    fn new(trees: &Trees) -> Self {
        let count = trees.nodes.len();
        let mut nodes = Vec::with_capacity(count);
        let mut values = Vec::with_capacity(trees.nodes.len());
        for tree in 0..trees.roots.len() {
            let root = trees.roots[tree];
            for TreeNode { feature, number, left, missing_left } in trees.tree(tree) {
                let own = nodes.len() as u32;
                let is_leaf = *feature == TreeNode::LEAF;
                // `Trees::new` has checked that the feature and the children of a node exist. They are checked again here, because the unsafe code in
                // `leaves` relies on it and the check is cheap.
                let child = root as usize + *left as usize;
                assert!(
                    is_leaf || ((*feature as usize) < trees.features.len() && child > nodes.len() && child + 1 < count),
                    "the feature and the children of a node must exist"
                );
                values.push(if is_leaf { *number } else { 0.0 });
                // The list of the features of a row has two entries (slots) for each feature. They differ only for a missing value: the first slot is
                // NaN, with which the row goes to the right, and the second slot is −∞, with which the row goes to the left.
                nodes.push(if is_leaf {
                    FastNode { slot: 1, low: f32::NEG_INFINITY, high: f32::INFINITY, left: own }
                } else if trees.features[*feature as usize].is_level {
                    FastNode { slot: 2 * feature, low: *number, high: *number, left: root + left }
                } else {
                    let slot = 2 * feature + u32::from(*missing_left);
                    FastNode { slot, low: f32::NEG_INFINITY, high: *number, left: root + left }
                });
            }
        }
        // Every node must have been converted, which holds if the trees follow each other without gaps. Every root must be the index of a node.
        assert!(nodes.len() == count && trees.roots.iter().all(|root| (*root as usize) < count));
        FastTrees { nodes, values, roots: trees.roots.clone() }
    }
}

impl Trees {
    /// Writes the logits of the given rows to `logits`, row by row.
    ///
    /// # Panics
    /// If the number of columns of the matrix differs from the number of inputs, if the matrix lacks one of the rows, or if `logits` does
    /// not have one element for each row and output.
    pub fn predict(&self, matrix: &Matrix, rows: &[u32], logits: &mut [f32]) {
        let outputs = self.outputs();
        assert!(matrix.columns() == self.inputs && logits.len() == rows.len() * outputs);
        let trees = FastTrees::new(self);
        // Leaves read the entry with index 1 even if there are no features, so there are at least two entries for each row.
        let slots = (2 * self.features.len()).max(2);
        let mut values = vec![0.0; BLOCK * slots];
        for (rows, logits) in rows.chunks(BLOCK).zip(logits.chunks_mut(BLOCK * outputs)) {
            for (row, values) in rows.iter().zip(values.chunks_exact_mut(slots)) {
                let cells = matrix.row(*row as usize);
                for (slots, feature) in values.as_chunks_mut::<2>().0.iter_mut().zip(&self.features) {
                    let value = feature.value(cells[feature.column as usize]);
                    *slots = [value, if value.is_nan() { f32::NEG_INFINITY } else { value }];
                }
            }
            logits.chunks_exact_mut(outputs).for_each(|logits| logits.copy_from_slice(&self.bias));
            for (tree, root) in trees.roots.iter().enumerate() {
                let output = tree % outputs;
                let values = values.chunks(ROWS * slots);
                for (values, logits) in values.zip(logits.chunks_mut(ROWS * outputs)) {
                    let places = trees.leaves(*root, values, slots);
                    for (logits, place) in logits.chunks_exact_mut(outputs).zip(places) {
                        logits[output] += trees.values[place as usize];
                    }
                }
            }
        }
    }
}

impl FastTrees {
    /// The indices of the leaves that [`ROWS`] rows reach in the tree with this root. `values` holds the features of these rows, row by row, with
    /// `slots` numbers for each row.
    #[inline(always)]
    fn leaves(&self, root: u32, values: &[f32], slots: usize) -> [u32; ROWS] {
        assert!(values.len() >= ROWS * slots);
        let mut places = [root; ROWS];
        loop {
            let mut changes = 0;
            for (row, place) in places.iter_mut().enumerate() {
                // SAFETY: `FastTrees::new` has checked the root of every tree and the children and the feature of every node. So `place` is always
                // the index of a node, and `node.slot` is below `slots`. `values` has `slots` numbers for each of the rows, as checked above.
                let (node, value) = unsafe {
                    let node = self.nodes.get_unchecked(*place as usize);
                    (node, *values.get_unchecked(row * slots + node.slot as usize))
                };
                let is_left = (value >= node.low) & (value <= node.high);
                let next = node.left + u32::from(!is_left);
                changes |= next ^ *place;
                *place = next;
            }
            if changes == 0 {
                return places;
            }
        }
    }
}
