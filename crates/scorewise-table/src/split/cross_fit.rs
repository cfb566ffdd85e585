//! Cross-fitting: the training rows are divided into folds, and every member of an ensemble is trained on all folds but one. So each row can be
//! predicted by members that were not trained on it, and yet every row is used for training.

use scorewise::{Purpose, stream};

use super::group::GroupCounts;
use super::time::TimeOrder;
use super::{MemberSplit, Split, member_splits};
use crate::error::{Error, Result};
use crate::groups::Groups;
use crate::names::{self, quoted};
use crate::table::Table;
use crate::target::Labels;

/// The maximum number of folds in cross-fitting.
const MAX_FOLDS: usize = 100;

impl Split {
    /// Divides the given rows into `folds` folds, `repeats` times. Returns one split for each fold of each repetition, with the rows of the
    /// fold as validation rows and all other rows as training rows. In a random split, the folds have the same share of each class and
    /// differ between repetitions. In a split by time, the folds follow each other in time and are the same in each repetition. In a split
    /// by group, no group is in two folds.
    pub fn cross_fit(
        &self,
        table: &Table,
        labels: &Labels,
        rows: &[u32],
        (folds, repeats): (usize, usize),
        seed: u64,
    ) -> Result<Vec<MemberSplit>> {
        check_folds(labels, rows, folds)?;
        let mut splits = Vec::with_capacity(folds * repeats);
        match self {
            Split::Random => {
                let mut strata = vec![Vec::new(); labels.names.len()];
                rows.iter().for_each(|row| strata[labels.classes[*row as usize] as usize].push(*row));
                splits = member_splits(&strata, folds, folds * repeats, seed);
            }
            Split::Time(column) => {
                let fold_of = time_blocks(table, labels, rows, column.as_deref(), folds)?;
                (0..repeats).for_each(|_| splits.extend(splits_of_folds(rows, &fold_of, folds)));
            }
            Split::Group(column) => {
                let groups = Groups::new(names::column(table, "split", column)?);
                let counts = GroupCounts::new(&groups, labels, rows);
                counts.check_enough_groups(folds, column)?;
                for repeat in 0..repeats {
                    let seed = stream(seed, Purpose::MemberSplit, repeat as u64);
                    let fold_of_group =
                        counts.assign_groups(&vec![1.0 / folds as f64; folds], labels.names.len(), seed);
                    let fold_of: Vec<usize> = rows
                        .iter()
                        .map(|row| fold_of_group[groups.codes[*row as usize] as usize].unwrap_or(0))
                        .collect();
                    splits.extend(splits_of_folds(rows, &fold_of, folds));
                }
            }
        }
        if labels.names.len() == 2 {
            check_classes(labels, &splits, folds)?;
        }
        Ok(splits)
    }
}

/// Checks that a number of folds for cross-fitting is from 2 to 100.
pub fn check_cross_fit(folds: usize) -> Result<()> {
    if (2..=MAX_FOLDS).contains(&folds) {
        return Ok(());
    }
    let problem = format!("{folds} is not a valid number of folds");
    Err(Error::setting("cross-fit", problem, format!("give 2 to {MAX_FOLDS}, or 0 for one validation set")))
}

/// Checks that the number of folds is allowed, and that there are at least as many rows as folds. With two classes, each class must have
/// at least as many rows as there are folds.
fn check_folds(labels: &Labels, rows: &[u32], folds: usize) -> Result<()> {
    check_cross_fit(folds)?;
    let (class, count) = rarest_class(labels, rows);
    if rows.len() < folds {
        let problem = format!("{folds} folds, but there are only {} training rows", rows.len());
        return Err(Error::setting("cross-fit", problem, "give fewer folds, or more rows"));
    }
    // With more than two classes, a fold without rows of a rare class is allowed.
    if count < folds && labels.names.len() == 2 {
        let problem = format!("{folds} folds, but the class {} has only {count} rows", quoted(&labels.names[class]));
        return Err(Error::setting("cross-fit", problem, "give fewer folds, or more rows"));
    }
    Ok(())
}

/// The class with the fewest rows among the given rows, and the number of its rows.
#[must_use]
pub fn rarest_class(labels: &Labels, rows: &[u32]) -> (usize, usize) {
    let mut counts = vec![0; labels.names.len()];
    rows.iter().for_each(|row| counts[labels.classes[*row as usize] as usize] += 1);
    counts.into_iter().enumerate().min_by_key(|(_, count)| *count).unwrap_or((0, 0))
}

/// Checks that the training rows and the validation rows of every split contain both classes. The splits are those of the first repetition, then those
/// of the second, and so on; each repetition has `folds` splits.
fn check_classes(labels: &Labels, splits: &[MemberSplit], folds: usize) -> Result<()> {
    for (index, split) in splits.iter().enumerate() {
        for (set, rows) in [("training", &split.training), ("validation", &split.validation)] {
            let (class, count) = rarest_class(labels, rows);
            if count == 0 {
                let class = quoted(&labels.names[class]);
                let problem = format!("the {set} set of fold {} has no row of the class {class}", index % folds + 1);
                return Err(Error::setting("cross-fit", problem, "give fewer folds, or 0 for one validation set"));
            }
        }
    }
    Ok(())
}

