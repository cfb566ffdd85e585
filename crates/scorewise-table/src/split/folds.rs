//! Cross-validation: every row is in the test of one fold, and the rest of each fold is divided as a table is.

use scorewise::{Purpose, stream};

use super::deal::{random, shuffle};
use super::group::Members;
use super::random::{strata, take};
use super::time::Order;
use super::{NO_SIDE, Parts, Split, TEST, TRAINING, UNUSED, VALIDATION};
use crate::error::{Error, Result};
use crate::groups::Groups;
use crate::names;
use crate::note::Note;
use crate::setting::Setting;
use crate::table::Table;
use crate::target::Labels;

/// Repeats of a cross-validation at the most: the folds of all of them are held in memory.
const MOST_REPEATS: usize = 1000;

/// How the cross-validation is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Folds {
    /// Tests of each repeat.
    pub folds: usize,
    /// How often the folds are drawn anew.
    pub repeats: usize,
    /// The share of the rows that are left by the test and decide when to stop.
    pub validation: f64,
}

impl Split {
    /// The parts of each fold, repeat after repeat. By time, each fold is tested on the rows that follow those it learns from, so
    /// the first rows are never tested and the last never learnt from.
    pub fn folds(&self, table: &Table, labels: &Labels, folds: &Folds, seed: u64) -> Result<(Vec<Parts>, Vec<Note>)> {
        assert_eq!(labels.classes.len(), table.rows(), "one label a row");
        folds.check(self)?;
        let rows = labels.rows().len();
        if folds.folds > rows {
            let problem = format!("{} folds, and {rows} rows have a target", folds.folds);
            return Err(Error::setting("folds", problem, "give fewer folds, or more rows"));
        }
        let (mut all, mut notes) = (Vec::new(), Vec::new());
        for repeat in 0..folds.repeats {
            let seed = stream(seed, Purpose::FoldsRepeat, repeat as u64);
            let (sides, told) = match self {
                Split::Random => (folds.random(labels, seed)?, Vec::new()),
                Split::Time(column) => folds.time(table, labels, column.as_deref())?,
                Split::Group(column) => (folds.group(table, labels, column, seed)?, Vec::new()),
            };
            notes.extend(told);
            for (number, sides) in sides.into_iter().enumerate() {
                let (parts, told) = self.gather(sides, labels);
                let missing = self.check(&parts, labels, folds.validation > 0.0, true)?;
                let fold = format!("fold {} of repeat {}", number + 1, repeat + 1);
                notes.extend(told.into_iter().chain(missing).map(|note| Note::new(format!("{fold}: {note:#}"))));
                all.push(parts);
            }
        }
        Ok((all, notes))
    }
}

impl Folds {
    fn check(&self, split: &Split) -> Result<()> {
        if self.folds < 2 {
            let problem = format!("{} is no number of folds", self.folds);
            return Err(Error::setting("folds", problem, "give 2 or more; 5 and 10 are usual"));
        }
        if self.repeats > MOST_REPEATS {
            let problem = format!("{} repeats, and at most {MOST_REPEATS} can be", self.repeats);
            return Err(Error::setting("repeats", problem, "3 to 20 are usual"));
        }
        if self.repeats == 0 {
            return Err(Error::setting("repeats", "0 repeats are none", "give 1 or more"));
        }
        if matches!(split, Split::Time(_)) && self.repeats > 1 {
            let problem = "folds by time are the same in every repeat";
            let hint = format!("leave it out, or write `{}`", Setting("split").to("random"));
            return Err(Error::setting("repeats", problem, hint));
        }
        if !(0.0..1.0).contains(&self.validation) {
            let problem = format!("{} is no share", self.validation);
            return Err(Error::setting("validation", problem, "give a number from 0 to below 1"));
        }
        Ok(())
    }

