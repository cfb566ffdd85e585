//! Writes encoded rows into the matrix. Blocks of rows are written in parallel; within a block, the inputs are written one after the other.

use rayon::prelude::*;

use super::statistics::{phase, position, time_part};
use super::view::{MISSING_LEVEL, UNSEEN_LEVEL, View};
use super::{ColumnEncoding, Encoder, InputColumn};
use crate::error::{Error, Location, Result};
use crate::groups::{NO_ROW, Neighbours};
use crate::matrix::Matrix;
use crate::note::Note;
use crate::split::NO_SET;
use crate::table::{Table, Values};

/// Standardised numbers are clipped to this many standard deviations from the mean, because larger numbers would dominate all other inputs.
/// Training rows are never clipped: no value of n rows is farther than √n standard deviations from their mean, and n is less than 2³².
pub const MAX_DEVIATIONS: f64 = 1e6;

/// The number of rows that are encoded as one block, small enough for the block to stay in the L2 cache while its columns are written.
const BLOCK_ROWS: usize = 512;

/// A table encoded as a matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded {
    /// The matrix, with one row for each row of the table.
    pub matrix: Matrix,
    /// How many rows have a value unlike those of the training rows, such as a new level, for each input.
    pub unexpected: UnexpectedValues,
}

/// For each input, three counts: the rows with a level that the training rows do not have, the rows with a missing value although no training
/// row has one, and the rows with a number beyond [`MAX_DEVIATIONS`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnexpectedValues {
    counts: Vec<[u64; 3]>,
}

/// Index of the count of rows with a level that the training rows do not have. Encodings with `rest` do not count these rows, because some training
/// rows have levels that are encoded in the same way.
const NEW_LEVEL: usize = 0;
/// Index of the count of rows with a missing value although no training row has one.
const NEWLY_MISSING: usize = 1;
/// Index of the count of rows with a number beyond [`MAX_DEVIATIONS`].
const EXTREME: usize = 2;

impl UnexpectedValues {
    /// Creates the counts of unexpected values for this many inputs, all 0.
    fn zeros(inputs: usize) -> Self {
        UnexpectedValues { counts: vec![[0; 3]; inputs] }
    }

    /// Adds the counts of unexpected values in further rows, which were encoded by the same encoder.
    pub fn add(&mut self, further: &UnexpectedValues) {
        self.counts.resize(self.counts.len().max(further.counts.len()), [0; 3]);
        for (sums, counts) in self.counts.iter_mut().zip(&further.counts) {
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum += count;
            }
        }
    }

    /// Notes that tell the user how many rows have unexpected values: one note for each count above 0.
    #[must_use]
    pub fn notes(&self, encoder: &Encoder) -> Vec<Note> {
        let input_notes = |(input, counts): (&InputColumn, &[u64; 3])| -> Vec<Note> {
            let replacement = match &input.coding {
                ColumnEncoding::Knots { .. } => "a missing value is replaced by the median",
                ColumnEncoding::Levels { .. } => "a missing value is treated like a value not seen in training",
                ColumnEncoding::OneHot { .. } => "a missing value is encoded as none of the levels",
                ColumnEncoding::Number { .. } | ColumnEncoding::Ordinal { .. } | ColumnEncoding::Time { .. } => {
                    "a missing value is replaced by the mean"
                }
            };
            let note = |(index, count): (usize, &u64)| {
                let rows_have = if *count == 1 { "1 row has".to_string() } else { format!("{count} rows have") };
                let text = || match index {
                    NEW_LEVEL => {
                        format!("{rows_have} a value not seen in training: it is encoded as none of the levels")
                    }
                    NEWLY_MISSING => format!("{rows_have} no value, but every training row had one: {replacement}"),
                    _ => format!(
                        "{rows_have} a value more than {MAX_DEVIATIONS:.0} standard deviations from the mean: it is \
                         clipped"
                    ),
                };
                (*count > 0).then(|| Note::about_column(&input.column, text()))
            };
            counts.iter().enumerate().filter_map(note).collect()
        };
        encoder.inputs.iter().zip(&self.counts).flat_map(input_notes).collect()
    }
}

impl Encoder {
    /// Encodes all rows of a table. Lags refer to earlier rows in the order `Encoder::order`.
    pub fn encode(&self, table: &Table) -> Result<Encoded> {
        self.encode_split(table, &[])
    }

