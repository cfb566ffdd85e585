//! Grows one tree from histograms.
//!
//! The score of a set of leaves with sums of gradients G and of curvatures H is Σ G²/(H + λ), twice the decrease of the second-order
//! approximation of the loss if every leaf gets its best value −G/(H + λ). Two ways to grow a tree use the same search for the split with the
//! greatest score: a *leaf-wise* tree splits the leaf with the greatest gain, one at a time; a *symmetric* tree splits all leaves of a level by
//! one question, which regularises strongly.

use std::ops::Range;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use scorewise::InstructionSet;

use super::codes::{Codes, Coding};
use super::histogram::{GradientHistogram, Packed, Sums};
use super::settings::{Growth, TreeSettings};
use crate::network::{SimdTask, SimdVector, run};

/// A question that divides rows: whether the code of a feature is at most `code`, or equal to it if the feature is a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TreeSplit {
    pub feature: usize,
    pub code: u8,
    /// Whether rows with a missing value go to the left.
    pub missing_left: bool,
}

impl TreeSplit {
    /// Whether a row with this code of the feature goes to the left.
    #[inline(always)]
    pub fn goes_left(self, coding: &Coding, code: u8) -> bool {
        if coding.is_level {
            code == self.code
        } else if coding.has_missing && code == 0 {
            self.missing_left
        } else {
            code <= self.code
        }
    }
}

/// A node of a grown tree. The children of a node that is split are stored one after the other.
#[derive(Clone, Debug)]
pub(super) struct GrownNode {
    /// The question of the node and the index of its left child; `None` for a leaf.
    pub split: Option<(TreeSplit, usize)>,
    /// The place of the rows of the node in the list of rows.
    pub rows: Range<usize>,
    /// By how much the split of the node increases the score; 0 for a leaf. In a symmetric tree, the gain of a level belongs to its first node.
    pub gain: f64,
}

/// Noise that is added to the score of splits, so that trees differ.
pub(super) struct Noise<'a> {
    pub random: &'a mut Xoshiro256PlusPlus,
    /// Standard deviation of the noise of the square root of the score.
    pub deviation: f64,
}

/// The data that a tree is grown on.
#[derive(Clone, Copy)]
pub(super) struct GrowthData<'a> {
    pub codes: &'a Codes,
    pub codings: &'a [Coding],
    pub packed: &'a Packed,
    /// The features that the tree may use.
    pub features: &'a [usize],
    pub threads: usize,
}

/// Grows trees, and keeps its buffers from tree to tree.
#[derive(Debug)]
pub(super) struct Grower {
    settings: TreeSettings,
    width: usize,
    free: Vec<GradientHistogram>,
    scratch: Vec<u32>,
}

/// A leaf that may still be split.
struct OpenLeaf {
    node: usize,
    histogram: GradientHistogram,
    sums: Sums,
    best: Option<(f64, TreeSplit)>,
}

impl Grower {
    pub fn new(settings: &TreeSettings, codings: &[Coding]) -> Self {
        let width = codings.iter().map(|coding| coding.codes).max().unwrap_or(1);
        Grower { settings: settings.clone(), width, free: Vec::new(), scratch: Vec::new() }
    }

    /// Grows a tree on the given rows. The rows are reordered so that the rows of each node lie next to each other.
    pub fn grow(&mut self, data: GrowthData<'_>, rows: &mut [u32], noise: Option<Noise<'_>>) -> Vec<GrownNode> {
        match self.settings.growth {
            Growth::Symmetric => self.grow_symmetric(data, rows, noise),
            Growth::LeafWise => self.grow_leaf_wise(data, rows),
        }
    }

