//! Sums of gradients and curvatures over the rows of a leaf, for each code of each feature.
//!
//! The gradient g and the curvature h of a row are rounded to integers and packed into one 64-bit number, so that one addition sums both:
//!
//! ```text
//! packed = round(g · scale of g) · 2³² + round(h · scale of h)
//! ```
//!
//! The scales are as large as possible without an overflow of the sums over all rows. Sums of integers are exact, so they do not depend on the
//! order of the rows or on the number of threads, and the histogram of a leaf is exactly that of its parent minus that of its sibling.

use rayon::prelude::*;

use super::codes::{Codes, Coding};

/// Several threads fill one histogram together only if the number of rows times the number of features is at least this.
const PARALLEL_ADDITIONS: usize = 1 << 15;
/// Minimum number of rows with which several threads pack gradients and curvatures.
const PARALLEL_ROWS: usize = 1 << 13;
/// Maximum number of bytes of the part of a histogram that is filled in one pass over the rows. It should fit into the first-level cache.
const CACHE_BYTES: usize = 32 * 1024;
/// The codes and the gradient of a row are loaded into the cache this many rows before they are needed.
const PREFETCH_ROWS: usize = 24;
/// The number 1.5 · 2⁵². Adding it to a number rounds that number to an integer (ties to even) and leaves the integer in the low bits of the sum.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// Gradients and curvatures of rows as packed integers.
#[derive(Clone, Debug, Default)]
pub(super) struct Packed {
    pub rows: Vec<i64>,
    pub gradient_unit: f64,
    pub curvature_unit: f64,
}

/// The sum of the gradients and the sum of the curvatures of some rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sums {
    pub gradient: f64,
    pub curvature: f64,
}

impl Packed {
    /// Packs the gradients and curvatures of rows. Curvatures must not be negative.
    pub fn pack(&mut self, gradients: &[f32], curvatures: &[f32], threads: usize) {
        let (mut gradient_sum, mut curvature_sum) = (0.0, 0.0);
        for (gradient, curvature) in gradients.iter().zip(curvatures) {
            gradient_sum += f64::from(gradient.abs());
            curvature_sum += f64::from(curvature.abs());
        }
        // Rounding adds at most ½ for each row. The scales leave room for that, so the sums of the rounded numbers do not overflow.
        let room = f64::from(i32::MAX) - gradients.len() as f64;
        let scale = |sum: f64| room / sum.max(1e-300);
        let (gradient_scale, curvature_scale) = (scale(gradient_sum), scale(curvature_sum));
        (self.gradient_unit, self.curvature_unit) = (1.0 / gradient_scale, 1.0 / curvature_scale);
        self.rows.resize(gradients.len(), 0);
        let pack = |to: &mut [i64], gradients: &[f32], curvatures: &[f32]| {
            for (to, (gradient, curvature)) in to.iter_mut().zip(gradients.iter().zip(curvatures)) {
                let round = |number: f64| (number + ROUND).to_bits() as i32;
                let gradient = round(f64::from(*gradient) * gradient_scale);
                let curvature = round(f64::from(*curvature) * curvature_scale);
                *to = (i64::from(gradient) << 32) + i64::from(curvature);
            }
        };
        if threads > 1 && gradients.len() >= PARALLEL_ROWS {
            let size = gradients.len().div_ceil(threads);
            let parts = self.rows.par_chunks_mut(size).zip(gradients.par_chunks(size)).zip(curvatures.par_chunks(size));
            parts.for_each(|((to, gradients), curvatures)| pack(to, gradients, curvatures));
        } else {
            pack(&mut self.rows, gradients, curvatures);
        }
    }

    /// Separates a sum of packed numbers into the sum of the gradients and the sum of the curvatures.
    #[inline(always)]
    pub fn unpack(&self, sum: i64) -> Sums {
        // Both sums fit into 32 bits, and the sum of the curvatures is not negative.
        let (gradient, curvature) = ((sum >> 32) as i32, sum as i32);
        Sums {
            gradient: f64::from(gradient) * self.gradient_unit,
            curvature: f64::from(curvature) * self.curvature_unit,
        }
    }

    /// The sum of the packed numbers of the given rows.
    pub fn sum(&self, rows: &[u32]) -> i64 {
        rows.iter().map(|row| self.rows[*row as usize]).sum()
    }
}

/// Which features a histogram has, and at which indices the sums of each feature lie.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct HistogramLayout {
    pub features: Vec<usize>,
    /// The index of the first sum of each feature. The last element is the total number of sums.
    starts: Vec<u32>,
    /// Ranges of features whose sums are filled in the same pass over the rows.
    blocks: Vec<std::ops::Range<usize>>,
}

