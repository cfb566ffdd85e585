//! Gradient-boosted trees.
//!
//! Every node of a tree sends a row to the left or to the right, depending on one feature of the row, until the row reaches a leaf. A
//! logit of a row is a constant plus the values of the leaves that the row reaches. Every boosting round adds one tree for each logit of a
//! row. The tree reduces the loss, which is approximated by its gradient and curvature.
//!
//! | file | contents |
//! |---|---|
//! | `settings` | the training settings and their defaults |
//! | `features` | what trees split on: numbers, levels, target statistics |
//! | `codes` | the values of features as small integers |
//! | `gradient`, `softmax_gradient` | gradient and curvature of the cross-entropy, with two classes and with more |
//! | `histogram` | exact sums of gradients for each code |
//! | `search` | the split with the greatest score |
//! | `partition` | divides the rows of a node between its children |
//! | `grow` | how one tree is grown |
//! | `descent` | finds the leaf of a grown tree that each row reaches |
//! | `helpers` | keeps idle threads awake while trees are trained |
//! | `training` | the boosting rounds |
//! | `predict` | the logits of new rows |
//! | `tensors` | trees as tensors of the model file |
//! | `graph` | trees as nodes of an ONNX graph |

mod settings;
mod features;
mod codes;
mod gradient;
mod softmax_gradient;
mod histogram;
mod search;
mod partition;
mod grow;
mod descent;
mod helpers;
mod training;
mod predict;
mod tensors;
mod graph;

pub use features::TreeFeature;
pub(crate) use helpers::while_busy;
pub use settings::{Growth, TreeSettings};
pub use tensors::TreesDescription;
pub(crate) use training::fit;

use serde::{Deserialize, Serialize};

use settings::MAX_DEPTH;

/// Fitted trees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trees {
    /// Number of columns of the encoded matrix.
    inputs: usize,
    /// For each binned column, its number of positions. The knots, frequent values and levels of a column have the positions 0, 1, 2, …, which stand
    /// for them in the matrix; missing values count as a level. Empty if the columns are not binned.
    positions: Vec<usize>,
    features: Vec<TreeFeature>,
    /// The logits to which the values of the trees are added, one for each output.
    bias: Vec<f32>,
    nodes: Vec<TreeNode>,
    /// The index of the first node of each tree. Tree number t adds its values to the logit whose index is t modulo the number of outputs.
    roots: Vec<u32>,
    /// The share of each feature in the sum of the gains of all splits; empty if it is not known.
    #[serde(default)]
    gains: Vec<f32>,
}

/// A node of a tree: a split or a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeNode {
    /// Index of the feature; [`TreeNode::LEAF`] for a leaf.
    pub feature: u32,
    /// The row goes to the left if its value of the feature is at most this number, or equal to it if the feature is a level. For a leaf, the
    /// value that is added to the logit.
    pub number: f32,
    /// Index of the left child, relative to the first node of the tree; the right child follows it. 0 for a leaf.
    pub left: u32,
    /// Whether rows with a missing value go to the left.
    pub missing_left: bool,
}

impl TreeNode {
    /// The value of [`TreeNode::feature`] by which a leaf is recognised.
    pub const LEAF: u32 = u32::MAX;
}

impl Trees {
    /// Creates trees from their parts. The parts may come from a damaged file, so everything that predictions rely on is checked; the error
    /// describes the first problem.
    pub fn new(
        inputs: usize,
        positions: Vec<usize>,
        features: Vec<TreeFeature>,
        bias: Vec<f32>,
        nodes: Vec<TreeNode>,
        roots: Vec<u32>,
    ) -> Result<Self, String> {
        if inputs == 0 || bias.is_empty() {
            return Err("trees need at least one input and one output".into());
        }
        if !positions.is_empty() && positions.len() != inputs {
            return Err(format!(
                "the trees have {inputs} inputs, but the length of their list `positions` is {}",
                positions.len()
            ));
        }
        for (index, feature) in features.iter().enumerate() {
            let TreeFeature { column, knots, values, .. } = feature;
            let expected = match positions.get(*column as usize) {
                Some(positions) => positions.checked_sub(*knots as usize),
                None if positions.is_empty() && (*column as usize) < inputs && *knots == features::ALL => Some(0),
                None => None,
            };
            if expected != Some(values.len()) || values.iter().any(|value| !value.is_finite()) {
                return Err(format!(
                    "feature {index} of the trees does not fit the knots, frequent values and levels of its column"
                ));
            }
        }
        if !roots.len().is_multiple_of(bias.len()) {
            return Err(format!(
                "the number of trees, {}, is not a multiple of the number of outputs, {}",
                roots.len(),
                bias.len()
            ));
        }
        if roots.first().is_some_and(|root| *root != 0) || (roots.is_empty() && !nodes.is_empty()) {
            return Err("the first tree does not begin with the first node".into());
        }
        let ends = roots.iter().skip(1).map(|root| *root as usize).chain([nodes.len()]);
        for (tree, (root, end)) in roots.iter().map(|root| *root as usize).zip(ends).enumerate() {
            let nodes = if root < end && end <= nodes.len() { &nodes[root..end] } else { &[] };
            check_tree(nodes, features.len()).map_err(|problem| format!("tree {tree}: {problem}"))?;
        }
        Ok(Trees { inputs, positions, features, bias, nodes, roots, gains: Vec::new() })
    }

