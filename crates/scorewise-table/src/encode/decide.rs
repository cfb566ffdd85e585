//! Decides from the training rows how a column is encoded, or why it is dropped.

use std::collections::HashMap;

use super::options::{CheckedOptions, levels_not_in_order};
use super::statistics::{NumberSummary, are_row_numbers, cycles, indicator_scale, knots, summarise, time_part};
use super::{ColumnEncoding, Cycle, TimePart};
use crate::error::{Error, Result};
use crate::groups::{Groups, number_text};
use crate::names::quoted;
use crate::note::Note;
use crate::setting::Setting;
use crate::table::{Category, Column, Values};

/// A categorical column is considered an identifier of rows if the number of its different values is above [`FEW_ROWS`], and above this share of the
/// number of training rows that have a value.
const IDENTIFIER_SHARE: f64 = 0.95;
/// With at most this many training rows, no column is considered an identifier of rows or a column of row numbers, because all values of an
/// ordinary column may be different.
const FEW_ROWS: usize = 20;

/// In a binned encoding, the maximum number of levels of a categorical column that get an index of their own. All other levels share one index.
const MAX_BINNED_LEVELS: usize = 1 << 16;
/// In a binned encoding, a level with fewer training rows than this is treated like an unknown level, because too little can be learnt about it.
const MIN_LEVEL_ROWS: usize = 3;
/// If more than this share of the training rows have a rare level, a note tells the user that all rare levels are treated as one level.
const MIN_NOTED_RARE_SHARE: f64 = 0.05;

/// The decision on how one column of the table is encoded, or that it is dropped, and notes that tell the user about it.
pub(super) struct EncodingDecision {
    /// The encoding of each input that is made from the column; empty if the column is dropped. In a binned encoding, a column of times
    /// has one input for each part of a time (hour, weekday, day of the year) that varies or is sometimes missing.
    pub codings: Vec<(Option<TimePart>, ColumnEncoding)>,
    pub notes: Vec<Note>,
}

/// Decides the encoding of a column from its values in the training rows. `bins` is the maximum number of intervals between knots into which
/// numbers are binned; 0 for a dense encoding.
pub(super) fn decide_encoding(
    column: &Column,
    rows: &[u32],
    resolved: &CheckedOptions<'_>,
    bins: usize,
) -> Result<EncodingDecision> {
    let name = column.name.as_str();
    let draft = match (&column.values, resolved.is_categorical(name), resolved.order_of(name)) {
        (Values::Time(_), true, _) => return Err(error_for_a_column_of_times("categorical", name)),
        (Values::Time(_), _, Some(_)) => return Err(error_for_a_column_of_times("ordinal", name)),
        (Values::Time(values), ..) => draft_time_encoding(values, rows),
        (Values::Number(values), false, None | Some(None)) => {
            let summary = summarise(rows.iter().map(|row| values[*row as usize]));
            let is_row_number = || {
                rows.len() > FEW_ROWS
                    && are_row_numbers(rows.iter().map(|row| values[*row as usize]), &summary, values.len())
            };
            draft_number_encoding(&summary, is_row_number)
        }
        (Values::Boolean(values), false, None | Some(None)) => {
            let summary = summarise(rows.iter().map(|row| boolean(values[*row as usize])));
            draft_number_encoding(&summary, || false)
        }
        (_, _, Some(order)) => draft_ordinal_encoding(&LevelCounts::new(column, rows), column, order)?,
        _ => draft_one_hot_encoding(&LevelCounts::new(column, rows), rows.len(), resolved),
    };
    let mut decision = if resolved.is_kept(name) { draft.kept(column) } else { draft.dropped_if_useless(name) };
    if bins > 0 {
        decision.codings =
            decision.codings.into_iter().flat_map(|(_, coding)| binned_encodings(coding, column, rows, bins)).collect();
    }
    Ok(decision)
}

