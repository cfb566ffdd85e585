//! Cross-validation: the rows are divided into folds. Each fold is the test set once, while the other rows are used for training and
//! validation.

use scorewise::{Purpose, stream};

use super::group::GroupCounts;
use super::random::{shuffled_strata, take_share};
use super::shuffle::{random, shuffle};
use super::time::TimeOrder;
use super::{NO_SET, Split, SplitRows, TEST, TRAINING, UNUSED, VALIDATION};
use crate::error::{Error, Result};
use crate::groups::Groups;
use crate::names;
use crate::note::Note;
use crate::setting::Setting;
use crate::table::Table;
use crate::target::Labels;

/// The maximum number of times that a cross-validation is repeated. There is a limit because the folds of all repetitions are held in memory.
const MAX_REPEATS: usize = 1000;

/// Settings of a cross-validation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossValidation {
    /// The number of folds in each repetition.
    pub folds: usize,
    /// The number of repetitions: how many times the rows are divided into folds anew.
    pub repeats: usize,
    /// The share of the rows outside the test set that forms the validation set.
    pub validation: f64,
}

impl Split {
    /// Returns the training, validation and test rows of each fold, one repetition after the other. In a split by time, the test rows of a fold
    /// come after its training rows, so the first rows are never in a test set and the last rows are never in a training set.
    pub fn folds(
        &self,
        table: &Table,
        labels: &Labels,
        settings: &CrossValidation,
        seed: u64,
    ) -> Result<(Vec<SplitRows>, Vec<Note>)> {
        assert_eq!(labels.classes.len(), table.rows(), "there must be one label for each row");
        settings.check(self)?;
        let rows = labels.rows().len();
        if settings.folds > rows {
            let rows_have = if rows == 1 { "row has" } else { "rows have" };
            let problem = format!("{} folds, but only {rows} {rows_have} a label", settings.folds);
            return Err(Error::setting("folds", problem, "give fewer folds, or more rows"));
        }
        let (mut all_folds, mut notes) = (Vec::new(), Vec::new());
        for repeat in 0..settings.repeats {
            let seed = stream(seed, Purpose::CrossValidationRepeat, repeat as u64);
            let (folds, order_notes) = match self {
                Split::Random => (settings.random_folds(labels, seed)?, Vec::new()),
                Split::Time(column) => settings.time_folds(table, labels, column.as_deref())?,
                Split::Group(column) => (settings.group_folds(table, labels, column, seed)?, Vec::new()),
            };
            notes.extend(order_notes);
            for (number, set_of_row) in folds.into_iter().enumerate() {
                let (parts, left_out) = self.gather(set_of_row, labels);
                let absent_classes = self.check(&parts, labels, settings.validation > 0.0, Some("folds"))?;
                let fold_notes = left_out.into_iter().chain(absent_classes);
                notes.extend(fold_notes.map(|note| note.about_fold(number + 1, repeat + 1)));
                all_folds.push(parts);
            }
        }
        Ok((all_folds, notes))
    }
}

impl CrossValidation {
    /// Checks that the settings are within their ranges and fit the kind of split.
    fn check(&self, split: &Split) -> Result<()> {
        if self.folds < 2 {
            let problem = format!("{} is not a valid number of folds", self.folds);
            return Err(Error::setting("folds", problem, "give 2 or more; 5 and 10 are usual"));
        }
        if self.repeats > MAX_REPEATS {
            let problem = format!("{} repeats are too many; at most {MAX_REPEATS} are allowed", self.repeats);
            return Err(Error::setting("repeats", problem, "3 to 20 are usual"));
        }
        if self.repeats == 0 {
            return Err(Error::setting("repeats", "0 repeats are too few", "give 1 or more"));
        }
        if matches!(split, Split::Time(_)) && self.repeats > 1 {
            let problem = "folds by time are the same in every repetition";
            let hint = format!("leave out `{}`, or write `{}`", Setting("repeats"), Setting("split").to("random"));
            return Err(Error::setting("repeats", problem, hint));
        }
        if !(0.0..1.0).contains(&self.validation) {
            let problem = format!("the share of validation rows cannot be {}", self.validation);
            return Err(Error::setting("validation", problem, "give a number from 0 to below 1"));
        }
        Ok(())
    }

