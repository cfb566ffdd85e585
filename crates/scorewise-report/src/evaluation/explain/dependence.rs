//! Partial dependence: the mean prediction when a column is set to one value in every row.

use std::collections::HashMap;

use rayon::prelude::*;
use scorewise_table::encode::{ColumnEncoding, Cycle, Encoder, TimePart};
use scorewise_table::table::{Category, Column, Table, Values};
use scorewise_train::{Matrix, Result};

use super::rows::SampledRows;
use super::{ClassMeans, GridValue, PartialDependence};

/// The maximum number of values to which a column of numbers is set for its partial dependence.
const MAX_NUMBERS: usize = 20;

/// The maximum number of levels to which a categorical column is set for its partial dependence.
const MAX_LEVELS: usize = 12;

/// Number of days in a year without a leap day.
const YEAR_DAYS: u32 = 365;
/// The partial dependence on the day of the year is computed for days that are this many days apart.
const YEAR_DAY_STEP: usize = 15;

/// The values to which a column is set for its partial dependence, and the features into which they are encoded.
struct ValueGrid {
    part: Option<TimePart>,
    values: Vec<GridValue>,
    encoded: EncodedGrid,
}

/// For partial dependence, a column is set to one value after the other in all rows. This type holds the encoded features of the column for
/// each of these values.
enum EncodedGrid {
    /// For each value, all rows get the same features. The matrix has one row for each value.
    SameInEveryRow(Matrix),
    /// For each value, the rows get different features, because only one part of a time (such as the hour) is set and its other parts differ between
    /// the rows. There is one matrix for each value.
    ByRow(Vec<Matrix>),
}

/// The partial dependence on the column `name`, averaged over the rows `averaged`. The values to which the column is set are values that it has in
/// `rows`; for a column of times they are all hours, all weekdays, or days of the year at equal steps. The result is `None` if the column has only
/// missing values.
pub(super) fn partial_dependence(
    rows: &SampledRows<'_>,
    averaged: &SampledRows<'_>,
    name: &str,
    matrix_columns: &[usize],
) -> Result<Option<PartialDependence>> {
    let encoder = rows.encoder().of_column(name);
    let column = rows.table.required_column(name)?;
    let mut best: Option<(f64, PartialDependence)> = None;
    for grid in grids(column, rows, averaged, &encoder)? {
        let (probability, positive_share) = grid_means(averaged, matrix_columns, &grid)?;
        let range = probability.range();
        let part = grid.part.map(|part| part.name().to_owned());
        let dependence =
            PartialDependence { column: name.into(), part, values: grid.values, probability, positive_share };
        // A column of times has several grids, one for each part of a time (hour, weekday, day of the year). The part that changes the
        // predictions most is shown.
        if best.as_ref().is_none_or(|(other, _)| range > *other) {
            best = Some((range, dependence));
        }
    }
    Ok(best.map(|(_, dependence)| dependence))
}

/// For each value in `grid`, to which the column is set in all rows: the mean probability of each class, and for each class the share of the rows
/// for which the model decides on this class.
fn grid_means(rows: &SampledRows<'_>, matrix_columns: &[usize], grid: &ValueGrid) -> Result<(ClassMeans, ClassMeans)> {
    let positions: Vec<u32> = (0..rows.len() as u32).collect();
    // If all weights are 0, all rows count alike.
    let is_weighted = rows.weights.iter().any(|weight| *weight > 0.0);
    let weight = |row: usize| if is_weighted { rows.weights[row] } else { 1.0 };
    let total: f64 = (0..rows.len()).map(weight).sum();
    let (outputs, classes) = (rows.predictor.outputs(), rows.model.classes.len());
    let means_of_value = |at: usize| -> Result<(Vec<f64>, Vec<f64>)> {
        let probabilities = rows.changed_probabilities(&positions, |row, features| {
            let encoded = match &grid.encoded {
                EncodedGrid::SameInEveryRow(matrix) => matrix.row(at),
                EncodedGrid::ByRow(matrices) => matrices[at].row(row),
            };
            matrix_columns.iter().zip(encoded).for_each(|(column, value)| features[*column] = *value);
        })?;
        let (mut means, mut shares) = (vec![0.0; outputs], vec![0.0; classes]);
        let decisions = rows.predictor.labels(&probabilities);
        let probabilities = rows.model.calibrated(&probabilities);
        for (row, (probabilities, decision)) in probabilities.chunks_exact(outputs).zip(decisions).enumerate() {
            means.iter_mut().zip(probabilities).for_each(|(mean, p)| *mean += weight(row) * p);
            shares[decision as usize] += weight(row);
        }
        // Rounding errors may make a weighted mean of probabilities slightly greater than 1, so it is limited to 1.
        means.iter_mut().chain(&mut shares).for_each(|mean| *mean = (*mean / total).min(1.0));
        Ok((means, shares))
    };
    let means: Vec<(Vec<f64>, Vec<f64>)> =
        (0..grid.values.len()).into_par_iter().map(means_of_value).collect::<Result<_>>()?;
    let (probabilities, shares) = means.into_iter().unzip::<_, _, Vec<Vec<f64>>, Vec<Vec<f64>>>();
    Ok(match outputs {
        1 => {
            let positive = |numbers: Vec<Vec<f64>>| {
                ClassMeans::Positive(numbers.iter().filter_map(|numbers| numbers.last().copied()).collect())
            };
            (positive(probabilities), positive(shares))
        }
        _ => (ClassMeans::Classes(probabilities), ClassMeans::Classes(shares)),
    })
}