impl HistogramLayout {
    /// The layout of a histogram with these features, in this order. `codings` are the codings of all features of the data.
    pub fn new(features: Vec<usize>, codings: &[Coding]) -> Self {
        let mut starts = vec![0];
        let (mut blocks, mut first) = (Vec::new(), 0);
        for (place, feature) in features.iter().enumerate() {
            let end = starts[place] + codings[*feature].codes as u32;
            if (end - starts[first]) as usize * 8 > CACHE_BYTES && place > first {
                blocks.push(first..place);
                first = place;
            }
            starts.push(end);
        }
        blocks.push(first..features.len());
        HistogramLayout { features, starts, blocks }
    }

    /// The total number of sums in a histogram: one for each code of each feature.
    pub fn len(&self) -> usize {
        *self.starts.last().unwrap_or(&0) as usize
    }

    /// The indices of the sums of the feature `features[place]`.
    fn range(&self, place: usize) -> std::ops::Range<usize> {
        self.starts[place] as usize..self.starts[place + 1] as usize
    }
}

/// For every code of some features, the sum of the packed numbers of the rows with this code.
#[derive(Clone, Debug, Default)]
pub(super) struct GradientHistogram {
    sums: Vec<i64>,
}

impl GradientHistogram {
    /// The sums of the feature `layout.features[place]`. The histogram must have been filled with this layout.
    #[inline(always)]
    pub fn feature(&self, layout: &HistogramLayout, place: usize) -> &[i64] {
        &self.sums[layout.range(place)]
    }

    /// The sum of the packed numbers of all rows with which the histogram was filled; `None` if the histogram has no features.
    pub fn total(&self, layout: &HistogramLayout) -> Option<i64> {
        (!layout.features.is_empty()).then(|| self.feature(layout, 0).iter().sum())
    }

    /// Whether the histogram has no sums.
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    /// Replaces the sums by those of the given rows.
    ///
    /// # Panics
    /// If a feature has more codes than the layout has sums for it, or if a row has no gradient or no codes.
    pub fn fill(&mut self, layout: &HistogramLayout, rows: &[u32], packed: &Packed, codes: &Codes, threads: usize) {
        self.sums.clear();
        self.sums.resize(layout.len(), 0);
        if threads > 1 && rows.len() * layout.features.len() >= PARALLEL_ADDITIONS {
            let (first, rest) = rows.split_at(rows.len().div_ceil(threads));
            let mut parts: Vec<GradientHistogram> =
                rest.chunks(first.len()).map(|_| GradientHistogram { sums: vec![0; layout.len()] }).collect();
            rayon::join(
                || add(&mut self.sums, layout, first, packed, codes),
                || {
                    let work = parts.par_iter_mut().zip(rest.par_chunks(first.len()));
                    work.for_each(|(part, rows)| add(&mut part.sums, layout, rows, packed, codes));
                },
            );
            for part in &parts {
                self.sums.iter_mut().zip(&part.sums).for_each(|(sum, part)| *sum += part);
            }
        } else {
            add(&mut self.sums, layout, rows, packed, codes);
        }
    }

    /// Subtracts the sums of one child of a leaf from those of the leaf, which leaves the sums of the other child.
    pub fn subtract(&mut self, other: &GradientHistogram) {
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, other)| *sum -= other);
    }
}

/// Adds the packed gradients and curvatures of the given rows to the sums of a histogram.
fn add(sums: &mut [i64], layout: &HistogramLayout, rows: &[u32], packed: &Packed, codes: &Codes) {
    let stride = codes.features;
    let (features, starts) = (&layout.features, &layout.starts);
    assert!(sums.len() == layout.len() && features.len() + 1 == starts.len());
    let fits = |(place, feature): (usize, &usize)| {
        *feature < stride && usize::from(codes.greatest(*feature)) < layout.range(place).len()
    };
    assert!(features.iter().enumerate().all(fits), "the histogram must have a sum for every code of a feature");
    let count = packed.rows.len().min(codes.all().len() / stride.max(1));
    assert!((rows.iter().copied().max().unwrap_or(0) as usize) < count, "every row must have a gradient and codes");
    let last = rows.len().saturating_sub(1);
    let (packed, all, sums) = (packed.rows.as_ptr(), codes.all().as_ptr(), sums.as_mut_ptr());
    for block in &layout.blocks {
        let (features, starts) = (&features[block.clone()], &starts[block.clone()]);
        let Some(first) = features.first() else { continue };
        let is_contiguous = features.iter().enumerate().all(|(place, feature)| *feature == first + place);
        let (fours, rest) = starts.as_chunks::<4>();
        for (index, row) in rows.iter().enumerate() {
            let (row, later) = (*row as usize, rows[(index + PREFETCH_ROWS).min(last)] as usize);
            // SAFETY: as checked above, every row has a gradient and a code for every feature. Every code is below the number of sums of its feature,
            // so the start of the feature plus the code is the index of one of these sums. The starts of the layout ascend and end with the number of
            // sums.
            unsafe {
                prefetch(all.add(later * stride + first));
                prefetch(packed.add(later).cast());
                let gradient = *packed.add(row);
                let mut row_codes = all.add(row * stride);
                if is_contiguous {
                    row_codes = row_codes.add(*first);
                    for starts in fours {
                        // The codes are read before the first sum is written, because the compiler cannot know that writing does not change them.
                        let codes: [u8; 4] = row_codes.cast::<[u8; 4]>().read_unaligned();
                        for (start, code) in starts.iter().zip(codes) {
                            *sums.add(*start as usize + usize::from(code)) += gradient;
                        }
                        row_codes = row_codes.add(4);
                    }
                    for start in rest {
                        *sums.add(*start as usize + usize::from(*row_codes)) += gradient;
                        row_codes = row_codes.add(1);
                    }
                } else {
                    for (feature, start) in features.iter().zip(starts) {
                        *sums.add(*start as usize + usize::from(*row_codes.add(*feature))) += gradient;
                    }
                }
            }
        }
    }
}

