//! The boosting rounds. A [`Course`] decides when they end.

use std::ops::ControlFlow;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use scorewise::{Purpose, stream};
use scorewise_table::encode::BinnedColumn;
use scorewise_table::error::Result;
use scorewise_table::split::random;

use super::codes::{Codes, Coding, MAX_CODES};
use super::descent::CodeTree;
use super::features::{LevelColumn, TreeFeature, features, random_order};
use super::gradient::{CrossEntropyGradient, gradient_and_curvature};
use super::grow::{Grower, GrowthData};
use super::helpers::with_helpers;
use super::histogram::{HistogramLayout, Packed};
use super::search::Noise;
use super::settings::{Growth, TreeSettings};
use super::{TreeNode, Trees};
use crate::fit::{Action, Batch, Course, Epoch, Fit, Objective, Phase, Sample};
use crate::learner::Member;
use crate::network::coverage;

/// Maximum number of features that the trees of one round may use. If there are more features, every round draws some of them, so that the time of
/// a round does not grow without limit.
const MAX_FEATURES: usize = 1000;
/// With more features than this, a feature has at most [`CODES_OF_WIDE_TABLES`] codes.
const WIDE_TABLE: usize = 200;
/// Maximum number of codes (bins) of a feature in a table with many features.
const CODES_OF_WIDE_TABLES: usize = 32;
/// Maximum number of bytes of the histograms of one tree. Tables with very many columns get fewer codes.
const MAX_HISTOGRAM_BYTES: usize = 1 << 28;

/// Trains trees. After every round, `watch` receives the number of the round within its phase and the losses; if it returns `Break`,
/// training stops, and the trees up to the best round are returned.
///
/// The same seed gives the same bits for any number of threads.
pub(crate) fn fit(
    settings: &TreeSettings,
    objective: &Objective,
    seed: u64,
    sample: &Sample<'_>,
    threads: usize,
    watch: &mut dyn FnMut(usize, &Epoch) -> ControlFlow<()>,
) -> Result<Fit> {
    settings.check()?;
    sample.check()?;
    with_helpers(threads, || run_rounds(settings, objective, seed, sample, threads, watch))
}

/// Trains trees as [`fit`] does, after the settings and the sample have been checked.
fn run_rounds(
    settings: &TreeSettings,
    objective: &Objective,
    seed: u64,
    sample: &Sample<'_>,
    threads: usize,
    watch: &mut dyn FnMut(usize, &Epoch) -> ControlFlow<()>,
) -> Result<Fit> {
    let mut course = Course::new(settings.policy(objective, sample.training.len()));
    let warm_up = objective.warm_up();
    let mut training = TreeTraining::new(settings, (objective, warm_up.as_ref()), seed, sample, threads);
    loop {
        match course.action() {
            Action::Initialise { .. } => course.initialised(),
            Action::StartPhase(phase) => {
                training.save_best();
                let (loss, _) = training.validate(phase)?;
                course.phase_started(loss);
            }
            Action::TrainEpoch { phase, learning_rate } => match training.round(phase, learning_rate)? {
                Some(epoch) => {
                    let stop = watch(course.epoch_number(), &epoch).is_break();
                    if course.record(epoch, stop) {
                        training.save_best();
                    }
                }
                None => course.diverged(),
            },
            Action::RestoreBest => {
                training.restore_best();
                course.restored();
            }
            Action::MoveBias => {
                training.move_bias()?;
                course.bias_moved();
            }
            Action::CheckOneSided => course.checked(objective.is_one_sided(&training.validation)?),
            Action::Finish => return Ok(Fit::new(Member::Trees(training.finish()), course.summary())),
        }
    }
}

