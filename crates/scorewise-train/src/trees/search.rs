//! The search for the split with the greatest score, from histograms.
//!
//! The score of a split is Σ G²/(H + λ) over the leaves after the split, where G and H are the sums of gradients and curvatures of a leaf, and λ is
//! the setting `l2`.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use scorewise::InstructionSet;

use super::codes::{Coding, MAX_CODES};
use super::histogram::{GradientHistogram, HistogramLayout, Packed, Sums};
use crate::network::{SimdTask, SimdVector, run};

/// The split of a node: a row goes to the left if its code of the feature is at most `code`, or equal to `code` if the codes of the feature
/// are levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TreeSplit {
    pub feature: usize,
    pub code: u8,
    /// Whether rows with a missing value go to the left.
    pub missing_left: bool,
}

/// The codes that send a row to the left at a split: all integers from `low` to `low + span`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LeftCodes {
    pub low: u8,
    pub span: u8,
}

impl LeftCodes {
    /// The codes that send a row to the left at this split.
    pub fn of(split: TreeSplit, coding: &Coding) -> Self {
        let low = match (coding.is_level, coding.has_missing && !split.missing_left) {
            (true, _) => split.code,
            // Code 0 stands for missing values.
            (false, true) => 1,
            (false, false) => 0,
        };
        LeftCodes { low, span: split.code - low }
    }

    /// Whether a row with this code goes to the left.
    #[inline(always)]
    pub fn contain(self, code: u8) -> bool {
        code.wrapping_sub(self.low) <= self.span
    }
}

/// Random noise that is added to the square roots of the scores of splits, so that the trees differ from each other.
pub(super) struct Noise<'a> {
    pub random: &'a mut Xoshiro256PlusPlus,
    /// Standard deviation of the noise.
    pub deviation: f64,
}

/// The search for the best split: the leaves, which are all split by the same condition, and the requirements for a split.
#[derive(Clone, Copy)]
pub(super) struct SplitSearch<'a> {
    pub leaves: &'a [(&'a GradientHistogram, Sums)],
    pub layout: &'a HistogramLayout,
    pub codings: &'a [Coding],
    pub packed: &'a Packed,
    /// A split is possible only if the curvatures of the rows on each side sum to at least this number.
    pub min_curvature: f64,
    pub l2: f64,
}

impl SplitSearch<'_> {
    /// The split that has the greatest score, and its score. If several splits have this score, the first of them. `None` if there is no possible
    /// split.
    pub fn best(self) -> Option<(f64, TreeSplit)> {
        let mut best = None;
        self.visit(&mut |feature, coding, scores| {
            if let Some((score, split)) = greatest(feature, coding, scores)
                && best.is_none_or(|(greatest, _)| score > greatest)
            {
                best = Some((score, split));
            }
        });
        best
    }

    /// The split for which √score + noise is greatest, and the score of this split. The noise is a random number that is drawn for each split and
    /// added to the square root of its score. `None` if there is no possible split.
    pub fn best_with_noise(self, noise: &mut Noise<'_>) -> Option<(f64, TreeSplit)> {
        let mut best: Option<(f64, f64, TreeSplit)> = None;
        let bounds = normal_bounds(noise.deviation);
        self.visit(&mut |feature, coding, scores| {
            for (score, split) in candidates(feature, coding, scores) {
                let (first, second) = (noise.random.next_u64(), noise.random.next_u64());
                let root = score.sqrt();
                // Most splits cannot be the best, even with the greatest noise that is possible with their first random number. These splits are
                // skipped, which saves the logarithm and the cosine with which the noise is computed.
                if let Some((greatest, _, _)) = best
                    && root + bounds[first.leading_zeros() as usize] <= greatest
                {
                    continue;
                }
                let noisy = root + noise.deviation * standard_normal(first, second);
                if best.is_none_or(|(greatest, _, _)| noisy > greatest) {
                    best = Some((noisy, score, split));
                }
            }
        });
        best.map(|(_, score, split)| (score, split))
    }

    /// Calls `visit` with every feature that has more than one code, its coding and the scores of its splits.
    fn visit(self, visit: &mut dyn FnMut(usize, &Coding, &SplitScores)) {
        run(InstructionSet::best(), SearchTask { search: self, visit });
    }
}

/// The scores of all splits on one feature, indexed by the code of the split. A score is −∞ if one side of the split has too little curvature.
struct SplitScores {
    /// The scores if missing values go to the right.
    missing_right: [f64; MAX_CODES],
    /// The scores if missing values go to the left; unused if the feature has no missing values.
    missing_left: [f64; MAX_CODES],
}

/// The task that computes the scores of the splits on every feature. It is compiled for each instruction set.
struct SearchTask<'a, 'b> {
    search: SplitSearch<'a>,
    visit: &'b mut dyn FnMut(usize, &Coding, &SplitScores),
}