impl ClassMeans {
    /// How much the prediction changes with the value to which the column is set: the greatest minus the smallest mean prediction, for the class in
    /// which this difference is largest.
    fn range(&self) -> f64 {
        let range_of = |numbers: &mut dyn Iterator<Item = f64>| {
            let (low, high) =
                numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
            high - low
        };
        match self {
            ClassMeans::Positive(values) => range_of(&mut values.iter().copied()),
            ClassMeans::Classes(values) => (0..values.first().map_or(0, Vec::len))
                .map(|class| range_of(&mut values.iter().map(|numbers| numbers[class])))
                .fold(0.0, f64::max),
        }
    }
}

/// The grids of values to which a column is set. A column of times has one grid for each part of a time (such as the hour) that the encoder
/// uses; any other column has one grid. There is no grid if all values of the column are missing.
fn grids(
    column: &Column,
    rows: &SampledRows<'_>,
    averaged: &SampledRows<'_>,
    encoder: &Encoder,
) -> Result<Vec<ValueGrid>> {
    let encode = |values: Values| -> Result<Matrix> {
        let columns = vec![Column { name: column.name.clone(), values }];
        let table = Table { file: rows.table.file.clone(), columns, ..Table::default() };
        Ok(encoder.encode(&table)?.matrix)
    };
    let coding = encoder.inputs.first().map(|input| &input.coding);
    let (values, probe): (Vec<GridValue>, Values) = match &column.values {
        Values::Time(times) => {
            let mut grids = Vec::new();
            let is_missing = |row: &u32| times[*row as usize] == Values::NO_TIME;
            for part in if averaged.table_rows.iter().all(is_missing) { Vec::new() } else { time_parts(encoder) } {
                let (mut values, mut matrices) = (Vec::new(), Vec::new());
                for value in time_values(part) {
                    let set = |row: &u32| part.set(times[*row as usize], value);
                    matrices.push(encode(Values::Time(averaged.table_rows.iter().map(set).collect()))?);
                    values.push(GridValue::Number(f64::from(value)));
                }
                grids.push(ValueGrid { part: Some(part), values, encoded: EncodedGrid::ByRow(matrices) });
            }
            return Ok(grids);
        }
        Values::Boolean(values) => {
            let occurs = |wanted: bool| rows.table_rows.iter().any(|row| values[*row as usize] == Some(wanted));
            let found: Vec<bool> = [false, true].into_iter().filter(|value| occurs(*value)).collect();
            let texts = found.iter().map(|value| GridValue::Text(value.to_string())).collect();
            (texts, Values::Boolean(found.into_iter().map(Some).collect()))
        }
        Values::Category(Category { codes, levels }) => {
            let codes =
                rows.table_rows.iter().map(|row| codes[*row as usize]).filter(|code| *code != Category::MISSING);
            let mut frequent: Vec<&String> =
                most_frequent(codes).into_iter().filter_map(|code| levels.get(code as usize)).collect();
            if let Some(order) = level_order(coding) {
                frequent.sort_by_key(|level| order.iter().position(|known| known == *level).unwrap_or(order.len()));
            }
            let levels: Vec<String> = frequent.into_iter().cloned().collect();
            let texts = levels.iter().cloned().map(GridValue::Text).collect();
            (texts, Values::Category(Category { codes: (0..levels.len() as u32).collect(), levels }))
        }
        Values::Number(values) => {
            let finite = rows.table_rows.iter().map(|row| values[*row as usize]).filter(|value| value.is_finite());
            let mut sorted: Vec<f64> = finite.map(|value| value + 0.0).collect(); // −0 becomes 0
            sorted.sort_unstable_by(f64::total_cmp);
            let grid = match coding {
                Some(ColumnEncoding::Number { .. } | ColumnEncoding::Knots { .. }) => number_grid(&sorted),
                _ => {
                    let bits = most_frequent(sorted.iter().map(|value| value.to_bits()));
                    let mut grid: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
                    grid.sort_unstable_by(f64::total_cmp);
                    grid
                }
            };
            (grid.iter().copied().map(GridValue::Number).collect(), Values::Number(grid))
        }
    };
    if values.is_empty() {
        return Ok(Vec::new());
    }
    Ok(vec![ValueGrid { part: None, values, encoded: EncodedGrid::SameInEveryRow(encode(probe)?) }])
}

