//! Beijing's fine dust (Table 2): does the hour after this one exceed 400 µg/m³?
//!
//! A hundred windows of 13104 hours for training (a year and a half) and the 4320 hours (half a year) after them for testing, each
//! 120 hours after the one before. Missing dust counts as 0, the first day is left out, the wind's direction is a whole number, features
//! are standardised by the training rows, and a random third of these stops the training: what the paper leaves open is
//! settled as its numbers ask for.

use std::ops::Range;
use std::sync::Arc;

use scorewise::Purpose;

use super::inputs::{DIRECTIONS, Input, Inputs, Weather};
use super::line::least_squares;
use super::rows::RepeatRows;
use scorewise_table::Matrix;
use scorewise_table::error::{Error, Place, Result};
use scorewise_table::split::{random, shuffle};
use scorewise_table::table::{BuiltIn, Reading, Source, Table, Values, read};

/// Windows that the paper trains on.
pub const WINDOWS: usize = 100;
/// Hours of training in a window.
pub const TRAINING: usize = 13_104;
/// Hours of testing after them.
pub const TEST: usize = 4320;
/// Hours from one window to the next.
pub const STEP: usize = 120;
/// Dust above which an hour counts.
pub const LIMIT: f64 = 400.0;

/// Hours left out at the beginning.
const SKIPPED: usize = 24;
/// All hours.
#[derive(Clone, Debug)]
pub struct Pollution {
    /// Dust, 0 where it was not measured.
    dust: Vec<f64>,
    /// Whether it was.
    measured: Vec<bool>,
    /// The last dust that was measured.
    last: Vec<f64>,
    /// The wind's direction, 0 to 3.
    wind: Vec<f64>,
    /// The columns of the weather, in their order.
    weather: Vec<Vec<f64>>,
    labels: Vec<u32>,
}

/// Which hours a repeat is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// All of them.
    pub hours: Range<usize>,
    /// Those among them that judge; the others teach.
    pub test: Range<usize>,
}

impl Window {
    /// One of the paper's hundred, from 0.
    #[must_use]
    pub fn of_paper(repeat: usize) -> Self {
        let start = STEP * repeat;
        let end = start + TRAINING + TEST;
        Window { hours: start..end, test: end - TEST..end }
    }

    /// The training hours of one of the paper's, in so many parts that follow each other, of which one judges: nothing of the
    /// window's own test hours is seen, and every season judges once.
    #[must_use]
    pub fn fold(repeat: usize, part: usize, of: usize) -> Self {
        let start = STEP * repeat;
        let edge = |part: usize| start + TRAINING * part / of;
        Window { hours: start..start + TRAINING, test: edge(part)..edge(part + 1) }
    }
}

impl Pollution {
    /// From the built-in table.
    pub fn read() -> Result<Self> {
        Pollution::from_table(&read(&Source::BuiltIn(BuiltIn::Pollution), &Reading::default())?)
    }

    fn from_table(table: &Table) -> Result<Self> {
        let measured = column(table, "pm2.5")?;
        let mut known = 0.0;
        let last = measured.iter().map(|dust| {
            known = if dust.is_nan() { known } else { *dust };
            known
        });
        let last: Vec<f64> = last.collect();
        let dust: Vec<f64> = measured.iter().map(|dust| if dust.is_nan() { 0.0 } else { *dust }).collect();
        let labels = dust[1..].iter().map(|next| u32::from(*next > LIMIT)).collect();
        let weather = Weather::ALL.iter().map(|weather| column(table, weather.name())).collect::<Result<_>>()?;
        let measured = measured.iter().map(|dust| !dust.is_nan()).collect();
        Ok(Pollution { dust, measured, last, wind: column(table, "cbwd")?, weather, labels })
    }

    /// How many hours have an answer.
    #[must_use]
    pub fn hours(&self) -> usize {
        self.labels.len()
    }

    /// Whether the dust of each hour of a window exceeds the limit: the forecast that nothing changes.
    #[must_use]
    pub fn persistence(&self, window: &Window) -> Vec<bool> {
        self.dust[window.hours.clone()].iter().map(|dust| *dust > LIMIT).collect()
    }