/// The state of trees that are being trained.
struct TreeTraining<'a> {
    settings: &'a TreeSettings,
    sample: &'a Sample<'a>,
    objective: &'a Objective,
    /// The cross-entropy of the warm-up; `None` if the objective is itself a cross-entropy.
    warm_up: Option<&'a Objective>,
    threads: usize,
    trees: Trees,
    codings: Vec<Coding>,
    /// The codes (bin numbers) of the training rows, row by row.
    codes: Codes,
    /// The codes (bin numbers) of the training rows, one list for each feature.
    columns: Vec<Vec<u8>>,
    /// One element for each random order of the training rows. It holds, for each target statistic, a list with the code of the statistic in each
    /// row.
    ordered_codes: Vec<Vec<Vec<u8>>>,
    /// Indices of the features that are target statistics.
    statistics: Vec<usize>,
    /// The codes (bin numbers) of the validation rows, row by row.
    validation_codes: Codes,
    grower: Grower,
    random: Xoshiro256PlusPlus,
    /// Logits of the training rows, and their gradient.
    training: Batch,
    /// Logits of the validation rows.
    validation: Batch,
    curvature: Vec<f32>,
    /// Computes the gradient of the cross-entropy of the warm-up or of the main phase. `None` if neither loss is a cross-entropy or all
    /// sample weights are 0.
    cross_entropy: Option<CrossEntropyGradient>,
    packed: Packed,
    /// The gain of the split of each node of [`TreeTraining::trees`]; 0 for a leaf.
    node_gains: Vec<f64>,
    buffers: TreeBuffers,
    rounds: usize,
    best: SavedRound,
}

/// Buffers that are reused for every tree.
#[derive(Default)]
struct TreeBuffers {
    /// The training rows on which the splits of a tree are chosen, in ascending order.
    drawn: Vec<u32>,
    /// The training rows that were not drawn, in ascending order.
    left_out: Vec<u32>,
    /// The drawn rows, in the order of the leaves of a tree.
    rows: Vec<u32>,
    leaf_of_row: Vec<u32>,
    /// The gradient with respect to the output for which a tree is grown, one number for each training row. The fields `curvature` and `logits` are
    /// for this output too.
    gradient: Vec<f32>,
    curvature: Vec<f32>,
    logits: Vec<f32>,
    /// The number 1 for each training row. These numbers replace the curvature of the loss when splits are chosen, if the setting `newton` is off and
    /// there are no sample weights.
    structure_curvature: Vec<f32>,
}

/// The state after the best round of a phase: the number of trees, the bias, and the logits of the training and validation rows.
#[derive(Default)]
struct SavedRound {
    trees: usize,
    bias: Vec<f32>,
    training: Vec<f32>,
    validation: Vec<f32>,
}

