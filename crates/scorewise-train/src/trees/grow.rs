//! Grows one tree from histograms.
//!
//! A leaf has a sum G of gradients and a sum H of curvatures over its rows; λ is the setting `l2`. The score of a set of leaves is Σ G²/(H + λ). This
//! is twice the decrease of the second-order approximation of the loss if every leaf gets its best value −G/(H + λ). Two ways to grow a tree use the
//! same search for the split with the greatest score: a *leaf-wise* tree splits the leaf with the greatest gain, one at a time; a *symmetric* tree
//! splits all leaves of a level by the same condition, which regularises strongly.
//!
//! Several threads split different leaves at the same time, and share the work of large leaves. In a leaf-wise tree, the leaves with the next
//! greatest gains are split ahead of time: they will almost always be split later, and if not, nothing is lost but time. So a tree does not
//! depend on the number of threads.

use std::ops::Range;

use rayon::prelude::*;

use super::codes::{Codes, Coding};
use super::histogram::{GradientHistogram, HistogramLayout, Packed, Sums};
use super::partition::divide;
use super::search::{LeftCodes, Noise, SplitSearch, TreeSplit};
use super::settings::{Growth, TreeSettings};

/// A leaf is split on a thread of its own only if its number of rows times the number of features is at least this.
const PARALLEL_WORK: usize = 1 << 13;

/// A node of a grown tree. The children of a node that is split are stored one after the other.
#[derive(Clone, Debug)]
pub(super) struct GrownNode {
    /// The split of the node and the index of its left child; `None` for a leaf.
    pub split: Option<(TreeSplit, usize)>,
    /// The range of the rows of the node in the list that [`Grower::grow`] reorders.
    pub rows: Range<usize>,
    /// By how much the split of the node increases the score of the tree's leaves; 0 for a leaf. In a symmetric tree, all nodes of a level are
    /// split together, and their common gain is stored in the first node of the level.
    pub gain: f64,
}

/// The data that a tree is grown on.
#[derive(Clone, Copy)]
pub(super) struct GrowthData<'a> {
    /// The codes (bin numbers) of all features, row by row.
    pub codes: &'a Codes,
    /// The codes (bin numbers) of all rows, one list for each feature.
    pub columns: &'a [Vec<u8>],
    pub codings: &'a [Coding],
    pub packed: &'a Packed,
    /// The features that the tree may use.
    pub layout: &'a HistogramLayout,
    pub threads: usize,
}

/// Grows trees one after the other, with buffers that are reused for every tree.
#[derive(Debug)]
pub(super) struct Grower {
    settings: TreeSettings,
    /// Maximum number of leaves of a leaf-wise tree.
    max_leaves: usize,
    free: Vec<GradientHistogram>,
    scratch: Vec<u32>,
}

/// A leaf that may still be split.
struct OpenLeaf {
    node: usize,
    depth: usize,
    rows: Range<usize>,
    histogram: GradientHistogram,
    sums: Sums,
    best: Option<(f64, TreeSplit)>,
    /// The children, if the leaf was split ahead of time.
    children: Option<Box<[ChildLeaf; 2]>>,
}

/// One of the two children that a leaf gets when it is split.
#[derive(Default)]
struct ChildLeaf {
    rows: Range<usize>,
    histogram: GradientHistogram,
    sums: Sums,
    best: Option<(f64, TreeSplit)>,
}

impl OpenLeaf {
    /// The gain of the best split of the leaf; −∞ if the leaf cannot be split.
    fn gain(&self) -> f64 {
        self.best.map_or(f64::NEG_INFINITY, |(gain, _)| gain)
    }
}

impl Grower {
    /// Creates a grower for trees with these settings and this number of training rows, with empty buffers.
    pub fn new(settings: &TreeSettings, training_rows: usize) -> Self {
        let max_leaves = settings.leaves(training_rows);
        Grower { settings: settings.clone(), max_leaves, free: Vec::new(), scratch: Vec::new() }
    }

    /// Grows a tree on the given rows. The rows are reordered so that the rows of each node lie next to each other, in their original order.
    pub fn grow(&mut self, data: GrowthData<'_>, rows: &mut [u32], noise: Option<Noise<'_>>) -> Vec<GrownNode> {
        self.scratch.resize(rows.len(), 0);
        let mut scratch = std::mem::take(&mut self.scratch);
        let nodes = match self.settings.growth {
            Growth::Symmetric => self.grow_symmetric(data, rows, &mut scratch, noise),
            Growth::LeafWise => self.grow_leaf_wise(data, rows, &mut scratch),
        };
        self.scratch = scratch;
        nodes
    }

