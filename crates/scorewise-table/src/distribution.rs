//! The distribution of a column: the number of rows in each of a few bins. It is stored for the training rows, and later tables are compared with it.
//!
//! Bins of numbers end at quantiles of the training rows, so that all bins have about the same number of training rows unless many numbers are
//! equal. Strings and booleans are counted by value; rare values share one bin. Missing values have a bin of their own. Times are not compared: the
//! times of later rows are later, and the user needs no message about that.

use std::collections::{BTreeMap, HashMap, HashSet};

use scorewise::{population_stability_index, stability_by_chance, stability_contributions};
use serde::{Deserialize, Serialize};

use crate::groups::number_text;
use crate::table::{Category, Column, Values};

/// Maximum number of bins of a column of numbers. The bins end at quantiles.
const QUANTILE_BINS: usize = 10;
/// Number of frequent levels that have a bin of their own when the stability index is computed; all other levels share one bin.
const LEVEL_BINS: usize = 9;
/// Maximum number of levels that are stored. If a column has more, new levels cannot be told from rare ones.
const MAX_LEVELS: usize = 256;

/// The distribution of the values of a column over some rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnDistribution {
    /// The name of the column.
    pub column: String,
    /// The number of rows whose value is missing.
    pub missing: u64,
    /// The counts of the rows that have a value.
    pub values: ValueCounts,
}

/// How many rows have each value, or a value in each bin. Rows with a missing value are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum ValueCounts {
    /// Numbers, counted in bins.
    Numbers(NumberCounts),
    /// Strings and booleans, counted by value.
    Levels(LevelRows),
    /// Times. Only the number of rows that have a time is stored.
    Times(u64),
}

/// How many rows of a column have a number in each bin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberCounts {
    /// The upper ends of all bins but the last, in increasing order. A bin contains its upper end; the last bin contains all greater numbers.
    pub ends: Vec<f64>,
    /// The number of rows in each bin.
    pub counts: Vec<u64>,
}

/// How many rows have each of the most frequent levels, and how many have any other level.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelRows {
    /// The most frequent levels, beginning with the most frequent one.
    pub levels: Vec<String>,
    /// The number of rows of each of `levels`.
    pub counts: Vec<u64>,
    /// The number of rows with all other levels; 0 if `levels` lists all levels.
    pub rest: u64,
}

/// How the values of a column in later rows differ from those of the training rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Shift {
    /// The population stability index; `None` for a column of times, and if there are no training rows or no later rows.
    pub psi: Option<f64>,
    /// The population stability index that two samples of the same distribution exceed with the probability given by the caller. `None` if `psi` is
    /// `None`.
    pub chance: Option<f64>,
    /// The bin that contributes most to `psi`; `None` if no bin contributes anything.
    pub change: Option<BinChange>,
    /// The shares of missing values in the training rows and in the later rows; `None` where there are no rows.
    pub missing: [Option<f64>; 2],
    /// The levels that no training row has, with their numbers of later rows, the most frequent one first. `None` if the column has no levels, or
    /// so many that new ones cannot be told from rare ones.
    pub unseen: Option<Vec<(String, u64)>>,
}

/// The share of the training rows and the share of the later rows that are in one bin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BinChange {
    /// The bin in words, such as `above 12.5`, `Male` or `missing`.
    pub bin: String,
    /// The share of the training rows that are in the bin.
    pub then: f64,
    /// The share of the later rows that are in the bin.
    pub now: f64,
}

