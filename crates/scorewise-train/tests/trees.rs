//! Tests of gradient-boosted trees: they learn patterns of several kinds, the same seed gives the same trees, and damaged trees are refused.

use std::ops::ControlFlow;
use std::sync::Arc;

use scorewise::multiclass::SoftmaxCrossEntropy;
use scorewise::{CrossEntropy, Loss, Prior, Score, ScoreLoss};
use scorewise_table::encode::BinnedColumn;
use scorewise_train::Matrix;
use scorewise_train::backend::{Backend, Cpu};
use scorewise_train::fit::{Fit, Objective};
use scorewise_train::job::{Dataset, Job, RowSplit};
use scorewise_train::learner::{Learner, Member};
use scorewise_train::trees::{Growth, TreeFeature, TreeNode, TreeSettings, Trees};

use crate::patterns::TestRandom;

/// Rows with two numbers x and y between 0 and 10, and a level from 0 to 29. In every tenth row x is missing. `label` returns the class of a row.
fn test_dataset(rows: usize, classes: usize, label: impl Fn(f32, f32, u32) -> u32) -> Dataset {
    let mut random = TestRandom(7);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for row in 0..rows {
        let (x, y) = (5.0 + 5.0 * random.next(), 5.0 + 5.0 * random.next());
        let level = ((random.next() + 1.0) * 15.0).min(29.0) as u32;
        // The number 11 in this column stands for a missing value.
        let x_or_missing = if row % 10 == 3 { 11.0 } else { x };
        values.extend([x_or_missing, y, level as f32]);
        labels.push(label(if row % 10 == 3 { f32::NAN } else { x }, y, level));
    }
    let number =
        BinnedColumn { knots: (0..11).map(|knot| knot as f32).collect(), levels: 1, ..BinnedColumn::default() };
    let category = BinnedColumn { levels: 30, ..BinnedColumn::default() };
    let split = RowSplit {
        training: (0..rows as u32).filter(|row| row % 4 != 0).collect(),
        validation: (0..rows as u32).filter(|row| row % 4 == 0).collect(),
    };
    Dataset {
        matrix: Matrix::new(3, &values).unwrap(),
        binned: Some(Arc::from(vec![number.clone(), number, category])),
        labels: labels.into(),
        classes,
        weights: None,
        places: None,
        splits: vec![split],
    }
}

/// Settings for trees that learn fast enough for tests.
fn tree_settings(growth: Growth) -> TreeSettings {
    let settings = match growth {
        Growth::Symmetric => TreeSettings::symmetric(),
        Growth::LeafWise => TreeSettings::leaf_wise(),
    };
    TreeSettings { rounds: 200, patience: 20, learning_rate: Some(0.1), ..settings }
}

/// Trains trees on the first split of a data set.
fn fit_trees(dataset: &Dataset, settings: &TreeSettings, objective: &Objective, threads: usize) -> Fit {
    let learner = Learner::Trees(settings.clone());
    let job = Job { dataset: 0, split: 0, learner, objective: objective.clone(), seed: 3 };
    let watch = |_: usize, _: usize, _: &_| ControlFlow::Continue(());
    let fits = Cpu { threads }.fit(std::slice::from_ref(dataset), &[job], &watch).unwrap();
    fits.into_iter().next().flatten().unwrap()
}

fn cross_entropy() -> Objective {
    Objective::Binary(Loss::CrossEntropy(CrossEntropy::plain()))
}

/// The fitted trees; panics if the member is not made of trees.
fn trees_of(fit: &Fit) -> &Trees {
    let Member::Trees(trees) = &fit.member else { panic!("not trees") };
    trees
}

/// Share of the validation rows whose class is predicted correctly. With two classes, the sign of the only logit
/// gives the predicted class; with more classes, the greatest logit does.
fn accuracy(dataset: &Dataset, fit: &Fit) -> f64 {
    let rows = &dataset.splits[0].validation;
    let outputs = trees_of(fit).outputs();
    let mut logits = vec![0.0; rows.len() * outputs];
    trees_of(fit).predict(&dataset.matrix, rows, &mut logits);
    let class = |logits: &[f32]| match logits {
        [logit] => u32::from(*logit > 0.0),
        logits => (0..outputs).reduce(|a, b| if logits[b] > logits[a] { b } else { a }).unwrap() as u32,
    };
    let right =
        rows.iter().zip(logits.chunks(outputs)).filter(|(row, logits)| dataset.labels[**row as usize] == class(logits));
    right.count() as f64 / rows.len() as f64
}