    /// Keeps the memory of a histogram for later leaves, unless the histogram is empty because its sums were moved to a child.
    fn keep(&mut self, histogram: GradientHistogram) {
        if !histogram.is_empty() {
            self.free.push(histogram);
        }
    }

    /// Creates the root of a tree, which is still a leaf, with the histogram of all rows of the tree.
    fn root(&mut self, data: GrowthData<'_>, rows: &[u32]) -> OpenLeaf {
        let mut histogram = self.free.pop().unwrap_or_default();
        histogram.fill(data.layout, rows, data.packed, data.codes, data.threads);
        let sums = total(data, &histogram, rows);
        OpenLeaf { node: 0, depth: 0, rows: 0..rows.len(), histogram, sums, best: None, children: None }
    }

    /// Grows a tree by splitting, again and again, the leaf whose best split has the greatest gain.
    fn grow_leaf_wise(&mut self, data: GrowthData<'_>, rows: &mut [u32], scratch: &mut [u32]) -> Vec<GrownNode> {
        let mut nodes = vec![GrownNode { split: None, rows: 0..rows.len(), gain: 0.0 }];
        let mut root = self.root(data, rows);
        root.best = best_of_leaf(&self.settings, data, &root.histogram, root.sums, rows.len());
        let (mut open, mut leaves) = (vec![root], 1);
        while leaves < self.max_leaves {
            // Of leaves with equal gains, the first in the list is split. The order of the list does not depend on the number of threads.
            let Some(index) = (0..open.len()).reduce(|a, b| if open[b].gain() > open[a].gain() { b } else { a }) else {
                break;
            };
            if open[index].best.is_none() {
                break;
            }
            if open[index].children.is_none() {
                self.split_ahead(data, rows, scratch, &mut open, index, self.max_leaves - leaves);
            }
            let leaf = open.swap_remove(index);
            let Some((children, (gain, split))) = leaf.children.zip(leaf.best) else { break };
            leaves += 1;
            let (left, depth) = (nodes.len(), leaf.depth + 1);
            nodes[leaf.node].split = Some((split, left));
            nodes[leaf.node].gain = gain;
            for (side, child) in children.into_iter().enumerate() {
                let ChildLeaf { rows, histogram, sums, best } = child;
                nodes.push(GrownNode { split: None, rows: rows.clone(), gain: 0.0 });
                if depth < self.settings.depth {
                    open.push(OpenLeaf { node: left + side, depth, rows, histogram, sums, best, children: None });
                } else {
                    self.keep(histogram);
                }
            }
            self.keep(leaf.histogram);
        }
        for leaf in open {
            self.keep(leaf.histogram);
            leaf.children.into_iter().flat_map(|children| *children).for_each(|child| self.keep(child.histogram));
        }
        nodes
    }

