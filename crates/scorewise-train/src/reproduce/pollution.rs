//! The air pollution experiment (Table 2 of Marchetti et al., 2022), which predicts whether the fine particulate matter (PM2.5) in Beijing exceeds
//! 400 µg/m³ in the next hour.
//!
//! There are 100 windows, each starting 120 hours after the previous one. A window has 13104 training hours (a year and a half), followed by
//! 4320 test hours (half a year). Missing PM2.5 counts as 0, the first day is left out, and the wind direction is one number. Features are
//! standardised with the mean and standard deviation of the training hours, and a random third of the training hours are validation rows. Details
//! that the publication does not specify were chosen so that the results match the published numbers.

use std::ops::Range;
use std::sync::Arc;

use scorewise::Purpose;

use super::inputs::{PollutionInput, PollutionInputs, WIND_DIRECTIONS, Weather};
use super::least_squares::least_squares;
use super::rows::RepeatRows;
use scorewise_table::Matrix;
use scorewise_table::error::{Error, Location, Result};
use scorewise_table::split::{random, shuffle};
use scorewise_table::table::{BuiltIn, Reading, Source, Table, Values, read};

/// Number of windows in Marchetti et al. (2022).
pub const WINDOWS: usize = 100;
/// Number of training hours in a window.
const TRAINING_HOURS: usize = 13_104;
/// Number of test hours in a window; they follow the training hours.
pub const TEST_HOURS: usize = 4320;
/// Number of hours from the start of one window to the start of the next.
pub const WINDOW_STEP_HOURS: usize = 120;
/// An hour is an event if its PM2.5 in µg/m³ is above this limit.
const PM25_LIMIT: f64 = 400.0;

/// Number of hours that are left out at the beginning of the table.
const SKIPPED_HOURS: usize = 24;

/// The pollution table with one entry for each hour, without the hours that are left out at the beginning.
#[derive(Clone, Debug)]
pub struct Pollution {
    /// PM2.5 of each hour, 0 if it was not measured.
    pm25: Vec<f64>,
    /// Whether PM2.5 was measured in each hour.
    measured: Vec<bool>,
    /// For each hour, the most recent PM2.5 that was measured.
    last: Vec<f64>,
    /// The wind direction of each hour as a number from 0 to 3.
    wind: Vec<f64>,
    /// The numeric weather columns, in the order of [`Weather::ALL`].
    weather: Vec<Vec<f64>>,
    /// The label of each hour: 1 if PM2.5 exceeds the limit in the next hour, else 0.
    labels: Vec<u32>,
}

/// The training and test hours of one repetition of the experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// All hours of the window.
    pub hours: Range<usize>,
    /// The test hours. All other hours of the window are training hours.
    pub test: Range<usize>,
}

impl Window {
    /// One of the 100 windows of Marchetti et al. (2022), numbered from 0.
    #[must_use]
    pub fn of_paper(repeat: usize) -> Self {
        let start = WINDOW_STEP_HOURS * repeat;
        let end = start + TRAINING_HOURS + TEST_HOURS;
        Window { hours: start..end, test: end - TEST_HOURS..end }
    }

    /// A fold of a cross-validation inside the training hours of a window. The training hours are divided into `folds` blocks of consecutive
    /// hours, and block number `fold` becomes the test hours. So the test hours of the window itself are never used, and every training hour is
    /// tested in exactly one fold.
    #[must_use]
    pub fn fold(repeat: usize, fold: usize, folds: usize) -> Self {
        let start = WINDOW_STEP_HOURS * repeat;
        let boundary = |fold: usize| start + TRAINING_HOURS * fold / folds;
        Window { hours: start..start + TRAINING_HOURS, test: boundary(fold)..boundary(fold + 1) }
    }
}

impl Pollution {
    /// Reads the built-in pollution table.
    pub fn read() -> Result<Self> {
        Pollution::from_table(&read(&Source::BuiltIn(BuiltIn::Pollution), &Reading::default())?)
    }

    /// Takes the columns from the pollution table, and computes the labels.
    fn from_table(table: &Table) -> Result<Self> {
        let measured = column(table, "pm2.5")?;
        let mut latest = 0.0;
        let last = measured.iter().map(|pm25| {
            latest = if pm25.is_nan() { latest } else { *pm25 };
            latest
        });
        let last: Vec<f64> = last.collect();
        let pm25: Vec<f64> = measured.iter().map(|pm25| if pm25.is_nan() { 0.0 } else { *pm25 }).collect();
        let labels = pm25[1..].iter().map(|next| u32::from(*next > PM25_LIMIT)).collect();
        let weather = Weather::ALL.iter().map(|weather| column(table, weather.name())).collect::<Result<_>>()?;
        let measured = measured.iter().map(|pm25| !pm25.is_nan()).collect();
        Ok(Pollution { pm25, measured, last, wind: column(table, "cbwd")?, weather, labels })
    }

    /// The persistence forecast for each hour of a window: PM2.5 exceeds the limit in the next hour if it exceeds the limit now.
    #[must_use]
    pub fn persistence(&self, window: &Window) -> Vec<bool> {
        self.pm25[window.hours.clone()].iter().map(|pm25| *pm25 > PM25_LIMIT).collect()
    }