    /// For each fold of a random split, the set (training, validation or test) of each row of the table.
    fn random_folds(&self, labels: &Labels, seed: u64) -> Result<Vec<Vec<u8>>> {
        let counts = labels.counts();
        if let Some((class, count)) = counts.iter().enumerate().find(|(_, count)| **count < self.folds) {
            let (class, rows) = (names::quoted(&labels.names[class]), if *count == 1 { "row" } else { "rows" });
            let problem = format!("{} folds, but the class {class} has only {count} {rows}", self.folds);
            return Err(Error::setting("folds", problem, "give fewer folds, or more rows"));
        }
        // Rows are assigned to the folds in turn, class by class, so the numbers of rows of two folds differ by at most one, both in total and in
        // each class.
        let mut fold_of = vec![None; labels.classes.len()];
        let shuffled = shuffled_strata(labels, &labels.rows(), seed).into_iter().flatten().enumerate();
        shuffled.for_each(|(at, row)| fold_of[row as usize] = Some(at % self.folds));
        Ok((0..self.folds)
            .map(|fold| {
                let mut set_of_row = vec![NO_SET; fold_of.len()];
                let (test, rest): (Vec<u32>, Vec<u32>) =
                    labels.rows().into_iter().partition(|row| fold_of[*row as usize] == Some(fold));
                test.iter().for_each(|row| set_of_row[*row as usize] = TEST);
                let mut strata = shuffled_strata(labels, &rest, stream(seed, Purpose::FoldSplit, fold as u64));
                take_share(&mut strata, self.validation, VALIDATION, &mut set_of_row);
                strata.iter().flatten().for_each(|row| set_of_row[*row as usize] = TRAINING);
                set_of_row
            })
            .collect())
    }

    /// For each fold of a split by group, the set (training, validation or test) of each row of the table.
    fn group_folds(&self, table: &Table, labels: &Labels, column: &str, seed: u64) -> Result<Vec<Vec<u8>>> {
        let groups = Groups::new(names::column(table, "split", column)?);
        let (rows, classes) = (labels.rows(), labels.names.len());
        let counts = GroupCounts::new(&groups, labels, &rows);
        let other_sets = if self.validation > 0.0 { 2 } else { 1 };
        counts.check_enough_groups(self.folds.max(1 + other_sets), column)?;
        let mut fold_order: Vec<usize> = (0..self.folds).collect();
        shuffle(&mut fold_order, &mut random(seed, Purpose::FoldOrder, 0));
        let fold_of = counts.assign_groups(&vec![1.0 / self.folds as f64; self.folds], classes, seed);
        Ok(fold_order
            .into_iter()
            .map(|fold| {
                let is_test = |group: u32| fold_of[group as usize] == Some(fold);
                let rest: Vec<u32> = rows.iter().copied().filter(|row| !is_test(groups.codes[*row as usize])).collect();
                let rest_counts = GroupCounts::new(&groups, labels, &rest);
                let shares = [1.0 - self.validation, self.validation];
                let set_of = rest_counts.assign_groups(&shares, classes, stream(seed, Purpose::FoldSplit, fold as u64));
                let set = |group: &u32| match set_of[*group as usize] {
                    _ if is_test(*group) => TEST,
                    Some(0) => TRAINING,
                    Some(_) => VALIDATION,
                    None => NO_SET,
                };
                groups.codes.iter().map(set).collect()
            })
            .collect())
    }

    /// For each fold of a split by time, the set (training, validation or test) of each row of the table; and notes for the user. The rows are
    /// divided into `folds + 1` blocks in the order of time. Each block except the first is the test set of one fold; all rows before that block
    /// are the training and validation rows of the fold.
    fn time_folds(&self, table: &Table, labels: &Labels, column: Option<&str>) -> Result<(Vec<Vec<u8>>, Vec<Note>)> {
        let (order, notes) = TimeOrder::new(table, column)?;
        let labelled = order.rows.iter().filter(|row| labels.classes[**row as usize] != Labels::MISSING).count();
        let mut borders = vec![order.rows.len()];
        for block in (1..=self.folds).rev() {
            let end = borders[borders.len() - 1];
            // The number of labelled rows in this block and all later blocks, if the labelled rows are divided equally among the blocks.
            let after = labelled - labelled * block / (self.folds + 1);
            borders.push(order.first_of_same_time(order.begin_of_last(order.rows.len(), labels, after), end));
        }
        borders.reverse();
        let fold = |pair: &[usize]| {
            let mut set_of_row = vec![NO_SET; table.rows()];
            let validation = order.begin_of_share(pair[0], labels, self.validation);
            for (position, row) in order.rows.iter().enumerate() {
                set_of_row[*row as usize] = match position {
                    _ if position < validation => TRAINING,
                    _ if position < pair[0] => VALIDATION,
                    _ if position < pair[1] => TEST,
                    _ => UNUSED,
                };
            }
            set_of_row
        };
        Ok((borders.windows(2).map(fold).collect(), notes))
    }
}
