//! Writing rows: block by block on all cores, column by column within a block, straight into the matrix.

use rayon::prelude::*;

use super::statistics::phase;
use super::view::{MISSING, UNSEEN, View};
use super::{Coding, Encoder, Input};
use crate::error::{Error, Place, Result};
use crate::groups::{NO_ROW, Neighbours};
use crate::matrix::Matrix;
use crate::note::Note;
use crate::split::NO_SIDE;
use crate::table::{Table, Values};

/// A standardised number farther from the mean than this many deviations is cut to it: no training row can be as far, and what
/// is farther would drown all other inputs.
pub const FARTHEST: f64 = 1e6;

/// Rows of a block: its part of the matrix stays in the second cache while column after column is written.
const BLOCK: usize = 512;

/// A table as a matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded {
    /// One row for each row of the table.
    pub matrix: Matrix,
    /// What the training rows had not prepared for.
    pub surprises: Surprises,
}

/// How often the rows held what the training rows had not prepared for, input by input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surprises {
    counts: Vec<[u64; 3]>,
}

const UNKNOWN: usize = 0;
const ABSENT: usize = 1;
const EXTREME: usize = 2;

impl Surprises {
    fn none(inputs: usize) -> Self {
        Surprises { counts: vec![[0; 3]; inputs] }
    }

    /// Those of further rows.
    pub fn add(&mut self, further: &Surprises) {
        self.counts.resize(self.counts.len().max(further.counts.len()), [0; 3]);
        for (all, counts) in self.counts.iter_mut().zip(&further.counts) {
            for (all, count) in all.iter_mut().zip(counts) {
                *all += count;
            }
        }
    }

    /// What to tell the user.
    #[must_use]
    pub fn notes(&self, encoder: &Encoder) -> Vec<Note> {
        let texts = [
            "with a value not seen in training: taken as none of its levels".to_string(),
            "without a value, where no training row lacks one: taken as the mean".to_string(),
            format!("more than {FARTHEST:.0} deviations from the mean: cut to that"),
        ];
        let told = |(input, counts): (&Input, &[u64; 3])| -> Vec<Note> {
            let count = |(count, text): (&u64, &String)| {
                let rows = if *count == 1 { "row" } else { "rows" };
                (*count > 0).then(|| Note::of(&input.column, format!("{count} {rows} {text}")))
            };
            counts.iter().zip(&texts).filter_map(count).collect()
        };
        encoder.inputs.iter().zip(&self.counts).flat_map(told).collect()
    }
}

impl Encoder {
    /// All rows of a table. A lag looks at rows before in the order of the encoder.
    pub fn encode(&self, table: &Table) -> Result<Encoded> {
        self.encode_within(table, &[])
    }

    /// All rows of a table that was split: a lag does not look from one side to another. `sides` are those of
    /// [`Parts`](crate::split::Parts), one a row.
    ///
    /// # Panics
    /// Where there are sides, and not one for each row.
    pub fn encode_within(&self, table: &Table, sides: &[u8]) -> Result<Encoded> {
        assert!(sides.is_empty() || sides.len() == table.rows(), "one side a row");
        // The views come first: they name all missing columns together, those that order the rows included.
        let views = self.views(table)?;
        let neighbours = if self.lags() > 0 { Some(Neighbours::new(table, &self.order)?) } else { None };
        let rows = table.rows();
        let Some(mut matrix) = Matrix::zeros(rows, self.width()) else {
            return Err(Error::data(Place::file(&table.file), "too large to encode", "give it in parts"));
        };
        let mut writers: Vec<Writer<'_>> = Vec::with_capacity(views.len());
        let mut offset = 0;
        for (number, (input, view)) in self.inputs.iter().zip(views).enumerate() {
            writers.push(Writer { number, input, offset, view, waves: waves(input) });
            offset += input.width();
        }
        writers.sort_by_key(|writer| writer.input.lag);

        let (padded, stride) = matrix.padded_mut();
        let block = |(number, out): (usize, &mut [f32])| {
            let mut surprises = Surprises::none(self.inputs.len());
            let first = number * BLOCK;
            let own: Vec<u32> = (first..first + out.len() / stride).map(|row| row as u32).collect();
            let (mut lag, mut visible) = (0, own.clone());
            for writer in &writers {
                // Writers come in the order of their lags.
                if lag < writer.input.lag {
                    lag = writer.input.lag;
                    for (seen, own) in visible.iter_mut().zip(&own) {
                        let place = neighbours.as_ref().map_or(NO_ROW, |neighbours| neighbours.back(*own, lag));
                        *seen = if hidden(sides, *own, place) { NO_ROW } else { place };
                    }
                }
                writer.write(&visible, out, stride, &mut surprises.counts[writer.number]);
            }
            surprises
        };
        let surprises = padded.par_chunks_mut(stride * BLOCK).enumerate().map(block).reduce(
            || Surprises::none(self.inputs.len()),
            |mut all, some| {
                all.add(&some);
                all
            },
        );
        Ok(Encoded { matrix, surprises })
    }
}