/// The levels of a categorical column in the order of their meaning, such as low, middle, high; `None` if the levels have no such order.
fn level_order(coding: Option<&ColumnEncoding>) -> Option<&[String]> {
    match coding {
        Some(ColumnEncoding::Ordinal { levels, .. } | ColumnEncoding::Levels { levels, ordered: true, .. }) => {
            Some(levels)
        }
        _ => None,
    }
}

/// The most frequent values, at most [`MAX_LEVELS`], in order of frequency. Equally frequent values are in order of first appearance.
fn most_frequent<T: Copy + Eq + std::hash::Hash>(values: impl Iterator<Item = T>) -> Vec<T> {
    let (mut counts, mut index_of): (Vec<(T, usize)>, HashMap<T, usize>) = (Vec::new(), HashMap::new());
    for value in values {
        let index = *index_of.entry(value).or_insert_with(|| {
            counts.push((value, 0));
            counts.len() - 1
        });
        counts[index].1 += 1;
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.into_iter().take(MAX_LEVELS).map(|(value, _)| value).collect()
}

/// At most [`MAX_NUMBERS`] of the values in `sorted`: all distinct values if there are no more than [`MAX_NUMBERS`], otherwise quantiles for equally
/// spaced probabilities. Quantiles that repeat the same number are replaced by quantiles of the values that are not yet in the grid, so that the grid
/// of a column that is mostly 0 also contains other numbers.
fn number_grid(sorted: &[f64]) -> Vec<f64> {
    let mut distinct = sorted.to_vec();
    distinct.dedup();
    if distinct.len() <= MAX_NUMBERS {
        return distinct;
    }
    let mut grid = quantiles(sorted, MAX_NUMBERS);
    let rest: Vec<f64> = sorted.iter().copied().filter(|value| !grid.contains(value)).collect();
    let free = MAX_NUMBERS - grid.len();
    grid.extend(quantiles(&rest, free));
    grid.sort_unstable_by(f64::total_cmp);
    grid
}

/// The quantiles of sorted values for the probabilities (k + ½)/count with k = 0, …, count − 1; equal quantiles are listed once.
fn quantiles(sorted: &[f64], count: usize) -> Vec<f64> {
    let at = |k: usize| sorted.get((2 * k + 1) * sorted.len() / (2 * count)).copied();
    let mut values: Vec<f64> = (0..count).filter_map(at).collect();
    values.dedup();
    values
}

/// The parts of a time (hour, weekday or day of the year) from which the encoder computes features.
fn time_parts(encoder: &Encoder) -> Vec<TimePart> {
    let mut parts = Vec::new();
    for input in &encoder.inputs {
        let found: Vec<TimePart> = match &input.coding {
            ColumnEncoding::Time { cycles, .. } => cycles.iter().map(|cycle| part_of_cycle(*cycle)).collect(),
            _ => input.part.into_iter().collect(),
        };
        found.into_iter().for_each(|part| {
            if !parts.contains(&part) {
                parts.push(part);
            }
        });
    }
    parts
}

/// The part of a time that repeats in a cycle: the hour for a daily, the weekday for a weekly, the day of the year for a yearly cycle.
fn part_of_cycle(cycle: Cycle) -> TimePart {
    match cycle {
        Cycle::Day => TimePart::Hour,
        Cycle::Week => TimePart::Weekday,
        Cycle::Year => TimePart::YearDay,
    }
}

/// The values to which a part of a time is set for partial dependence, such as 0 to 23 for the hour.
fn time_values(part: TimePart) -> Vec<u32> {
    match part {
        TimePart::Hour => (0..24).collect(),
        TimePart::Weekday => (0..7).collect(),
        TimePart::YearDay => (0..YEAR_DAYS).step_by(YEAR_DAY_STEP).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_contains_all_distinct_numbers_if_there_are_few_of_them() {
        assert_eq!(number_grid(&[1.0, 1.0, 2.0, 7.0]), [1.0, 2.0, 7.0]);
        assert!(number_grid(&[]).is_empty());
    }

    #[test]
    fn many_distinct_numbers_are_replaced_by_quantiles_and_a_frequent_number_is_listed_once() {
        let hundred: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(number_grid(&hundred), (0..20).map(|k| f64::from(5 * k + 2)).collect::<Vec<_>>());
        let mut mostly_zero = vec![0.0; 900];
        mostly_zero.extend((1..=100).map(f64::from));
        let grid = number_grid(&mostly_zero);
        assert!(grid.len() == MAX_NUMBERS && grid.is_sorted_by(|a, b| a < b), "{grid:?}");
        assert!(grid[0] == 0.0 && grid[1] < 10.0 && grid[19] > 90.0, "{grid:?}");
    }

    #[test]
    fn the_most_frequent_levels_come_first() {
        assert_eq!(most_frequent([3, 1, 2, 1, 3, 1].into_iter()), [1, 3, 2]);
        assert_eq!(most_frequent(0..100).len(), MAX_LEVELS);
    }
}