    /// Sets the share of each feature in the sum of the gains of all splits, and returns the trees. The shares must not be negative and must sum to
    /// 1, or all be 0 if no tree has a split.
    pub fn with_gains(self, gains: Vec<f32>) -> Result<Self, String> {
        let sum: f64 = gains.iter().copied().map(f64::from).sum();
        let is_share = |gain: &f32| (0.0..=1.0).contains(gain);
        if gains.len() != self.features.len() || !gains.iter().all(is_share) || (sum != 0.0 && (sum - 1.0).abs() > 1e-3)
        {
            return Err("the trees need one gain for each feature, from 0 to 1, with the sum 1 or 0".into());
        }
        Ok(Trees { gains, ..self })
    }

    /// Number of columns of the encoded matrix.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// For each binned column, its number of positions. The knots, frequent values and levels of a column have the positions 0, 1, 2, …, which stand
    /// for them in the matrix; missing values count as a level. Empty if the columns are not binned.
    #[must_use]
    pub fn positions(&self) -> &[usize] {
        &self.positions
    }

    /// Number of logits of a row.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// The features that the trees split on.
    #[must_use]
    pub fn features(&self) -> &[TreeFeature] {
        &self.features
    }

    /// The logits to which the values of the trees are added, one for each output.
    #[must_use]
    pub fn bias(&self) -> &[f32] {
        &self.bias
    }

    /// The nodes of all trees, one tree after the other.
    #[must_use]
    pub fn nodes(&self) -> &[TreeNode] {
        &self.nodes
    }

    /// The index of the first node of each tree.
    #[must_use]
    pub fn roots(&self) -> &[u32] {
        &self.roots
    }

    /// The share of each feature in the sum of the gains of all splits; all 0 if no tree has a split. The gain of a split is twice the decrease of
    /// the second-order approximation of the training loss. Empty for trees from an older model file, which does not contain the shares.
    #[must_use]
    pub fn gains(&self) -> &[f32] {
        &self.gains
    }

    /// The nodes of one tree.
    #[must_use]
    pub fn tree(&self, tree: usize) -> &[TreeNode] {
        let end = self.roots.get(tree + 1).map_or(self.nodes.len(), |end| *end as usize);
        &self.nodes[self.roots[tree] as usize..end]
    }

    /// Replaces every logit z by `scale` · z + `shift`.
    pub(crate) fn rescale(&mut self, scale: f32, shift: f32) {
        self.bias.iter_mut().for_each(|bias| *bias = scale * *bias + shift);
        for leaf in self.nodes.iter_mut().filter(|node| node.feature == TreeNode::LEAF) {
            leaf.number *= scale;
        }
    }

    /// Whether the bias and the field [`number`](TreeNode::number) of every node are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.bias.iter().chain(self.nodes.iter().map(|node| &node.number)).all(|number| number.is_finite())
    }
}

/// Checks that every path from the root of a tree ends in a leaf after at most [`MAX_DEPTH`] splits. Children must come after their parent,
/// so there are no cycles.
fn check_tree(nodes: &[TreeNode], features: usize) -> Result<(), String> {
    if nodes.is_empty() {
        return Err("the tree has no nodes".into());
    }
    let mut depths = vec![0; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        if node.feature == TreeNode::LEAF {
            continue;
        }
        let left = node.left as usize;
        if node.feature as usize >= features || left <= index || left + 1 >= nodes.len() {
            return Err(format!(
                "node {index} has a feature that does not exist, or children that are not later nodes of the tree"
            ));
        }
        let depth = depths[index] + 1;
        if depth > MAX_DEPTH {
            return Err(format!("the tree is deeper than {MAX_DEPTH} splits"));
        }
        for child in [left, left + 1] {
            depths[child] = depths[child].max(depth);
        }
    }
    Ok(())
}
