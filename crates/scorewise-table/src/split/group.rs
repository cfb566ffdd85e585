//! Splits rows by group: all rows of a group are in the same set. Groups are assigned so that each set has about its share of every class.

use scorewise::Purpose;

use super::shuffle::{random, shuffle};
use super::{NO_SET, SplitShares, TEST, TRAINING, VALIDATION};
use crate::error::{Error, Result};
use crate::groups::Groups;
use crate::names::{self, quoted};
use crate::setting::Setting;
use crate::table::Table;
use crate::target::Labels;

/// Returns the set of each row (`TRAINING`, `VALIDATION` or `TEST`); [`NO_SET`] for rows of groups without a labelled row.
pub(super) fn assign(table: &Table, labels: &Labels, column: &str, shares: &SplitShares, seed: u64) -> Result<Vec<u8>> {
    let groups = Groups::new(names::column(table, "split", column)?);
    let counts = GroupCounts::new(&groups, labels, &labels.rows());
    let shares = shares.of_all();
    let sets = shares.iter().filter(|share| **share > 0.0).count();
    counts.check_enough_groups(sets, column)?;
    let set_of_group = counts.assign_groups(&shares, labels.names.len(), seed);
    let set_codes = [TRAINING, VALIDATION, TEST];
    Ok(groups.codes.iter().map(|group| set_of_group[*group as usize].map_or(NO_SET, |set| set_codes[set])).collect())
}

/// The number of rows of each class in each group.
pub(super) struct GroupCounts {
    /// For each group, a list of pairs: a class that occurs in the group, and the number of rows of this class in the group.
    counts: Vec<Vec<(u32, u32)>>,
}

impl GroupCounts {
    /// Counts the rows of each class in each group, among the labelled rows `rows`.
    pub fn new(groups: &Groups, labels: &Labels, rows: &[u32]) -> Self {
        let mut counts: Vec<Vec<(u32, u32)>> = vec![Vec::new(); groups.names.len()];
        for row in rows {
            let class = labels.classes[*row as usize];
            let counts = &mut counts[groups.codes[*row as usize] as usize];
            match counts.iter_mut().find(|(other, _)| *other == class) {
                Some((_, count)) => *count += 1,
                None => counts.push((class, 1)),
            }
        }
        GroupCounts { counts }
    }

    /// Returns an error if the number of groups with labelled rows is less than the number of sets.
    pub fn check_enough_groups(&self, sets: usize, column: &str) -> Result<()> {
        let groups = self.counts.iter().filter(|counts| !counts.is_empty()).count();
        if groups >= sets {
            return Ok(());
        }
        let noun = if groups == 1 { "group" } else { "groups" };
        let problem = format!("{} has {groups} {noun}, too few for {sets} sets", quoted(column));
        let hint = format!("name a column with more distinct values, or write `{}`", Setting("split").to("random"));
        Err(Error::setting("split", problem, hint))
    }

    /// Returns the set of each group, as an index into `shares`; `None` for groups of which no row was counted. The largest groups are assigned
    /// first, and groups of the same size in random order. Each group is assigned to the set that keeps the class counts of the sets
    /// closest to the requested shares.
    pub fn assign_groups(&self, shares: &[f64], classes: usize, seed: u64) -> Vec<Option<usize>> {
        let mut totals = vec![0.0; classes];
        self.counts.iter().flatten().for_each(|(class, count)| totals[*class as usize] += f64::from(*count));
        let mut order: Vec<usize> = (0..self.counts.len()).filter(|group| !self.counts[*group].is_empty()).collect();
        shuffle(&mut order, &mut random(seed, Purpose::SplitGroups, 0));
        let size = |group: &usize| self.counts[*group].iter().map(|(_, count)| u64::from(*count)).sum::<u64>();
        order.sort_by_key(|group| std::cmp::Reverse(size(group)));

        let mut assigned = vec![0.0; shares.len() * classes];
        let mut set_of_group = vec![None; self.counts.len()];
        for group in order {
            // How much the group would increase the sum of d² over the classes. Here d is the difference between the actual and the requested
            // number of rows of a class in the set, divided by the total number of rows of that class.
            let cost = |set: usize| -> f64 {
                let increase = |(class, count): &(u32, u32)| {
                    let (total, count) = (totals[*class as usize], f64::from(*count));
                    let excess = assigned[set * classes + *class as usize] - shares[set] * total;
                    count * (2.0 * excess + count) / (total * total)
                };
                self.counts[group].iter().map(increase).sum()
            };
            let sets = (0..shares.len()).filter(|set| shares[*set] > 0.0);
            let best = sets.map(|set| (set, cost(set))).min_by(|a, b| a.1.total_cmp(&b.1));
            let Some((set, _)) = best else { continue };
            set_of_group[group] = Some(set);
            self.counts[group]
                .iter()
                .for_each(|(class, count)| assigned[set * classes + *class as usize] += f64::from(*count));
        }
        set_of_group
    }
}