impl SimdTask for SearchTask<'_, '_> {
    /// Computes the scores of all splits on each feature, and calls `visit` with them.
    #[inline(always)]
    unsafe fn run_with<V: SimdVector>(self) {
        let SearchTask { search, visit } = self;
        let mut scores = SplitScores { missing_right: [0.0; MAX_CODES], missing_left: [0.0; MAX_CODES] };
        let mut lefts = [0; MAX_CODES];
        for (place, feature) in search.layout.features.iter().enumerate() {
            let coding = &search.codings[*feature];
            let codes = coding.codes;
            if codes < 2 {
                continue;
            }
            scores.missing_right[..codes].fill(0.0);
            if coding.has_missing {
                scores.missing_left[..codes].fill(0.0);
            }
            for (histogram, total) in search.leaves {
                let sums = &histogram.feature(search.layout, place)[..codes];
                if coding.is_level {
                    add_scores(search, sums, 0, *total, &mut scores.missing_right[..codes]);
                    continue;
                }
                let first = usize::from(coding.has_missing);
                let missing = if coding.has_missing { sums[0] } else { 0 };
                let mut sum = 0;
                for (left, code_sum) in lefts[first..codes].iter_mut().zip(&sums[first..]) {
                    sum += code_sum;
                    *left = sum;
                }
                add_scores(search, &lefts[first..codes], 0, *total, &mut scores.missing_right[first..codes]);
                if coding.has_missing {
                    add_scores(search, &lefts[first..codes], missing, *total, &mut scores.missing_left[first..codes]);
                }
            }
            visit(*feature, coding, &scores);
        }
    }
}

/// Adds the contribution of one leaf to the score of every split. At the split with index i, the packed sum of the rows that go to the left is
/// `lefts[i]` + `more`. If rows with a missing value go to the left, `more` is their packed sum; otherwise it is 0.
#[inline(always)]
fn add_scores(search: SplitSearch<'_>, lefts: &[i64], more: i64, total: Sums, scores: &mut [f64]) {
    let SplitSearch { packed, min_curvature, l2, .. } = search;
    let maximum = |a: f64, b: f64| if a > b { a } else { b };
    for (score, sum) in scores.iter_mut().zip(lefts) {
        let left = packed.unpack(sum + more);
        let right = Sums { gradient: total.gradient - left.gradient, curvature: total.curvature - left.curvature };
        let value = left.gradient * left.gradient / maximum(left.curvature + l2, 1e-12)
            + right.gradient * right.gradient / maximum(right.curvature + l2, 1e-12);
        let is_small = (left.curvature < min_curvature) | (right.curvature < min_curvature);
        *score += if is_small { f64::NEG_INFINITY } else { value };
    }
}

/// The values of [`TreeSplit::code`] that are possible for a feature. The code of the last interval is not possible, because all rows would go to the
/// left; the code of any level is possible.
fn split_codes(coding: &Coding) -> std::ops::Range<usize> {
    usize::from(coding.has_missing)..if coding.is_level { coding.codes } else { coding.codes - 1 }
}

/// All possible splits on one feature, each with its score.
fn candidates<'a>(
    feature: usize,
    coding: &Coding,
    scores: &'a SplitScores,
) -> impl Iterator<Item = (f64, TreeSplit)> + use<'a> {
    let sides = if coding.has_missing { 2 } else { 1 };
    split_codes(coding).flat_map(move |code| {
        (0..sides).filter_map(move |side| {
            let split = TreeSplit { feature, code: code as u8, missing_left: side == 1 };
            let score = if side == 0 { scores.missing_right[code] } else { scores.missing_left[code] };
            (score > f64::NEG_INFINITY).then_some((score, split))
        })
    })
}

/// The split on one feature that has the greatest score, and this score. If several splits have the greatest score, the split with the lowest code is
/// returned; if two of them have this code, the split that sends missing values to the right. `None` if no split is possible.
#[inline(always)]
fn greatest(feature: usize, coding: &Coding, scores: &SplitScores) -> Option<(f64, TreeSplit)> {
    let codes = split_codes(coding);
    let (right, left) = (&scores.missing_right[codes.clone()], &scores.missing_left[codes.clone()]);
    let right_best = maximum(right);
    let left_best = if coding.has_missing { maximum(left) } else { f64::NEG_INFINITY };
    let best = if left_best > right_best { left_best } else { right_best };
    if best == f64::NEG_INFINITY {
        return None;
    }
    let place =
        |scores: &[f64], of: f64| if of == best { scores.iter().position(|score| *score == best) } else { None };
    let (right_place, left_place) = (place(right, right_best), place(left, left_best));
    let missing_left = left_place.is_some_and(|left| right_place.is_none_or(|right| left < right));
    let place = if missing_left { left_place } else { right_place }?;
    Some((best, TreeSplit { feature, code: (codes.start + place) as u8, missing_left }))
}