/// Whether a row lies on another side of the split.
fn hidden(sides: &[u8], own: u32, other: u32) -> bool {
    match (sides.get(own as usize), sides.get(other as usize)) {
        (Some(own), Some(other)) => own != other && *other != NO_SIDE,
        _ => false,
    }
}

/// What a column of levels holds where the level is another and where it is this one.
fn waves(input: &Input) -> Vec<[f32; 2]> {
    let Coding::OneHot { scales, .. } = &input.coding else { return Vec::new() };
    scales.iter().map(|scale| [0.0, 1.0].map(|x| standardised(x, scale.mean, scale.deviation) as f32)).collect()
}

/// (x − mean)/deviation in halves, since the distance of two finite numbers may not be one.
fn standardised(x: f64, mean: f64, deviation: f64) -> f64 {
    (x * 0.5 - mean * 0.5) / (deviation * 0.5)
}

/// Writes the columns of one input.
struct Writer<'a> {
    number: usize,
    input: &'a Input,
    offset: usize,
    view: View<'a>,
    waves: Vec<[f32; 2]>,
}

impl<'a> Writer<'a> {
    /// The value of a row, or `missing` for [`NO_ROW`].
    #[inline(always)]
    fn read<T>(&self, row: u32, missing: T, read: impl Fn(&View<'a>, usize) -> T) -> T {
        if row == NO_ROW { missing } else { read(&self.view, row as usize) }
    }

    fn write(&self, places: &[u32], out: &mut [f32], stride: usize, counts: &mut [u64; 3]) {
        let width = self.input.width();
        // A surprise is told once, at its own row.
        let mut unused = [0; 3];
        let counts = if self.input.lag == 0 { counts } else { &mut unused };
        let rows =
            places.iter().zip(out.chunks_exact_mut(stride).map(|row| &mut row[self.offset..self.offset + width]));
        match &self.input.coding {
            Coding::Number { mean, deviation, indicator } => {
                for (place, out) in rows {
                    let x = self.read(*place, f64::NAN, View::number);
                    if x.is_finite() {
                        out[0] = cut(standardised(x, *mean, *deviation), counts);
                    } else {
                        absent(*indicator, out, counts);
                    }
                }
            }
            Coding::Ordinal { mean, deviation, indicator, .. } => {
                for (place, out) in rows {
                    match self.read(*place, MISSING, View::level) {
                        MISSING => absent(*indicator, out, counts),
                        UNSEEN => {
                            counts[UNKNOWN] += 1;
                            absent(*indicator, out, &mut [0; 3]);
                        }
                        level => out[0] = cut(standardised(f64::from(level), *mean, *deviation), counts),
                    }
                }
            }
            Coding::OneHot { levels, rest, indicator, .. } => {
                for (place, out) in rows {
                    let level = self.read(*place, MISSING, View::level);
                    let column = match level {
                        MISSING => indicator.then_some(width - 1),
                        UNSEEN => rest.then_some(levels.len()),
                        level => Some(level as usize),
                    };
                    for (out, wave) in out.iter_mut().zip(&self.waves) {
                        *out = wave[0];
                    }
                    match column {
                        Some(at) => out[at] = self.waves.get(at).map_or(1.0, |wave| wave[1]),
                        None if level == MISSING => counts[ABSENT] += 1,
                        None => counts[UNKNOWN] += 1,
                    }
                }
            }
            Coding::Time { cycles, indicator } => {
                for (place, out) in rows {
                    let time = self.read(*place, Values::NO_TIME, View::time);
                    if time == Values::NO_TIME {
                        absent(*indicator, out, counts);
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

/// A standardised number that is not too far out.
fn cut(x: f64, counts: &mut [u64; 3]) -> f32 {
    if x.abs() > FARTHEST {
        counts[EXTREME] += 1;
    }
    x.clamp(-FARTHEST, FARTHEST) as f32
}

/// The mean is 0 already; the last column says that the value is missing, where there is one.
fn absent(indicator: bool, out: &mut [f32], counts: &mut [u64; 3]) {
    match out.last_mut() {
        Some(last) if indicator => *last = 1.0,
        _ => counts[ABSENT] += 1,
    }
}