/// Sorts the rows by time, divides them into `folds` blocks and returns the block of each row, in the order of `rows`. Rows of the same time are
/// in the same block. The blocks have about equally many rows. If there are two classes and a block would have rows of only one class, the
/// blocks have about equally many rows of the rarer class instead.
fn time_blocks(table: &Table, labels: &Labels, rows: &[u32], column: Option<&str>, folds: usize) -> Result<Vec<usize>> {
    let (order, _) = TimeOrder::new(table, column)?;
    let mut is_used = vec![false; table.rows()];
    rows.iter().for_each(|row| is_used[*row as usize] = true);
    let ordered: Vec<u32> = order.rows.iter().copied().filter(|row| is_used[*row as usize]).collect();
    let blocks = |counted: &dyn Fn(u32) -> bool| {
        let total = ordered.iter().filter(|row| counted(**row)).count().max(1);
        let (mut block_of, mut before) = (vec![0; table.rows()], 0);
        for (position, row) in ordered.iter().enumerate() {
            let block = (before * folds / total).min(folds - 1);
            let is_same = position > 0 && order.is_same_time(ordered[position - 1], *row);
            block_of[*row as usize] = if is_same { block_of[ordered[position - 1] as usize] } else { block };
            before += usize::from(counted(*row));
        }
        rows.iter().map(|row| block_of[*row as usize]).collect::<Vec<_>>()
    };
    let equal_rows = blocks(&|_| true);
    let lacks_class =
        splits_of_folds(rows, &equal_rows, folds).iter().any(|split| rarest_class(labels, &split.validation).1 == 0);
    if lacks_class && labels.names.len() == 2 {
        let rarest = rarest_class(labels, rows).0 as u32;
        return Ok(blocks(&|row| labels.classes[row as usize] == rarest));
    }
    Ok(equal_rows)
}

/// Returns one split for each fold, with the rows of the fold as validation rows and all other rows as training rows. `fold_of` lists the
/// fold of each row, in the order of `rows`.
fn splits_of_folds(rows: &[u32], fold_of: &[usize], folds: usize) -> Vec<MemberSplit> {
    let mut splits = vec![MemberSplit::default(); folds];
    for (row, fold) in rows.iter().zip(fold_of) {
        for (number, split) in splits.iter_mut().enumerate() {
            if number == *fold { &mut split.validation } else { &mut split.training }.push(*row);
        }
    }
    splits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Column, Values};

    /// A table of 60 rows with the columns `day` (0 to 29) and `station` (0 to 11), and labels of which a quarter is positive.
    fn table_and_labels() -> (Table, Labels) {
        let number = |name: &str, of: fn(u32) -> f64| Column {
            name: name.into(),
            values: Values::Number((0..60).map(of).collect()),
        };
        let columns =
            vec![number("day", |row| f64::from(row * 7 % 60 / 2)), number("station", |row| f64::from(row % 12))];
        let names = vec!["no".to_owned(), "yes".to_owned()];
        let labels =
            Labels { classes: (0..60).map(|row| u32::from((row / 12 + row) % 4 == 0)).collect(), names, ahead: None };
        (Table { columns, ..Table::default() }, labels)
    }

    #[test]
    fn every_row_is_a_validation_row_once_in_each_repetition() {
        let (table, labels) = table_and_labels();
        let rows: Vec<u32> = (3..60).collect();
        for split in [Split::Random, Split::Time(Some("day".into())), Split::Group("station".into())] {
            let splits = split.cross_fit(&table, &labels, &rows, (5, 2), 1).unwrap();
            assert_eq!(splits.len(), 10);
            for repeat in splits.chunks(5) {
                let mut all: Vec<u32> = repeat.iter().flat_map(|split| &split.validation).copied().collect();
                all.sort_unstable();
                assert_eq!(all, rows, "{split:?}");
                for split in repeat {
                    let mut both = [&split.training[..], &split.validation].concat();
                    both.sort_unstable();
                    assert_eq!(both, rows);
                }
            }
        }
    }

    #[test]
    fn folds_by_time_do_not_overlap_and_no_group_is_in_two_folds() {
        let (table, labels) = table_and_labels();
        let rows: Vec<u32> = (0..60).collect();
        let day = |row: &u32| row * 7 % 60 / 2;
        let splits = Split::Time(Some("day".into())).cross_fit(&table, &labels, &rows, (4, 1), 1).unwrap();
        for pair in splits.windows(2) {
            assert!(pair[0].validation.iter().map(day).max() < pair[1].validation.iter().map(day).min());
        }
        for split in Split::Group("station".into()).cross_fit(&table, &labels, &rows, (4, 3), 1).unwrap() {
            assert!(split.validation.iter().all(|row| !split.training.iter().any(|other| row % 12 == other % 12)));
        }
    }

    #[test]
    fn every_fold_by_time_has_positive_rows_even_if_all_positive_rows_are_late() {
        let (table, mut labels) = table_and_labels();
        let rows: Vec<u32> = (0..60).collect();
        let day = |row: u32| row * 7 % 60 / 2;
        labels.classes = (0..60).map(|row| u32::from(day(row) > 20 && day(row) % 3 == 0)).collect();
        for split in Split::Time(Some("day".into())).cross_fit(&table, &labels, &rows, (3, 1), 1).unwrap() {
            assert!(rarest_class(&labels, &split.validation).1 > 0, "{split:?}");
        }
    }

    #[test]
    fn too_few_and_too_many_folds_are_refused() {
        let (table, labels) = table_and_labels();
        let rows: Vec<u32> = (0..60).collect();
        let refused = |folds| Split::Random.cross_fit(&table, &labels, &rows, (folds, 1), 1).unwrap_err().to_string();
        assert!(refused(1).contains("1 is not a valid number of folds"));
        assert!(refused(16).contains("16 folds, but the class `yes` has only 15 rows"));
        let error = Split::Group("station".into()).cross_fit(&table, &labels, &rows, (13, 1), 1).unwrap_err();
        assert!(error.to_string().contains("12 groups, too few for 13 sets"), "{error}");
    }
}
