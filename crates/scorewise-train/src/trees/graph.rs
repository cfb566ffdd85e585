//! Trees as nodes of an ONNX graph: the features are computed from the input, and one `TreeEnsembleRegressor` sums the leaves.

use super::{TreeNode, Trees};
use crate::onnx::{Attribute, GraphBuilder};

impl Trees {
    /// Adds the nodes that compute the logits from the input `x`. Returns the name of the logits in the graph.
    pub(crate) fn add_to_graph(&self, graph: &mut GraphBuilder, name: &str) -> String {
        let features = self.add_features(graph, name);
        let (mut trees, mut ids, mut feature_ids, mut values) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut modes, mut lefts, mut rights, mut missing) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut target_trees, mut target_nodes) = (Vec::new(), Vec::new());
        let (mut targets, mut target_values) = (Vec::new(), Vec::new());
        for tree in 0..self.roots().len() {
            for (id, node) in self.tree(tree).iter().enumerate() {
                let is_leaf = node.feature == TreeNode::LEAF;
                trees.push(tree as i64);
                ids.push(id as i64);
                feature_ids.push(if is_leaf { 0 } else { i64::from(node.feature) });
                values.push(if is_leaf { 0.0 } else { node.number });
                modes.push(match is_leaf {
                    true => "LEAF",
                    false if self.features[node.feature as usize].is_level => "BRANCH_EQ",
                    false => "BRANCH_LEQ",
                });
                lefts.push(i64::from(node.left));
                rights.push(if is_leaf { 0 } else { i64::from(node.left) + 1 });
                missing.push(i64::from(node.missing_left));
                if is_leaf {
                    target_trees.push(tree as i64);
                    target_nodes.push(id as i64);
                    targets.push((tree % self.outputs()) as i64);
                    target_values.push(node.number);
                }
            }
        }
        let attributes = [
            ("nodes_treeids", Attribute::Integers(trees)),
            ("nodes_nodeids", Attribute::Integers(ids)),
            ("nodes_featureids", Attribute::Integers(feature_ids)),
            ("nodes_values", Attribute::Floats(values)),
            ("nodes_modes", Attribute::Strings(modes)),
            ("nodes_truenodeids", Attribute::Integers(lefts)),
            ("nodes_falsenodeids", Attribute::Integers(rights)),
            ("nodes_missing_value_tracks_true", Attribute::Integers(missing)),
            ("target_treeids", Attribute::Integers(target_trees)),
            ("target_nodeids", Attribute::Integers(target_nodes)),
            ("target_ids", Attribute::Integers(targets)),
            ("target_weights", Attribute::Floats(target_values)),
            ("base_values", Attribute::Floats(self.bias().to_vec())),
            ("n_targets", Attribute::Integer(self.outputs() as i64)),
            ("aggregate_function", Attribute::String("SUM")),
            ("post_transform", Attribute::String("NONE")),
        ];
        if self.roots().is_empty() {
            // Without a tree the logits are constant; 0 · x gives them one row for each row of the input.
            let zeros = vec![0.0; self.inputs() * self.outputs()];
            let weight = graph.floats(&format!("{name}.zero"), &[self.outputs(), self.inputs()], &zeros);
            let bias = graph.floats(&format!("{name}.bias"), &[self.outputs()], self.bias());
            return graph.node("Gemm", &["x", &weight, &bias], name, &[("transB", 1)]);
        }
        graph.tree_node("TreeEnsembleRegressor", &features, name, attributes.into())
    }

    /// Adds the nodes that compute the features of the trees from the input matrix. A matrix of binned columns contains positions. A position among
    /// the knots of a column, such as 2.25 (between knots 2 and 3), is itself the value of the feature. For the position of a frequent value or
    /// level, the value of the feature is looked up.
    fn add_features(&self, graph: &mut GraphBuilder, name: &str) -> String {
        let of = |part: &str| format!("{name}.{part}");
        let columns: Vec<i64> = self.features().iter().map(|feature| i64::from(feature.column)).collect();
        let columns = graph.integers(&of("columns"), &columns);
        let positions = graph.node("Gather", &["x", &columns], &of("positions"), &[("axis", 1)]);
        if self.positions().is_empty() {
            return positions;
        }
        let mut values = vec![0.0];
        let (mut firsts, mut knots) = (Vec::new(), Vec::new());
        for feature in self.features() {
            // The number to add to a position to get the index of its value in `values`. For a position among the knots the result is meaningless,
            // but then the feature is the position itself, and the value that is looked up is not used.
            firsts.push(values.len() as i64 - i64::from(feature.knots));
            knots.push(feature.knots as f32);
            values.extend(feature.values.iter().map(|value| if *value < 0.0 { f32::NAN } else { *value }));
        }
        let values = graph.floats(&of("values"), &[values.len()], &values);
        let firsts = graph.integers(&of("firsts"), &firsts);
        let knots = graph.floats(&of("knots"), &[knots.len()], &knots);
        let zero = graph.integers(&of("zero"), &[0]);
        let whole = graph.node("Floor", &[&positions], &of("floor"), &[]);
        let whole = graph.integer_cast(&whole, &of("whole"));
        let index = graph.node("Add", &[&whole, &firsts], &of("index"), &[]);
        let index = graph.node("Max", &[&index, &zero], &of("used_index"), &[]);
        let looked_up = graph.node("Gather", &[&values, &index], &of("value"), &[]);
        let is_knot = graph.node("Less", &[&positions, &knots], &of("is_knot"), &[]);
        graph.node("Where", &[&is_knot, &positions, &looked_up], &of("features"), &[])
    }
}
