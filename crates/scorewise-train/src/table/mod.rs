//! TABLE: rows and typed columns, from whatever file they came.
//!
//! ```text
//! source → text or columns → chunks of typed columns → one table
//! ```
//!
//! [`read`] gives a whole table; a [`Reader`] gives it in chunks of bounded size, so that files of any length pass through.
//! Text (`.csv`, `.tsv`, also packed with gzip), Parquet and Arrow (`.arrow`, `.feather`, file or stream) are told apart by
//! their first bytes. Records of text are split by csv-core and go from there to typed columns in one pass. arrow-csv stands
//! on the same csv-core, but knows neither the line of a cell nor what a cell held that it refused, which messages must say;
//! and it makes arrays of strings where categories want codes.
//!
//! # Recognised in text
//!
//! Delimiter (comma, semicolon, tab, pipe), decimal comma, quotes, byte order mark, line ends of any system, empty lines and
//! lines of nothing but delimiters (left out), columns without name and content at the right (left out), blanks around cells
//! (not part of them). A column without a name but with content is called `column 3` by its place.
//!
//! # Kinds
//!
//! From the first 4 MiB: a column where more than nine in ten cells are numbers (dates) holds numbers (dates), and a cell
//! that is none is an error at its place; one of `true`/`false` or `yes`/`no` alone holds booleans; any other, categories.
//! Missing are empty cells, `?`, `NA`, `NaN` and what [`Reading::missing`] lists; `None` and `null` may be classes.
//! Dates with the year last have the day first, unless the sample shows the month first.
//!
//! # Hostile files
//!
//! Whatever the bytes, the answer is a table or an error. Beyond 64 MiB, [`read`] holds at most 64 bytes for each byte of the
//! file (of its text, where it is packed with gzip). Parts of Parquet and Arrow files say how large they are; one that says
//! more than is there, or that unpacks to more than 8 MiB (64 MiB for the buffers of an Arrow message) and to more than 1024
//! times its size, is refused before room is made for it, so there the bound holds but for files packed harder than 64 times.

mod arrow;
mod blob;
mod column;
mod columns;
mod convert;
mod guard;
mod levels;
mod number;
mod parquet;
mod reader;
mod reading;
mod source;
mod text;
mod time;
mod whole;
mod write;

pub use column::{Category, Column, Kind, Lines, Table, Values};
pub use reader::{Choose, Reader};
pub use reading::{Field, Reading, nearest};
pub use source::{BuiltIn, Source};
pub use whole::read;
pub use write::{TableFormat, TableWriter};

/// Yes or no; `also` takes 0, 1 and first letters, where the user says that a column holds booleans.
fn boolean(cell: &[u8], also: bool) -> Option<bool> {
    let is = |words: &[&[u8]]| words.iter().any(|word| cell.eq_ignore_ascii_case(word));
    if is(&[b"true", b"yes"]) || also && is(&[b"1", b"t", b"y"]) {
        Some(true)
    } else if is(&[b"false", b"no"]) || also && is(&[b"0", b"f", b"n"]) {
        Some(false)
    } else {
        None
    }
}

/// A cell as messages show it: without control signs, and not too long.
fn shown(cell: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(&cell[..cell.len().min(4 * LONGEST)]);
    let mut shown = String::new();
    for sign in text.chars().take(LONGEST) {
        if crate::setting::is_hidden(sign) {
            shown.extend(sign.escape_default());
        } else {
            shown.push(sign);
        }
    }
    if text.chars().count() > LONGEST || cell.len() > 4 * LONGEST {
        shown.push('…');
    }
    shown
}