#[test]
fn symmetric_and_leaf_wise_trees_learn_interactions_missing_values_and_levels() {
    for growth in [Growth::Symmetric, Growth::LeafWise] {
        let settings = tree_settings(growth);
        let interaction = test_dataset(3000, 2, |x, y, _| u32::from((x > 5.0) != (y > 3.0)));
        let accuracy_of = |dataset: &Dataset, settings: &TreeSettings| {
            accuracy(dataset, &fit_trees(dataset, settings, &cross_entropy(), 1))
        };
        assert!(accuracy_of(&interaction, &settings) > 0.95, "{growth:?}: trees must learn an interaction");
        let missing = test_dataset(3000, 2, |x, y, _| u32::from(x.is_nan() || y > 8.0));
        assert!(accuracy_of(&missing, &settings) > 0.98, "{growth:?}: trees must learn from missing values");
        // Every third level is positive. There are 30 levels, more than `single_levels`, so trees split by the target statistics of the
        // levels.
        let levels = test_dataset(6000, 2, |_, _, level| u32::from(level % 3 == 0));
        assert!(
            accuracy_of(&levels, &settings) > 0.98,
            "{growth:?}: trees must learn from the target statistics of levels"
        );
        let single = TreeSettings { single_levels: 30, ..settings };
        assert!(
            accuracy_of(&levels, &single) > 0.98,
            "{growth:?}: trees must learn from comparisons with single levels"
        );
    }
}

#[test]
fn trees_learn_many_classes() {
    let dataset = test_dataset(3000, 3, |x, y, _| if x > 6.0 { 2 } else { u32::from(y > 5.0) });
    for growth in [Growth::Symmetric, Growth::LeafWise] {
        let fit = fit_trees(&dataset, &tree_settings(growth), &Objective::Softmax(SoftmaxCrossEntropy::plain()), 1);
        assert_eq!(trees_of(&fit).outputs(), 3);
        // If x is missing, the row has class 0 or 1, depending on y. So the class of every row can be predicted.
        assert!(accuracy(&dataset, &fit) > 0.97, "{growth:?}: {}", accuracy(&dataset, &fit));
    }
}

#[test]
fn the_same_seed_gives_the_same_trees_for_any_number_of_threads() {
    let dataset = test_dataset(40_000, 2, |x, y, level| u32::from((x > 5.0) != (y > 3.0) || level == 4));
    for growth in [Growth::Symmetric, Growth::LeafWise] {
        let settings = TreeSettings { rounds: 10, ..tree_settings(growth) };
        let one = fit_trees(&dataset, &settings, &cross_entropy(), 1);
        for threads in [2, 7] {
            assert_eq!(fit_trees(&dataset, &settings, &cross_entropy(), threads), one, "{growth:?}, {threads} threads");
        }
    }
}

#[test]
fn the_recorded_validation_loss_is_that_of_the_returned_trees() {
    let dataset = test_dataset(2000, 2, |x, y, level| u32::from((x > 5.0) != (y > 3.0) || level % 7 == 4));
    let fit = fit_trees(&dataset, &tree_settings(Growth::Symmetric), &cross_entropy(), 1);
    let rows = &dataset.splits[0].validation;
    let mut logits = vec![0.0; rows.len()];
    trees_of(&fit).predict(&dataset.matrix, rows, &mut logits);
    let loss = |(row, logit): (&u32, &f32)| {
        let (z, sign) = (f64::from(*logit), if dataset.labels[*row as usize] == 1 { 1.0 } else { -1.0 });
        (1.0 + (-sign * z).exp()).ln()
    };
    let mean = rows.iter().zip(&logits).map(loss).sum::<f64>() / rows.len() as f64;
    let recorded = fit.history[fit.kept.unwrap()].validation;
    assert!((mean - recorded).abs() < 1e-5, "{mean}, {recorded}");
}