    /// Encodes all rows of a table that was split into sets. Lags do not reach from one set into another. `set_of_row` is the set of each row, as in
    /// [`SplitRows::set_of_row`](crate::split::SplitRows::set_of_row).
    ///
    /// # Panics
    /// If `set_of_row` is not empty and its length is not the number of rows of the table.
    pub fn encode_split(&self, table: &Table, set_of_row: &[u8]) -> Result<Encoded> {
        assert!(
            set_of_row.is_empty() || set_of_row.len() == table.rows(),
            "`set_of_row` must have one entry for each row of the table"
        );
        // The views are created before the rows are ordered, because the error of `views` names all missing columns at once, including those
        // that order the rows.
        let views = self.views(table)?;
        let neighbours = if self.lags() > 0 { Some(Neighbours::new(table, &self.order)?) } else { None };
        let rows = table.rows();
        let Some(mut matrix) = Matrix::zeros(rows, self.width()) else {
            return Err(Error::data(
                Location::file(&table.file),
                "the table is too large to encode",
                "split it into several smaller tables",
            ));
        };
        let mut writers: Vec<Writer<'_>> = Vec::with_capacity(views.len());
        let mut offset = 0;
        for (number, (input, view)) in self.inputs.iter().zip(views).enumerate() {
            writers.push(Writer { number, input, offset, view, one_hot: one_hot_values(input) });
            offset += input.width();
        }
        writers.sort_by_key(|writer| writer.input.lag);

        let (padded, stride) = matrix.padded_mut();
        let block = |(number, out): (usize, &mut [f32])| {
            let mut unexpected = UnexpectedValues::zeros(self.inputs.len());
            let first = number * BLOCK_ROWS;
            let rows: Vec<u32> = (first..first + out.len() / stride).map(|row| row as u32).collect();
            let (mut lag, mut lagged_rows) = (0, rows.clone());
            for writer in &writers {
                // The writers are sorted by lag, so the earlier rows are looked up again only when the lag increases.
                if lag < writer.input.lag {
                    lag = writer.input.lag;
                    for (lagged, row) in lagged_rows.iter_mut().zip(&rows) {
                        let earlier = neighbours.as_ref().map_or(NO_ROW, |neighbours| neighbours.back(*row, lag));
                        *lagged = if is_in_another_set(set_of_row, *row, earlier) { NO_ROW } else { earlier };
                    }
                }
                writer.write(&lagged_rows, out, stride, &mut unexpected.counts[writer.number]);
            }
            unexpected
        };
        let unexpected = padded.par_chunks_mut(stride * BLOCK_ROWS).enumerate().map(block).reduce(
            || UnexpectedValues::zeros(self.inputs.len()),
            |mut sum, counts| {
                sum.add(&counts);
                sum
            },
        );
        Ok(Encoded { matrix, unexpected })
    }
}

/// Whether `row` and `other` are in different sets of the split, so that a lag must not reach from `row` to `other`. `false` if `other` is in no
/// set.
fn is_in_another_set(set_of_row: &[u8], row: u32, other: u32) -> bool {
    match (set_of_row.get(row as usize), set_of_row.get(other as usize)) {
        (Some(own), Some(other)) => own != other && *other != NO_SET,
        _ => false,
    }
}

/// For each column of a one-hot encoding, the two numbers that stand for 0 and 1 after standardisation. Empty if the columns are not standardised.
fn one_hot_values(input: &InputColumn) -> Vec<[f32; 2]> {
    let ColumnEncoding::OneHot { scales, .. } = &input.coding else { return Vec::new() };
    scales.iter().map(|scale| [0.0, 1.0].map(|x| standardised(x, scale.mean, scale.deviation) as f32)).collect()
}

/// Computes (x − mean)/deviation. All terms are halved, because the difference of two finite numbers may overflow.
fn standardised(x: f64, mean: f64, deviation: f64) -> f64 {
    (x * 0.5 - mean * 0.5) / (deviation * 0.5)
}

/// Writes the columns of the matrix that encode one input.
struct Writer<'a> {
    number: usize,
    input: &'a InputColumn,
    offset: usize,
    view: View<'a>,
    one_hot: Vec<[f32; 2]>,
}

