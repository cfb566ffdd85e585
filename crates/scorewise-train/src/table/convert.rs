//! Arrays of Arrow (which Parquet also gives) as typed values.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, TimeUnit};

use super::levels::Levels;
use super::reading::Markers;
use super::time::{self, Order};
use super::{Category, Kind, Values, boolean, number};

/// A value that its column cannot hold.
pub(super) struct Refused {
    /// Its row in the chunk, from 0.
    pub(super) row: usize,
    pub(super) text: String,
}

/// Why an array gives no values.
pub(super) enum Fault {
    Refused(Refused),
    Damaged(ArrowError),
}

impl From<ArrowError> for Fault {
    fn from(error: ArrowError) -> Self {
        Fault::Damaged(error)
    }
}

/// The kind of a type, where a table can hold it.
pub(super) fn kind(data: &DataType) -> Option<Kind> {
    match data {
        DataType::Boolean => Some(Kind::Boolean),
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Some(Kind::Time),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(Kind::Category),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Some(Kind::Category),
        DataType::Dictionary(_, values) => kind(values),
        DataType::Null => Some(Kind::Number),
        data if data.is_numeric() => Some(Kind::Number),
        _ => None,
    }
}

/// The values of an array, as the kind they are to be.
pub(super) fn values(array: &ArrayRef, wanted: Kind, markers: &Markers) -> Result<Values, Fault> {
    let values = natural(array, markers)?;
    if values.kind() == wanted { Ok(values) } else { as_kind(&values, wanted).map_err(Fault::Refused) }
}

fn natural(array: &ArrayRef, markers: &Markers) -> Result<Values, Fault> {
    match array.data_type() {
        DataType::Boolean => Ok(Values::Boolean(array.as_boolean().iter().collect())),
        DataType::Null => Ok(Values::Number(vec![f64::NAN; array.len()])),
        DataType::Timestamp(unit, _) => {
            let per_second = match unit {
                TimeUnit::Second => 1,
                TimeUnit::Millisecond => 1_000,
                TimeUnit::Microsecond => 1_000_000,
                TimeUnit::Nanosecond => 1_000_000_000,
            };
            seconds(array, |value| value.div_euclid(per_second))
        }
        DataType::Date64 => seconds(array, |value| value.div_euclid(1_000)),
        DataType::Date32 => {
            let days = cast(array, &DataType::Int32)?;
            seconds(&cast(&days, &DataType::Int64)?, |value| value * 86400)
        }
        data @ DataType::Dictionary(..) => match kind(data) {
            Some(Kind::Category) => categories(array, markers),
            _ => {
                let DataType::Dictionary(_, values) = data else { unreachable!("matched above") };
                natural(&cast(array, values)?, markers)
            }
        },
        data if data.is_numeric() => numbers(array, markers),
        _ => categories(array, markers),
    }
}

fn numbers(array: &ArrayRef, markers: &Markers) -> Result<Values, Fault> {
    let array = cast(array, &DataType::Float64)?;
    let array = array.as_primitive::<Float64Type>();
    let mut values = array.values().to_vec();
    if array.null_count() > 0 {
        for (row, value) in values.iter_mut().enumerate() {
            if array.is_null(row) {
                *value = f64::NAN;
            }
        }
    }
    // An infinity may itself be listed as missing.
    for (row, value) in values.iter_mut().enumerate() {
        if markers.is_number(*value) {
            *value = f64::NAN;
        } else if value.is_infinite() {
            return Err(Fault::Refused(Refused { row, text: value.to_string() }));
        }
    }
    Ok(Values::Number(values))
}

fn seconds(array: &ArrayRef, second: impl Fn(i64) -> i64) -> Result<Values, Fault> {
    let array = cast(array, &DataType::Int64)?;
    let array = array.as_primitive::<Int64Type>();
    Ok(Values::Time(array.iter().map(|value| value.map_or(Values::NO_TIME, &second)).collect()))
}