#[test]
fn a_weight_of_two_has_the_same_effect_on_trees_as_a_repeated_row() {
    let mut single = test_dataset(1200, 2, |x, y, _| u32::from((x > 5.0) != (y > 3.0)));
    // Every integer is a bin (code) of its own, so the bins do not depend on how often a row is repeated.
    let values: Vec<f32> = (0..1200).flat_map(|row| single.matrix.row(row).to_vec()).map(f32::floor).collect();
    single.matrix = Matrix::new(3, &values).unwrap();
    // Every tree uses all rows and no target statistics, because random samples of rows and target statistics depend on the number of rows.
    let settings = TreeSettings {
        rounds: 15,
        row_share: 1.0,
        single_levels: 30,
        random_strength: 0.0,
        ..tree_settings(Growth::Symmetric)
    };
    let is_double = |row: u32| row % 5 == 1;
    let weights: Vec<f32> = (0..1200).map(|row| if is_double(row) { 2.0 } else { 1.0 }).collect();
    let weighted = Dataset { weights: Some(weights.into()), ..single.clone() };
    let mut repeated = single.clone();
    let with_copies = |rows: &[u32]| -> Vec<u32> {
        rows.iter().flat_map(|row| vec![*row; 1 + usize::from(is_double(*row))]).collect()
    };
    let RowSplit { training, validation } = &repeated.splits[0];
    repeated.splits = vec![RowSplit { training: with_copies(training), validation: with_copies(validation) }];
    let (weighted, repeated) =
        (fit_trees(&weighted, &settings, &cross_entropy(), 1), fit_trees(&repeated, &settings, &cross_entropy(), 1));
    let rows = &single.splits[0].validation;
    let logits = |fit: &Fit| {
        let mut logits = vec![0.0; rows.len()];
        trees_of(fit).predict(&single.matrix, rows, &mut logits);
        logits
    };
    let differences = logits(&weighted).into_iter().zip(logits(&repeated)).map(|(a, b)| (a - b).abs());
    let greatest = differences.fold(0.0, f32::max);
    assert!(greatest < 1e-3, "{greatest}");
}

#[test]
fn trees_trained_with_cross_entropy_and_then_for_a_score_are_accurate_at_the_centre_of_the_prior() {
    let dataset = test_dataset(4000, 2, |x, y, _| u32::from(x > 8.5 && y > 4.0));
    let loss = ScoreLoss::new(Score::parse("csi").unwrap(), "cosine:0.5,0.4".parse::<Prior>().unwrap());
    let objective = Objective::Binary(Loss::Score(loss));
    let fit = fit_trees(&dataset, &TreeSettings { score_rounds: 30, ..tree_settings(Growth::LeafWise) }, &objective, 1);
    assert!(!fit.warm_up.is_empty() && fit.success);
    assert!(accuracy(&dataset, &fit) > 0.97, "{}", accuracy(&dataset, &fit));
}

#[test]
fn gains_sum_to_1_and_are_high_for_the_features_that_determine_the_class() {
    for growth in [Growth::Symmetric, Growth::LeafWise] {
        let dataset_of_two = test_dataset(4000, 2, |x, y, _| u32::from((x > 5.0) != (y > 3.0)));
        let fit_of_two = fit_trees(&dataset_of_two, &tree_settings(growth), &cross_entropy(), 1);
        let gains = trees_of(&fit_of_two).gains();
        assert_eq!(gains.len(), 3);
        assert!((gains.iter().sum::<f32>() - 1.0).abs() < 1e-5 && gains[0] + gains[1] > 0.95, "{growth:?}: {gains:?}");
        assert!(gains[0] > 0.1 && gains[1] > 0.1, "{growth:?}: {gains:?}");
        // With three classes, the column of levels has three target statistics. Their gains are added up for the column.
        let dataset_of_levels = test_dataset(4000, 3, |_, _, level| level % 3);
        let objective = Objective::Softmax(SoftmaxCrossEntropy::plain());
        let fit_of_levels =
            fit_trees(&dataset_of_levels, &TreeSettings { rounds: 20, ..tree_settings(growth) }, &objective, 1);
        assert_eq!(trees_of(&fit_of_levels).gains().len(), 5);
        let of_inputs = fit_of_levels.member.gains_of_inputs().unwrap();
        assert!(of_inputs.len() == 3 && of_inputs[2] > 0.95, "{growth:?}: {of_inputs:?}");
    }
    // There are fewer training rows than `min_rows`, so no tree has a split, and all gains are 0.
    let constant = test_dataset(400, 2, |_, _, level| level % 2);
    let settings =
        TreeSettings { single_levels: 0, learning_rate: Some(1e-6), rounds: 1, ..tree_settings(Growth::LeafWise) };
    let none = fit_trees(&constant, &TreeSettings { min_rows: 400, ..settings }, &cross_entropy(), 1);
    assert!(trees_of(&none).gains().iter().all(|gain| *gain == 0.0) && none.member.gains_of_inputs().is_none());
}