/// The greatest of some numbers; −∞ if there are none.
#[inline(always)]
fn maximum(numbers: &[f64]) -> f64 {
    /// Number of maxima that are computed side by side. With a single maximum, every comparison would have to wait for the previous comparison.
    const LANES: usize = 16;
    let greater = |a: f64, b: f64| if b > a { b } else { a };
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    let mut lanes = [f64::NEG_INFINITY; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] = greater(lanes[lane], chunk[lane]);
        }
    }
    lanes.iter().chain(rest).copied().fold(f64::NEG_INFINITY, greater)
}

/// A number from the standard normal distribution, by the method of Box and Muller, from two random numbers.
fn standard_normal(first: u64, second: u64) -> f64 {
    let uniform = |number: u64| ((number >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    (-2.0 * uniform(first).ln()).sqrt() * (std::f64::consts::TAU * uniform(second)).cos()
}

/// Upper bounds of the noise `deviation` · `standard_normal(first, second)`. The element with index n is the bound if the binary number `first`
/// begins with n zeros. The noise is at most `deviation` · √(−2 ln u), where u is a number in (0, 1) that is made from `first`. If `first` begins
/// with n zeros, u is at least 2^−(n + 1); it is never below 2^−54.
fn normal_bounds(deviation: f64) -> [f64; 65] {
    // The factor 1.000001 makes the bounds hold in spite of rounding errors.
    std::array::from_fn(|zeros| {
        deviation * 1.000_001 * (2.0 * std::f64::consts::LN_2 * (zeros + 1).min(54) as f64).sqrt()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use scorewise_table::split::random;

    /// The coding of a feature with this number of codes, including the code for missing values if there is one.
    fn coding(codes: usize, has_missing: bool, is_level: bool) -> Coding {
        let feature = crate::trees::TreeFeature {
            column: 0,
            knots: if is_level { 0 } else { super::super::features::ALL },
            is_level,
            values: if is_level { (0..codes).map(|level| level as f32).collect() } else { Vec::new() },
        };
        let intervals = codes - usize::from(has_missing);
        let mut values: Vec<f32> = (0..intervals).map(|value| value as f32).collect();
        values.extend(has_missing.then_some(f32::NAN));
        Coding::new(&feature, values, MAX_CODES)
    }

    #[test]
    fn a_row_goes_to_the_left_if_its_code_satisfies_the_split() {
        for (has_missing, is_level) in [(false, false), (true, false), (false, true)] {
            let coding = coding(9, has_missing, is_level);
            assert_eq!(coding.codes, 9);
            for code in split_codes(&coding) {
                for missing_left in [false, true] {
                    let left = LeftCodes::of(TreeSplit { feature: 0, code: code as u8, missing_left }, &coding);
                    for row in 0..9u8 {
                        let expected = match (is_level, has_missing && row == 0) {
                            (true, _) => usize::from(row) == code,
                            (false, true) => missing_left,
                            (false, false) => usize::from(row) <= code,
                        };
                        assert_eq!(
                            left.contain(row),
                            expected,
                            "wrong side: has_missing {has_missing}, is_level {is_level}, code {code}, missing_left {missing_left}, row {row}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn of_several_splits_with_the_greatest_score_the_first_is_chosen() {
        let mut random = random(1, scorewise::Purpose::TreeGrowth, 0);
        for round in 0..2000 {
            let coding = coding(3 + round % 60, round % 2 == 0, false);
            let mut scores = SplitScores { missing_right: [9.0; MAX_CODES], missing_left: [9.0; MAX_CODES] };
            // Only four different scores are drawn, so that many splits have the same score.
            let mut draw = || [f64::NEG_INFINITY, 1.0, 2.0, 3.0][(random.next_u64() >> 62) as usize];
            for code in split_codes(&coding) {
                (scores.missing_right[code], scores.missing_left[code]) = (draw(), draw());
            }
            let expected = candidates(4, &coding, &scores).reduce(|a, b| if b.0 > a.0 { b } else { a });
            assert_eq!(greatest(4, &coding, &scores), expected);
        }
    }

    #[test]
    fn noise_stays_below_its_bounds_and_comes_close_to_them() {
        let mut random = random(2, scorewise::Purpose::TreeGrowth, 0);
        let bounds = normal_bounds(1.5);
        let mut greatest = [0.0f64; 65];
        for _ in 0..200_000 {
            let (first, second) = (random.next_u64(), random.next_u64());
            let (noise, zeros) = (1.5 * standard_normal(first, second), first.leading_zeros() as usize);
            assert!(noise < bounds[zeros], "{noise}, {zeros}");
            greatest[zeros] = greatest[zeros].max(noise);
        }
        assert!((0..4).all(|zeros| greatest[zeros] > 0.9 * bounds[zeros]), "{greatest:?}");
        assert!(1.5 * standard_normal(0, 0) < bounds[64]);
    }
}