/// Hints that the cache line at this address will soon be read.
#[inline(always)]
fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is only a hint to the processor, so any address is allowed.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trees::features::{ALL, TreeFeature};

    #[test]
    fn sums_of_packed_numbers_are_the_sums_of_the_gradients_and_curvatures() {
        let gradients: Vec<f32> = (0..1000u16).map(|row| (f32::from(row) * 0.37).sin()).collect();
        let curvatures: Vec<f32> = gradients.iter().map(|gradient| 1e-4 + gradient * gradient).collect();
        let mut packed = Packed::default();
        packed.pack(&gradients, &curvatures, 1);
        let rows: Vec<u32> = (0..1000).filter(|row| row % 3 != 1).collect();
        let sums = packed.unpack(packed.sum(&rows));
        let sum = |values: &[f32]| rows.iter().map(|row| f64::from(values[*row as usize])).sum::<f64>();
        assert!((sums.gradient - sum(&gradients)).abs() < 1e-4, "{sums:?}");
        assert!((sums.curvature - sum(&curvatures)).abs() < 1e-4, "{sums:?}");
    }

    #[test]
    fn packed_numbers_are_rounded_to_the_nearest_integer_and_ties_to_even() {
        let mut packed = Packed::default();
        // The absolute gradients and the curvatures both sum to 4, so the scale is (2³¹ − 1 − 5) / 4 = 536 870 910.5. The product of the gradient 1
        // and this scale lies exactly between two integers.
        packed.pack(&[-1.5, 1.0, 0.5, 0.25, -0.75], &[1.5, 1.0, 0.5, 0.25, 0.75], 1);
        let scale = (f64::from(i32::MAX) - 5.0) / 4.0;
        for (packed, gradient) in packed.rows.iter().zip([-1.5, 1.0, 0.5, 0.25, -0.75]) {
            let rounded = |number: f64| (number * scale).round_ties_even() as i64;
            assert_eq!(*packed, (rounded(gradient) << 32) + rounded(gradient.abs()));
        }
    }

    #[test]
    fn sums_of_a_histogram_are_exact_with_several_threads_and_after_subtraction() {
        let count = 20_000;
        let gradients: Vec<f32> = (0..count).map(|row| (row as f32 * 0.37).sin()).collect();
        let curvatures = vec![0.25; count];
        let (mut packed, mut packed_by_two) = (Packed::default(), Packed::default());
        packed.pack(&gradients, &curvatures, 1);
        packed_by_two.pack(&gradients, &curvatures, 2);
        assert_eq!(packed.rows, packed_by_two.rows);
        let number = TreeFeature { column: 0, knots: ALL, is_level: false, values: Vec::new() };
        let (mut codes, mut codings) = (Codes::zeros(count, 3), Vec::new());
        for feature in 0..3 {
            let values: Vec<f32> = (0..count).map(|row| ((row * (feature + 7)) % (40 - feature)) as f32).collect();
            codings.push(Coding::new(&number, values.clone(), 40));
            let column: Vec<u8> = values.iter().map(|value| codings[feature].code(*value)).collect();
            codes.set(&[feature], &[&column]);
        }
        let all: Vec<u32> = (0..count as u32).collect();
        let (left, right): (Vec<u32>, Vec<u32>) = all.iter().partition(|row| *row % 7 < 2);
        for features in [vec![0, 1, 2], vec![0, 2]] {
            let layout = HistogramLayout::new(features, &codings);
            let filled = |rows: &[u32], threads: usize| {
                let mut histogram = GradientHistogram::default();
                histogram.fill(&layout, rows, &packed, &codes, threads);
                histogram
            };
            let mut whole = filled(&all, 1);
            assert_eq!(whole.sums, filled(&all, 3).sums);
            assert_eq!(whole.total(&layout), Some(packed.sum(&all)));
            whole.subtract(&filled(&left, 1));
            assert_eq!(whole.sums, filled(&right, 2).sums);
            let last = layout.features.len() - 1;
            let rows = (0..count).filter(|row| row % 7 >= 2 && (row * 9) % 38 == 5);
            let expected: i64 = rows.map(|row| packed.rows[row]).sum();
            assert_eq!(whole.feature(&layout, last)[5], expected);
        }
    }
}