/// Turns the dense encoding of a column into binned encodings. A column of times gets one for each part of a time (hour, weekday, day of the
/// year) that varies or is sometimes missing; any other column gets a single one. `bins` is the maximum number of intervals between knots.
fn binned_encodings(
    coding: ColumnEncoding,
    column: &Column,
    rows: &[u32],
    bins: usize,
) -> Vec<(Option<TimePart>, ColumnEncoding)> {
    let rows = rows.iter().map(|row| *row as usize);
    // If all values of a column are missing and the user asked to keep the column, its encoding has a single knot at 0, which no training row uses,
    // and a position for missing values.
    let or_missing = |coding: Option<ColumnEncoding>| {
        let (knots, own, median, spread, missing) = (vec![0.0], Vec::new(), 0.0, 1.0, true);
        coding.unwrap_or(ColumnEncoding::Knots { knots, own, median, spread, missing })
    };
    match (coding, &column.values) {
        (ColumnEncoding::Number { .. }, Values::Number(values)) => {
            vec![(None, or_missing(knots(rows.map(|row| values[row]), bins)))]
        }
        (ColumnEncoding::Number { .. }, Values::Boolean(values)) => {
            vec![(None, or_missing(knots(rows.map(|row| boolean(values[row])), bins)))]
        }
        (ColumnEncoding::Time { .. }, Values::Time(values)) => {
            let of_part = |part: TimePart| {
                let coding = or_missing(knots(rows.clone().map(|row| time_part(part, values[row])), bins));
                let varies =
                    matches!(&coding, ColumnEncoding::Knots { knots, missing, .. } if knots.len() > 1 || *missing);
                varies.then_some((Some(part), coding))
            };
            TimePart::ALL.into_iter().filter_map(of_part).collect()
        }
        (ColumnEncoding::OneHot { levels, rest, indicator, .. }, _) => {
            vec![(None, ColumnEncoding::Levels { levels, ordered: false, rest, missing: indicator })]
        }
        (ColumnEncoding::Ordinal { levels, indicator, .. }, _) => {
            vec![(None, ColumnEncoding::Levels { levels, ordered: true, rest: false, missing: indicator })]
        }
        (coding, _) => vec![(None, coding)],
    }
}

/// The encoding of a column before it is decided whether the column is dropped.
struct DraftEncoding {
    coding: ColumnEncoding,
    /// Text that says why the column is useless as an input; `None` if it is useful.
    useless: Option<String>,
    note: Option<String>,
}

impl DraftEncoding {
    /// The decision for a column that the user did not ask to keep: the column is dropped if it is useless.
    fn dropped_if_useless(self, name: &str) -> EncodingDecision {
        let dropped =
            self.useless.map(|why| format!("dropped: {why}; add it to `{}` to use it anyway", Setting("keep")));
        let codings = if dropped.is_none() { vec![(None, self.coding)] } else { Vec::new() };
        EncodingDecision {
            codings,
            notes: dropped.or(self.note).map(|text| Note::about_column(name, text)).into_iter().collect(),
        }
    }

    /// The decision for a column that the user asked to keep: the column is encoded even if it is useless.
    fn kept(mut self, column: &Column) -> EncodingDecision {
        match &mut self.coding {
            // A column of times without a calendar cycle would get no column in the matrix. The user asked to keep it,
            // so it is encoded by all three cycles.
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
            codings: vec![(None, self.coding)],
            notes: self.note.map(|text| Note::about_column(&column.name, text)).into_iter().collect(),
        }
    }
}

/// A boolean as a number: `true` is 1, `false` is 0, missing is NaN.
pub(super) fn boolean(value: Option<bool>) -> f64 {
    value.map_or(f64::NAN, |yes| f64::from(u8::from(yes)))
}

/// The dense encoding of a column of numbers or booleans. `is_row_number` tells whether the column holds only row numbers.
fn draft_number_encoding(summary: &NumberSummary, is_row_number: impl Fn() -> bool) -> DraftEncoding {
    let scale = summary.scale;
    let coding =
        ColumnEncoding::Number { mean: scale.mean, deviation: scale.deviation, indicator: summary.missing > 0 };
    let useless = if summary.count == 0 {
        Some("no training row has a value".into())
    } else if summary.min == summary.max && summary.missing == 0 {
        Some(format!("every training row holds {}", quoted(&number_text(summary.min))))
    } else if is_row_number() {
        Some("the column holds only row numbers".into())
    } else {
        None
    };
    DraftEncoding { coding, useless, note: None }
}

/// The dense encoding of a column of times by calendar cycles.
fn draft_time_encoding(values: &[i64], rows: &[u32]) -> DraftEncoding {
    let times = rows.iter().map(|row| values[*row as usize]);
    let missing = times.clone().filter(|time| *time == Values::NO_TIME).count();
    let cycles = cycles(times);
    let useless = if missing == rows.len() {
        Some("no training row has a value".into())
    } else if cycles.is_empty() && missing == 0 {
        Some("the times vary too little for a daily, weekly or yearly cycle".into())
    } else {
        None
    };
    DraftEncoding { coding: ColumnEncoding::Time { cycles, indicator: missing > 0 }, useless, note: None }
}