impl ColumnDistribution {
    /// The distribution of a column over the given rows.
    ///
    /// ```
    /// use scorewise_table::distribution::{ColumnDistribution, ValueCounts};
    /// use scorewise_table::table::{Column, Values};
    ///
    /// let column = Column { name: "bz".into(), values: Values::Number((0..40).map(f64::from).chain([f64::NAN]).collect()) };
    /// let rows: Vec<u32> = (0..41).collect();
    /// let distribution = ColumnDistribution::new(&column, &rows);
    /// assert_eq!(distribution.missing, 1);
    /// let ValueCounts::Numbers(numbers) = &distribution.values else { panic!() };
    /// assert_eq!(numbers.ends, [3.0, 7.0, 11.0, 15.0, 19.0, 23.0, 27.0, 31.0, 35.0]);
    /// assert_eq!(numbers.counts, [4; 10]);
    /// // The same rows do not shift the distribution. Rows with values greater by 20 do.
    /// assert_eq!(distribution.compare(&column, 0.05).psi, Some(0.0));
    /// let later = Column { name: "bz".into(), values: Values::Number((20..60).map(f64::from).collect()) };
    /// let shift = distribution.compare(&later, 0.05);
    /// assert!(shift.psi > shift.chance);
    /// assert_eq!(shift.change.unwrap().bin, "above 35");
    /// ```
    #[must_use]
    pub fn new(column: &Column, rows: &[u32]) -> Self {
        let missing = rows.iter().filter(|row| column.values.is_missing(**row as usize)).count() as u64;
        let values = match &column.values {
            Values::Number(numbers) => {
                let numbers: Vec<f64> = rows.iter().map(|row| numbers[*row as usize]).collect();
                ValueCounts::Numbers(NumberCounts::between_quantiles(&numbers))
            }
            Values::Category(_) | Values::Boolean(_) => {
                ValueCounts::Levels(LevelRows::new(rows_of_levels(&column.values, rows.iter().copied())))
            }
            Values::Time(_) => ValueCounts::Times(rows.len() as u64 - missing),
        };
        ColumnDistribution { column: column.name.clone(), missing, values }
    }

    /// The number of rows that were counted.
    #[must_use]
    pub fn rows(&self) -> u64 {
        let sum = |counts: &[u64]| counts.iter().fold(0u64, |sum, count| sum.saturating_add(*count));
        let present = match &self.values {
            ValueCounts::Numbers(numbers) => sum(&numbers.counts),
            ValueCounts::Levels(levels) => sum(&levels.counts).saturating_add(levels.rest),
            ValueCounts::Times(count) => *count,
        };
        present.saturating_add(self.missing)
    }

    /// Compares these rows with all rows of a column of a later table. `probability` is the probability that the stability index of two samples
    /// of the same distribution exceeds [`Shift::chance`].
    #[must_use]
    pub fn compare(&self, column: &Column, probability: f64) -> Shift {
        let rows = column.values.len() as u64;
        let missing = (0..column.values.len()).filter(|row| column.values.is_missing(*row)).count() as u64;
        let (bins, then, now, unseen) = match &self.values {
            ValueCounts::Numbers(numbers) => {
                let values: Vec<f64> = (0..column.values.len()).map(|row| number_at(&column.values, row)).collect();
                (numbers.names(), numbers.counts.clone(), numbers.count(&values), None)
            }
            ValueCounts::Levels(levels) => {
                let later = rows_of_levels(&column.values, 0..rows as u32);
                let (bins, then, now) = levels.bins(&later);
                (bins, then, now, levels.unseen(later))
            }
            ValueCounts::Times(_) => (Vec::new(), Vec::new(), Vec::new(), None),
        };
        let share = |count: u64, rows: u64| (rows > 0).then(|| count as f64 / rows as f64);
        let missing_shares = [share(self.missing, self.rows()), share(missing, rows)];
        let empty = Shift { psi: None, chance: None, change: None, missing: missing_shares, unseen: unseen.clone() };
        if bins.is_empty() {
            return empty;
        }
        let (mut bins, mut counts) = (bins, [then, now]);
        bins.push("missing".into());
        counts[0].push(self.missing);
        counts[1].push(missing);
        Shift { missing: missing_shares, unseen, ..compare_counts(&bins, &counts, probability).unwrap_or(empty) }
    }

    /// Checks that the counts fit the bins. The error says what is wrong.
    pub fn check(&self) -> Result<(), String> {
        let problem = match &self.values {
            ValueCounts::Numbers(numbers) => return numbers.check(),
            ValueCounts::Levels(levels) if levels.levels.len() != levels.counts.len() => {
                format!("there are {} counts for {} levels", levels.counts.len(), levels.levels.len())
            }
            ValueCounts::Levels(levels) if levels.levels.len() > MAX_LEVELS => {
                format!("there are {} levels; at most {MAX_LEVELS} are allowed", levels.levels.len())
            }
            ValueCounts::Levels(levels) => {
                let distinct: HashSet<&String> = levels.levels.iter().collect();
                match distinct.len() == levels.levels.len() {
                    true => return Ok(()),
                    false => "a level is listed twice".into(),
                }
            }
            ValueCounts::Times(_) => return Ok(()),
        };
        Err(problem)
    }
}

