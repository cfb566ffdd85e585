//! Decides from the training rows how a column is encoded, or why it is dropped.

use std::collections::HashMap;

use super::choice::{ResolvedChoice, levels_not_in_order};
use super::statistics::{NumberSummary, are_row_numbers, cycles, indicator_scale, summarise};
use super::{ColumnEncoding, Cycle};
use crate::error::{Error, Result};
use crate::groups::{Groups, number_text};
use crate::names::quoted;
use crate::note::Note;
use crate::setting::Setting;
use crate::table::{Category, Column, Values};

/// A column is taken for an identifier of rows if more than this share of its values are different and the table has more than [`FEW_ROWS`]
/// rows.
const IDENTIFIER_SHARE: f64 = 0.95;
/// No column is taken for an identifier in a table of at most this many rows, where all values of a measurement may be different.
const FEW_ROWS: usize = 20;

/// The encoding of a column, and notes that tell the user about the decision.
pub(super) struct EncodingDecision {
    /// The encoding; `None` if the column is dropped.
    pub coding: Option<ColumnEncoding>,
    pub notes: Vec<Note>,
}

impl From<ColumnEncoding> for EncodingDecision {
    fn from(coding: ColumnEncoding) -> Self {
        EncodingDecision { coding: Some(coding), notes: Vec::new() }
    }
}

/// Decides the encoding of a column from its training rows.
pub(super) fn decide(column: &Column, rows: &[u32], resolved: &ResolvedChoice<'_>) -> Result<EncodingDecision> {
    let name = column.name.as_str();
    let draft = match (&column.values, resolved.is_categorical(name), resolved.order_of(name)) {
        (Values::Time(_), true, _) => return Err(time_is_not_a_category("categorical", name)),
        (Values::Time(_), _, Some(_)) => return Err(time_is_not_a_category("ordinal", name)),
        (Values::Time(values), ..) => time(values, rows),
        (Values::Number(values), false, None | Some(None)) => {
            let summary = summarise(rows.iter().map(|row| values[*row as usize]));
            let is_id = || {
                rows.len() > FEW_ROWS
                    && are_row_numbers(rows.iter().map(|row| values[*row as usize]), &summary, values.len())
            };
            number(&summary, is_id)
        }
        (Values::Boolean(values), false, None | Some(None)) => {
            let summary = summarise(rows.iter().map(|row| boolean(values[*row as usize])));
            number(&summary, || false)
        }
        (_, _, Some(order)) => ordinal(&LevelCounts::new(column, rows), column, order)?,
        _ => one_hot(&LevelCounts::new(column, rows), rows.len(), resolved),
    };
    Ok(if resolved.is_kept(name) { draft.kept(column) } else { draft.dropped_if_useless(name) })
}

/// The encoding of a column before it is decided whether the column is dropped.
struct Draft {
    coding: ColumnEncoding,
    /// The reason why the column is useless; `None` if it is useful.
    useless: Option<String>,
    note: Option<String>,
}

impl Draft {
    /// The decision for a column that the user did not ask to keep.
    fn dropped_if_useless(self, name: &str) -> EncodingDecision {
        let dropped =
            self.useless.map(|why| format!("dropped: {why}; add it to `{}` to use it anyway", Setting("keep")));
        let coding = dropped.is_none().then_some(self.coding);
        EncodingDecision {
            coding,
            notes: dropped.or(self.note).map(|text| Note::about_column(name, text)).into_iter().collect(),
        }
    }

    /// The decision for a column that the user asked to keep.
    fn kept(mut self, column: &Column) -> EncodingDecision {
        match &mut self.coding {
            // A column that the user asked to keep gets at least one column in the matrix.
            ColumnEncoding::Time { cycles, .. } if cycles.is_empty() => {
                *cycles = vec![Cycle::Day, Cycle::Week, Cycle::Year];
            }
            ColumnEncoding::OneHot { levels, indicator, scales, .. } if levels.is_empty() => {
                *indicator = true;
                if !scales.is_empty() {
                    scales.truncate(1);
                }
            }
            _ => {}
        }
        EncodingDecision {
            notes: self.note.map(|text| Note::about_column(&column.name, text)).into_iter().collect(),
            ..self.coding.into()
        }
    }
}

/// A boolean as a number: `true` is 1, `false` is 0, missing is NaN.
pub(super) fn boolean(value: Option<bool>) -> f64 {
    value.map_or(f64::NAN, |yes| f64::from(u8::from(yes)))
}

fn number(summary: &NumberSummary, is_id: impl Fn() -> bool) -> Draft {
    let scale = summary.scale;
    let coding =
        ColumnEncoding::Number { mean: scale.mean, deviation: scale.deviation, indicator: summary.missing > 0 };
    let useless = if summary.count == 0 {
        Some("no training row has a value".into())
    } else if summary.min == summary.max && summary.missing == 0 {
        Some(format!("every training row holds {}", quoted(&number_text(summary.min))))
    } else if is_id() {
        Some("it holds only row numbers".into())
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
        Some("its times vary too little for a daily, weekly or yearly cycle".into())
    } else {
        None
    };
    Draft { coding: ColumnEncoding::Time { cycles, indicator: missing > 0 }, useless, note: None }
}

