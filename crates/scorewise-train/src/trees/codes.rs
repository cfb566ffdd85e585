//! Turns the values of the features into small integers (codes, often called bins), by which histograms are indexed.
//!
//! The range of a feature is divided into at most 256 intervals (255 if values are missing) with about the same number of training rows. A
//! split lies between two intervals, so rows with the same code always go to the same side.

use crate::trees::features::TreeFeature;

/// Maximum number of codes (bins) of a feature, including the code for missing values.
pub(super) const MAX_CODES: usize = 256;

/// How the values of one feature are turned into codes, which are small integers.
#[derive(Clone, Debug)]
pub(super) struct Coding {
    /// Upper ends of all intervals but the last, in ascending order. A value belongs to the first interval whose end is not below the value. Empty if
    /// the codes are levels.
    ends: Vec<f32>,
    /// Whether code 0 stands for missing values, so that the intervals are coded from 1 on.
    pub has_missing: bool,
    pub is_level: bool,
    /// Number of codes.
    pub codes: usize,
}

impl Coding {
    /// The coding of a feature with at most `max` codes. `values` are the values of the feature in the training rows.
    pub fn new(feature: &TreeFeature, mut values: Vec<f32>, max: usize) -> Self {
        if feature.is_level {
            return Coding { ends: Vec::new(), has_missing: false, is_level: true, codes: feature.values.len() };
        }
        let count = values.len();
        values.retain(|value| !value.is_nan());
        let has_missing = values.len() < count;
        values.sort_unstable_by(f32::total_cmp);
        let ends = ends(&values, max.min(MAX_CODES) - usize::from(has_missing));
        Coding { codes: ends.len() + 1 + usize::from(has_missing), ends, has_missing, is_level: false }
    }

    /// The code of a value.
    pub fn code(&self, value: f32) -> u8 {
        if self.is_level {
            return value as u8;
        }
        if value.is_nan() {
            return 0;
        }
        (self.ends.partition_point(|end| value > *end) + usize::from(self.has_missing)) as u8
    }

    /// The code of each of the given values.
    pub fn codes_of(&self, values: &[f32]) -> Vec<u8> {
        values.iter().map(|value| self.code(*value)).collect()
    }

    /// The threshold of a split between the given code and the next greater code. Values up to the threshold have at most the given code. If the
    /// codes are levels, returns the level that has the given code.
    pub fn threshold(&self, code: usize) -> f32 {
        if self.is_level { code as f32 } else { self.ends[code - usize::from(self.has_missing)] }
    }
}

/// Divides sorted values into at most `max` intervals, and returns the upper ends of all intervals but the last. If at most `max` values are
/// distinct, each distinct value has an interval of its own; otherwise all intervals have about the same number of values. An end lies halfway
/// between two values.
fn ends(sorted: &[f32], max: usize) -> Vec<f32> {
    let mut distinct: Vec<(f32, usize)> = Vec::new();
    for value in sorted {
        match distinct.last_mut() {
            Some((last, count)) if last == value => *count += 1,
            _ => distinct.push((*value, 1)),
        }
    }
    let (mut ends, mut count, mut left) = (Vec::new(), 0, sorted.len());
    let is_few = distinct.len() <= max;
    for (index, (value, rows)) in distinct.iter().enumerate() {
        let Some((next, next_rows)) = distinct.get(index + 1) else { break };
        count += rows;
        // The number of rows of an interval if the remaining rows are divided equally among the remaining intervals. An interval ends where its
        // number of rows is nearest to this number.
        let target = left as f64 / (max - ends.len()) as f64;
        if is_few || (ends.len() + 1 < max && count as f64 + 0.5 * *next_rows as f64 > target) {
            let middle = value + 0.5 * (next - value);
            ends.push(if middle < *next { middle } else { *value });
            left -= count;
            count = 0;
        }
    }
    ends
}

/// The codes of all features of all rows, stored row by row, so that one pass over the rows fills the histograms of all features.
#[derive(Clone, Debug, Default)]
pub(super) struct Codes {
    pub features: usize,
    /// The greatest code of each feature.
    greatest: Vec<u8>,
    codes: Vec<u8>,
}

impl Codes {
    /// The codes of this number of rows and features, all of them 0.
    pub fn zeros(rows: usize, features: usize) -> Self {
        Codes { features, greatest: vec![0; features], codes: vec![0; rows * features] }
    }

    /// The codes of all rows, row by row.
    pub fn all(&self) -> &[u8] {
        &self.codes
    }

    /// The greatest code that a feature has had in any row.
    pub fn greatest(&self, feature: usize) -> u8 {
        self.greatest[feature]
    }

    /// Replaces the codes of some features in all rows. `columns` holds one list for each of these features, with a code for each row. All features
    /// are written in one pass over the rows.
    pub fn set(&mut self, features: &[usize], columns: &[&[u8]]) {
        for (feature, column) in features.iter().zip(columns) {
            self.greatest[*feature] = self.greatest[*feature].max(column.iter().copied().max().unwrap_or(0));
        }
        if features.is_empty() {
            return;
        }
        for (row, codes) in self.codes.chunks_exact_mut(self.features).enumerate() {
            for (feature, column) in features.iter().zip(columns) {
                codes[*feature] = column[row];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A feature that is a numeric column.
    fn numeric_feature() -> TreeFeature {
        TreeFeature { column: 0, knots: super::super::features::ALL, is_level: false, values: Vec::new() }
    }

    #[test]
    fn each_of_a_few_values_has_its_own_code_and_thresholds_lie_between_the_values() {
        let coding = Coding::new(&numeric_feature(), vec![3.0, 1.0, 2.0, 2.0, f32::NAN], 255);
        assert_eq!((coding.codes, coding.has_missing), (4, true));
        assert_eq!([f32::NAN, 0.0, 1.0, 1.6, 2.0, 9.0].map(|value| coding.code(value)), [0, 1, 1, 2, 2, 3]);
        assert_eq!([1, 2].map(|code| coding.threshold(code)), [1.5, 2.5]);
    }

    #[test]
    fn many_values_are_divided_into_codes_with_about_the_same_number_of_rows() {
        let values: Vec<f32> = (0..10_000u16).map(|row| f32::from(row % 5000)).collect();
        let coding = Coding::new(&numeric_feature(), values.clone(), 100);
        assert_eq!(coding.codes, 100);
        let mut counts = [0; 100];
        values.iter().for_each(|value| counts[usize::from(coding.code(*value))] += 1);
        assert!(counts.iter().all(|count| (90..=110).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_frequent_value_has_a_code_of_its_own_and_codes_agree_with_thresholds() {
        let values: Vec<f32> = (0..2000u16).map(|row| if row < 1200 { 0.0 } else { f32::from(row) / 7.0 }).collect();
        let coding = Coding::new(&numeric_feature(), values.clone(), 20);
        assert!(coding.codes <= 20 && coding.code(0.0) == 0 && coding.code(1e-3) <= 1);
        for code in 0..coding.codes - 1 {
            let threshold = coding.threshold(code);
            assert!(values.iter().all(|value| (*value <= threshold) == (usize::from(coding.code(*value)) <= code)));
        }
    }
}
