//! Sums of gradients and curvatures over the rows of a leaf, for each code of each feature.
//!
//! Gradient and curvature of a row are rounded to integers and packed into one 64-bit number, so that one addition sums both:
//!
//! ```text
//! packed = round(g · scale of g) · 2³² + round(h · scale of h)
//! ```
//!
//! The scales are as large as possible without an overflow of the sums over all rows. Sums of integers are exact, so they do not depend on the
//! order of the rows or on the number of threads, and the histogram of a leaf is exactly that of its parent minus that of its sibling.

use rayon::prelude::*;

use super::codes::Codes;

/// Number of rows from which on several threads share the work of one histogram.
const PARALLEL_ROWS: usize = 8192;
/// Number of bytes of histograms that are filled at the same time. They should fit into the first-level cache.
const CACHE_BYTES: usize = 32 * 1024;

/// Gradients and curvatures of rows as packed integers.
#[derive(Clone, Debug, Default)]
pub(super) struct Packed {
    pub rows: Vec<i64>,
    gradient_unit: f64,
    curvature_unit: f64,
}

/// Sums over rows: of gradients, and of curvatures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sums {
    pub gradient: f64,
    pub curvature: f64,
}

impl Packed {
    /// Packs the gradients and curvatures of rows. Curvatures must not be negative.
    pub fn pack(&mut self, gradients: &[f32], curvatures: &[f32]) {
        let sum = |values: &[f32]| values.iter().map(|value| f64::from(value.abs())).sum::<f64>().max(1e-300);
        // Rounding adds at most ½ to each row.
        let room = f64::from(i32::MAX) - gradients.len() as f64;
        let (gradient_scale, curvature_scale) = (room / sum(gradients), room / sum(curvatures));
        (self.gradient_unit, self.curvature_unit) = (1.0 / gradient_scale, 1.0 / curvature_scale);
        self.rows.clear();
        self.rows.extend(gradients.iter().zip(curvatures).map(|(gradient, curvature)| {
            let gradient = (f64::from(*gradient) * gradient_scale).round_ties_even() as i64;
            let curvature = (f64::from(*curvature) * curvature_scale).round_ties_even() as i64;
            (gradient << 32) + curvature
        }));
    }

    /// The sums of gradients and curvatures in a sum of packed numbers.
    #[inline(always)]
    pub fn unpack(&self, sum: i64) -> Sums {
        let curvature = sum & 0xffff_ffff;
        let gradient = (sum - curvature) >> 32;
        Sums { gradient: gradient as f64 * self.gradient_unit, curvature: curvature as f64 * self.curvature_unit }
    }

    /// Sum over rows of the packed numbers.
    pub fn sum(&self, rows: &[u32]) -> i64 {
        rows.iter().map(|row| self.rows[*row as usize]).sum()
    }
}

/// The sums of packed numbers for every code of some features. Every feature has room for the same number of codes.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    /// Room for the codes of a feature.
    pub width: usize,
    sums: Vec<i64>,
}

impl Histogram {
    /// A histogram of zeros.
    pub fn zeros(features: usize, width: usize) -> Self {
        Histogram { width, sums: vec![0; features * width] }
    }

    /// The sums of the feature at this place of the list of features with which the histogram was filled.
    pub fn feature(&self, place: usize) -> &[i64] {
        &self.sums[place * self.width..][..self.width]
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.sums.len() / self.width
    }

    /// Replaces the sums by those of the given rows, for the given features.
    ///
    /// # Panics
    /// If a code is not below the width of the histogram, or if a row has no gradient or no codes.
    pub fn fill(&mut self, rows: &[u32], features: &[usize], packed: &Packed, codes: &Codes, threads: usize) {
        self.sums.fill(0);
        if threads > 1 && rows.len() >= PARALLEL_ROWS {
            let (width, length) = (self.width, self.sums.len());
            let parts: Vec<Vec<i64>> = rows
                .par_chunks(rows.len().div_ceil(threads))
                .map(|rows| {
                    let mut sums = vec![0; length];
                    add(&mut sums, width, rows, features, packed, codes);
                    sums
                })
                .collect();
            for part in parts {
                self.sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            }
        } else {
            add(&mut self.sums, self.width, rows, features, packed, codes);
        }
    }

