//! Which numbers of an hour a forecast of the dust is given.

use std::fmt;
use std::str::FromStr;

use scorewise_table::error::Error;
use scorewise_table::names::quoted;

/// Directions of the wind.
pub(super) const DIRECTIONS: usize = 4;

/// Numbers of an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Dust, 0 where it was not measured: the paper's.
    Dust,
    /// The last dust that was measured.
    LastDust,
    /// That, so many hours ago.
    Lag(usize),
    /// What was added to it since so many hours ago.
    Change(usize),
    /// The dust to be expected in an hour: a linear forecast from the last dust, its change since an hour ago, and the wind, by least squares over
    /// those of the training hours that had more dust than this. It learns from the dust of many hours, not from whether a few exceed the limit.
    Expected(usize),
    /// A column of the weather.
    Weather(Weather),
    /// The wind's direction as one number, 0 to 3: the paper's.
    WindNumber,
    /// The wind's direction as four numbers, one of which is 1.
    WindDirections,
}

/// Columns of the weather that are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weather {
    /// Dew point.
    DewPoint,
    /// Temperature.
    Temperature,
    /// Pressure.
    Pressure,
    /// Wind speed, added up while the direction stays.
    WindSpeed,
    /// Hours of snow until now.
    Snow,
    /// Hours of rain until now.
    Rain,
}

impl Weather {
    /// All of them, in the order of the table.
    pub const ALL: [Weather; 6] = {
        use Weather::{DewPoint, Pressure, Rain, Snow, Temperature, WindSpeed};
        [DewPoint, Temperature, Pressure, WindSpeed, Snow, Rain]
    };

    /// Its name in the table.
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

/// What a forecast is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inputs(pub Vec<Input>);

impl Inputs {
    /// The paper's: eight numbers.
    #[must_use]
    pub fn of_paper() -> Self {
        Inputs::all(Input::WindNumber)
    }

    /// The same with the wind's direction as four: eleven numbers.
    #[must_use]
    pub fn one_hot() -> Self {
        Inputs::all(Input::WindDirections)
    }

    /// How many numbers they are.
    #[must_use]
    pub fn numbers(&self) -> usize {
        self.0.iter().map(|input| if *input == Input::WindDirections { DIRECTIONS } else { 1 }).sum()
    }

    fn all(wind: Input) -> Self {
        let mut inputs = vec![Input::Dust];
        inputs.extend(Weather::ALL.map(Input::Weather));
        // The paper's order has it before the wind's speed, which counts for the bits alone.
        inputs.insert(if wind == Input::WindNumber { 4 } else { inputs.len() }, wind);
        Inputs(inputs)
    }
}

impl FromStr for Inputs {
    type Err = Error;

    /// From names between commas: `last,change-1,Iws`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let input = |name: &str| {
            let hours = |prefix: &str| name.strip_prefix(prefix).and_then(|hours| hours.parse().ok());
            let weather = || Weather::ALL.into_iter().find(|weather| weather.name() == name).map(Input::Weather);
            match name {
                "pm2.5" => Some(Input::Dust),
                "last" => Some(Input::LastDust),
                "wind" => Some(Input::WindDirections),
                "wind-number" => Some(Input::WindNumber),
                _ => {
                    let back = hours("lag-").map(Input::Lag).or_else(|| hours("change-").map(Input::Change));
                    back.or_else(|| hours("expected-").map(Input::Expected)).or_else(weather)
                }
            }
            .ok_or_else(|| {
                let known = "write pm2.5, last, lag-1, change-1, expected-150, DEWP, TEMP, PRES, Iws, Is, Ir, wind or wind-number";
                Error::setting("inputs", format!("there is no input {}", quoted(name)), known)
            })
        };
        text.split(',').map(|name| input(name.trim())).collect::<Result<Vec<_>, _>>().map(Inputs)
    }
}

impl fmt::Display for Inputs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, input) in self.0.iter().enumerate() {
            if place > 0 {
                out.write_str(",")?;
            }
            match input {
                Input::Dust => out.write_str("pm2.5")?,
                Input::LastDust => out.write_str("last")?,
                Input::Lag(hours) => write!(out, "lag-{hours}")?,
                Input::Change(hours) => write!(out, "change-{hours}")?,
                Input::Expected(least) => write!(out, "expected-{least}")?,
                Input::Weather(weather) => out.write_str(weather.name())?,
                Input::WindNumber => out.write_str("wind-number")?,
                Input::WindDirections => out.write_str("wind")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_out_and_come_back() {
        for text in [
            Inputs::of_paper().to_string(),
            Inputs::one_hot().to_string(),
            "last,lag-3,change-1,expected-150,Iws".into(),
        ] {
            assert_eq!(text.parse::<Inputs>().unwrap().to_string(), text);
        }
        assert_eq!(Inputs::of_paper().to_string(), "pm2.5,DEWP,TEMP,PRES,wind-number,Iws,Is,Ir");
        assert!("last,sun".parse::<Inputs>().is_err() && "lag-x".parse::<Inputs>().is_err());
    }
}