    /// Computes the children of the leaf `open[index]`, and with several threads also the children of the leaves with the next greatest gains. `left`
    /// is the number of leaves that may still be added to the tree.
    fn split_ahead(
        &mut self,
        data: GrowthData<'_>,
        rows: &mut [u32],
        scratch: &mut [u32],
        open: &mut [OpenLeaf],
        index: usize,
        left: usize,
    ) {
        let mut chosen = vec![index];
        let is_large = |leaf: &OpenLeaf| leaf.rows.len() * data.layout.features.len() >= PARALLEL_WORK;
        if data.threads > 1 && left > 1 && is_large(&open[index]) {
            let is_open = |leaf: &OpenLeaf| leaf.best.is_some() && leaf.children.is_none() && is_large(leaf);
            let mut others: Vec<usize> =
                (0..open.len()).filter(|other| *other != index && is_open(&open[*other])).collect();
            others.sort_by(|a, b| open[*b].gain().total_cmp(&open[*a].gain()));
            others.truncate(data.threads.min(left) - 1);
            chosen.extend(others);
        }
        // The children of the last split of a tree are never split, so they need no histograms.
        let is_last = left == 1;
        let settings = &self.settings;
        let mut jobs: Vec<SplitJob<'_>> = Vec::with_capacity(chosen.len());
        let leaves = open.iter_mut().enumerate().filter(|(index, _)| chosen.contains(index)).map(|(_, leaf)| leaf);
        let mut leaves: Vec<&mut OpenLeaf> = leaves.collect();
        leaves.sort_by_key(|leaf| leaf.rows.start);
        let (mut rows, mut scratch, mut start) = (rows, scratch, 0);
        for leaf in leaves {
            let (own_rows, own_scratch);
            (own_rows, rows) = rows[leaf.rows.start - start..].split_at_mut(leaf.rows.len());
            (own_scratch, scratch) = scratch[leaf.rows.start - start..].split_at_mut(leaf.rows.len());
            start = leaf.rows.end;
            let spare = self.free.pop().unwrap_or_default();
            jobs.push(SplitJob { leaf, rows: own_rows, scratch: own_scratch, spare });
        }
        let work = |job: SplitJob<'_>| {
            let SplitJob { leaf, rows, scratch, spare } = job;
            let Some((_, split)) = leaf.best else { return };
            let mut children = split_leaf(settings, data, leaf, split, rows, scratch, spare, is_last);
            if !is_last && leaf.depth + 1 < settings.depth {
                let find = |child: &mut ChildLeaf| {
                    child.best = best_of_leaf(settings, data, &child.histogram, child.sums, child.rows.len());
                };
                children.iter_mut().for_each(find);
            }
            leaf.children = Some(Box::new(children));
        };
        in_parallel(jobs, data.threads, work);
    }

    /// Grows a tree in which all leaves of a level are split by the same condition.
    fn grow_symmetric(
        &mut self,
        data: GrowthData<'_>,
        rows: &mut [u32],
        scratch: &mut [u32],
        mut noise: Option<Noise<'_>>,
    ) -> Vec<GrownNode> {
        let mut nodes = vec![GrownNode { split: None, rows: 0..rows.len(), gain: 0.0 }];
        let mut open = vec![self.root(data, rows)];
        let rows_of_tree = rows.len();
        for level in 0..self.settings.depth {
            let before: f64 = open.iter().map(|leaf| score(&self.settings, leaf.sums)).sum();
            let leaves: Vec<(&GradientHistogram, Sums)> =
                open.iter().map(|leaf| (&leaf.histogram, leaf.sums)).collect();
            let search = search(&self.settings, data, &leaves, 0.0);
            let found = match &mut noise {
                Some(noise) => search.best_with_noise(noise),
                None => search.best(),
            };
            let Some((greatest, split)) = found else { break };
            // Because of the noise, the chosen split may be one that does not increase the score, for example because it separates no rows.
            if greatest <= before * (1.0 + 1e-12) {
                break;
            }
            let is_last = level + 1 == self.settings.depth;
            let (mut jobs, mut rest, mut rest_scratch) = (Vec::new(), &mut rows[..], &mut scratch[..]);
            // The list of leaves is in the order of their rows, so the rows can be handed out from first to last.
            for leaf in &mut open {
                let (own_rows, own_scratch);
                (own_rows, rest) = rest.split_at_mut(leaf.rows.len());
                (own_scratch, rest_scratch) = rest_scratch.split_at_mut(leaf.rows.len());
                let spare = self.free.pop().unwrap_or_default();
                jobs.push(SplitJob { leaf, rows: own_rows, scratch: own_scratch, spare });
            }
            let settings = &self.settings;
            let is_large = rows_of_tree * data.layout.features.len() >= 4 * PARALLEL_WORK;
            in_parallel(jobs, if is_large { data.threads } else { 1 }, |job| {
                let SplitJob { leaf, rows, scratch, spare } = job;
                let children = split_leaf(settings, data, leaf, split, rows, scratch, spare, is_last);
                leaf.children = Some(Box::new(children));
            });
            let mut next = Vec::with_capacity(2 * open.len());
            for (index, leaf) in open.into_iter().enumerate() {
                self.keep(leaf.histogram);
                let left = nodes.len();
                nodes[leaf.node].split = Some((split, left));
                nodes[leaf.node].gain = if index == 0 { greatest - before } else { 0.0 };
                for (side, child) in leaf.children.into_iter().flat_map(|children| children.into_iter().enumerate()) {
                    let ChildLeaf { rows, histogram, sums, .. } = child;
                    nodes.push(GrownNode { split: None, rows: rows.clone(), gain: 0.0 });
                    let (node, depth) = (left + side, level + 1);
                    next.push(OpenLeaf { node, depth, rows, histogram, sums, best: None, children: None });
                }
            }
            open = next;
            if is_last {
                break;
            }
        }
        open.into_iter().for_each(|leaf| self.keep(leaf.histogram));
        nodes
    }
}