    fn grow_leaf_wise(&mut self, data: GrowthData<'_>, rows: &mut [u32]) -> Vec<GrownNode> {
        let mut nodes = vec![GrownNode { split: None, rows: 0..rows.len(), gain: 0.0 }];
        let mut depths = vec![0];
        let mut histogram = self.histogram(data);
        histogram.fill(rows, data.features, data.packed, data.codes, data.threads);
        let sums = data.packed.unpack(data.packed.sum(rows));
        let mut root = OpenLeaf { node: 0, histogram, sums, best: None };
        root.best = self.best_of_leaf(data, &root, rows.len());
        let (mut open, mut leaves) = (vec![root], 1);
        while leaves < self.settings.leaves {
            // Of equal gains, the first leaf is taken, so that the result does not depend on the order of the list.
            let gain = |leaf: &OpenLeaf| leaf.best.map_or(f64::NEG_INFINITY, |(gain, _)| gain);
            let Some(index) = (0..open.len()).reduce(|a, b| if gain(&open[b]) > gain(&open[a]) { b } else { a }) else {
                break;
            };
            let leaf = open.swap_remove(index);
            let Some((gain, split)) = leaf.best else {
                self.free.push(leaf.histogram);
                break;
            };
            let children = self.divide(data, rows, &mut nodes, leaf.node, split, gain);
            let depth = depths[leaf.node] + 1;
            depths.extend([depth; 2]);
            leaves += 1;
            let may_split = depth < self.settings.depth && leaves < self.settings.leaves;
            if !may_split {
                self.free.push(leaf.histogram);
                continue;
            }
            let [left, right] = self.children(data, rows, &nodes, leaf, children);
            for mut child in [left, right] {
                child.best = self.best_of_leaf(data, &child, nodes[child.node].rows.len());
                open.push(child);
            }
        }
        self.free.extend(open.into_iter().map(|leaf| leaf.histogram));
        nodes
    }

    fn grow_symmetric(
        &mut self,
        data: GrowthData<'_>,
        rows: &mut [u32],
        mut noise: Option<Noise<'_>>,
    ) -> Vec<GrownNode> {
        let mut nodes = vec![GrownNode { split: None, rows: 0..rows.len(), gain: 0.0 }];
        let mut histogram = self.histogram(data);
        histogram.fill(rows, data.features, data.packed, data.codes, data.threads);
        let sums = data.packed.unpack(data.packed.sum(rows));
        let mut open = vec![OpenLeaf { node: 0, histogram, sums, best: None }];
        for level in 0..self.settings.depth {
            let before: f64 = open.iter().map(|leaf| self.score(leaf.sums)).sum();
            let leaves: Vec<(&GradientHistogram, Sums)> =
                open.iter().map(|leaf| (&leaf.histogram, leaf.sums)).collect();
            let Some((score, split)) = self.best(data, &leaves, 0.0, noise.as_mut()) else { break };
            // Noise may have chosen a split that separates no rows.
            if score <= before * (1.0 + 1e-12) {
                break;
            }
            let is_last = level + 1 == self.settings.depth;
            let mut next = Vec::with_capacity(2 * open.len());
            for (index, leaf) in open.into_iter().enumerate() {
                let gain = if index == 0 { score - before } else { 0.0 };
                let children = self.divide(data, rows, &mut nodes, leaf.node, split, gain);
                if is_last {
                    self.free.push(leaf.histogram);
                } else {
                    next.extend(self.children(data, rows, &nodes, leaf, children));
                }
            }
            open = next;
        }
        self.free.extend(open.into_iter().map(|leaf| leaf.histogram));
        nodes
    }

    fn histogram(&mut self, data: GrowthData<'_>) -> GradientHistogram {
        let free = self.free.pop().filter(|histogram| histogram.features() == data.features.len());
        free.unwrap_or_else(|| GradientHistogram::zeros(data.features.len(), self.width))
    }

    fn score(&self, sums: Sums) -> f64 {
        sums.gradient * sums.gradient / (sums.curvature + self.settings.l2)
    }

