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
//! Delimiter (comma, semicolon, tab, pipe), decimal comma, quotes, byte order mark of UTF-8, line ends of any system, columns
//! without name and content at the right (left out), blanks around cells (not part of them). A column without a name but with
//! content is called `column 3` by its place.
//!
//! # Rows
//!
//! Every record after the header is a row, also one of nothing but delimiters (`,,,`) and a quoted empty one (`""`): its values are
//! missing. An empty line, or one of nothing but blanks, is a row of missing values too: left out, it would move the rows after it,
//! and lags and leads would reach across the gap. In a table of one column that is how a missing value is written; in a table of
//! several columns [`Reader::late_notes`] tells how many there were and where the first is. Empty lines before the header and after
//! the last record are no rows.
//!
//! # Kinds
//!
//! Recognised from the first 4 MiB, the first that fits. "Most" is more than nine in ten of the cells that are not missing; a cell
//! that does not fit its column is an error at its place.
//!
//! | cells | kind |
//! |---|---|
//! | most are digits, all of one length, some with a leading 0: `02139` | category |
//! | all are eight digits that make a date from 1900 to 2099, at least ten different: `20200131` | time |
//! | most are plain numbers | number |
//! | all are `true`/`false` or `yes`/`no` | boolean |
//! | most are dates: `2020-01-31`, `31.01.2020 18:00`, `Jan 31 2020`, `31-Jan-2020`, `January 31, 2020` | time |
//! | most are times of day: `14:30`, `14:30:05`, `2:30 PM` (see [`Values::MIDNIGHT`]) | time |
//! | most are numbers with groups of thousands or with one and the same sign: `1,234,567.8`, `3.1%`, `$3.10`, `5 €` | number |
//! | any other | category |
//!
//! In any column of numbers thousands may be grouped, with the one of comma and point that is not the decimal mark. A sign is
//! dropped: `3.1%` is 3.1. A number with another sign than the column's is an error. Numbers have a decimal comma if more of them can
//! only be read with it than only without it; where no number tells (`1,234`), they have one in files of semicolons alone.
//!
//! Dates with the year last have the day first, unless the sample shows the month first; a note tells if it shows neither.
//!
//! What a cell alone does not show (decimal mark, order of day and month, sign) is told by [`Reader::writing`], and a table is read
//! like another one by [`Reading::writing`]: so a model's `predict` reads numbers and dates as its training did.
//!
//! # Missing values
//!
//! | cells | are missing in columns of |
//! |---|---|
//! | empty, `?`, `NA`, `NaN` (any case), `NaT`, `<NA>`, `#N/A`, and what [`Reading::missing`] lists | any kind |
//! | `-`, `--`, `.`, `na`, `n/a`, `n.a.`, `nat`, `null`, `none`, `nil` (any case), `\\N` | numbers, times and booleans; in a column of texts they are levels |
//!
//! A column of nothing but words of the second line holds texts. The same holds for texts in Parquet and Arrow files, which are
//! columns of texts unless [`Reading::kinds`] says otherwise.
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
mod warnings;
mod whole;
mod write;

pub use column::{Category, Column, Kind, Lines, Table, Values};
pub use guard::is_guarded;
pub use reader::{Choose, Reader};
pub use reading::{Field, Reading, Style, Writing, nearest};
pub use source::{BuiltIn, Source};
pub use warnings::warnings;
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