/// The number in a row of a column; NaN if it is missing or no number.
fn number_at(values: &Values, row: usize) -> f64 {
    match values {
        Values::Number(numbers) => numbers[row],
        Values::Boolean(values) => values[row].map_or(f64::NAN, |yes| f64::from(u8::from(yes))),
        Values::Category(_) => values.text(row).trim().parse().unwrap_or(f64::NAN),
        Values::Time(_) => f64::NAN,
    }
}

/// The number of rows of each level of a column, among the given rows.
fn rows_of_levels(values: &Values, rows: impl Iterator<Item = u32>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    if let Values::Category(Category { codes, levels }) = values {
        let mut of_codes: HashMap<u32, u64> = HashMap::new();
        rows.for_each(|row| *of_codes.entry(codes[row as usize]).or_default() += 1);
        for (code, count) in of_codes {
            if let Some(level) = levels.get(code as usize) {
                *counts.entry(level.clone()).or_default() += count;
            }
        }
        return counts;
    }
    for row in rows.map(|row| row as usize).filter(|row| !values.is_missing(*row)) {
        *counts.entry(values.text(row)).or_default() += 1;
    }
    counts
}

/// Compares the two lists `counts`: the number of training rows and the number of later rows in each bin. `None` if the sum of a list is 0.
fn compare_counts(bins: &[String], counts: &[Vec<u64>; 2], probability: f64) -> Option<Shift> {
    let [then, now] = counts;
    let contributions = stability_contributions(then, now)?;
    let rows = [then, now].map(|counts| counts.iter().sum::<u64>());
    let used = (0..bins.len()).filter(|bin| then[*bin] + now[*bin] > 0).count();
    // If several bins contribute equally, the first of them is reported.
    let greatest = (0..bins.len()).rev().max_by(|a, b| contributions[*a].total_cmp(&contributions[*b]));
    let change = greatest.filter(|bin| contributions[*bin] > 0.0).map(|bin| BinChange {
        bin: bins[bin].clone(),
        then: then[bin] as f64 / rows[0] as f64,
        now: now[bin] as f64 / rows[1] as f64,
    });
    Some(Shift {
        psi: population_stability_index(then, now),
        chance: Some(stability_by_chance(rows, used, probability)),
        change,
        missing: [None; 2],
        unseen: None,
    })
}

