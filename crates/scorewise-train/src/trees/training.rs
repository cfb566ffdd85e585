//! The boosting rounds. A [`Course`] decides when they end.

use std::ops::ControlFlow;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use scorewise::{Purpose, stream};
use scorewise_table::encode::BinnedColumn;
use scorewise_table::error::Result;
use scorewise_table::split::random;

use super::codes::{Codes, Coding, MAX_CODES};
use super::features::{TreeFeature, features, random_order};
use super::grow::{Grower, GrownNode, GrowthData, Noise};
use super::histogram::Packed;
use super::settings::{Growth, TreeSettings};
use super::{TreeNode, Trees};
use crate::fit::{Action, Batch, Course, Epoch, Fit, Objective, Phase, Sample};
use crate::learner::Member;
use crate::network::coverage;

/// Maximum number of features that one tree may use. With more features every tree draws some of them, so that the time of a round does not
/// grow without limit.
const MAX_FEATURES: usize = 1000;
/// With more features than this, a feature has at most [`CODES_OF_WIDE_TABLES`] codes.
const WIDE_TABLE: usize = 200;
/// Maximum number of codes of a feature if there are many features.
const CODES_OF_WIDE_TABLES: usize = 32;
/// Maximum number of bytes of the histograms of one tree. Tables with very many columns get fewer codes.
const MAX_HISTOGRAM_BYTES: usize = 1 << 28;

/// Trains trees. After every round, `watch` receives the number of the round within its phase and the losses; if it stops the training, the
/// rounds up to the best one are returned.
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
            Action::Finish => return Ok(Fit::new(Member::Trees(training.trees), course.summary())),
        }
    }
}

/// Trees in training.
struct TreeTraining<'a> {
    settings: &'a TreeSettings,
    sample: &'a Sample<'a>,
    objective: &'a Objective,
    /// The cross-entropy of the warm-up; `None` if the objective is itself a cross-entropy.
    warm_up: Option<&'a Objective>,
    threads: usize,
    trees: Trees,
    codings: Vec<Coding>,
    /// The codes of the training rows.
    codes: Codes,
    /// For each random order of the rows, the codes of all target statistics: one list for each statistic.
    ordered_codes: Vec<Vec<Vec<u8>>>,
    /// The features that are target statistics.
    statistics: Vec<usize>,
    /// The codes of the validation rows.
    validation_codes: Codes,
    grower: Grower,
    random: Xoshiro256PlusPlus,
    /// Logits of the training rows, and their gradient.
    training: Batch,
    /// Logits of the validation rows.
    validation: Batch,
    curvature: Vec<f32>,
    packed: Packed,
    rounds: usize,
    best: SavedRound,
}

/// The state after the best round of a phase.
#[derive(Default)]
struct SavedRound {
    trees: usize,
    bias: Vec<f32>,
    training: Vec<f32>,
    validation: Vec<f32>,
}

