//! What the training rows say about one column: how it becomes numbers, or why it is of no use.

use std::collections::HashMap;

use super::choice::{Resolved, outside_the_order};
use super::statistics::{Numbers, are_row_numbers, cycles, numbers, share};
use super::{Coding, Cycle};
use crate::error::{Error, Result};
use crate::groups::{Groups, number_text};
use crate::names::quoted;
use crate::note::Note;
use crate::setting::Setting;
use crate::table::{Category, Column, Values};

/// A column is a name of its row where more than this share of the rows have a value of their own …
const NAMES: f64 = 0.95;
/// … in a table of more rows than this: in a small one, all values of a measurement may differ by chance.
const FEW: usize = 20;

/// How a column is used, and what there is to say about it.
pub(super) struct Judgement {
    /// Nothing where it is dropped.
    pub coding: Option<Coding>,
    pub notes: Vec<Note>,
}

impl From<Coding> for Judgement {
    fn from(coding: Coding) -> Self {
        Judgement { coding: Some(coding), notes: Vec::new() }
    }
}

/// Looks at the training rows of a column.
pub(super) fn judge(column: &Column, rows: &[u32], resolved: &Resolved<'_>) -> Result<Judgement> {
    let name = column.name.as_str();
    let judgement = match (&column.values, resolved.is_categorical(name), resolved.order_of(name)) {
        (Values::Time(_), true, _) => return Err(time_is_no_category("categorical", name)),
        (Values::Time(_), _, Some(_)) => return Err(time_is_no_category("ordinal", name)),
        (Values::Time(values), ..) => time(values, rows),
        (Values::Number(values), false, None | Some(None)) => {
            let found = numbers(rows.iter().map(|row| values[*row as usize]));
            let is_id = || {
                rows.len() > FEW && are_row_numbers(rows.iter().map(|row| values[*row as usize]), &found, values.len())
            };
            number(&found, is_id)
        }
        (Values::Boolean(values), false, None | Some(None)) => {
            let found = numbers(rows.iter().map(|row| boolean(values[*row as usize])));
            number(&found, || false)
        }
        (_, _, Some(order)) => ordinal(&Counts::new(column, rows), column, order)?,
        _ => one_hot(&Counts::new(column, rows), rows.len(), resolved),
    };
    Ok(if resolved.is_kept(name) { judgement.kept(column) } else { judgement.told(name) })
}

/// A judgement before it is known whether the column is kept in any case.
struct Draft {
    coding: Coding,
    /// Why the column is of no use.
    useless: Option<String>,
    note: Option<String>,
}

impl Draft {
    fn told(self, name: &str) -> Judgement {
        let dropped = self.useless.map(|why| format!("dropped: {why}; `{}` uses it all the same", Setting("keep")));
        let coding = dropped.is_none().then_some(self.coding);
        Judgement { coding, notes: dropped.or(self.note).map(|text| Note::of(name, text)).into_iter().collect() }
    }

    fn kept(mut self, column: &Column) -> Judgement {
        match &mut self.coding {
            // A column that is kept has at least one column of the matrix.
            Coding::Time { cycles, .. } if cycles.is_empty() => *cycles = vec![Cycle::Day, Cycle::Week, Cycle::Year],
            Coding::OneHot { levels, indicator, scales, .. } if levels.is_empty() => {
                *indicator = true;
                if !scales.is_empty() {
                    scales.truncate(1);
                }
            }
            _ => {}
        }
        Judgement {
            notes: self.note.map(|text| Note::of(&column.name, text)).into_iter().collect(),
            ..self.coding.into()
        }
    }
}

/// Yes is 1, no is 0.
pub(super) fn boolean(value: Option<bool>) -> f64 {
    value.map_or(f64::NAN, |yes| f64::from(u8::from(yes)))
}

fn number(found: &Numbers, is_id: impl Fn() -> bool) -> Draft {
    let scale = found.scale;
    let coding = Coding::Number { mean: scale.mean, deviation: scale.deviation, indicator: found.missing > 0 };
    let useless = if found.count == 0 {
        Some("no training row has a value".into())
    } else if found.low == found.high && found.missing == 0 {
        Some(format!("every training row holds {}", quoted(&number_text(found.low))))
    } else if is_id() {
        Some("its numbers only count the rows".into())
    } else {
        None
    };
    Draft { coding, useless, note: None }
}

fn time(values: &[i64], rows: &[u32]) -> Draft {
    let times = rows.iter().map(|row| values[*row as usize]);
    let missing = times.clone().filter(|time| *time == Values::NO_TIME).count();
    let cycles = cycles(times);
    let useless = if missing == rows.len() {
        Some("no training row has a value".into())
    } else if cycles.is_empty() && missing == 0 {
        Some("the training rows span no cycle of day, week or year".into())
    } else {
        None
    };
    Draft { coding: Coding::Time { cycles, indicator: missing > 0 }, useless, note: None }
}

