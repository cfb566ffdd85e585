//! Converts Arrow arrays to the values of columns. The Parquet decoder returns Arrow arrays too.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};

use super::column::is_time_of_day;
use super::dictionary::Dictionary;
use super::reading::{ColumnConventions, MissingMarkers};
use super::text::number_or_missing;
use super::time::{self, DateOrder};
use super::{Category, ColumnKind, Values, cell_excerpt, number, parse_boolean};

/// A value that does not fit the type of its column.
pub(super) struct InvalidValue {
    /// The row of the value in the chunk, counted from 0.
    pub(super) row: usize,
    pub(super) text: String,
}

/// The column type for an Arrow type; `None` for Arrow types that cannot be read.
pub(super) fn column_kind(data_type: &DataType) -> Option<ColumnKind> {
    match data_type {
        DataType::Boolean => Some(ColumnKind::Boolean),
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Some(ColumnKind::Time),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(ColumnKind::Category),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Some(ColumnKind::Category),
        DataType::Dictionary(_, values) => column_kind(values),
        DataType::Null => Some(ColumnKind::Number),
        // Decimals of 256 bits are rare and have more digits than f64 can hold, so they are not read.
        DataType::Decimal256(..) => None,
        data_type if data_type.is_numeric() => Some(ColumnKind::Number),
        _ => None,
    }
}

/// The name of an Arrow type that cannot be read, and a hint on how to write the column instead.
pub(super) fn unreadable_type(data_type: &DataType) -> (String, &'static str) {
    match data_type {
        DataType::Decimal256(precision, scale) => {
            (format!("decimal256({precision}, {scale})"), "write the column as float64 or decimal128")
        }
        DataType::Time32(_) | DataType::Time64(_) => {
            ("time of day".into(), "write the column as text or as a timestamp")
        }
        DataType::Duration(_) => ("duration".into(), "write the column as numbers"),
        DataType::Interval(_) => ("interval".into(), "write the column as numbers"),
        DataType::FixedSizeBinary(size) => (format!("binary of {size} bytes"), "write the column as text"),
        DataType::List(_)
        | DataType::LargeList(_)
        | DataType::ListView(_)
        | DataType::LargeListView(_)
        | DataType::FixedSizeList(..) => ("list".into(), "write one value in each row"),
        DataType::Struct(_) => ("struct".into(), "write the fields of the struct as columns"),
        DataType::Map(..) => ("map".into(), "write the values of the map as columns"),
        DataType::Dictionary(_, values) => unreadable_type(values),
        other => {
            (cell_excerpt(other.to_string().as_bytes()), "write the column as numbers, strings, booleans or dates")
        }
    }
}

/// How strings are parsed if the user set the type of a column of strings to numbers, booleans or times.
#[derive(Clone)]
pub(super) struct StringFormat {
    /// The decimal mark of numbers: `.` or `,`.
    pub(super) mark: u8,
    /// How the cells of the same column are written in an earlier table, such as the training table.
    pub(super) style: ColumnConventions,
    /// Whether the month comes before the day in dates with the year last; `None` if the user did not set it.
    pub(super) month_first: Option<bool>,
}

/// Converts an array of a readable Arrow type to values of the column type `wanted`.
pub(super) fn convert_array(
    array: &ArrayRef,
    wanted: ColumnKind,
    markers: &MissingMarkers,
    format: &StringFormat,
) -> Result<Values, InvalidValue> {
    let values = values_of_arrow_type(array, markers)?;
    if values.kind() == wanted { Ok(values) } else { convert_to_kind(&values, wanted, markers, format) }
}