/// A leaf to split, with its rows, scratch space for these rows, and a spare histogram.
struct SplitJob<'a> {
    leaf: &'a mut OpenLeaf,
    rows: &'a mut [u32],
    scratch: &'a mut [u32],
    spare: GradientHistogram,
}

/// Calls `work` with each job, on several threads if `threads` is above 1.
fn in_parallel<T: Send>(jobs: Vec<T>, threads: usize, work: impl Fn(T) + Send + Sync) {
    if threads > 1 && jobs.len() > 1 {
        jobs.into_par_iter().for_each(work);
    } else {
        jobs.into_iter().for_each(work);
    }
}

/// Divides the rows of a leaf between its two children, and computes the histograms of the children. The histogram of the smaller child is
/// summed over its rows; that of the other child is the histogram of the leaf minus that of the smaller child. There are no histograms if
/// the children will not be split, which is the case if `is_last` is set, or if the tree is leaf-wise and both children are too small.
#[allow(clippy::too_many_arguments)]
fn split_leaf(
    settings: &TreeSettings,
    data: GrowthData<'_>,
    leaf: &mut OpenLeaf,
    split: TreeSplit,
    rows: &mut [u32],
    scratch: &mut [u32],
    spare: GradientHistogram,
    is_last: bool,
) -> [ChildLeaf; 2] {
    let left_codes = LeftCodes::of(split, &data.codings[split.feature]);
    let count = divide(rows, scratch, &data.columns[split.feature], left_codes, data.threads);
    let middle = leaf.rows.start + count;
    let ranges = [leaf.rows.start..middle, middle..leaf.rows.end];
    let child = |rows: Range<usize>| ChildLeaf { rows, ..ChildLeaf::default() };
    let mut children = ranges.map(child);
    // A leaf-wise tree does not split leaves that are too small.
    let is_small = |child: &ChildLeaf| child.rows.len() < 2 * settings.min_rows;
    if is_last || (settings.growth == Growth::LeafWise && children.iter().all(is_small)) {
        children[0].histogram = spare;
        return children;
    }
    let small = usize::from(count > rows.len() - count);
    let small_rows = if small == 0 { &rows[..count] } else { &rows[count..] };
    let mut histogram = spare;
    histogram.fill(data.layout, small_rows, data.packed, data.codes, data.threads);
    let small_sums = total(data, &histogram, small_rows);
    let mut rest = std::mem::take(&mut leaf.histogram);
    rest.subtract(&histogram);
    let large_sums = Sums {
        gradient: leaf.sums.gradient - small_sums.gradient,
        curvature: leaf.sums.curvature - small_sums.curvature,
    };
    (children[small].histogram, children[small].sums) = (histogram, small_sums);
    (children[1 - small].histogram, children[1 - small].sums) = (rest, large_sums);
    children
}

/// The sums of gradients and curvatures of `rows`, which are the rows with which the histogram was filled.
fn total(data: GrowthData<'_>, histogram: &GradientHistogram, rows: &[u32]) -> Sums {
    data.packed.unpack(histogram.total(data.layout).unwrap_or_else(|| data.packed.sum(rows)))
}

/// The score G²/(H + λ) of one leaf with the sum G of gradients and the sum H of curvatures; λ is the setting `l2`.
fn score(settings: &TreeSettings, sums: Sums) -> f64 {
    sums.gradient * sums.gradient / (sums.curvature + settings.l2)
}

/// The search for the best split of the given leaves.
fn search<'a>(
    settings: &TreeSettings,
    data: GrowthData<'a>,
    leaves: &'a [(&'a GradientHistogram, Sums)],
    min_curvature: f64,
) -> SplitSearch<'a> {
    let GrowthData { layout, codings, packed, .. } = data;
    SplitSearch { leaves, layout, codings, packed, min_curvature, l2: settings.l2 }
}

/// The best split of one leaf and its gain; `None` if the leaf has too few rows or no split increases the score.
fn best_of_leaf(
    settings: &TreeSettings,
    data: GrowthData<'_>,
    histogram: &GradientHistogram,
    sums: Sums,
    rows: usize,
) -> Option<(f64, TreeSplit)> {
    if rows < 2 * settings.min_rows {
        return None;
    }
    // The number of rows on a side of a split is estimated from the curvature of that side.
    let min_curvature = sums.curvature * settings.min_rows as f64 / rows as f64;
    let (greatest, split) = search(settings, data, &[(histogram, sums)], min_curvature).best()?;
    let before = score(settings, sums);
    let gain = greatest - before;
    (gain > 1e-9 * before.max(1e-9)).then_some((gain, split))
}
