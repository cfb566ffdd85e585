//! By group: no group is in two parts, and the parts come as near to their shares of every class as whole groups allow.

use scorewise::Purpose;

use super::deal::{random, shuffle};
use super::{NO_SIDE, Shares, TEST, TRAINING, VALIDATION};
use crate::error::{Error, Result};
use crate::groups::Groups;
use crate::names::{self, quoted};
use crate::setting::Setting;
use crate::table::Table;
use crate::target::Labels;

pub(super) fn sides(table: &Table, labels: &Labels, column: &str, shares: &Shares, seed: u64) -> Result<Vec<u8>> {
    let groups = Groups::new(names::column(table, "split", column)?);
    let members = Members::new(&groups, labels, &labels.rows());
    let shares = shares.of_all();
    let asked = shares.iter().filter(|share| **share > 0.0).count();
    members.enough_for(asked, column)?;
    let of_group = members.assign(&shares, labels.names.len(), seed);
    let side = [TRAINING, VALIDATION, TEST];
    Ok(groups.codes.iter().map(|group| of_group[*group as usize].map_or(NO_SIDE, |part| side[part])).collect())
}

/// How many rows of each class a group has.
pub(super) struct Members {
    /// Class and count, for the classes that the group has.
    counts: Vec<Vec<(u32, u32)>>,
}

impl Members {
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
        Members { counts }
    }

    /// Refuses fewer groups than parts.
    pub fn enough_for(&self, parts: usize, column: &str) -> Result<()> {
        let groups = self.counts.iter().filter(|counts| !counts.is_empty()).count();
        if groups >= parts {
            return Ok(());
        }
        let problem = format!("{} has {groups} groups for {parts} parts", quoted(column));
        let hint = format!("name a column with more different values, or write `{}`", Setting("split").to("random"));
        Err(Error::setting("split", problem, hint))
    }

    /// The part of each group; none for groups without rows. Large groups first, each to the part that it brings nearest to what
    /// was asked for, class by class; groups of one size come in an order drawn by lot.
    pub fn assign(&self, shares: &[f64], classes: usize, seed: u64) -> Vec<Option<usize>> {
        let mut totals = vec![0.0; classes];
        self.counts.iter().flatten().for_each(|(class, count)| totals[*class as usize] += f64::from(*count));
        let mut order: Vec<usize> = (0..self.counts.len()).filter(|group| !self.counts[*group].is_empty()).collect();
        shuffle(&mut order, &mut random(seed, Purpose::SplitGroups, 0));
        let size = |group: &usize| self.counts[*group].iter().map(|(_, count)| u64::from(*count)).sum::<u64>();
        order.sort_by_key(|group| std::cmp::Reverse(size(group)));

        let mut held = vec![0.0; shares.len() * classes];
        let mut of_group = vec![None; self.counts.len()];
        for group in order {
            // How much farther from what was asked for, as squares of shares of each class.
            let cost = |part: usize| -> f64 {
                let farther = |(class, count): &(u32, u32)| {
                    let (total, count) = (totals[*class as usize], f64::from(*count));
                    let over = held[part * classes + *class as usize] - shares[part] * total;
                    count * (2.0 * over + count) / (total * total)
                };
                self.counts[group].iter().map(farther).sum()
            };
            let parts = (0..shares.len()).filter(|part| shares[*part] > 0.0);
            let best = parts.map(|part| (part, cost(part))).min_by(|a, b| a.1.total_cmp(&b.1));
            let Some((part, _)) = best else { continue };
            of_group[group] = Some(part);
            self.counts[group]
                .iter()
                .for_each(|(class, count)| held[part * classes + *class as usize] += f64::from(*count));
        }
        of_group
    }
}
