//! Trees as tensors of the model file. Indices are stored as f32 numbers, which represent integers up to 2²⁴ exactly.
//!
//! | tensor | shape | contents |
//! |---|---|---|
//! | `bias` | outputs | the logits before the first tree |
//! | `features` | features × 4 | column, number of knots (−1: all values are used as they are), 1 for a level, number of values |
//! | `values` | total | the values of all features for the positions after their knots; −1 for a missing value |
//! | `nodes` | nodes × 4 | feature (−1 for a leaf), threshold or value of the leaf, left child, 1 if missing values go to the left |
//! | `roots` | trees | the first node of each tree |
//! | `gains` | features | the share of each feature in the gains of all splits; only if `gains` is true in the description |

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::features::ALL;
use super::{TreeFeature, TreeNode, Trees};
use crate::learner::NamedTensor;

/// 2²⁴: f32 represents all integers from 0 to this number exactly.
const MAX_INTEGER: f32 = 16_777_216.0;

/// The sizes of the tensors of fitted trees. They are part of the JSON metadata of a model file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreesDescription {
    /// Number of columns of the encoded matrix.
    pub inputs: usize,
    /// For each binned column, its number of positions. The knots, frequent values and levels of a column have the positions 0, 1, 2, …, which stand
    /// for them in the matrix; missing values count as a level. Empty if the columns are not binned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<usize>,
    /// Number of logits of a row.
    pub outputs: usize,
    /// Number of features that the trees split on.
    pub features: usize,
    /// Total length of the lists [`TreeFeature::values`] of all features.
    pub values: usize,
    /// Total number of nodes of the trees.
    pub nodes: usize,
    /// Number of trees.
    pub trees: usize,
    /// Whether there is a tensor with the gains of the features; older files have none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gains: bool,
}

impl TreesDescription {
    /// Number of tensors.
    pub(crate) fn tensor_count(&self) -> usize {
        5 + usize::from(self.gains)
    }

    /// The sizes of the tensors of these trees.
    pub(crate) fn of(trees: &Trees) -> Self {
        TreesDescription {
            inputs: trees.inputs,
            positions: trees.positions.clone(),
            outputs: trees.bias.len(),
            features: trees.features.len(),
            values: trees.features.iter().map(|feature| feature.values.len()).sum(),
            nodes: trees.nodes.len(),
            trees: trees.roots.len(),
            gains: !trees.gains.is_empty(),
        }
    }

    /// Names and shapes of the tensors.
    pub(crate) fn expected_tensors(&self) -> Vec<(String, Vec<usize>)> {
        let shapes = [
            ("bias", vec![self.outputs]),
            ("features", vec![self.features, 4]),
            ("values", vec![self.values]),
            ("nodes", vec![self.nodes, 4]),
            ("roots", vec![self.trees]),
        ];
        let gains = self.gains.then(|| ("gains", vec![self.features]));
        shapes.into_iter().chain(gains).map(|(name, shape)| (name.to_owned(), shape)).collect()
    }

    /// Builds trees from their tensors, which must have the names and shapes that `expected_tensors` returns.
    pub(crate) fn trees(&self, mut tensors: HashMap<String, Vec<f32>>) -> Result<Trees, String> {
        let mut take = |name: &str| tensors.remove(name).ok_or_else(|| format!("the tensor `{name}` is missing"));
        let (bias, features, values, nodes, roots) =
            (take("bias")?, take("features")?, take("values")?, take("nodes")?, take("roots")?);
        let gains = if self.gains { Some(take("gains")?) } else { None };
        let mut values = values.into_iter();
        let feature = |row: &[f32; 4]| -> Result<TreeFeature, String> {
            let length = integer(row[3])? as usize;
            let own: Vec<f32> = values.by_ref().take(length).collect();
            if own.len() < length {
                return Err("the tensor `values` of the trees has fewer values than the features need".into());
            }
            let knots = if row[1] == -1.0 { ALL } else { integer(row[1])? };
            Ok(TreeFeature { column: integer(row[0])?, knots, is_level: flag(row[2])?, values: own })
        };
        let features = features.as_chunks().0.iter().map(feature).collect::<Result<Vec<_>, _>>()?;
        if values.next().is_some() {
            return Err("the tensor `values` of the trees has values that belong to no feature".into());
        }
        let node = |row: &[f32; 4]| -> Result<TreeNode, String> {
            let feature = if row[0] == -1.0 { TreeNode::LEAF } else { integer(row[0])? };
            Ok(TreeNode { feature, number: row[1], left: integer(row[2])?, missing_left: flag(row[3])? })
        };
        let nodes = nodes.as_chunks().0.iter().map(node).collect::<Result<Vec<_>, _>>()?;
        let roots = roots.into_iter().map(integer).collect::<Result<Vec<_>, _>>()?;
        let trees = Trees::new(self.inputs, self.positions.clone(), features, bias, nodes, roots)?;
        match gains {
            Some(gains) => trees.with_gains(gains),
            None => Ok(trees),
        }
    }
}

impl Trees {
    /// The trees as named tensors for the model file.
    pub(crate) fn tensors(&self) -> Vec<NamedTensor> {
        let tensor = |name: &str, shape: &[usize], values: Vec<f32>| NamedTensor {
            name: name.into(),
            shape: shape.to_vec(),
            values,
        };
        let flag = |is_set: bool| f32::from(u8::from(is_set));
        let feature = |feature: &TreeFeature| {
            let knots = if feature.knots == ALL { -1.0 } else { feature.knots as f32 };
            [feature.column as f32, knots, flag(feature.is_level), feature.values.len() as f32]
        };
        let node = |node: &TreeNode| {
            let feature = if node.feature == TreeNode::LEAF { -1.0 } else { node.feature as f32 };
            [feature, node.number, node.left as f32, flag(node.missing_left)]
        };
        let values: Vec<f32> = self.features.iter().flat_map(|feature| feature.values.clone()).collect();
        let gains = (!self.gains.is_empty()).then(|| tensor("gains", &[self.gains.len()], self.gains.clone()));
        let mut tensors = vec![
            tensor("bias", &[self.bias.len()], self.bias.clone()),
            tensor("features", &[self.features.len(), 4], self.features.iter().flat_map(feature).collect()),
            tensor("values", &[values.len()], values),
            tensor("nodes", &[self.nodes.len(), 4], self.nodes.iter().flat_map(node).collect()),
            tensor("roots", &[self.roots.len()], self.roots.iter().map(|root| *root as f32).collect()),
        ];
        tensors.extend(gains);
        tensors
    }
}

/// Converts a number from a tensor to an integer. Returns an error if the number is not an integer from 0 to [`MAX_INTEGER`].
fn integer(number: f32) -> Result<u32, String> {
    if (0.0..=MAX_INTEGER).contains(&number) && number.fract() == 0.0 {
        return Ok(number as u32);
    }
    Err(format!("{number} in the tensors of the trees is not an integer from 0 to {MAX_INTEGER}"))
}

/// Converts a number from a tensor to a boolean. Returns an error if the number is neither 0 nor 1.
fn flag(number: f32) -> Result<bool, String> {
    match number {
        0.0 => Ok(false),
        1.0 => Ok(true),
        _ => Err(format!("{number} in the tensors of the trees is neither 0 nor 1")),
    }
}
