//! Arrays of Arrow (which Parquet also gives) as typed values.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};

use super::column::is_time_of_day;
use super::levels::Levels;
use super::reading::{Markers, Style};
use super::text::number_or_missing;
use super::time::{self, Order};
use super::{Category, Kind, Values, boolean, number, shown};

/// A value that its column cannot hold.
pub(super) struct Refused {
    /// Its row in the chunk, from 0.
    pub(super) row: usize,
    pub(super) text: String,
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
        // 256-bit decimals have more digits than anyone measures.
        DataType::Decimal256(..) => None,
        data if data.is_numeric() => Some(Kind::Number),
        _ => None,
    }
}

/// A type that has no kind, as messages name it, and what can be done about it.
pub(super) fn unreadable(data: &DataType) -> (String, &'static str) {
    match data {
        DataType::Decimal256(precision, scale) => {
            (format!("decimal256({precision}, {scale})"), "write it as float64 or decimal128")
        }
        DataType::Time32(_) | DataType::Time64(_) => ("time of day".into(), "write it as text or as a timestamp"),
        DataType::Duration(_) => ("duration".into(), "write it as a number"),
        DataType::Interval(_) => ("interval".into(), "write it as a number"),
        DataType::FixedSizeBinary(size) => (format!("binary of {size} bytes"), "write it as text"),
        DataType::List(_)
        | DataType::LargeList(_)
        | DataType::ListView(_)
        | DataType::LargeListView(_)
        | DataType::FixedSizeList(..) => ("list".into(), "write one value a row"),
        DataType::Struct(_) => ("struct".into(), "write its fields as columns"),
        DataType::Map(..) => ("map".into(), "write its values as columns"),
        DataType::Dictionary(_, values) => unreadable(values),
        other => (shown(other.to_string().as_bytes()), "write it as numbers, texts, booleans or dates"),
    }
}

/// How texts are to be read where they are to be something else.
#[derive(Clone)]
pub(super) struct Manner {
    /// The decimal mark.
    pub(super) mark: u8,
    pub(super) style: Style,
    /// Whether the month comes first, where the user says so.
    pub(super) month_first: Option<bool>,
}

/// The values of an array of a type that has a kind, as the kind they are to be.
pub(super) fn values(array: &ArrayRef, wanted: Kind, markers: &Markers, manner: &Manner) -> Result<Values, Refused> {
    let values = natural(array, markers)?;
    if values.kind() == wanted { Ok(values) } else { as_kind(&values, wanted, markers, manner) }
}

fn natural(array: &ArrayRef, markers: &Markers) -> Result<Values, Refused> {
    let second = |per_second: i64| move |value: i64| value.div_euclid(per_second);
    match array.data_type() {
        DataType::Boolean => Ok(Values::Boolean(array.as_boolean().iter().collect())),
        DataType::Date32 => Ok(times::<Date32Type>(array, |day| i64::from(day) * 86400)),
        DataType::Date64 => Ok(times::<Date64Type>(array, second(1_000))),
        DataType::Timestamp(TimeUnit::Second, _) => Ok(times::<TimestampSecondType>(array, second(1))),
        DataType::Timestamp(TimeUnit::Millisecond, _) => Ok(times::<TimestampMillisecondType>(array, second(1_000))),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            Ok(times::<TimestampMicrosecondType>(array, second(1_000_000)))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            Ok(times::<TimestampNanosecondType>(array, second(1_000_000_000)))
        }
        DataType::Dictionary(..) => {
            let array = array.as_any_dictionary();
            Ok(chosen(&natural(array.values(), markers)?, array.keys(), &array.normalized_keys()))
        }
        DataType::Utf8 => texts(array.as_string::<i32>().iter().map(|text| text.map(str::as_bytes)), markers),
        DataType::LargeUtf8 => texts(array.as_string::<i64>().iter().map(|text| text.map(str::as_bytes)), markers),
        DataType::Utf8View => texts(array.as_string_view().iter().map(|text| text.map(str::as_bytes)), markers),
        DataType::Binary => texts(array.as_binary::<i32>().iter(), markers),
        DataType::LargeBinary => texts(array.as_binary::<i64>().iter(), markers),
        DataType::BinaryView => texts(array.as_binary_view().iter(), markers),
        _ => numbers(array, markers),
    }
}

fn numbers(array: &ArrayRef, markers: &Markers) -> Result<Values, Refused> {
    let scaled = |scale: i8| move |digits: f64| digits / 10f64.powi(i32::from(scale));
    let mut values = match array.data_type() {
        DataType::Int8 => all::<Int8Type>(array, f64::from),
        DataType::Int16 => all::<Int16Type>(array, f64::from),
        DataType::Int32 => all::<Int32Type>(array, f64::from),
        DataType::Int64 => all::<Int64Type>(array, |value| value as f64),
        DataType::UInt8 => all::<UInt8Type>(array, f64::from),
        DataType::UInt16 => all::<UInt16Type>(array, f64::from),
        DataType::UInt32 => all::<UInt32Type>(array, f64::from),
        DataType::UInt64 => all::<UInt64Type>(array, |value| value as f64),
        DataType::Float16 => all::<Float16Type>(array, f64::from),
        DataType::Float32 => all::<Float32Type>(array, f64::from),
        DataType::Float64 => all::<Float64Type>(array, |value| value),
        DataType::Decimal32(_, scale) => all::<Decimal32Type>(array, |value| scaled(*scale)(f64::from(value))),
        DataType::Decimal64(_, scale) => all::<Decimal64Type>(array, |value| scaled(*scale)(value as f64)),
        DataType::Decimal128(_, scale) => all::<Decimal128Type>(array, |value| scaled(*scale)(value as f64)),
        // The type of nothing.
        _ => vec![f64::NAN; array.len()],
    };
    if let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) {
        values.iter_mut().zip(nulls).filter(|(_, present)| !present).for_each(|(value, _)| *value = f64::NAN);
    }
    for (row, value) in values.iter_mut().enumerate() {
        // An infinity may itself be listed as missing.
        if markers.is_number(*value) {
            *value = f64::NAN;
        } else if value.is_infinite() {
            return Err(Refused { row, text: value.to_string() });
        }
    }
    Ok(Values::Number(values))
}