impl NumberCounts {
    /// Counts numbers in bins that end at the deciles of the numbers. Equal deciles give a single end. NaN is not counted.
    #[must_use]
    pub fn between_quantiles(numbers: &[f64]) -> Self {
        let mut sorted: Vec<f64> = numbers.iter().map(|x| x + 0.0).filter(|x| x.is_finite()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        // Bin `part`, counted from 1, ends at the smallest number for which at least `part` tenths of all numbers are at or below it.
        let position = |part: usize| (part * sorted.len()).div_ceil(QUANTILE_BINS).checked_sub(1);
        let mut ends: Vec<f64> = (1..QUANTILE_BINS).filter_map(position).map(|position| sorted[position]).collect();
        ends.dedup();
        // If the last end is the greatest finite number, the bin above it holds no finite number. The end is then removed, unless it is the only end.
        if ends.len() > 1 && ends.last() == sorted.last() {
            ends.pop();
        }
        let empty = NumberCounts { ends, counts: Vec::new() };
        NumberCounts { counts: empty.count(numbers), ..empty }
    }

    /// Counts numbers in these bins. NaN is not counted.
    #[must_use]
    pub fn count(&self, numbers: &[f64]) -> Vec<u64> {
        let mut counts = vec![0; self.ends.len() + 1];
        for number in numbers.iter().filter(|number| !number.is_nan()) {
            counts[self.ends.partition_point(|end| end < number)] += 1;
        }
        counts
    }

    /// Compares these numbers with later numbers. `probability` is the probability that the stability index of two samples of the same distribution
    /// exceeds [`Shift::chance`].
    #[must_use]
    pub fn compare(&self, numbers: &[f64], probability: f64) -> Option<Shift> {
        compare_counts(&self.names(), &[self.counts.clone(), self.count(numbers)], probability)
    }

    /// A text for each bin, such as `above 12.5`.
    fn names(&self) -> Vec<String> {
        let end = |bin: usize| number_text(rounded(self.ends[bin]));
        let name = |bin: usize| match bin {
            _ if self.ends.is_empty() => "all numbers".into(),
            0 => format!("up to {}", end(0)),
            last if last == self.ends.len() => format!("above {}", end(last - 1)),
            bin => format!("above {} and up to {}", end(bin - 1), end(bin)),
        };
        (0..=self.ends.len()).map(name).collect()
    }

    /// Checks that the ends of the bins are finite and ascending and that there is one count for each bin. The error says what is wrong.
    pub fn check(&self) -> Result<(), String> {
        if self.ends.len() >= QUANTILE_BINS || self.counts.len() != self.ends.len() + 1 {
            return Err(format!(
                "there are {} counts and {} ends of bins; there must be one count more than ends, and at most {QUANTILE_BINS} counts",
                self.counts.len(),
                self.ends.len()
            ));
        }
        match self.ends.iter().all(|end| end.is_finite()) && self.ends.is_sorted_by(|a, b| a < b) {
            true => Ok(()),
            false => Err("the ends of the bins are not finite numbers in ascending order".into()),
        }
    }
}

/// A number rounded to six significant digits, for the name of a bin.
fn rounded(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

impl LevelRows {
    /// Keeps the most frequent levels, and counts the rows of all others together. Levels with equal counts are in alphabetical order.
    fn new(rows_of_levels: BTreeMap<String, u64>) -> Self {
        let mut levels: Vec<(String, u64)> = rows_of_levels.into_iter().collect();
        levels.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let rest = levels.split_off(levels.len().min(MAX_LEVELS)).into_iter().map(|(_, count)| count).sum();
        let (levels, counts) = levels.into_iter().unzip();
        LevelRows { levels, counts, rest }
    }

    /// Three lists with one entry for each bin: its name, the number of training rows in it and the number of later rows in it.
    fn bins(&self, later: &BTreeMap<String, u64>) -> (Vec<String>, Vec<u64>, Vec<u64>) {
        let frequent = self.levels.len().min(LEVEL_BINS);
        let mut bins: Vec<String> =
            self.levels[..frequent].iter().map(|level| format!("`{}`", level.escape_debug())).collect();
        let mut then = self.counts[..frequent].to_vec();
        let mut now: Vec<u64> =
            self.levels[..frequent].iter().map(|level| later.get(level).copied().unwrap_or(0)).collect();
        bins.push("other values".into());
        then.push(self.counts[frequent..].iter().sum::<u64>() + self.rest);
        now.push(later.values().sum::<u64>() - now.iter().sum::<u64>());
        (bins, then, now)
    }

    /// The levels that are not among those of the training rows, with their numbers of rows; `None` if not all levels of the training rows are known.
    fn unseen(&self, later: BTreeMap<String, u64>) -> Option<Vec<(String, u64)>> {
        if self.rest > 0 {
            return None;
        }
        let known: HashSet<&String> = self.levels.iter().collect();
        let mut unseen: Vec<(String, u64)> = later.into_iter().filter(|(level, _)| !known.contains(level)).collect();
        unseen.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Some(unseen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string_column(texts: &[&str]) -> Column {
        let mut category = Category::default();
        for text in texts {
            let code = category.levels.iter().position(|level| level == text).unwrap_or_else(|| {
                category.levels.push((*text).into());
                category.levels.len() - 1
            });
            category.codes.push(if text.is_empty() { Category::MISSING } else { code as u32 });
        }
        Column { name: "colour".into(), values: Values::Category(category) }
    }

    fn all_rows(column: &Column) -> Vec<u32> {
        (0..column.values.len() as u32).collect()
    }

    #[test]
    fn the_stability_index_of_a_column_of_strings_matches_a_hand_calculation() {
        // Of 10 training rows, 4 are red, 4 are blue and 2 are missing. Of 4 later rows, 1 is red, 2 are blue and 1 is green. Half a row is
        // counted for an empty bin: for green in the training rows and for missing in the later rows.
        let then = string_column(&["red", "red", "red", "red", "blue", "blue", "blue", "blue", "", ""]);
        let distribution = ColumnDistribution::new(&then, &all_rows(&then));
        let shift = distribution.compare(&string_column(&["red", "blue", "blue", "green"]), 0.05);
        let term = |p: f64, q: f64| (q - p) * (q / p).ln();
        let expected = term(0.4, 0.25) + term(0.4, 0.5) + term(0.2, 0.125) + term(0.05, 0.25);
        assert!((shift.psi.unwrap() - expected).abs() < 1e-15, "{:?}", shift.psi);
        assert_eq!(shift.unseen, Some(vec![("green".into(), 1)]));
        assert_eq!(shift.missing, [Some(0.2), Some(0.0)]);
        assert_eq!(shift.change, Some(BinChange { bin: "other values".into(), then: 0.0, now: 0.25 }));
    }

    #[test]
    fn numbers_with_many_equal_values_have_fewer_bins() {
        let bins = NumberCounts::between_quantiles(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, f64::NAN]);
        assert_eq!((bins.ends.as_slice(), bins.counts.as_slice()), ([0.0, 1.0].as_slice(), [8, 1, 1].as_slice()));
        let constant = NumberCounts::between_quantiles(&[5.0; 20]);
        assert_eq!((constant.ends.as_slice(), constant.counts.as_slice()), ([5.0].as_slice(), [20, 0].as_slice()));
        let empty = NumberCounts::between_quantiles(&[f64::NAN]);
        assert_eq!((empty.ends.len(), empty.counts.as_slice()), (0, [0].as_slice()));
        assert!([bins, constant, empty].iter().all(|counts| counts.check().is_ok()));
    }

    #[test]
    fn a_column_with_very_many_levels_keeps_the_frequent_ones_and_cannot_name_new_ones() {
        let texts: Vec<String> = (0..400).map(|row| format!("level {}", row % 300)).collect();
        let column = string_column(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        let distribution = ColumnDistribution::new(&column, &all_rows(&column));
        let ValueCounts::Levels(counts) = &distribution.values else { panic!() };
        assert_eq!((counts.levels.len(), counts.counts[0], counts.rest), (256, 2, 44));
        assert_eq!(distribution.rows(), 400);
        assert_eq!(distribution.compare(&string_column(&["new"]), 0.05).unseen, None);
    }

    #[test]
    fn a_column_of_times_has_no_stability_index() {
        let column = Column { name: "day".into(), values: Values::Time(vec![0, 86_400, Values::NO_TIME]) };
        let shift = ColumnDistribution::new(&column, &[0, 1, 2]).compare(&column, 0.05);
        assert_eq!((shift.psi, shift.unseen, shift.missing), (None, None, [Some(1.0 / 3.0); 2]));
    }

    #[test]
    fn counts_that_do_not_fit_the_bins_are_refused() {
        let with = |values: ValueCounts| ColumnDistribution { column: "x".into(), missing: 0, values }.check();
        let numbers = |ends: &[f64], counts: &[u64]| {
            with(ValueCounts::Numbers(NumberCounts { ends: ends.to_vec(), counts: counts.to_vec() }))
        };
        assert!(numbers(&[1.0, 2.0], &[1, 2, 3]).is_ok());
        assert!(numbers(&[1.0, 2.0], &[1, 2]).is_err() && numbers(&[2.0, 1.0], &[1, 2, 3]).is_err());
        assert!(numbers(&[f64::NAN], &[1, 2]).is_err() && numbers(&[0.0; 10], &[0; 11]).is_err());
        let levels = |levels: &[&str], counts: &[u64]| {
            let levels = levels.iter().map(|level| (*level).to_owned()).collect();
            with(ValueCounts::Levels(LevelRows { levels, counts: counts.to_vec(), rest: 0 }))
        };
        assert!(levels(&["a", "b"], &[1, 2]).is_ok());
        assert!(levels(&["a", "a"], &[1, 2]).is_err() && levels(&["a"], &[1, 2]).is_err());
    }
}