/// Converts an Arrow array to the column type that corresponds to its Arrow type. Strings that mean a missing value, such as `NA`, and
/// the strings and numbers listed in `markers` become missing values.
fn values_of_arrow_type(array: &ArrayRef, markers: &MissingMarkers) -> Result<Values, InvalidValue> {
    let second = |per_second: i64| move |value: i64| value.div_euclid(per_second);
    match array.data_type() {
        DataType::Boolean => Ok(Values::Boolean(array.as_boolean().iter().collect())),
        DataType::Date32 => Ok(convert_times::<Date32Type>(array, |day| i64::from(day) * 86400)),
        DataType::Date64 => Ok(convert_times::<Date64Type>(array, second(1_000))),
        DataType::Timestamp(TimeUnit::Second, _) => Ok(convert_times::<TimestampSecondType>(array, second(1))),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            Ok(convert_times::<TimestampMillisecondType>(array, second(1_000)))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            Ok(convert_times::<TimestampMicrosecondType>(array, second(1_000_000)))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            Ok(convert_times::<TimestampNanosecondType>(array, second(1_000_000_000)))
        }
        DataType::Dictionary(..) => {
            let array = array.as_any_dictionary();
            Ok(dictionary_values(
                &values_of_arrow_type(array.values(), markers)?,
                array.keys(),
                &array.normalized_keys(),
            ))
        }
        DataType::Utf8 => {
            encode_strings(array.as_string::<i32>().iter().map(|string| string.map(str::as_bytes)), markers)
        }
        DataType::LargeUtf8 => {
            encode_strings(array.as_string::<i64>().iter().map(|string| string.map(str::as_bytes)), markers)
        }
        DataType::Utf8View => {
            encode_strings(array.as_string_view().iter().map(|string| string.map(str::as_bytes)), markers)
        }
        DataType::Binary => encode_strings(array.as_binary::<i32>().iter(), markers),
        DataType::LargeBinary => encode_strings(array.as_binary::<i64>().iter(), markers),
        DataType::BinaryView => encode_strings(array.as_binary_view().iter(), markers),
        _ => convert_number_array(array, markers),
    }
}

/// Converts an Arrow array of numbers. Infinite numbers are an error.
fn convert_number_array(array: &ArrayRef, markers: &MissingMarkers) -> Result<Values, InvalidValue> {
    let scaled = |scale: i8| move |digits: f64| digits / 10f64.powi(i32::from(scale));
    let mut values = match array.data_type() {
        DataType::Int8 => convert_numbers::<Int8Type>(array, f64::from),
        DataType::Int16 => convert_numbers::<Int16Type>(array, f64::from),
        DataType::Int32 => convert_numbers::<Int32Type>(array, f64::from),
        DataType::Int64 => convert_numbers::<Int64Type>(array, |value| value as f64),
        DataType::UInt8 => convert_numbers::<UInt8Type>(array, f64::from),
        DataType::UInt16 => convert_numbers::<UInt16Type>(array, f64::from),
        DataType::UInt32 => convert_numbers::<UInt32Type>(array, f64::from),
        DataType::UInt64 => convert_numbers::<UInt64Type>(array, |value| value as f64),
        DataType::Float16 => convert_numbers::<Float16Type>(array, f64::from),
        DataType::Float32 => convert_numbers::<Float32Type>(array, f64::from),
        DataType::Float64 => convert_numbers::<Float64Type>(array, |value| value),
        DataType::Decimal32(_, scale) => {
            convert_numbers::<Decimal32Type>(array, |value| scaled(*scale)(f64::from(value)))
        }
        DataType::Decimal64(_, scale) => convert_numbers::<Decimal64Type>(array, |value| scaled(*scale)(value as f64)),
        DataType::Decimal128(_, scale) => {
            convert_numbers::<Decimal128Type>(array, |value| scaled(*scale)(value as f64))
        }
        // The only Arrow type that is left is the null type, in which every value is missing.
        _ => vec![f64::NAN; array.len()],
    };
    if let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) {
        values.iter_mut().zip(nulls).filter(|(_, present)| !present).for_each(|(value, _)| *value = f64::NAN);
    }
    for (row, value) in values.iter_mut().enumerate() {
        // Missing values are recognised before infinity is refused, because the user may have listed infinity as a missing value.
        if markers.contains_number(*value) {
            *value = f64::NAN;
        } else if value.is_infinite() {
            return Err(InvalidValue { row, text: value.to_string() });
        }
    }
    Ok(Values::Number(values))
}

