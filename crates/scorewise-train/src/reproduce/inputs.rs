//! The inputs of a PM2.5 forecast in the pollution experiment.

use std::fmt;
use std::str::FromStr;

use scorewise_table::error::Error;
use scorewise_table::names::quoted;

/// Number of different wind directions in the pollution table.
pub(super) const WIND_DIRECTIONS: usize = 4;

/// An input of the pollution forecast, which consists of one or more numbers for each hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollutionInput {
    /// PM2.5 of the hour, 0 if it was not measured, as in Marchetti et al. (2022).
    Pm25,
    /// The most recent PM2.5 measurement.
    LastPm25,
    /// The PM2.5 measurement that, this many hours ago, was the most recent one.
    Lag(usize),
    /// The most recent PM2.5 measurement minus the measurement that, this many hours ago, was the most recent one.
    Change(usize),
    /// A linear forecast of PM2.5 in the next hour from the most recent PM2.5, its change in the last hour, and the wind. The forecast is fitted
    /// by least squares on the training hours whose PM2.5 in µg/m³ is above this number. So it learns from the measured values of many hours, while
    /// a classifier learns mostly from the few hours whose PM2.5 exceeds the limit of 400 µg/m³.
    Expected(usize),
    /// A numeric weather column.
    Weather(Weather),
    /// The wind direction as one number from 0 to 3, as in Marchetti et al. (2022).
    WindNumber,
    /// The wind direction, one-hot encoded in four columns.
    WindDirections,
}

/// A numeric weather column of the pollution table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weather {
    /// Dew point.
    DewPoint,
    /// Temperature.
    Temperature,
    /// Pressure.
    Pressure,
    /// Wind speed, accumulated while the direction stays the same.
    WindSpeed,
    /// Number of hours for which it has snowed without a break.
    Snow,
    /// Number of hours for which it has rained without a break.
    Rain,
}

impl Weather {
    /// All weather columns in the order of the table.
    pub const ALL: [Weather; 6] = {
        use Weather::{DewPoint, Pressure, Rain, Snow, Temperature, WindSpeed};
        [DewPoint, Temperature, Pressure, WindSpeed, Snow, Rain]
    };

    /// The name of the column in the table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Weather::DewPoint => "DEWP",
            Weather::Temperature => "TEMP",
            Weather::Pressure => "PRES",
            Weather::WindSpeed => "Iws",
            Weather::Snow => "Is",
            Weather::Rain => "Ir",
        }
    }
}

/// The list of inputs of a pollution forecast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PollutionInputs(pub Vec<PollutionInput>);

impl PollutionInputs {
    /// The inputs of Marchetti et al. (2022); eight columns in all.
    #[must_use]
    pub fn of_paper() -> Self {
        PollutionInputs::all_inputs(PollutionInput::WindNumber)
    }

    /// The inputs of Marchetti et al. (2022), but with the wind direction one-hot encoded; eleven columns in all.
    #[must_use]
    pub fn one_hot() -> Self {
        PollutionInputs::all_inputs(PollutionInput::WindDirections)
    }

    /// Number of columns of all inputs together.
    #[must_use]
    pub fn width(&self) -> usize {
        self.0.iter().map(|input| if *input == PollutionInput::WindDirections { WIND_DIRECTIONS } else { 1 }).sum()
    }

    /// PM2.5 and all weather columns, with the wind direction encoded as `wind`.
    fn all_inputs(wind: PollutionInput) -> Self {
        let mut inputs = vec![PollutionInput::Pm25];
        inputs.extend(Weather::ALL.map(PollutionInput::Weather));
        // Marchetti et al. (2022) put the wind direction before the wind speed. The order of the columns affects only the rounding of results.
        inputs.insert(if wind == PollutionInput::WindNumber { 4 } else { inputs.len() }, wind);
        PollutionInputs(inputs)
    }
}

impl FromStr for PollutionInputs {
    type Err = Error;

    /// Parses names of inputs that are separated by commas, such as `last,change-1,Iws`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let input = |name: &str| {
            let hours = |prefix: &str| name.strip_prefix(prefix).and_then(|hours| hours.parse().ok());
            let weather =
                || Weather::ALL.into_iter().find(|weather| weather.name() == name).map(PollutionInput::Weather);
            match name {
                "pm2.5" => Some(PollutionInput::Pm25),
                "last" => Some(PollutionInput::LastPm25),
                "wind" => Some(PollutionInput::WindDirections),
                "wind-number" => Some(PollutionInput::WindNumber),
                _ => {
                    let lagged = hours("lag-").map(PollutionInput::Lag).or_else(|| hours("change-").map(PollutionInput::Change));
                    lagged.or_else(|| hours("expected-").map(PollutionInput::Expected)).or_else(weather)
                }
            }
            .ok_or_else(|| {
                let hint = "write pm2.5, last, lag-1, change-1, expected-150, DEWP, TEMP, PRES, Iws, Is, Ir, wind or wind-number";
                Error::setting("inputs", format!("there is no input {}", quoted(name)), hint)
            })
        };
        text.split(',').map(|name| input(name.trim())).collect::<Result<Vec<_>, _>>().map(PollutionInputs)
    }
}

impl fmt::Display for PollutionInputs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, input) in self.0.iter().enumerate() {
            if index > 0 {
                out.write_str(",")?;
            }
            match input {
                PollutionInput::Pm25 => out.write_str("pm2.5")?,
                PollutionInput::LastPm25 => out.write_str("last")?,
                PollutionInput::Lag(hours) => write!(out, "lag-{hours}")?,
                PollutionInput::Change(hours) => write!(out, "change-{hours}")?,
                PollutionInput::Expected(minimum) => write!(out, "expected-{minimum}")?,
                PollutionInput::Weather(weather) => out.write_str(weather.name())?,
                PollutionInput::WindNumber => out.write_str("wind-number")?,
                PollutionInput::WindDirections => out.write_str("wind")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_inputs_are_parsed_and_written_back_unchanged() {
        for text in [
            PollutionInputs::of_paper().to_string(),
            PollutionInputs::one_hot().to_string(),
            "last,lag-3,change-1,expected-150,Iws".into(),
        ] {
            assert_eq!(text.parse::<PollutionInputs>().unwrap().to_string(), text);
        }
        assert_eq!(PollutionInputs::of_paper().to_string(), "pm2.5,DEWP,TEMP,PRES,wind-number,Iws,Is,Ir");
        assert!("last,sun".parse::<PollutionInputs>().is_err() && "lag-x".parse::<PollutionInputs>().is_err());
    }
}