fn all<T: ArrowPrimitiveType>(array: &ArrayRef, number: impl Fn(T::Native) -> f64) -> Vec<f64> {
    array.as_primitive::<T>().values().iter().map(|value| number(*value)).collect()
}

fn times<T: ArrowPrimitiveType>(array: &ArrayRef, second: impl Fn(T::Native) -> i64) -> Values {
    Values::Time(array.as_primitive::<T>().iter().map(|value| value.map_or(Values::NO_TIME, &second)).collect())
}

/// Codes of texts; bytes that are no text are refused.
fn texts<'a>(cells: impl Iterator<Item = Option<&'a [u8]>>, markers: &Markers) -> Result<Values, Refused> {
    let mut levels = Levels::default();
    let mut codes = Vec::with_capacity(cells.size_hint().0);
    for (row, cell) in cells.enumerate() {
        let cell = cell.unwrap_or_default().trim_ascii();
        codes.push(match levels.find(cell) {
            Some(code) => code,
            None if markers.holds(cell, b'.') => Category::MISSING,
            None => match std::str::from_utf8(cell) {
                Ok(text) => levels.place(text.into()),
                Err(_) => return Err(Refused { row, text: shown(cell) }),
            },
        });
    }
    Ok(Values::Category(Category { codes, levels: levels.into_texts() }))
}

/// The values that keys choose from a dictionary.
fn chosen(values: &Values, keys: &dyn Array, places: &[usize]) -> Values {
    let place = |row: usize| (!keys.is_null(row)).then(|| places[row]).filter(|place| *place < values.len());
    let rows = 0..places.len();
    match values {
        Values::Number(values) => {
            Values::Number(rows.map(|row| place(row).map_or(f64::NAN, |at| values[at])).collect())
        }
        Values::Boolean(values) => Values::Boolean(rows.map(|row| place(row).and_then(|at| values[at])).collect()),
        Values::Time(values) => {
            Values::Time(rows.map(|row| place(row).map_or(Values::NO_TIME, |at| values[at])).collect())
        }
        Values::Category(values) => {
            // Levels come in the order of the rows, not of the dictionary, which may hold some that no row has.
            let mut known = vec![None; values.levels.len()];
            let mut levels = Vec::new();
            let mut code = |row: usize| {
                let old = place(row).map_or(Category::MISSING, |at| values.codes[at]);
                let Some(known) = known.get_mut(old as usize) else { return Category::MISSING };
                *known.get_or_insert_with(|| {
                    levels.push(values.levels[old as usize].clone());
                    levels.len() as u32 - 1
                })
            };
            let codes = rows.map(&mut code).collect();
            Values::Category(Category { codes, levels })
        }
    }
}

/// The same values as another kind, where the user says so.
fn as_kind(values: &Values, wanted: Kind, markers: &Markers, manner: &Manner) -> Result<Values, Refused> {
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
        (Kind::Number, _) => {
            // Only texts come here: booleans and times have their own numbers above.
            let number = |text: &[u8]| match number::parse(text, manner.mark) {
                Some(value) => value.is_finite().then_some(value),
                None => number_or_missing(text, manner.mark, manner.style.sign, markers),
            };
            each(&texts, f64::NAN, number).map(Values::Number).map_err(refused)
        }
        (Kind::Boolean, _) => {
            let yes = |text: &[u8]| boolean(text, true).map(Some).or_else(|| Markers::is_word(text).then_some(None));
            each(&texts, None, yes).map(Values::Boolean).map_err(refused)
        }
        (Kind::Time, _) => {
            let shown = || texts.iter().flatten().any(|text| time::shows(text.as_bytes()) == Some(Order::MonthFirst));
            let month_first = manner.month_first.or(manner.style.month_first).unwrap_or_else(shown);
            let order = if month_first { Order::MonthFirst } else { Order::DayFirst };
            let second = |text: &[u8]| {
                let second = match manner.style.is_clock {
                    true => time::clock(text).map(|second| Values::MIDNIGHT + second),
                    false => time::parse(text, order),
                };
                second.or_else(|| Markers::is_word(text).then_some(Values::NO_TIME))
            };
            each(&texts, Values::NO_TIME, second).map(Values::Time).map_err(refused)
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
    let format = match seconds.rem_euclid(86400) {
        _ if is_time_of_day(seconds) => "%H:%M:%S",
        0 => "%Y-%m-%d",
        _ => "%Y-%m-%dT%H:%M:%S",
    };
    Some(time.format(format).to_string())
}