    /// Splits a node. Returns the index of its left child.
    fn divide(
        &mut self,
        data: GrowthData<'_>,
        rows: &mut [u32],
        nodes: &mut Vec<GrownNode>,
        node: usize,
        split: TreeSplit,
        gain: f64,
    ) -> usize {
        let (left, range) = (nodes.len(), nodes[node].rows.clone());
        let (coding, features, codes) = (&data.codings[split.feature], data.codes.features, data.codes.all());
        let rows = &mut rows[range.clone()];
        // Rows of both sides keep their order, so that memory is read in ascending order.
        self.scratch.clear();
        let mut count = 0;
        for index in 0..rows.len() {
            let row = rows[index];
            if split.goes_left(coding, codes[row as usize * features + split.feature]) {
                rows[count] = row;
                count += 1;
            } else {
                self.scratch.push(row);
            }
        }
        rows[count..].copy_from_slice(&self.scratch);
        let middle = range.start + count;
        nodes[node].split = Some((split, left));
        nodes[node].gain = gain;
        nodes.extend([range.start..middle, middle..range.end].map(|rows| GrownNode { split: None, rows, gain: 0.0 }));
        left
    }

    /// The two children of a leaf that was split, with their histograms. The smaller one is summed; the other one is the rest.
    fn children(
        &mut self,
        data: GrowthData<'_>,
        rows: &[u32],
        nodes: &[GrownNode],
        parent: OpenLeaf,
        left: usize,
    ) -> [OpenLeaf; 2] {
        let ranges = [left, left + 1].map(|node| nodes[node].rows.clone());
        let is_left_smaller = ranges[0].len() <= ranges[1].len();
        let small_rows = &rows[ranges[usize::from(!is_left_smaller)].clone()];
        let mut small = self.histogram(data);
        small.fill(small_rows, data.features, data.packed, data.codes, data.threads);
        let small_sums = data.packed.unpack(data.packed.sum(small_rows));
        let mut large = parent.histogram;
        large.subtract(&small);
        let large_sums = Sums {
            gradient: parent.sums.gradient - small_sums.gradient,
            curvature: parent.sums.curvature - small_sums.curvature,
        };
        let (small, large) = ((small, small_sums), (large, large_sums));
        let (first, second) = if is_left_smaller { (small, large) } else { (large, small) };
        let leaf = |node, (histogram, sums)| OpenLeaf { node, histogram, sums, best: None };
        [leaf(left, first), leaf(left + 1, second)]
    }

    /// The best split of one leaf and its gain; `None` if no split increases the score.
    fn best_of_leaf(&self, data: GrowthData<'_>, leaf: &OpenLeaf, rows: usize) -> Option<(f64, TreeSplit)> {
        if rows < 2 * self.settings.min_rows {
            return None;
        }
        // The number of rows of a side is estimated from its curvature.
        let min_curvature = leaf.sums.curvature * self.settings.min_rows as f64 / rows as f64;
        let (score, split) = self.best(data, &[(&leaf.histogram, leaf.sums)], min_curvature, None)?;
        let before = self.score(leaf.sums);
        let gain = score - before;
        (gain > 1e-9 * before.max(1e-9)).then_some((gain, split))
    }

    /// The split of all given leaves with the greatest score, with noise, and its score without noise. A side of a split must have at least the
    /// given curvature. `None` if there is no such split.
    fn best(
        &self,
        data: GrowthData<'_>,
        leaves: &[(&GradientHistogram, Sums)],
        min_curvature: f64,
        noise: Option<&mut Noise<'_>>,
    ) -> Option<(f64, TreeSplit)> {
        let places = 0..data.features.len();
        let is_open = |place: &usize| data.codings[data.features[*place]].codes > 1;
        let scores = |place: usize| {
            let feature = data.features[place];
            let mut scores = vec![[0.0; 2]; data.codings[feature].codes];
            let (coding, packed, l2) = (&data.codings[feature], data.packed, self.settings.l2);
            run(
                InstructionSet::best(),
                SplitScores { leaves, place, coding, packed, min_curvature, l2, scores: &mut scores },
            );
            (feature, scores)
        };
        if let Some(noise) = noise {
            let mut best: Option<(f64, f64, TreeSplit)> = None;
            for (feature, scores) in places.filter(is_open).map(scores) {
                for (score, split) in candidates(feature, &scores, &data.codings[feature]) {
                    let noisy = score.sqrt() + noise.deviation * standard_normal(noise.random);
                    if best.is_none_or(|(greatest, _, _)| noisy > greatest) {
                        best = Some((noisy, score, split));
                    }
                }
            }
            return best.map(|(_, score, split)| (score, split));
        }
        let best = |(feature, scores): (usize, Vec<[f64; 2]>)| {
            candidates(feature, &scores, &data.codings[feature]).reduce(better)
        };
        if data.threads > 1 {
            places
                .into_par_iter()
                .filter(is_open)
                .filter_map(|place| best(scores(place)))
                .collect::<Vec<_>>()
                .into_iter()
                .reduce(better)
        } else {
            places.filter(is_open).filter_map(|place| best(scores(place))).reduce(better)
        }
    }
}