    fn random(&self, labels: &Labels, seed: u64) -> Result<Vec<Vec<u8>>> {
        let counts = labels.counts();
        if let Some((class, count)) = counts.iter().enumerate().find(|(_, count)| **count < self.folds) {
            let problem =
                format!("{} folds, and the class {} has {count} rows", self.folds, names::quoted(&labels.names[class]));
            return Err(Error::setting("folds", problem, "give fewer folds, or more rows"));
        }
        // Dealt out like cards, class after class: every fold has its share of each class, and of all rows, within one row.
        let mut fold_of = vec![None; labels.classes.len()];
        let dealt = strata(labels, &labels.rows(), seed).into_iter().flatten().enumerate();
        dealt.for_each(|(at, row)| fold_of[row as usize] = Some(at % self.folds));
        Ok((0..self.folds)
            .map(|fold| {
                let mut sides = vec![NO_SIDE; fold_of.len()];
                let (test, rest): (Vec<u32>, Vec<u32>) =
                    labels.rows().into_iter().partition(|row| fold_of[*row as usize] == Some(fold));
                test.iter().for_each(|row| sides[*row as usize] = TEST);
                let mut strata = strata(labels, &rest, stream(seed, Purpose::FoldParts, fold as u64));
                take(&mut strata, self.validation, VALIDATION, &mut sides);
                strata.iter().flatten().for_each(|row| sides[*row as usize] = TRAINING);
                sides
            })
            .collect())
    }

    fn group(&self, table: &Table, labels: &Labels, column: &str, seed: u64) -> Result<Vec<Vec<u8>>> {
        let groups = Groups::new(names::column(table, "split", column)?);
        let (rows, classes) = (labels.rows(), labels.names.len());
        let members = Members::new(&groups, labels, &rows);
        let asked = if self.validation > 0.0 { 2 } else { 1 };
        members.enough_for(self.folds.max(1 + asked), column)?;
        let mut fold_order: Vec<usize> = (0..self.folds).collect();
        shuffle(&mut fold_order, &mut random(seed, Purpose::FoldOrder, 0));
        let fold_of = members.assign(&vec![1.0 / self.folds as f64; self.folds], classes, seed);
        Ok(fold_order
            .into_iter()
            .map(|fold| {
                let is_test = |group: u32| fold_of[group as usize] == Some(fold);
                let rest: Vec<u32> = rows.iter().copied().filter(|row| !is_test(groups.codes[*row as usize])).collect();
                let inner = Members::new(&groups, labels, &rest);
                let shares = [1.0 - self.validation, self.validation];
                let part_of = inner.assign(&shares, classes, stream(seed, Purpose::FoldParts, fold as u64));
                let side = |group: &u32| match part_of[*group as usize] {
                    _ if is_test(*group) => TEST,
                    Some(0) => TRAINING,
                    Some(_) => VALIDATION,
                    None => NO_SIDE,
                };
                groups.codes.iter().map(side).collect()
            })
            .collect())
    }

    /// The rows in one block more than there are folds: each block but the first is a test, all before it are learnt from.
    fn time(&self, table: &Table, labels: &Labels, column: Option<&str>) -> Result<(Vec<Vec<u8>>, Vec<Note>)> {
        let (order, notes) = Order::new(table, column)?;
        let labelled = order.rows.iter().filter(|row| labels.classes[**row as usize] != Labels::MISSING).count();
        let mut borders = vec![order.rows.len()];
        for block in (1..=self.folds).rev() {
            let end = borders[borders.len() - 1];
            // What is left is divided evenly among the blocks that are left.
            let done = labelled - labelled * block / (self.folds + 1);
            borders.push(order.step_back(order.back(order.rows.len(), labels, done), end));
        }
        borders.reverse();
        let fold = |pair: &[usize]| {
            let mut sides = vec![NO_SIDE; table.rows()];
            let validation = order.cut(pair[0], labels, self.validation);
            for (place, row) in order.rows.iter().enumerate() {
                sides[*row as usize] = match place {
                    _ if place < validation => TRAINING,
                    _ if place < pair[0] => VALIDATION,
                    _ if place < pair[1] => TEST,
                    _ => UNUSED,
                };
            }
            sides
        };
        Ok((borders.windows(2).map(fold).collect(), notes))
    }
}