/// How often each level occurs in the training rows.
struct LevelCounts {
    /// The levels that occur in the training rows, in alphabetical order, with the number of rows of each level.
    levels: Vec<(String, usize)>,
    missing: usize,
}

impl LevelCounts {
    /// Counts the levels of a column in the training rows `rows`.
    fn new(column: &Column, rows: &[u32]) -> Self {
        let grouped;
        let (codes, name): (&[u32], &dyn Fn(usize) -> Option<String>) = match &column.values {
            Values::Category(Category { codes, levels }) => (codes, &|at| levels.get(at).cloned()),
            _ => {
                grouped = Groups::new(column);
                (&grouped.codes, &|at| grouped.names.get(at).cloned().flatten())
            }
        };
        // A code is the integer that stands for a level. A column may have many more codes than there are training rows, or many fewer. Counting
        // codes in an array is fastest, but an array for all codes could be too large, so small codes are counted in an array, the others in a hash
        // map.
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

/// The one-hot encoding of a categorical column. `rows` is the number of training rows.
fn draft_one_hot_encoding(counts: &LevelCounts, rows: usize, resolved: &CheckedOptions<'_>) -> DraftEncoding {
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
    let is_binned = resolved.options.bins > 0;
    let max_levels = if is_binned { MAX_BINNED_LEVELS } else { resolved.options.levels };
    let mut kept: Vec<&(String, usize)> = counts.levels.iter().collect();
    let mut note = None;
    if is_binned {
        kept.retain(|(_, count)| *count >= MIN_LEVEL_ROWS);
    }
    let is_reduced = kept.len() < distinct;
    let kept_rows: usize = kept.iter().map(|(_, count)| count).sum();
    if is_reduced && ((rows - counts.missing - kept_rows) as f64) > MIN_NOTED_RARE_SHARE * rows as f64 {
        note = Some(if kept.is_empty() {
            format!(
                "{distinct} levels, each with fewer than {MIN_LEVEL_ROWS} training rows: all levels are treated as one"
            )
        } else {
            format!(
                "{distinct} levels: the {} levels with at least {MIN_LEVEL_ROWS} training rows are told apart, all others are treated as one level",
                kept.len()
            )
        });
    }
    if kept.len() > max_levels {
        // Keeps the most frequent levels; among equally frequent levels, those that come first in alphabetical order.
        kept.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        kept.truncate(max_levels);
        kept.sort_unstable();
        let covered: usize = kept.iter().map(|(_, count)| count).sum();
        let percent = 100.0 * covered as f64 / (rows - counts.missing) as f64;
        // In a binned encoding, this note replaces the note about rare levels, because rare levels are among the levels that are treated as one.
        note = Some(if is_binned {
            format!(
                "{distinct} levels: the {max_levels} most frequent ({percent:.1} % of the rows) are told apart, all others are treated as one level"
            )
        } else {
            format!(
                "{distinct} levels: the {max_levels} most frequent ({percent:.1} % of the rows) have a column each, all others share one"
            )
        });
    }
    let (rest, indicator) = (is_reduced || distinct > max_levels, counts.missing > 0);
    let mut scales = Vec::new();
    if resolved.options.standardise_all {
        let covered: usize = kept.iter().map(|(_, count)| count).sum();
        scales.extend(kept.iter().map(|(_, count)| indicator_scale(*count, rows)));
        scales.extend(rest.then(|| indicator_scale(rows - counts.missing - covered, rows)));
        scales.extend(indicator.then(|| indicator_scale(counts.missing, rows)));
    }
    let levels = kept.into_iter().map(|(level, _)| level.clone()).collect();
    DraftEncoding { coding: ColumnEncoding::OneHot { levels, rest, indicator, scales }, useless, note }
}

/// The encoding of an ordinal column, whose levels are in the order `order`, or in alphabetical order if `order` is `None`.
fn draft_ordinal_encoding(counts: &LevelCounts, column: &Column, order: Option<&[String]>) -> Result<DraftEncoding> {
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
    Ok(DraftEncoding {
        coding: ColumnEncoding::Ordinal { levels, mean, deviation, indicator: counts.missing > 0 },
        useless,
        note: None,
    })
}

/// The error for a column of times that the user listed in `setting`, which is `categorical` or `ordinal`.
fn error_for_a_column_of_times(setting: &str, name: &str) -> Error {
    Error::setting(setting, format!("{} holds times", quoted(name)), "name a column of text or numbers")
}