impl<'a> Writer<'a> {
    /// Reads the value of a row from the view by the function `read`; returns `missing` for [`NO_ROW`].
    #[inline(always)]
    fn read<T>(&self, row: u32, missing: T, read: impl Fn(&View<'a>, usize) -> T) -> T {
        if row == NO_ROW { missing } else { read(&self.view, row as usize) }
    }

    /// Encodes the values of the given rows of the table into `out`, which has `stride` numbers for each row.
    fn write(&self, table_rows: &[u32], out: &mut [f32], stride: usize, counts: &mut [u64; 3]) {
        let width = self.input.width();
        // Unexpected values are counted only for inputs without a lag. If all inputs counted them, the same value would be counted once for each
        // lag.
        let mut unused = [0; 3];
        let counts = if self.input.lag == 0 { counts } else { &mut unused };
        let rows =
            table_rows.iter().zip(out.chunks_exact_mut(stride).map(|row| &mut row[self.offset..self.offset + width]));
        match &self.input.coding {
            ColumnEncoding::Number { mean, deviation, indicator } => {
                for (row, out) in rows {
                    let x = self.read(*row, f64::NAN, View::number);
                    if x.is_finite() {
                        out[0] = clipped(standardised(x, *mean, *deviation), counts);
                    } else {
                        write_missing(*indicator, out, counts);
                    }
                }
            }
            ColumnEncoding::Ordinal { mean, deviation, indicator, .. } => {
                for (row, out) in rows {
                    match self.read(*row, MISSING_LEVEL, View::level) {
                        MISSING_LEVEL => write_missing(*indicator, out, counts),
                        UNSEEN_LEVEL => {
                            counts[NEW_LEVEL] += 1;
                            write_missing(*indicator, out, &mut [0; 3]);
                        }
                        level => out[0] = clipped(standardised(f64::from(level), *mean, *deviation), counts),
                    }
                }
            }
            ColumnEncoding::OneHot { levels, rest, indicator, .. } => {
                for (row, out) in rows {
                    let level = self.read(*row, MISSING_LEVEL, View::level);
                    let column = match level {
                        MISSING_LEVEL => indicator.then_some(width - 1),
                        UNSEEN_LEVEL => rest.then_some(levels.len()),
                        level => Some(level as usize),
                    };
                    for (out, values) in out.iter_mut().zip(&self.one_hot) {
                        *out = values[0];
                    }
                    match column {
                        Some(at) => out[at] = self.one_hot.get(at).map_or(1.0, |values| values[1]),
                        None if level == MISSING_LEVEL => counts[NEWLY_MISSING] += 1,
                        None => counts[NEW_LEVEL] += 1,
                    }
                }
            }
            ColumnEncoding::Knots { knots, own, median, missing, .. } => {
                for (row, out) in rows {
                    let x = match self.input.part {
                        Some(part) => time_part(part, self.read(*row, Values::NO_TIME, View::time)),
                        None => self.read(*row, f64::NAN, View::number) + 0.0,
                    };
                    out[0] = if x.is_finite() {
                        match own.binary_search_by(|value| value.total_cmp(&x)) {
                            Ok(at) => (knots.len() + at) as f32,
                            Err(_) => position(knots, x) as f32,
                        }
                    } else if *missing {
                        (knots.len() + own.len()) as f32
                    } else {
                        counts[NEWLY_MISSING] += 1;
                        position(knots, *median) as f32
                    };
                }
            }
            ColumnEncoding::Levels { levels, rest, missing, .. } => {
                for (row, out) in rows {
                    let at = match self.read(*row, MISSING_LEVEL, View::level) {
                        MISSING_LEVEL => {
                            counts[NEWLY_MISSING] += u64::from(!missing);
                            levels.len() + usize::from(*missing)
                        }
                        UNSEEN_LEVEL => {
                            counts[NEW_LEVEL] += u64::from(!rest);
                            levels.len()
                        }
                        level => level as usize,
                    };
                    out[0] = at as f32;
                }
            }
            ColumnEncoding::Time { cycles, indicator } => {
                for (row, out) in rows {
                    let time = self.read(*row, Values::NO_TIME, View::time);
                    if time == Values::NO_TIME {
                        write_missing(*indicator, out, counts);
                        continue;
                    }
                    for (cycle, out) in cycles.iter().zip(out.chunks_exact_mut(2)) {
                        let (sin, cos) = phase(*cycle, time);
                        (out[0], out[1]) = (sin as f32, cos as f32);
                    }
                }
            }
        }
    }
}

/// Clips a standardised number to the range ±[`MAX_DEVIATIONS`], and counts it as [`EXTREME`] if it is outside.
fn clipped(x: f64, counts: &mut [u64; 3]) -> f32 {
    if x.abs() > MAX_DEVIATIONS {
        counts[EXTREME] += 1;
    }
    x.clamp(-MAX_DEVIATIONS, MAX_DEVIATIONS) as f32
}

/// Encodes a missing value: 1 in the indicator column, if there is one; otherwise the row is counted as [`NEWLY_MISSING`]. The other columns stay
/// 0, which stands for the mean of a standardised column.
fn write_missing(indicator: bool, out: &mut [f32], counts: &mut [u64; 3]) {
    match out.last_mut() {
        Some(last) if indicator => *last = 1.0,
        _ => counts[NEWLY_MISSING] += 1,
    }
}