impl<'a> TreeTraining<'a> {
    /// Prepares the training: chooses the features, encodes their values as codes, and computes the initial logits.
    fn new(
        settings: &'a TreeSettings,
        (objective, warm_up): (&'a Objective, Option<&'a Objective>),
        seed: u64,
        sample: &'a Sample<'a>,
        threads: usize,
    ) -> Self {
        let seed = stream(seed, Purpose::Restart, 0);
        let (tree_features, statistics) = features(sample, settings.single_levels);
        let max_codes = max_codes(settings, sample.training.len(), tree_features.len());
        let count = sample.training.len();
        let orders: Vec<Vec<u32>> = (0..if statistics.is_empty() { 0 } else { settings.orders })
            .map(|order| random_order(count, &mut random(seed, Purpose::StatisticOrder, order as u64)))
            .collect();
        let level_columns: Vec<LevelColumn> = statistics.iter().map(|statistic| statistic.column(sample)).collect();
        let ordered = |statistic: usize, order: &[u32]| statistics[statistic].ordered(&level_columns[statistic], order);
        let values = |feature: &TreeFeature, rows: &[u32]| -> Vec<f32> {
            let column = feature.column as usize;
            rows.iter().map(|row| feature.value(sample.matrix.row(*row as usize)[column])).collect()
        };
        let prepare = |(index, feature): (usize, &TreeFeature)| -> PreparedFeature {
            let training = values(feature, sample.training);
            let statistic = statistics.iter().position(|statistic| statistic.feature == index);
            // If the feature is a target statistic, its values for each random order of the rows; empty for other features.
            let ordered_values: Vec<Vec<f32>> = match statistic {
                Some(statistic) => orders.iter().map(|order| ordered(statistic, order)).collect(),
                None => Vec::new(),
            };
            let coding = match ordered_values.first() {
                Some(first) => Coding::new(feature, first.clone(), max_codes.min(settings.statistic_codes)),
                None => Coding::new(feature, training.clone(), max_codes),
            };
            PreparedFeature {
                training: coding.codes_of(&training),
                validation: coding.codes_of(&values(feature, sample.validation)),
                ordered: ordered_values.iter().map(|values| coding.codes_of(values)).collect(),
                coding,
            }
        };
        let prepared: Vec<PreparedFeature> = if threads > 1 {
            tree_features.par_iter().enumerate().map(prepare).collect()
        } else {
            tree_features.iter().enumerate().map(prepare).collect()
        };
        let mut codes = Codes::zeros(count, tree_features.len());
        let mut validation_codes = Codes::zeros(sample.validation.len(), tree_features.len());
        let all_features: Vec<usize> = (0..tree_features.len()).collect();
        let slices = |columns: fn(&PreparedFeature) -> &Vec<u8>| -> Vec<&[u8]> {
            prepared.iter().map(|feature| columns(feature).as_slice()).collect()
        };
        codes.set(&all_features, &slices(|feature| &feature.training));
        validation_codes.set(&all_features, &slices(|feature| &feature.validation));
        let (mut codings, mut columns) = (Vec::new(), Vec::new());
        let mut ordered_codes = vec![Vec::new(); orders.len()];
        for feature in prepared {
            codings.push(feature.coding);
            columns.push(feature.training);
            ordered_codes.iter_mut().zip(feature.ordered).for_each(|(of_order, codes)| of_order.push(codes));
        }
        let outputs = objective.outputs(sample.classes);
        let bias = initial_logits(sample, outputs);
        let positions =
            sample.binned.map_or_else(Vec::new, |columns| columns.iter().map(BinnedColumn::positions).collect());
        let batch = |rows: &[u32]| {
            let mut batch = Batch::default();
            batch.gather(sample.labels, sample.weights, rows, outputs);
            batch.logits.chunks_exact_mut(outputs).for_each(|logits| logits.copy_from_slice(&bias));
            batch
        };
        let training = batch(sample.training);
        TreeTraining {
            cross_entropy: CrossEntropyGradient::new(warm_up.unwrap_or(objective), &training),
            settings,
            sample,
            objective,
            warm_up,
            threads,
            grower: Grower::new(settings, count),
            codings,
            codes,
            columns,
            ordered_codes,
            statistics: statistics.iter().map(|statistic| statistic.feature).collect(),
            validation_codes,
            random: random(seed, Purpose::TreeGrowth, 0),
            training,
            validation: batch(sample.validation),
            curvature: vec![0.0; count * outputs],
            packed: Packed::default(),
            node_gains: Vec::new(),
            buffers: TreeBuffers::default(),
            rounds: 0,
            best: SavedRound::default(),
            trees: Trees {
                inputs: sample.matrix.columns(),
                positions,
                features: tree_features,
                bias,
                nodes: Vec::new(),
                roots: Vec::new(),
                gains: Vec::new(),
            },
        }
    }

