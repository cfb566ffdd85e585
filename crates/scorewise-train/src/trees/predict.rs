//! The logits of rows.

use scorewise_table::Matrix;

use super::{TreeNode, Trees};

/// Number of rows that go through a tree together, so that its nodes stay in the cache.
const BLOCK: usize = 64;

impl Trees {
    /// Writes the logits of the given rows to `logits`, row by row.
    ///
    /// # Panics
    /// If the matrix lacks one of the rows, or if there is not room for one logit for each row and output.
    pub fn predict(&self, matrix: &Matrix, rows: &[u32], logits: &mut [f32]) {
        let (features, outputs) = (self.features.len(), self.outputs());
        assert!(matrix.columns() == self.inputs && logits.len() == rows.len() * outputs);
        let mut values = vec![0.0; BLOCK * features];
        let is_level: Vec<bool> = self.features.iter().map(|feature| feature.is_level).collect();
        for (rows, logits) in rows.chunks(BLOCK).zip(logits.chunks_mut(BLOCK * outputs)) {
            for (row, values) in rows.iter().zip(values.chunks_exact_mut(features.max(1))) {
                let cells = matrix.row(*row as usize);
                for (value, feature) in values.iter_mut().zip(&self.features) {
                    *value = feature.value(cells[feature.column as usize]);
                }
            }
            logits.chunks_exact_mut(outputs).for_each(|logits| logits.copy_from_slice(&self.bias));
            for tree in 0..self.roots.len() {
                let (nodes, output) = (self.tree(tree), tree % outputs);
                for (row, logits) in logits.chunks_exact_mut(outputs).enumerate() {
                    logits[output] += leaf(nodes, &values[row * features..], &is_level).number;
                }
            }
        }
    }
}

/// The leaf that a row with the given values of the features reaches.
fn leaf<'a>(nodes: &'a [TreeNode], values: &[f32], is_level: &[bool]) -> &'a TreeNode {
    let mut node = &nodes[0];
    while node.feature != TreeNode::LEAF {
        let feature = node.feature as usize;
        node = &nodes[node.left as usize + usize::from(!node.goes_left(values[feature], is_level[feature]))];
    }
    node
}