/// How often each level occurs in the training rows.
struct LevelCounts {
    /// The levels that occur in the training rows, in alphabetical order, with the number of rows of each level.
    levels: Vec<(String, usize)>,
    missing: usize,
}

impl LevelCounts {
    fn new(column: &Column, rows: &[u32]) -> Self {
        let grouped;
        let (codes, name): (&[u32], &dyn Fn(usize) -> Option<String>) = match &column.values {
            Values::Category(Category { codes, levels }) => (codes, &|at| levels.get(at).cloned()),
            _ => {
                grouped = Groups::new(column);
                (&grouped.codes, &|at| grouped.names.get(at).cloned().flatten())
            }
        };
        // A category may have many more codes than there are training rows, or many fewer. An array is the fastest way to count codes but
        // would be too large for all codes, so small codes are counted in an array and the others in a hash map.
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
        LevelCounts { levels, missing }
    }
}

fn one_hot(counts: &LevelCounts, rows: usize, resolved: &ResolvedChoice<'_>) -> Draft {
    let distinct = counts.levels.len();
    let useless = if distinct == 0 {
        Some("no training row has a value".into())
    } else if distinct == 1 && counts.missing == 0 {
        Some(format!("every training row holds {}", quoted(&counts.levels[0].0)))
    } else if rows > FEW_ROWS
        && distinct as f64 > IDENTIFIER_SHARE * (rows - counts.missing) as f64
        && distinct > FEW_ROWS
    {
        Some(format!("{distinct} different values in {} rows, like an identifier", rows - counts.missing))
    } else {
        None
    };
    let max_levels = resolved.choice.levels;
    let mut kept: Vec<&(String, usize)> = counts.levels.iter().collect();
    let mut note = None;
    if distinct > max_levels {
        // Keeps the most frequent levels; among equally frequent levels, those that come first in alphabetical order.
        kept.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        kept.truncate(max_levels);
        kept.sort_unstable();
        let covered: usize = kept.iter().map(|(_, count)| count).sum();
        let percent = 100.0 * covered as f64 / (rows - counts.missing) as f64;
        note = Some(format!(
            "{distinct} levels: the {max_levels} most frequent ({percent:.1} % of the rows) have a column each, all others share one"
        ));
    }
    let (rest, indicator) = (distinct > max_levels, counts.missing > 0);
    let mut scales = Vec::new();
    if resolved.choice.standardise_all {
        let covered: usize = kept.iter().map(|(_, count)| count).sum();
        scales.extend(kept.iter().map(|(_, count)| indicator_scale(*count, rows)));
        scales.extend(rest.then(|| indicator_scale(rows - counts.missing - covered, rows)));
        scales.extend(indicator.then(|| indicator_scale(counts.missing, rows)));
    }
    let levels = kept.into_iter().map(|(level, _)| level.clone()).collect();
    Draft { coding: ColumnEncoding::OneHot { levels, rest, indicator, scales }, useless, note }
}

fn ordinal(counts: &LevelCounts, column: &Column, order: Option<&[String]>) -> Result<Draft> {
    let normalised = |level: &String| match (&column.values, level.parse::<f64>()) {
        (Values::Number(_), Ok(x)) => number_text(x),
        _ => level.clone(),
    };
    let levels: Vec<String> = match order {
        Some(order) => order.iter().map(normalised).collect(),
        None => counts.levels.iter().map(|(level, _)| level.clone()).collect(),
    };
    let positions: HashMap<&str, usize> = levels.iter().enumerate().map(|(at, level)| (level.as_str(), at)).collect();
    let unlisted: Vec<&str> =
        counts.levels.iter().map(|(level, _)| level.as_str()).filter(|level| !positions.contains_key(level)).collect();
    if !unlisted.is_empty() {
        return Err(levels_not_in_order(&column.name, &unlisted));
    }
    let repeated =
        counts.levels.iter().flat_map(|(level, n)| std::iter::repeat_n(positions[level.as_str()] as f64, *n));
    let scale = summarise(repeated).scale;
    let useless = match &counts.levels[..] {
        [] => Some("no training row has a value".into()),
        [(level, _)] if counts.missing == 0 => Some(format!("every training row holds {}", quoted(level))),
        _ => None,
    };
    let (mean, deviation) = (scale.mean, scale.deviation);
    Ok(Draft {
        coding: ColumnEncoding::Ordinal { levels, mean, deviation, indicator: counts.missing > 0 },
        useless,
        note: None,
    })
}

fn time_is_not_a_category(setting: &str, name: &str) -> Error {
    Error::setting(setting, format!("{} holds times", quoted(name)), "name a column of text or numbers")
}