    /// A window, its validation rows drawn with this seed.
    ///
    /// # Panics
    /// Where the window reaches beyond the hours.
    #[must_use]
    pub fn window_rows(&self, window: &Window, inputs: &Inputs, seed: u64) -> RepeatRows {
        let first = window.hours.start;
        let rows = 0..window.hours.len() as u32;
        let (test, seen): (Vec<u32>, Vec<u32>) = rows.partition(|row| window.test.contains(&(first + *row as usize)));
        let columns: Vec<Vec<f64>> =
            inputs.0.iter().flat_map(|input| self.columns(*input, &window.hours, &seen)).collect();
        let scales: Vec<(f64, f64)> = columns.iter().map(|column| scale(column, &seen)).collect();
        let mut values: Vec<f32> = Vec::new();
        for row in 0..window.hours.len() {
            let cell =
                |(column, (mean, deviation)): (&Vec<f64>, &(f64, f64))| ((column[row] - mean) / deviation) as f32;
            values.extend(columns.iter().zip(&scales).map(cell));
        }
        let mut order = seen.clone();
        shuffle(&mut order, &mut random(seed, Purpose::Split, 0));
        let (validation, training) = order.split_at(seen.len() / 3);
        let sorted = |rows: &[u32]| {
            let mut rows = rows.to_vec();
            rows.sort_unstable();
            rows
        };
        RepeatRows {
            matrix: Matrix::new(columns.len(), &values).unwrap_or_default(),
            labels: Arc::from(&self.labels[window.hours.clone()]),
            training: sorted(training),
            validation: sorted(validation),
            seen,
            test,
        }
    }

    /// The dust to be expected an hour after each of these, by what is known then.
    fn expected(&self, hours: &Range<usize>, seen: &[u32], least: f64) -> Vec<f64> {
        let inputs = [Input::LastDust, Input::Change(1), Input::Weather(Weather::WindSpeed), Input::WindDirections];
        let columns: Vec<Vec<f64>> = inputs.iter().flat_map(|input| self.columns(*input, hours, seen)).collect();
        // Hours without a measurement teach nothing, nor do those before one.
        let teaches = |row: &usize| {
            let hour = hours.start + row;
            self.measured[hour] && self.measured[hour + 1] && self.dust[hour] > least
        };
        let rows: Vec<usize> = seen.iter().map(|row| *row as usize).filter(teaches).collect();
        let next: Vec<f64> = rows.iter().map(|row| self.dust[hours.start + row + 1]).collect();
        least_squares(&columns, &rows, &next)
    }

    /// The columns of an input, one or more, for some hours, of which these rows teach.
    fn columns(&self, input: Input, hours: &Range<usize>, seen: &[u32]) -> Vec<Vec<f64>> {
        let of = |values: &[f64]| vec![values[hours.clone()].to_vec()];
        let ago = |back: usize, hour: usize| self.last[hour.saturating_sub(back)];
        match input {
            Input::Dust => of(&self.dust),
            Input::LastDust => of(&self.last),
            Input::Lag(back) => vec![hours.clone().map(|hour| ago(back, hour)).collect()],
            Input::Change(back) => vec![hours.clone().map(|hour| self.last[hour] - ago(back, hour)).collect()],
            Input::Expected(least) => vec![self.expected(hours, seen, least as f64)],
            Input::Weather(weather) => of(&self.weather[weather as usize]),
            Input::WindNumber => of(&self.wind),
            Input::WindDirections => {
                let is = |from: usize| hours.clone().map(|hour| f64::from(self.wind[hour] == from as f64)).collect();
                (0..DIRECTIONS).map(is).collect()
            }
        }
    }
}

/// A column without the hours left out; texts as numbers, in the order of the letters, capitals first: NE, NW, SE, cv.
fn column(table: &Table, name: &str) -> Result<Vec<f64>> {
    match &table.need(name)?.values {
        Values::Number(values) => Ok(values[SKIPPED..].to_vec()),
        Values::Category(category) => {
            let mut levels: Vec<&String> = category.levels.iter().collect();
            levels.sort_unstable();
            let place = |code: &u32| levels.iter().position(|level| **level == category.levels[*code as usize]);
            Ok(category.codes[SKIPPED..].iter().map(|code| place(code).unwrap_or(0) as f64).collect())
        }
        _ => Err(Error::data(Place::file(&table.file).column(name), "holds no numbers", "")),
    }
}

/// Mean and deviation of some rows; 1 where all are alike.
fn scale(column: &[f64], rows: &[u32]) -> (f64, f64) {
    let values = rows.iter().map(|row| column[*row as usize]);
    let mean = values.clone().sum::<f64>() / rows.len() as f64;
    let variance = values.map(|x| (x - mean).powi(2)).sum::<f64>() / rows.len() as f64;
    (mean, if variance > 0.0 { variance.sqrt() } else { 1.0 })
}