/// How often each level comes in the training rows.
struct Counts {
    /// In alphabetical order, only those that come at all.
    levels: Vec<(String, usize)>,
    missing: usize,
}

impl Counts {
    fn new(column: &Column, rows: &[u32]) -> Self {
        let grouped;
        let (codes, name): (&[u32], &dyn Fn(usize) -> Option<String>) = match &column.values {
            Values::Category(Category { codes, levels }) => (codes, &|at| levels.get(at).cloned()),
            _ => {
                grouped = Groups::new(column);
                (&grouped.codes, &|at| grouped.names.get(at).cloned().flatten())
            }
        };
        // Codes may be many more than rows (the levels of a large table, of which these rows are few), or the reverse.
        let mut counts: HashMap<u32, usize> = HashMap::new();
        let mut dense = vec![0usize; if rows.len() > 1000 { rows.len().min(1 << 20) } else { 0 }];
        for row in rows {
            let code = codes[*row as usize];
            match dense.get_mut(code as usize) {
                Some(count) => *count += 1,
                None => *counts.entry(code).or_default() += 1,
            }
        }
        counts.extend(dense.into_iter().enumerate().filter(|(_, count)| *count > 0).map(|(code, n)| (code as u32, n)));
        let (mut levels, mut missing) = (Vec::with_capacity(counts.len()), 0);
        for (code, count) in counts {
            match name(code as usize) {
                Some(level) => levels.push((level, count)),
                None => missing += count,
            }
        }
        levels.sort_unstable();
        Counts { levels, missing }
    }
}

fn one_hot(counts: &Counts, rows: usize, resolved: &Resolved<'_>) -> Draft {
    let different = counts.levels.len();
    let useless = if different == 0 {
        Some("no training row has a value".into())
    } else if different == 1 && counts.missing == 0 {
        Some(format!("every training row holds {}", quoted(&counts.levels[0].0)))
    } else if rows > FEW && different as f64 > NAMES * (rows - counts.missing) as f64 && different > FEW {
        Some(format!("{different} different values in {} rows, like a name of each", rows - counts.missing))
    } else {
        None
    };
    let most = resolved.choice.levels;
    let mut kept: Vec<&(String, usize)> = counts.levels.iter().collect();
    let mut note = None;
    if different > most {
        // The most frequent ones, the first of the alphabet where two are as frequent.
        kept.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        kept.truncate(most);
        kept.sort_unstable();
        let covered: usize = kept.iter().map(|(_, count)| count).sum();
        let percent = 100.0 * covered as f64 / (rows - counts.missing) as f64;
        note = Some(format!(
            "{different} levels: the {most} most frequent ({percent:.1} % of the rows) have a column each, all others share one"
        ));
    }
    let (rest, indicator) = (different > most, counts.missing > 0);
    let mut scales = Vec::new();
    if resolved.choice.standardise_all {
        let covered: usize = kept.iter().map(|(_, count)| count).sum();
        scales.extend(kept.iter().map(|(_, count)| share(*count, rows)));
        scales.extend(rest.then(|| share(rows - counts.missing - covered, rows)));
        scales.extend(indicator.then(|| share(counts.missing, rows)));
    }
    let levels = kept.into_iter().map(|(level, _)| level.clone()).collect();
    Draft { coding: Coding::OneHot { levels, rest, indicator, scales }, useless, note }
}

fn ordinal(counts: &Counts, column: &Column, order: Option<&[String]>) -> Result<Draft> {
    let normal = |level: &String| match (&column.values, level.parse::<f64>()) {
        (Values::Number(_), Ok(x)) => number_text(x),
        _ => level.clone(),
    };
    let levels: Vec<String> = match order {
        Some(order) => order.iter().map(normal).collect(),
        None => counts.levels.iter().map(|(level, _)| level.clone()).collect(),
    };
    let places: HashMap<&str, usize> = levels.iter().enumerate().map(|(at, level)| (level.as_str(), at)).collect();
    let outside: Vec<&str> =
        counts.levels.iter().map(|(level, _)| level.as_str()).filter(|level| !places.contains_key(level)).collect();
    if !outside.is_empty() {
        return Err(outside_the_order(&column.name, &outside));
    }
    let repeated = counts.levels.iter().flat_map(|(level, n)| std::iter::repeat_n(places[level.as_str()] as f64, *n));
    let found = Numbers { missing: counts.missing, ..numbers(repeated) };
    let useless = match &counts.levels[..] {
        [] => Some("no training row has a value".into()),
        [(level, _)] if counts.missing == 0 => Some(format!("every training row holds {}", quoted(level))),
        _ => None,
    };
    let (mean, deviation) = (found.scale.mean, found.scale.deviation);
    Ok(Draft {
        coding: Coding::Ordinal { levels, mean, deviation, indicator: counts.missing > 0 },
        useless,
        note: None,
    })
}

fn time_is_no_category(setting: &str, name: &str) -> Error {
    Error::setting(setting, format!("{} holds times", quoted(name)), "name a column of texts or numbers")
}