    /// Replaces the sums of a leaf by those of its child, given those of the other child.
    pub fn subtract(&mut self, other: &Histogram) {
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, other)| *sum -= other);
    }
}

/// Adds the packed numbers of rows to the sums.
fn add(sums: &mut [i64], width: usize, rows: &[u32], features: &[usize], packed: &Packed, codes: &Codes) {
    let stride = codes.features;
    assert!(sums.len() == features.len() * width && usize::from(codes.greatest) < width);
    assert!(features.iter().all(|feature| *feature < stride), "feature without codes");
    let count = packed.rows.len().min(codes.all().len() / stride.max(1));
    assert!(rows.iter().all(|row| (*row as usize) < count), "row without gradient or codes");
    let block = (CACHE_BYTES / (8 * width)).max(1);
    let (packed, all) = (packed.rows.as_ptr(), codes.all().as_ptr());
    for (features, sums) in features.chunks(block).zip(sums.chunks_mut(block * width)) {
        for row in rows {
            let row = *row as usize;
            // SAFETY: as checked above, all rows have a gradient and all features have codes, which are below the width of the histogram, so
            // each index is within the room of its feature.
            unsafe {
                let gradient = *packed.add(row);
                let row_codes = all.add(row * stride);
                let mut room = sums.as_mut_ptr();
                for feature in features {
                    *room.add(usize::from(*row_codes.add(*feature))) += gradient;
                    room = room.add(width);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_packed_numbers_are_those_of_the_rows() {
        let gradients: Vec<f32> = (0..1000u16).map(|row| (f32::from(row) * 0.37).sin()).collect();
        let curvatures: Vec<f32> = gradients.iter().map(|gradient| 1e-4 + gradient * gradient).collect();
        let mut packed = Packed::default();
        packed.pack(&gradients, &curvatures);
        let rows: Vec<u32> = (0..1000).filter(|row| row % 3 != 1).collect();
        let sums = packed.unpack(packed.sum(&rows));
        let sum = |values: &[f32]| rows.iter().map(|row| f64::from(values[*row as usize])).sum::<f64>();
        assert!((sums.gradient - sum(&gradients)).abs() < 1e-4, "{sums:?}");
        assert!((sums.curvature - sum(&curvatures)).abs() < 1e-4, "{sums:?}");
    }

    #[test]
    fn a_histogram_is_the_same_for_any_number_of_threads_and_by_subtraction() {
        let count = 20_000;
        let gradients: Vec<f32> = (0..count).map(|row| (row as f32 * 0.37).sin()).collect();
        let curvatures = vec![0.25; count];
        let mut packed = Packed::default();
        packed.pack(&gradients, &curvatures);
        let mut codes = Codes::zeros(count, 3);
        for feature in 0..3 {
            codes.set(feature, (0..count).map(|row| ((row * (feature + 7)) % 40) as u8));
        }
        let all: Vec<u32> = (0..count as u32).collect();
        let (left, right): (Vec<u32>, Vec<u32>) = all.iter().partition(|row| *row % 7 < 2);
        let filled = |rows: &[u32], threads: usize| {
            let mut histogram = Histogram::zeros(3, 40);
            histogram.fill(rows, &[0, 1, 2], &packed, &codes, threads);
            histogram
        };
        let mut whole = filled(&all, 1);
        assert_eq!(whole.sums, filled(&all, 3).sums);
        whole.subtract(&filled(&left, 1));
        assert_eq!(whole.sums, filled(&right, 2).sums);
    }
}