    /// The loss that a phase minimises.
    fn objective(&self, phase: Phase) -> &'a Objective {
        match (phase, self.warm_up) {
            (Phase::WarmUp, Some(cross_entropy)) => cross_entropy,
            _ => self.objective,
        }
    }

    /// The loss of the validation rows, and the share of their predictions that lie inside the supports of the priors.
    fn validate(&self, phase: Phase) -> Result<(f64, f64)> {
        let objective = self.objective(phase);
        let covered = coverage(objective.priors(), &self.validation.logits, self.trees.outputs());
        Ok((objective.value(&self.validation)?, covered))
    }

    /// Saves the current state as that of the best round of the phase.
    fn save_best(&mut self) {
        let SavedRound { trees, bias, training, validation } = &mut self.best;
        *trees = self.trees.roots.len();
        bias.clone_from(&self.trees.bias);
        training.clone_from(&self.training.logits);
        validation.clone_from(&self.validation.logits);
    }

    /// Returns to the state of the best round, and removes the trees of later rounds.
    fn restore_best(&mut self) {
        let Trees { roots, nodes, bias, .. } = &mut self.trees;
        nodes.truncate(roots.get(self.best.trees).map_or(nodes.len(), |root| *root as usize));
        roots.truncate(self.best.trees);
        self.node_gains.truncate(nodes.len());
        bias.clone_from(&self.best.bias);
        self.training.logits.clone_from(&self.best.training);
        self.validation.logits.clone_from(&self.best.validation);
    }

    /// The trees, with the share of each feature in the gains of all splits.
    fn finish(self) -> Trees {
        let mut sums = vec![0.0; self.trees.features.len()];
        for (node, gain) in
            self.trees.nodes.iter().zip(&self.node_gains).filter(|(node, _)| node.feature != TreeNode::LEAF)
        {
            sums[node.feature as usize] += gain;
        }
        let total: f64 = sums.iter().sum();
        let gains = sums.iter().map(|sum| if total > 0.0 { (sum / total) as f32 } else { 0.0 }).collect();
        Trees { gains, ..self.trees }
    }

    /// With two classes, adds a constant to all logits, so that the best threshold on the validation rows lies near the mean of the prior.
    fn move_bias(&mut self) -> Result<()> {
        if self.trees.outputs() > 1 {
            return Ok(());
        }
        let Some(moved) = self.objective.centring_shift(&mut self.validation, true)? else { return Ok(()) };
        self.trees.bias[0] += moved;
        self.training.logits.iter_mut().for_each(|logit| *logit += moved);
        Ok(())
    }

    /// Adds the trees of one round; `None` if a loss is not finite afterwards.
    fn round(&mut self, phase: Phase, learning_rate: f32) -> Result<Option<Epoch>> {
        let objective = self.objective(phase);
        let cross_entropy = self.cross_entropy.as_ref().filter(|gradient| gradient.is_gradient_of(objective));
        let training_loss =
            gradient_and_curvature(objective, cross_entropy, &mut self.training, &mut self.curvature, self.threads)?;
        if let Some(of_order) = self.ordered_codes.get(self.rounds % self.ordered_codes.len().max(1)) {
            let slices: Vec<&[u8]> = of_order.iter().map(Vec::as_slice).collect();
            self.codes.set(&self.statistics, &slices);
            for (feature, codes) in self.statistics.iter().zip(slices) {
                self.columns[*feature].copy_from_slice(codes);
            }
        }
        self.draw_rows();
        let layout = HistogramLayout::new(self.draw_features(), &self.codings);
        for output in 0..self.trees.outputs() {
            self.add_tree(objective, output, learning_rate, &layout)?;
        }
        self.rounds += 1;
        let (validation, coverage) = self.validate(phase)?;
        let is_finite = training_loss.is_finite() && validation.is_finite();
        Ok(is_finite.then_some(Epoch { phase, training: training_loss, validation, coverage }))
    }

    /// Draws at random the rows on which the splits of the trees of a round are chosen. If no row happens to be drawn, all rows are used.
    fn draw_rows(&mut self) {
        let TreeBuffers { drawn, left_out, .. } = &mut self.buffers;
        let (share, count) = (self.settings.row_share, self.sample.training.len());
        if share < 1.0 {
            let limit = (share * u32::MAX as f64) as u32;
            drawn.resize(count, 0);
            left_out.resize(count, 0);
            let (mut drawn_count, mut left_out_count) = (0, 0);
            for row in 0..count {
                let is_drawn = (self.random.next_u64() >> 32) as u32 <= limit;
                // Every row is written to the ends of both lists, but only the list to which the row belongs gets longer; in the other list, the next
                // row overwrites it. This avoids a branch.
                drawn[drawn_count] = row as u32;
                left_out[left_out_count] = row as u32;
                drawn_count += usize::from(is_drawn);
                left_out_count += usize::from(!is_drawn);
            }
            drawn.truncate(drawn_count);
            left_out.truncate(left_out_count);
        }
        if share >= 1.0 || drawn.is_empty() {
            drawn.clear();
            drawn.extend(0..count as u32);
            left_out.clear();
        }
    }

    /// Draws the features that the trees of a round may use. Returns their indices in ascending order.
    fn draw_features(&mut self) -> Vec<usize> {
        let count = self.codings.len();
        let share = self.settings.feature_share(self.sample.training.len());
        let drawn = ((share * count as f64).round() as usize).clamp(1, MAX_FEATURES).min(count);
        if drawn == count {
            return (0..count).collect();
        }
        let mut features: Vec<usize> =
            random_order(count, &mut self.random).into_iter().take(drawn).map(|feature| feature as usize).collect();
        features.sort_unstable();
        features
    }

    /// Grows a tree for one output, and adds it to the trees and to the logits of all rows.
    fn add_tree(
        &mut self,
        objective: &Objective,
        output: usize,
        learning_rate: f32,
        layout: &HistogramLayout,
    ) -> Result<()> {
        let (outputs, count) = (self.trees.outputs(), self.sample.training.len());
        let buffers = &mut self.buffers;
        let of_output = |from: &[f32], to: &mut Vec<f32>| {
            to.clear();
            to.extend(from.iter().skip(output).step_by(outputs));
        };
        of_output(&self.training.gradient, &mut buffers.gradient);
        of_output(&self.curvature, &mut buffers.curvature);
        let structure_curvature = if self.settings.newton {
            &buffers.curvature
        } else {
            match &self.training.weights {
                Some(weights) => weights,
                None => {
                    buffers.structure_curvature.resize(count, 1.0);
                    &buffers.structure_curvature
                }
            }
        };
        self.packed.pack(&buffers.gradient, structure_curvature, self.threads);
        buffers.rows.clone_from(&buffers.drawn);
        let noise = (self.settings.growth == Growth::Symmetric && self.settings.random_strength > 0.0).then(|| {
            let square: f64 = buffers.gradient.iter().map(|gradient| f64::from(*gradient).powi(2)).sum();
            // Less noise is added in later rounds, in which the trees fit the data more closely.
            let length = self.rounds as f64 * f64::from(learning_rate);
            let multiplier = (count as f64 / (count as f64 + length.exp())).clamp(0.0, 1.0);
            let deviation = self.settings.random_strength * (square / count as f64).sqrt() * multiplier;
            Noise { random: &mut self.random, deviation }
        });
        let data = GrowthData {
            codes: &self.codes,
            columns: &self.columns,
            codings: &self.codings,
            packed: &self.packed,
            layout,
            threads: self.threads,
        };
        let nodes = self.grower.grow(data, &mut buffers.rows, noise);
        // Find the leaf of every training row. Drawn rows lie in the ranges of their leaves; the other rows are sent through the tree.
        let code_tree = CodeTree::new(&nodes, &self.codings);
        buffers.leaf_of_row.resize(count, 0);
        for (index, node) in nodes.iter().enumerate().filter(|(_, node)| node.split.is_none()) {
            buffers.rows[node.rows.clone()].iter().for_each(|row| buffers.leaf_of_row[*row as usize] = index as u32);
        }
        let leaf_of_row = &mut buffers.leaf_of_row;
        code_tree.leaves(&self.codes, buffers.left_out.iter().copied(), |row, leaf| leaf_of_row[row] = leaf as u32);
        let values = self.leaf_values(objective, output, nodes.len())?;
        let values: Vec<f32> = values.into_iter().map(|value| (f64::from(learning_rate) * value) as f32).collect();
        for (logits, leaf) in self.training.logits.chunks_exact_mut(outputs).zip(&self.buffers.leaf_of_row) {
            logits[output] += values[*leaf as usize];
        }
        let validation_rows = 0..self.sample.validation.len() as u32;
        let logits = &mut self.validation.logits;
        code_tree.leaves(&self.validation_codes, validation_rows, |row, leaf| {
            logits[row * outputs + output] += values[leaf];
        });
        self.node_gains.extend(nodes.iter().map(|node| node.gain));
        self.trees.roots.push(self.trees.nodes.len() as u32);
        let codings = &self.codings;
        self.trees.nodes.extend(nodes.iter().zip(values).map(|(node, value)| match node.split {
            Some((split, left)) => TreeNode {
                feature: split.feature as u32,
                number: codings[split.feature].threshold(usize::from(split.code)),
                left: left as u32,
                missing_left: split.missing_left,
            },
            None => TreeNode { feature: TreeNode::LEAF, number: value, left: 0, missing_left: false },
        }));
        Ok(())
    }

    /// The value of each leaf before it is multiplied by the learning rate. It is found by Newton's method; each step adds −G/(H + λ), where G and H
    /// are the sums of the gradients and curvatures of all training rows in the leaf, and λ is the setting `l2`.
    fn leaf_values(&mut self, objective: &Objective, output: usize, nodes: usize) -> Result<Vec<f64>> {
        let outputs = self.trees.outputs();
        let TreeBuffers { leaf_of_row, gradient, curvature, logits, .. } = &mut self.buffers;
        let mut values = vec![0.0; nodes];
        let mut moved: Option<(Batch, Vec<f32>)> = None;
        for step in 0..self.settings.leaf_steps {
            if step > 0 {
                let steps: Vec<f32> = values.iter().map(|value| *value as f32).collect();
                let old = self.training.logits.iter().skip(output).step_by(outputs);
                logits.clear();
                logits.extend(old.zip(leaf_of_row.iter()).map(|(logit, leaf)| logit + steps[*leaf as usize]));
                let (training, threads) = (&self.training, self.threads);
                let cross_entropy = self.cross_entropy.as_ref().filter(|gradient| gradient.is_gradient_of(objective));
                if let Some(CrossEntropyGradient::Binary(binary)) = cross_entropy {
                    binary.compute(training, logits, gradient, curvature, threads, false);
                } else if let Some(CrossEntropyGradient::Softmax(softmax)) = cross_entropy {
                    softmax.compute_class(training, output, logits, gradient, curvature, threads);
                } else {
                    let (batch, curvatures) =
                        moved.get_or_insert_with(|| (self.training.clone(), self.curvature.clone()));
                    let places = batch.logits.iter_mut().skip(output).step_by(outputs);
                    places.zip(logits.iter()).for_each(|(to, logit)| *to = *logit);
                    objective.gradient_and_curvature(batch, curvatures)?;
                    let of_output = |from: &[f32], to: &mut Vec<f32>| {
                        to.clear();
                        to.extend(from.iter().skip(output).step_by(outputs));
                    };
                    of_output(&batch.gradient, gradient);
                    of_output(curvatures, curvature);
                }
            }
            let mut sums = vec![[0.0; 2]; nodes];
            for ((leaf, gradient), curvature) in leaf_of_row.iter().zip(gradient.iter()).zip(curvature.iter()) {
                let sums = &mut sums[*leaf as usize];
                *sums = [sums[0] + f64::from(*gradient), sums[1] + f64::from(*curvature)];
            }
            for (value, [gradient, curvature]) in values.iter_mut().zip(sums) {
                *value -= gradient / (curvature + self.settings.l2).max(1e-12);
            }
        }
        Ok(values)
    }
}