/// Converts every value of an array by the function `number`. Nulls are converted to arbitrary numbers, which the caller must replace.
fn convert_numbers<T: ArrowPrimitiveType>(array: &ArrayRef, number: impl Fn(T::Native) -> f64) -> Vec<f64> {
    array.as_primitive::<T>().values().iter().map(|value| number(*value)).collect()
}

/// Converts an array of dates or times. The function `second` returns the time of a value in seconds since 1970.
fn convert_times<T: ArrowPrimitiveType>(array: &ArrayRef, second: impl Fn(T::Native) -> i64) -> Values {
    Values::Time(array.as_primitive::<T>().iter().map(|value| value.map_or(Values::NO_TIME, &second)).collect())
}

/// Converts strings to a categorical column, without the spaces around them. Nulls, strings that mean a missing value, such as `NA`, and the
/// strings listed in `markers` become missing values; bytes that are not UTF-8 are an error.
fn encode_strings<'a>(
    cells: impl Iterator<Item = Option<&'a [u8]>>,
    markers: &MissingMarkers,
) -> Result<Values, InvalidValue> {
    let mut dictionary = Dictionary::default();
    let mut codes = Vec::with_capacity(cells.size_hint().0);
    for (row, cell) in cells.enumerate() {
        let cell = cell.unwrap_or_default().trim_ascii();
        codes.push(match dictionary.code(cell) {
            Some(code) => code,
            None if markers.contains(cell, b'.') => Category::MISSING,
            None => match std::str::from_utf8(cell) {
                Ok(string) => dictionary.code_or_insert(string.into()),
                Err(_) => return Err(InvalidValue { row, text: cell_excerpt(cell) }),
            },
        });
    }
    Ok(Values::Category(Category { codes, levels: dictionary.into_levels() }))
}

/// Looks up the values of a dictionary array. `values` is the dictionary, and `indices` holds the index of each row into the dictionary.
/// `keys` holds the same indices as an Arrow array, in which null stands for a missing value.
fn dictionary_values(values: &Values, keys: &dyn Array, indices: &[usize]) -> Values {
    let index = |row: usize| (!keys.is_null(row)).then(|| indices[row]).filter(|index| *index < values.len());
    let rows = 0..indices.len();
    match values {
        Values::Number(values) => {
            Values::Number(rows.map(|row| index(row).map_or(f64::NAN, |at| values[at])).collect())
        }
        Values::Boolean(values) => Values::Boolean(rows.map(|row| index(row).and_then(|at| values[at])).collect()),
        Values::Time(values) => {
            Values::Time(rows.map(|row| index(row).map_or(Values::NO_TIME, |at| values[at])).collect())
        }
        Values::Category(values) => {
            // Levels are numbered anew in order of first appearance, because the dictionary may contain levels that no row has.
            let mut new_codes = vec![None; values.levels.len()];
            let mut levels = Vec::new();
            let mut code = |row: usize| {
                let old = index(row).map_or(Category::MISSING, |at| values.codes[at]);
                let Some(new_code) = new_codes.get_mut(old as usize) else { return Category::MISSING };
                *new_code.get_or_insert_with(|| {
                    levels.push(values.levels[old as usize].clone());
                    levels.len() as u32 - 1
                })
            };
            let codes = rows.map(&mut code).collect();
            Values::Category(Category { codes, levels })
        }
    }
}