    /// The encoded rows of a window. The validation rows are drawn at random with `seed`.
    ///
    /// # Panics
    /// If the window extends beyond the table.
    #[must_use]
    pub fn window_rows(&self, window: &Window, inputs: &PollutionInputs, seed: u64) -> RepeatRows {
        let first = window.hours.start;
        let rows = 0..window.hours.len() as u32;
        let (test, training_rows): (Vec<u32>, Vec<u32>) =
            rows.partition(|row| window.test.contains(&(first + *row as usize)));
        let columns: Vec<Vec<f64>> =
            inputs.0.iter().flat_map(|input| self.input_columns(*input, &window.hours, &training_rows)).collect();
        let scales: Vec<(f64, f64)> = columns.iter().map(|column| mean_and_deviation(column, &training_rows)).collect();
        let mut values: Vec<f32> = Vec::new();
        for row in 0..window.hours.len() {
            let standardised =
                |(column, (mean, deviation)): (&Vec<f64>, &(f64, f64))| ((column[row] - mean) / deviation) as f32;
            values.extend(columns.iter().zip(&scales).map(standardised));
        }
        let mut order = training_rows.clone();
        shuffle(&mut order, &mut random(seed, Purpose::Split, 0));
        let (validation, training) = order.split_at(training_rows.len() / 3);
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
            seen: training_rows,
            test,
        }
    }

    /// The linear forecast of PM2.5 in the next hour for each of the given hours. [`PollutionInput::Expected`] describes how it is fitted.
    fn expected_pm25(&self, hours: &Range<usize>, training_rows: &[u32], minimum: f64) -> Vec<f64> {
        let inputs = [
            PollutionInput::LastPm25,
            PollutionInput::Change(1),
            PollutionInput::Weather(Weather::WindSpeed),
            PollutionInput::WindDirections,
        ];
        let columns: Vec<Vec<f64>> =
            inputs.iter().flat_map(|input| self.input_columns(*input, hours, training_rows)).collect();
        // The fit needs the PM2.5 of the hour and of the next hour, so both must have been measured.
        let is_usable = |row: &usize| {
            let hour = hours.start + row;
            self.measured[hour] && self.measured[hour + 1] && self.pm25[hour] > minimum
        };
        let rows: Vec<usize> = training_rows.iter().map(|row| *row as usize).filter(is_usable).collect();
        let next: Vec<f64> = rows.iter().map(|row| self.pm25[hours.start + row + 1]).collect();
        least_squares(&columns, &rows, &next)
    }

    /// The columns of an input for the given hours. [`PollutionInput::Expected`] is fitted on the training rows.
    fn input_columns(&self, input: PollutionInput, hours: &Range<usize>, training_rows: &[u32]) -> Vec<Vec<f64>> {
        let column_of = |values: &[f64]| vec![values[hours.clone()].to_vec()];
        let last_before = |back: usize, hour: usize| self.last[hour.saturating_sub(back)];
        match input {
            PollutionInput::Pm25 => column_of(&self.pm25),
            PollutionInput::LastPm25 => column_of(&self.last),
            PollutionInput::Lag(back) => vec![hours.clone().map(|hour| last_before(back, hour)).collect()],
            PollutionInput::Change(back) => {
                vec![hours.clone().map(|hour| self.last[hour] - last_before(back, hour)).collect()]
            }
            PollutionInput::Expected(minimum) => vec![self.expected_pm25(hours, training_rows, minimum as f64)],
            PollutionInput::Weather(weather) => column_of(&self.weather[weather as usize]),
            PollutionInput::WindNumber => column_of(&self.wind),
            PollutionInput::WindDirections => {
                let indicator =
                    |from: usize| hours.clone().map(|hour| f64::from(self.wind[hour] == from as f64)).collect();
                (0..WIND_DIRECTIONS).map(indicator).collect()
            }
        }
    }
}

/// A column of the table without the hours that are left out at the beginning. Wind directions become the numbers 0 to 3 in the byte order of
/// their names: NE, NW, SE, cv.
fn column(table: &Table, name: &str) -> Result<Vec<f64>> {
    match &table.required_column(name)?.values {
        Values::Number(values) => Ok(values[SKIPPED_HOURS..].to_vec()),
        Values::Category(category) => {
            let mut levels: Vec<&String> = category.levels.iter().collect();
            levels.sort_unstable();
            let rank = |code: &u32| levels.iter().position(|level| **level == category.levels[*code as usize]);
            Ok(category.codes[SKIPPED_HOURS..].iter().map(|code| rank(code).unwrap_or(0) as f64).collect())
        }
        _ => Err(Error::data(Location::file(&table.file).column(name), "is not a column of numbers", "")),
    }
}

/// Mean and standard deviation of a column over the given rows; the standard deviation is given as 1 if all values are equal.
fn mean_and_deviation(column: &[f64], rows: &[u32]) -> (f64, f64) {
    let values = rows.iter().map(|row| column[*row as usize]);
    let mean = values.clone().sum::<f64>() / rows.len() as f64;
    let variance = values.map(|x| (x - mean).powi(2)).sum::<f64>() / rows.len() as f64;
    (mean, if variance > 0.0 { variance.sqrt() } else { 1.0 })
}
