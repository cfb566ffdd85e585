//! Writing rows: block by block on all cores, column by column within a block, straight into the matrix.

use rayon::prelude::*;

use super::statistics::phase;
use super::view::{MISSING, UNSEEN, View};
use super::{Coding, Encoder, Input};
use crate::engine::Matrix;
use crate::error::{Error, Place, Result};
use crate::groups::{NO_ROW, Neighbours};
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
    /// All rows of a table. A lag looks at the row before in the file, within the group.
    pub fn encode(&self, table: &Table) -> Result<Encoded> {
        self.encode_after(None, table, self.neighbours(table)?.as_ref(), &[])
    }

    /// All rows of a table that was split: a lag does not look from one side to another. `sides` are those of
    /// [`Parts`](crate::split::Parts), one a row.
    ///
    /// # Panics
    /// Where there is not one side a row.
    pub fn encode_within(&self, table: &Table, sides: &[u8]) -> Result<Encoded> {
        assert_eq!(sides.len(), table.rows(), "one side a row");
        self.encode_after(None, table, self.neighbours(table)?.as_ref(), sides)
    }

    fn neighbours(&self, table: &Table) -> Result<Option<Neighbours>> {
        if self.lags() == 0 {
            return Ok(None);
        }
        // A missing column of groups is named together with the other missing columns.
        let group = self.group.as_deref().filter(|group| table.column(group).is_some());
        Neighbours::new(table, group).map(Some)
    }

    /// Rows of a table that follow those of a tail; neighbours and sides count the rows of the tail first.
    pub(super) fn encode_after(
        &self,
        tail: Option<&Table>,
        table: &Table,
        neighbours: Option<&Neighbours>,
        sides: &[u8],
    ) -> Result<Encoded> {
        let views = self.views(table)?;
        let earlier = tail.map(|tail| self.views(tail)).transpose()?;
        let (rows, behind) = (table.rows(), tail.map_or(0, Table::rows));
        let Some(mut matrix) = Matrix::zeros(rows, self.width()) else {
            return Err(Error::data(Place::file(&table.file), "too large to encode", "give it in parts"));
        };
        let mut writers: Vec<Writer<'_>> = Vec::with_capacity(views.len());
        let mut offset = 0;
        let mut earlier = earlier.into_iter().flatten();
        for (number, (input, here)) in self.inputs.iter().zip(views).enumerate() {
            writers.push(Writer { number, input, offset, here, earlier: earlier.next(), behind, waves: waves(input) });
            offset += input.width();
        }
        writers.sort_by_key(|writer| writer.input.lag);

        let (padded, stride) = matrix.padded_mut();
        let block = |(number, out): (usize, &mut [f32])| {
            let mut surprises = Surprises::none(self.inputs.len());
            let first = behind + number * BLOCK;
            let own: Vec<u32> = (first..first + out.len() / stride).map(|row| row as u32).collect();
            let (mut lag, mut places, mut visible) = (0, own.clone(), own.clone());
            for writer in &writers {
                while lag < writer.input.lag {
                    lag += 1;
                    places.iter_mut().for_each(|row| *row = neighbours.map_or(NO_ROW, |near| near.before(*row)));
                    for ((seen, place), own) in visible.iter_mut().zip(&places).zip(&own) {
                        *seen = if hidden(sides, *own, *place) { NO_ROW } else { *place };
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
    here: View<'a>,
    /// The same column in the rows before the table's first.
    earlier: Option<View<'a>>,
    /// How many those are.
    behind: usize,
    waves: Vec<[f32; 2]>,
}

impl<'a> Writer<'a> {
    /// Reads a value at a place, or has nothing where there is none.
    #[inline(always)]
    fn read<T>(&self, place: u32, nothing: T, read: impl Fn(&View<'a>, usize) -> T) -> T {
        match (place as usize).checked_sub(self.behind) {
            _ if place == NO_ROW => nothing,
            Some(row) => read(&self.here, row),
            None => self.earlier.as_ref().map_or(nothing, |view| read(view, place as usize)),
        }
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