impl<'a> TreeTraining<'a> {
    fn new(
        settings: &'a TreeSettings,
        (objective, warm_up): (&'a Objective, Option<&'a Objective>),
        seed: u64,
        sample: &'a Sample<'a>,
        threads: usize,
    ) -> Self {
        let seed = stream(seed, Purpose::Restart, 0);
        let (tree_features, statistics) = features(sample, settings.single_levels);
        let max_codes = max_codes(settings, tree_features.len());
        let count = sample.training.len();
        let orders: Vec<Vec<u32>> = (0..if statistics.is_empty() { 0 } else { settings.orders })
            .map(|order| random_order(count, &mut random(seed, Purpose::StatisticOrder, order as u64)))
            .collect();
        let mut ordered_values: Vec<Vec<Vec<f32>>> = orders
            .iter()
            .map(|order| statistics.iter().map(|statistic| statistic.ordered(sample, order)).collect())
            .collect();
        let values = |feature: &TreeFeature, rows: &[u32]| -> Vec<f32> {
            let column = feature.column as usize;
            rows.iter().map(|row| feature.value(sample.matrix.row(*row as usize)[column])).collect()
        };
        let mut codes = Codes::zeros(count, tree_features.len());
        let mut validation_codes = Codes::zeros(sample.validation.len(), tree_features.len());
        let mut codings = Vec::with_capacity(tree_features.len());
        for (index, feature) in tree_features.iter().enumerate() {
            let training = values(feature, sample.training);
            let coding = match statistics.iter().position(|statistic| statistic.feature == index) {
                Some(statistic) => {
                    Coding::new(feature, ordered_values[0][statistic].clone(), max_codes.min(settings.statistic_codes))
                }
                None => Coding::new(feature, training.clone(), max_codes),
            };
            codes.set(index, training.iter().map(|value| coding.code(*value)));
            validation_codes.set(index, values(feature, sample.validation).iter().map(|value| coding.code(*value)));
            codings.push(coding);
        }
        let code_all =
            |values: Vec<f32>, feature: usize| values.iter().map(|value| codings[feature].code(*value)).collect();
        let ordered_codes = ordered_values
            .drain(..)
            .map(|of_order| {
                of_order
                    .into_iter()
                    .zip(&statistics)
                    .map(|(values, statistic)| code_all(values, statistic.feature))
                    .collect()
            })
            .collect();
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
        TreeTraining {
            settings,
            sample,
            objective,
            warm_up,
            threads,
            grower: Grower::new(settings, &codings),
            codings,
            codes,
            ordered_codes,
            statistics: statistics.iter().map(|statistic| statistic.feature).collect(),
            validation_codes,
            random: random(seed, Purpose::TreeGrowth, 0),
            training: batch(sample.training),
            validation: batch(sample.validation),
            curvature: vec![0.0; count * outputs],
            packed: Packed::default(),
            rounds: 0,
            best: SavedRound::default(),
            trees: Trees {
                inputs: sample.matrix.columns(),
                positions,
                features: tree_features,
                bias,
                nodes: Vec::new(),
                roots: Vec::new(),
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

    fn save_best(&mut self) {
        let SavedRound { trees, bias, training, validation } = &mut self.best;
        *trees = self.trees.roots.len();
        bias.clone_from(&self.trees.bias);
        training.clone_from(&self.training.logits);
        validation.clone_from(&self.validation.logits);
    }

    fn restore_best(&mut self) {
        let Trees { roots, nodes, bias, .. } = &mut self.trees;
        nodes.truncate(roots.get(self.best.trees).map_or(nodes.len(), |root| *root as usize));
        roots.truncate(self.best.trees);
        bias.clone_from(&self.best.bias);
        self.training.logits.clone_from(&self.best.training);
        self.validation.logits.clone_from(&self.best.validation);
    }

    /// Adds a constant to all logits, so that the best threshold on the validation rows lies at the mean of the prior.
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
        let training_loss = objective.gradient_and_curvature(&mut self.training, &mut self.curvature)?;
        if let Some(of_order) = self.ordered_codes.get(self.rounds % self.ordered_codes.len().max(1)) {
            for (codes, feature) in of_order.iter().zip(&self.statistics) {
                self.codes.set(*feature, codes.iter().copied());
            }
        }
        let outputs = self.trees.outputs();
        let count = self.sample.training.len();
        let is_drawn = self.draw(self.settings.row_share, count);
        let features = self.draw_features();
        for output in 0..outputs {
            self.add_tree(objective, output, learning_rate, &is_drawn, &features)?;
        }
        self.rounds += 1;
        let (validation, coverage) = self.validate(phase)?;
        let is_finite = training_loss.is_finite() && validation.is_finite();
        Ok(is_finite.then_some(Epoch { phase, training: training_loss, validation, coverage }))
    }

    /// Which of `count` things are drawn, each with the given probability. If none is, all are.
    fn draw(&mut self, share: f64, count: usize) -> Vec<bool> {
        if share >= 1.0 {
            return vec![true; count];
        }
        let limit = (share * u32::MAX as f64) as u32;
        let drawn: Vec<bool> = (0..count).map(|_| (self.random.next_u64() >> 32) as u32 <= limit).collect();
        if drawn.contains(&true) { drawn } else { vec![true; count] }
    }

    /// The features that the trees of a round may use, in ascending order.
    fn draw_features(&mut self) -> Vec<usize> {
        let count = self.codings.len();
        let drawn = ((self.settings.feature_share * count as f64).round() as usize).clamp(1, MAX_FEATURES).min(count);
        if drawn == count {
            return (0..count).collect();
        }
        let mut features: Vec<usize> =
            random_order(count, &mut self.random).into_iter().take(drawn).map(|feature| feature as usize).collect();
        features.sort_unstable();
        features
    }

    /// Grows a tree for one output and adds it.
    fn add_tree(
        &mut self,
        objective: &Objective,
        output: usize,
        learning_rate: f32,
        is_drawn: &[bool],
        features: &[usize],
    ) -> Result<()> {
        let (outputs, count) = (self.trees.outputs(), self.sample.training.len());
        let of_output = |values: &[f32]| -> Vec<f32> { values.iter().skip(output).step_by(outputs).copied().collect() };
        let gradient = of_output(&self.training.gradient);
        let curvature = of_output(&self.curvature);
        let structure_curvature = if self.settings.newton {
            curvature.clone()
        } else {
            let weight = |row: usize| self.training.weights.as_ref().map_or(1.0, |weights| weights[row]);
            (0..count).map(weight).collect()
        };
        self.packed.pack(&gradient, &structure_curvature);
        let mut rows: Vec<u32> = (0..count as u32).filter(|row| is_drawn[*row as usize]).collect();
        let noise = (self.settings.growth == Growth::Symmetric && self.settings.random_strength > 0.0).then(|| {
            let square: f64 = gradient.iter().map(|gradient| f64::from(*gradient).powi(2)).sum();
            // As the trees come closer to the data, less noise is added.
            let length = self.rounds as f64 * f64::from(learning_rate);
            let multiplier = (count as f64 / (count as f64 + length.exp())).clamp(0.0, 1.0);
            let deviation = self.settings.random_strength * (square / count as f64).sqrt() * multiplier;
            Noise { random: &mut self.random, deviation }
        });
        let data = GrowthData {
            codes: &self.codes,
            codings: &self.codings,
            packed: &self.packed,
            features,
            threads: self.threads,
        };
        let nodes = self.grower.grow(data, &mut rows, noise);
        // The leaf of every training row: drawn rows lie in the ranges of their leaves, others are sent through the tree.
        let mut leaf_of_row = vec![u32::MAX; count];
        for (index, node) in nodes.iter().enumerate().filter(|(_, node)| node.split.is_none()) {
            rows[node.rows.clone()].iter().for_each(|row| leaf_of_row[*row as usize] = index as u32);
        }
        for (row, to) in leaf_of_row.iter_mut().enumerate().filter(|(_, leaf)| **leaf == u32::MAX) {
            *to = leaf(&nodes, &self.codings, self.codes.row(row)) as u32;
        }
        let values = self.leaf_values(objective, output, nodes.len(), &leaf_of_row, gradient, curvature)?;
        let values: Vec<f32> = values.into_iter().map(|value| (f64::from(learning_rate) * value) as f32).collect();
        for (row, logits) in self.training.logits.chunks_exact_mut(outputs).enumerate() {
            logits[output] += values[leaf_of_row[row] as usize];
        }
        for (row, logits) in self.validation.logits.chunks_exact_mut(outputs).enumerate() {
            logits[output] += values[leaf(&nodes, &self.codings, self.validation_codes.row(row))];
        }
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

    /// The value of each leaf before the learning rate, by Newton's method: −Σg/(Σh + λ) over all training rows of the leaf.
    fn leaf_values(
        &mut self,
        objective: &Objective,
        output: usize,
        nodes: usize,
        leaf_of_row: &[u32],
        mut gradient: Vec<f32>,
        mut curvature: Vec<f32>,
    ) -> Result<Vec<f64>> {
        let outputs = self.trees.outputs();
        let mut values = vec![0.0; nodes];
        let mut moved: Option<(Batch, Vec<f32>)> = None;
        for step in 0..self.settings.leaf_steps {
            if step > 0 {
                let (batch, curvatures) = moved.get_or_insert_with(|| (self.training.clone(), self.curvature.clone()));
                let logits = self.training.logits.iter().skip(output).step_by(outputs);
                for ((to, logit), leaf) in
                    batch.logits.iter_mut().skip(output).step_by(outputs).zip(logits).zip(leaf_of_row)
                {
                    *to = logit + values[*leaf as usize] as f32;
                }
                objective.gradient_and_curvature(batch, curvatures)?;
                gradient = batch.gradient.iter().skip(output).step_by(outputs).copied().collect();
                curvature = curvatures.iter().skip(output).step_by(outputs).copied().collect();
            }
            let mut sums = vec![[0.0; 2]; nodes];
            for ((leaf, gradient), curvature) in leaf_of_row.iter().zip(&gradient).zip(&curvature) {
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

/// The index of the leaf that a row with the given codes reaches.
fn leaf(nodes: &[GrownNode], codings: &[Coding], codes: &[u8]) -> usize {
    let mut index = 0;
    while let Some((split, left)) = nodes[index].split {
        index = left + usize::from(!split.goes_left(&codings[split.feature], codes[split.feature]));
    }
    index
}

/// The maximum number of codes of a feature, so that the histograms of a tree fit into [`MAX_HISTOGRAM_BYTES`].
fn max_codes(settings: &TreeSettings, features: usize) -> usize {
    let leaves = match settings.growth {
        Growth::Symmetric => 1 << (settings.depth - 1),
        Growth::LeafWise => settings.leaves,
    };
    let max = if features > WIDE_TABLE { CODES_OF_WIDE_TABLES } else { MAX_CODES };
    (MAX_HISTOGRAM_BYTES / (8 * features.clamp(1, MAX_FEATURES) * leaves)).clamp(8, settings.codes.min(max).max(8))
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