/// Texts, by way of the dictionary that Arrow makes or has.
fn categories(array: &ArrayRef, markers: &Markers) -> Result<Values, Fault> {
    let dictionary = DataType::Dictionary(Box::new(DataType::Int64), Box::new(DataType::Utf8));
    let array = match array.data_type() {
        // Bytes that are no text are refused one by one, not made missing.
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => &texts(array)?,
        _ => array,
    };
    let (keys, texts) = match array.data_type() {
        DataType::Dictionary(..) => {
            let array = array.as_any_dictionary();
            (cast(&arrow_array::make_array(array.keys().to_data()), &DataType::Int64)?, array.values().clone())
        }
        _ => {
            let array = cast(array, &dictionary)?;
            let array = array.as_any_dictionary();
            (arrow_array::make_array(array.keys().to_data()), array.values().clone())
        }
    };
    let texts = match texts.data_type() {
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => self::texts(&texts)?,
        _ => cast(&texts, &DataType::Utf8)?,
    };
    let texts = texts.as_string::<i32>();
    const UNKNOWN: u32 = Category::MISSING - 1;
    let mut places = vec![UNKNOWN; texts.len()];
    let mut levels = Levels::default();
    let mut codes = Vec::with_capacity(keys.len());
    for key in keys.as_primitive::<Int64Type>() {
        let Some(key) = key.and_then(|key| usize::try_from(key).ok()).filter(|key| *key < places.len()) else {
            codes.push(Category::MISSING);
            continue;
        };
        if places[key] == UNKNOWN {
            let text = if texts.is_null(key) { "" } else { texts.value(key).trim_matches([' ', '\t']) };
            places[key] =
                if markers.holds(text.as_bytes(), b'.') { Category::MISSING } else { levels.place(text.into()) };
        }
        codes.push(places[key]);
    }
    Ok(Values::Category(Category { codes, levels: levels.into_texts() }))
}

/// Bytes as texts.
fn texts(array: &ArrayRef) -> Result<ArrayRef, Fault> {
    let array = cast(array, &DataType::LargeBinary)?;
    let array = array.as_binary::<i64>();
    let mut texts = arrow_array::builder::StringBuilder::new();
    for (row, bytes) in array.iter().enumerate() {
        match bytes.map(std::str::from_utf8).transpose() {
            Ok(text) => texts.append_option(text),
            Err(_) => {
                let text = bytes.map(super::shown).unwrap_or_default();
                return Err(Fault::Refused(Refused { row, text }));
            }
        }
    }
    Ok(std::sync::Arc::new(texts.finish()))
}

/// The same values as another kind, where the user says so.
fn as_kind(values: &Values, wanted: Kind) -> Result<Values, Refused> {
    let texts: Vec<Option<String>> = match values {
        Values::Number(values) => values.iter().map(|value| (!value.is_nan()).then(|| value.to_string())).collect(),
        Values::Boolean(values) => values.iter().map(|value| value.map(|value| value.to_string())).collect(),
        Values::Time(values) => values.iter().map(|value| written(*value)).collect(),
        Values::Category(values) => {
            let text = |code: &u32| values.levels.get(*code as usize).cloned();
            values.codes.iter().map(text).collect()
        }
    };
    let refused = |row: usize| Refused { row, text: texts[row].clone().unwrap_or_default() };
    match (wanted, values) {
        (Kind::Number, Values::Boolean(values)) => Ok(Values::Number(
            values.iter().map(|value| value.map_or(f64::NAN, |value| f64::from(u8::from(value)))).collect(),
        )),
        (Kind::Number, Values::Time(values)) => {
            let number = |value: &i64| if *value == Values::NO_TIME { f64::NAN } else { *value as f64 };
            Ok(Values::Number(values.iter().map(number).collect()))
        }
        (Kind::Number, _) => each(&texts, f64::NAN, |text| number::parse(text, b'.').filter(|value| value.is_finite()))
            .map(Values::Number)
            .map_err(refused),
        (Kind::Boolean, _) => {
            each(&texts, None, |text| boolean(text, true).map(Some)).map(Values::Boolean).map_err(refused)
        }
        (Kind::Time, _) => {
            let month_first =
                texts.iter().flatten().any(|text| time::shows(text.as_bytes()) == Some(Order::MonthFirst));
            let order = if month_first { Order::MonthFirst } else { Order::DayFirst };
            each(&texts, Values::NO_TIME, |text| time::parse(text, order)).map(Values::Time).map_err(refused)
        }
        (Kind::Category, _) => {
            let mut levels = Levels::default();
            let codes =
                texts.into_iter().map(|text| text.map_or(Category::MISSING, |text| levels.place(text))).collect();
            Ok(Values::Category(Category { codes, levels: levels.into_texts() }))
        }
    }
}

/// Each text parsed, or the row of the first that is refused.
fn each<T: Copy>(texts: &[Option<String>], missing: T, parse: impl Fn(&[u8]) -> Option<T>) -> Result<Vec<T>, usize> {
    let one = |(row, text): (usize, &Option<String>)| match text {
        None => Ok(missing),
        Some(text) => parse(text.as_bytes()).ok_or(row),
    };
    texts.iter().enumerate().map(one).collect()
}

/// A time as `2010-01-31T18:00:00`, the date alone at midnight.
fn written(seconds: i64) -> Option<String> {
    let time = chrono::DateTime::from_timestamp(seconds, 0)?;
    let format = if seconds.rem_euclid(86400) == 0 { "%Y-%m-%d" } else { "%Y-%m-%dT%H:%M:%S" };
    Some(time.format(format).to_string())
}