#[test]
fn damaged_gains_are_refused() {
    let feature = |column| TreeFeature { column, knots: 3, is_level: false, values: vec![-1.0] };
    let leaf = TreeNode { feature: TreeNode::LEAF, number: 1.0, left: 0, missing_left: false };
    let new = || Trees::new(2, vec![4, 4], vec![feature(0), feature(1)], vec![0.0], vec![leaf], vec![0]).unwrap();
    assert!(new().gains().is_empty());
    for gains in [vec![0.25, 0.75], vec![1.0, 0.0], vec![0.0, 0.0]] {
        assert_eq!(new().with_gains(gains.clone()).unwrap().gains(), gains);
    }
    let bad = [
        vec![],
        vec![1.0],
        vec![0.5, 0.4],
        vec![1.5, -0.5],
        vec![f32::NAN, 1.0],
        vec![f32::INFINITY, 0.0],
        vec![0.5; 3],
    ];
    for gains in bad {
        assert!(
            new().with_gains(gains.clone()).unwrap_err().contains("the trees need one gain for each feature"),
            "{gains:?}"
        );
    }
}

#[test]
fn a_row_reaches_the_leaf_that_the_splits_of_the_tree_lead_to() {
    let mut random = TestRandom(5);
    // The features are a number with ten knots, a level, and a number with three frequent values. In the columns of the two numbers, the last index
    // stands for a missing value.
    let features = vec![
        TreeFeature { column: 0, knots: 10, is_level: false, values: vec![-1.0] },
        TreeFeature { column: 1, knots: 0, is_level: true, values: vec![0.0, 1.0, 2.0, 3.0] },
        TreeFeature { column: 2, knots: 0, is_level: false, values: vec![0.7, 0.2, 0.4, -1.0] },
    ];
    let mut draw = |count: u32| (((random.next() + 1.0) / 2.0 * count as f32) as u32).min(count - 1);
    let (mut nodes, mut roots) = (Vec::new(), Vec::new());
    for tree in 0..30u32 {
        roots.push(nodes.len() as u32);
        // The trees have 0 to 29 splits. Every split divides a leaf that is chosen at random.
        let mut own = vec![TreeNode { feature: TreeNode::LEAF, number: tree as f32, left: 0, missing_left: false }];
        for _ in 0..tree {
            let leaves: Vec<usize> = (0..own.len()).filter(|node| own[*node].feature == TreeNode::LEAF).collect();
            // The leaf is one of the first four in the list, which begins with the leaves near the root, so that no tree becomes too deep.
            let node = leaves[draw(leaves.len().min(4) as u32) as usize];
            let feature = draw(3);
            let number = match feature {
                0 => draw(100) as f32 / 10.0,
                1 => draw(4) as f32,
                _ => draw(10) as f32 / 10.0,
            };
            let left = own.len() as u32;
            for child in [left, left + 1] {
                let number = child as f32 * 0.25 - 1.0;
                own.push(TreeNode { feature: TreeNode::LEAF, number, left: 0, missing_left: false });
            }
            own[node] = TreeNode { feature, number, left, missing_left: draw(2) == 1 };
        }
        nodes.extend(own);
    }
    let trees = Trees::new(3, vec![11, 4, 4], features.clone(), vec![0.5, -0.5], nodes, roots).unwrap();
    for rows in [1usize, 7, 8, 300] {
        let cells: Vec<f32> =
            (0..rows).flat_map(|_| [draw(105) as f32 / 10.0, draw(4) as f32, draw(4) as f32]).collect();
        let matrix = Matrix::new(3, &cells).unwrap();
        let order: Vec<u32> = (0..rows as u32).rev().collect();
        let mut logits = vec![0.0; 2 * rows];
        trees.predict(&matrix, &order, &mut logits);
        for (row, logits) in order.iter().zip(logits.chunks(2)) {
            let mut expected = [0.5, -0.5];
            for tree in 0..30 {
                let nodes = trees.tree(tree);
                let mut node = &nodes[0];
                while node.feature != TreeNode::LEAF {
                    let feature = &features[node.feature as usize];
                    let value = feature.value(matrix.row(*row as usize)[feature.column as usize]);
                    let is_left = match (feature.is_level, value.is_nan()) {
                        (true, _) => value == node.number,
                        (false, true) => node.missing_left,
                        (false, false) => value <= node.number,
                    };
                    node = &nodes[node.left as usize + usize::from(!is_left)];
                }
                expected[tree % 2] += node.number;
            }
            assert_eq!(logits, expected, "a wrong leaf for row {row} of {rows}");
        }
    }
}