fn better(a: (f64, TreeSplit), b: (f64, TreeSplit)) -> (f64, TreeSplit) {
    if b.0 > a.0 { b } else { a }
}

/// The splits on a feature that are possible, with their scores.
fn candidates<'a>(
    feature: usize,
    scores: &'a [[f64; 2]],
    coding: &Coding,
) -> impl Iterator<Item = (f64, TreeSplit)> + use<'a> {
    let first = usize::from(coding.has_missing);
    // The last interval cannot be split off to the left, but any level can.
    let last = if coding.is_level { coding.codes } else { coding.codes - 1 };
    let sides = if coding.has_missing { 2 } else { 1 };
    (first..last).flat_map(move |code| {
        (0..sides).filter_map(move |side| {
            let split = TreeSplit { feature, code: code as u8, missing_left: side == 1 };
            (scores[code][side] > f64::NEG_INFINITY).then_some((scores[code][side], split))
        })
    })
}

/// A task that computes the scores of all splits on one feature: for every code, with missing values on the right and on the left. The score
/// is −∞ if a side has too little curvature.
struct SplitScores<'a> {
    leaves: &'a [(&'a GradientHistogram, Sums)],
    /// The place of the feature in the histograms.
    place: usize,
    coding: &'a Coding,
    packed: &'a Packed,
    min_curvature: f64,
    l2: f64,
    scores: &'a mut [[f64; 2]],
}

impl SimdTask for SplitScores<'_> {
    #[inline(always)]
    unsafe fn run_with<V: SimdVector>(self) {
        let SplitScores { leaves, place, coding, packed, min_curvature, l2, scores } = self;
        let codes = coding.codes;
        let (mut lefts, mut lefts_with_missing) = ([Sums::default(); 256], [Sums::default(); 256]);
        for (histogram, total) in leaves {
            let sums = &histogram.feature(place)[..codes];
            let first = usize::from(coding.has_missing);
            let missing = if coding.has_missing { sums[0] } else { 0 };
            let mut sum = 0;
            for code in first..codes {
                sum = if coding.is_level { sums[code] } else { sum + sums[code] };
                lefts[code] = packed.unpack(sum);
                if coding.has_missing {
                    lefts_with_missing[code] = packed.unpack(sum + missing);
                }
            }
            let score = |left: Sums| {
                let right =
                    Sums { gradient: total.gradient - left.gradient, curvature: total.curvature - left.curvature };
                let score = left.gradient * left.gradient / (left.curvature + l2).max(1e-12)
                    + right.gradient * right.gradient / (right.curvature + l2).max(1e-12);
                if left.curvature.min(right.curvature) < min_curvature { f64::NEG_INFINITY } else { score }
            };
            for code in first..codes {
                scores[code][0] += score(lefts[code]);
            }
            if coding.has_missing {
                for code in first..codes {
                    scores[code][1] += score(lefts_with_missing[code]);
                }
            }
        }
    }
}

/// A number from the standard normal distribution, by the method of Box and Muller.
fn standard_normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    let mut uniform = || ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()
}
