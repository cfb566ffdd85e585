//! Beijing's fine dust (Table 2): does the hour after this one exceed 400 µg/m³?
//!
//! A hundred windows of 13104 hours for training (a year and a half) and the 4320 hours (half a year) after them for testing, each
//! 120 hours after the one before. Missing dust counts as 0, the first day is left out, the wind's direction is a whole number, features
//! are standardised by the training rows, and a random third of these stops the training: what the paper leaves open is
//! settled as its numbers ask for.

use super::part::Part;
use crate::engine::Matrix;
use crate::error::{Error, Place, Result};
use crate::split::{random, shuffle};
use crate::table::{BuiltIn, Reading, Source, Table, Values, read};

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
/// Place of the wind's direction among the features.
const WIND: usize = 4;

/// All hours.
#[derive(Clone, Debug)]
pub struct Pollution {
    /// Dust, dew point, temperature, pressure, wind direction (0 to 3), wind speed, snow, rain.
    hours: Vec<[f64; 8]>,
    labels: Vec<u32>,
}

/// How the wind's direction is given to a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wind {
    /// As one number, 0 to 3: what the paper did.
    Number,
    /// As four, one for each direction.
    OneHot,
}

/// Which hours a repeat is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first hour.
    pub start: usize,
    /// Hours of training.
    pub training: usize,
    /// Hours of testing after them.
    pub test: usize,
}

impl Window {
    /// One of the paper's hundred, from 0.
    #[must_use]
    pub fn of_paper(repeat: usize) -> Self {
        Window { start: STEP * repeat, training: TRAINING, test: TEST }
    }
}

impl Pollution {
    /// From the built-in table.
    pub fn read() -> Result<Self> {
        Pollution::from_table(&read(&Source::BuiltIn(BuiltIn::Pollution), &Reading::default())?)
    }

    fn from_table(table: &Table) -> Result<Self> {
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for name in ["pm2.5", "DEWP", "TEMP", "PRES", "cbwd", "Iws", "Is", "Ir"] {
            let column = match &table.need(name)?.values {
                Values::Number(values) => values[SKIPPED..].iter().map(|x| if x.is_nan() { 0.0 } else { *x }).collect(),
                Values::Category(category) => {
                    // In the order of the letters, capitals first: NE, NW, SE, cv.
                    let mut levels: Vec<&String> = category.levels.iter().collect();
                    levels.sort_unstable();
                    let place = |code: &u32| levels.iter().position(|level| **level == category.levels[*code as usize]);
                    category.codes[SKIPPED..].iter().map(|code| place(code).unwrap_or(0) as f64).collect()
                }
                _ => return Err(Error::data(Place::file(&table.file).column(name), "holds no numbers", "")),
            };
            columns.push(column);
        }
        let dust = &columns[0];
        let labels = dust[1..].iter().map(|next| u32::from(*next > LIMIT)).collect();
        let hours = (0..dust.len() - 1).map(|hour| std::array::from_fn(|column| columns[column][hour])).collect();
        Ok(Pollution { hours, labels })
    }

    /// How many hours have an answer.
    #[must_use]
    pub fn hours(&self) -> usize {
        self.hours.len()
    }

    /// Whether the dust of each hour of a window exceeds the limit: the forecast that nothing changes.
    #[must_use]
    pub fn persistence(&self, window: Window) -> Vec<bool> {
        let hours = &self.hours[window.start..window.start + window.training + window.test];
        hours.iter().map(|hour| hour[0] > LIMIT).collect()
    }

    /// A window, its validation rows drawn with this seed.
    ///
    /// # Panics
    /// Where the window reaches beyond the hours.
    #[must_use]
    pub fn part(&self, window: Window, wind: Wind, seed: u64) -> Part {
        let rows = window.training + window.test;
        let hours = &self.hours[window.start..window.start + rows];
        let mut values: Vec<f32> = Vec::new();
        let columns: Vec<Vec<f64>> = match wind {
            Wind::Number => (0..8).map(|column| hours.iter().map(|hour| hour[column]).collect()).collect(),
            Wind::OneHot => {
                let plain = (0..8).filter(|column| *column != WIND);
                let plain = plain.map(|column| hours.iter().map(|hour| hour[column]).collect());
                let is = |from: f64| hours.iter().map(|hour| f64::from(hour[WIND] == from)).collect();
                plain.chain([0.0, 1.0, 2.0, 3.0].map(is)).collect()
            }
        };
        let scales: Vec<(f64, f64)> = columns.iter().map(|column| scale(&column[..window.training])).collect();
        for row in 0..rows {
            let cell =
                |(column, (mean, deviation)): (&Vec<f64>, &(f64, f64))| ((column[row] - mean) / deviation) as f32;
            values.extend(columns.iter().zip(&scales).map(cell));
        }
        let mut order: Vec<u32> = (0..window.training as u32).collect();
        shuffle(&mut order, &mut random(seed, 0));
        let (validation, training) = order.split_at(window.training / 3);
        let sorted = |rows: &[u32]| {
            let mut rows = rows.to_vec();
            rows.sort_unstable();
            rows
        };
        Part {
            matrix: Matrix::new(columns.len(), &values).unwrap_or_default(),
            labels: self.labels[window.start..window.start + rows].to_vec(),
            training: sorted(training),
            validation: sorted(validation),
            seen: (0..window.training as u32).collect(),
            test: (window.training as u32..rows as u32).collect(),
        }
    }
}

/// Mean and deviation; 1 where all are alike.
fn scale(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64;
    (mean, if variance > 0.0 { variance.sqrt() } else { 1.0 })
}