/// Converts values to the column type that the user set.
fn convert_to_kind(
    values: &Values,
    wanted: ColumnKind,
    markers: &MissingMarkers,
    format: &StringFormat,
) -> Result<Values, InvalidValue> {
    let strings: Vec<Option<String>> = match values {
        Values::Number(values) => values.iter().map(|value| (!value.is_nan()).then(|| value.to_string())).collect(),
        Values::Boolean(values) => values.iter().map(|value| value.map(|value| value.to_string())).collect(),
        Values::Time(values) => values.iter().map(|value| formatted_time(*value)).collect(),
        Values::Category(values) => {
            let string = |code: &u32| values.levels.get(*code as usize).cloned();
            values.codes.iter().map(string).collect()
        }
    };
    let invalid = |row: usize| InvalidValue { row, text: strings[row].clone().unwrap_or_default() };
    match (wanted, values) {
        (ColumnKind::Number, Values::Boolean(values)) => Ok(Values::Number(
            values.iter().map(|value| value.map_or(f64::NAN, |value| f64::from(u8::from(value)))).collect(),
        )),
        (ColumnKind::Number, Values::Time(values)) => {
            let number = |value: &i64| if *value == Values::NO_TIME { f64::NAN } else { *value as f64 };
            Ok(Values::Number(values.iter().map(number).collect()))
        }
        (ColumnKind::Number, _) => {
            // Only strings are left here, because booleans and times are converted to numbers in the cases above.
            let number = |string: &[u8]| match number::parse(string, format.mark) {
                Some(value) => value.is_finite().then_some(value),
                None => number_or_missing(string, format.mark, format.style.sign, markers),
            };
            parse_each(&strings, f64::NAN, number).map(Values::Number).map_err(invalid)
        }
        (ColumnKind::Boolean, _) => {
            let yes = |string: &[u8]| {
                parse_boolean(string, true)
                    .map(Some)
                    .or_else(|| MissingMarkers::is_missing_word(string).then_some(None))
            };
            parse_each(&strings, None, yes).map(Values::Boolean).map_err(invalid)
        }
        (ColumnKind::Time, _) => {
            let is_month_first =
                |string: &String| time::unambiguous_order(string.as_bytes()) == Some(DateOrder::MonthFirst);
            let any_month_first = || strings.iter().flatten().any(is_month_first);
            let month_first = format.month_first.or(format.style.month_first).unwrap_or_else(any_month_first);
            let order = if month_first { DateOrder::MonthFirst } else { DateOrder::DayFirst };
            let second = |string: &[u8]| {
                let second = match format.style.is_clock {
                    true => time::parse_time_of_day(string).map(|second| Values::TIME_OF_DAY_ORIGIN + second),
                    false => time::parse(string, order),
                };
                second.or_else(|| MissingMarkers::is_missing_word(string).then_some(Values::NO_TIME))
            };
            parse_each(&strings, Values::NO_TIME, second).map(Values::Time).map_err(invalid)
        }
        (ColumnKind::Category, _) => {
            let mut dictionary = Dictionary::default();
            let mut code = |string| dictionary.code_or_insert(string);
            let codes = strings.into_iter().map(|string| string.map_or(Category::MISSING, &mut code)).collect();
            Ok(Values::Category(Category { codes, levels: dictionary.into_levels() }))
        }
    }
}

/// Parses all strings; a string that is `None` becomes the value `missing`. The error is the row of the first string that cannot be parsed.
fn parse_each<T: Copy>(
    strings: &[Option<String>],
    missing: T,
    parse: impl Fn(&[u8]) -> Option<T>,
) -> Result<Vec<T>, usize> {
    let one = |(row, string): (usize, &Option<String>)| match string {
        None => Ok(missing),
        Some(string) => parse(string.as_bytes()).ok_or(row),
    };
    strings.iter().enumerate().map(one).collect()
}

/// Formats a time as `2010-01-31T18:00:00`, as `2010-01-31` if it is midnight, or as `18:00:00` if it has no date. `None` if it is missing.
fn formatted_time(seconds: i64) -> Option<String> {
    let time = chrono::DateTime::from_timestamp(seconds, 0)?;
    let format = match seconds.rem_euclid(86400) {
        _ if is_time_of_day(seconds) => "%H:%M:%S",
        0 => "%Y-%m-%d",
        _ => "%Y-%m-%dT%H:%M:%S",
    };
    Some(time.format(format).to_string())
}