/// The coding of a feature, and the codes of its values in the training rows and in the validation rows. For a target statistic, also the codes of
/// the training rows for each random order.
struct PreparedFeature {
    coding: Coding,
    training: Vec<u8>,
    validation: Vec<u8>,
    ordered: Vec<Vec<u8>>,
}

/// Maximum number of codes of a feature: at least 8, and otherwise so low that the histograms of a tree fit into [`MAX_HISTOGRAM_BYTES`]. `rows` is
/// the number of training rows, and `features` the number of features.
fn max_codes(settings: &TreeSettings, rows: usize, features: usize) -> usize {
    let leaves = match settings.growth {
        Growth::Symmetric => 1 << (settings.depth - 1),
        Growth::LeafWise => settings.leaves(rows),
    };
    let max = if features > WIDE_TABLE { CODES_OF_WIDE_TABLES } else { MAX_CODES };
    (MAX_HISTOGRAM_BYTES / (8 * features.clamp(1, MAX_FEATURES) * leaves)).clamp(8, settings.codes.min(max))
}

/// Logits that predict the shares of the classes in the training rows.
fn initial_logits(sample: &Sample<'_>, outputs: usize) -> Vec<f32> {
    let weights = sample.class_weights();
    let total: f64 = weights.iter().sum();
    let share = |class: usize| (weights[class] / total).clamp(1e-6, 1.0 - 1e-6);
    if outputs == 1 {
        return vec![(share(1) / (1.0 - share(1))).ln() as f32];
    }
    (0..outputs).map(|class| share(class).ln() as f32).collect()
}