#[test]
fn damaged_trees_are_refused() {
    let feature = TreeFeature { column: 0, knots: 3, is_level: false, values: vec![-1.0] };
    let leaf = |number| TreeNode { feature: TreeNode::LEAF, number, left: 0, missing_left: false };
    let root = TreeNode { feature: 0, number: 1.5, left: 1, missing_left: true };
    let nodes = vec![root, leaf(1.0), leaf(-1.0)];
    let new = |features: &[TreeFeature], nodes: &[TreeNode], roots: &[u32]| {
        Trees::new(1, vec![4], features.to_vec(), vec![0.0], nodes.to_vec(), roots.to_vec())
    };
    let features = [feature.clone()];
    assert!(new(&features, &nodes, &[0]).is_ok());
    let changed = |change: fn(&mut TreeNode)| {
        let mut nodes = nodes.clone();
        change(&mut nodes[0]);
        nodes
    };
    for (nodes, roots, problem) in [
        (changed(|root| root.left = 0), vec![0], "does not exist"), // a cycle
        (changed(|root| root.left = 2), vec![0], "does not exist"),
        (changed(|root| root.left = u32::MAX), vec![0], "does not exist"),
        (changed(|root| root.feature = 1), vec![0], "does not exist"),
        (nodes.clone(), vec![1], "does not begin"),
        (nodes.clone(), vec![0, 9], "has no nodes"),
        (nodes.clone(), vec![], "does not begin"),
    ] {
        let error = new(&features, &nodes, &roots).unwrap_err();
        assert!(error.contains(problem), "{error}");
    }
    for bad in [
        TreeFeature { column: 1, ..feature.clone() },
        TreeFeature { knots: 4, ..feature.clone() },
        TreeFeature { values: vec![f32::NAN], ..feature.clone() },
    ] {
        let problem = "does not fit the knots, frequent values and levels of its column";
        assert!(new(&[bad], &nodes, &[0]).unwrap_err().contains(problem));
    }
    let mut chain = Vec::new();
    for depth in 0..40 {
        chain.push(TreeNode { left: 2 * depth + 1, ..root });
        chain.push(leaf(0.0));
    }
    // For every depth d, node 2d is a split at this depth. Its left child is a leaf, and its right child is the next split.
    chain.push(leaf(0.0));
    assert!(new(&features, &chain, &[0]).unwrap_err().contains("deeper than 32"));
}

#[test]
fn an_index_beyond_the_last_index_of_a_column_is_read_as_the_last_index() {
    // In a binned column, 0 and 1 are the indices of the knots, 2 is the index of a frequent value between them (0.5), and 3, the last index,
    // stands for a missing value.
    let feature = TreeFeature { column: 0, knots: 2, is_level: false, values: vec![0.5, -1.0] };
    assert_eq!(feature.value(1.0), 1.0);
    assert_eq!(feature.value(2.0), 0.5);
    assert!([3.0, 1e30, f32::INFINITY].iter().all(|position| feature.value(*position).is_nan()));
}
