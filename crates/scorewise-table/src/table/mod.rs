//! Reads and writes tables of typed columns in several file formats.
//!
//! ```text
//! source → text records or Arrow arrays → chunks of typed columns → one table
//! ```
//!
//! [`read`] reads a whole table; a [`Reader`] reads it in chunks of bounded size, so that files of any length can be processed. Text
//! (`.csv`, `.tsv`, also compressed with gzip), Parquet and Arrow (`.arrow`, `.feather`, file or stream) are recognised by their first
//! bytes. Text is split into records by csv-core, and the records are parsed into typed columns in one pass. (arrow-csv uses csv-core too, but
//! it is not used here: its errors contain neither the line nor the content of a rejected cell, and it creates arrays of strings where
//! categorical columns need codes.)
//!
//! # Text files
//!
//! The reader recognises the delimiter (comma, semicolon, tab, pipe), a decimal comma, quotes, a UTF-8 byte order mark and the line ends of any
//! system. Empty columns without a name at the right end of the table are left out. Spaces and tabs around cells are removed. A column without a
//! name but with content is named by its position, for example `column 3`.
//!
//! # Rows
//!
//! Every record after the header is a row, including records of delimiters only (`,,,`) and a quoted empty cell (`""`), whose values are
//! missing. An empty line, or one of spaces and tabs only, is a row of missing values too: if it were skipped, lags and leads would reach
//! across the gap. In a table of one column, an empty line is the usual way to write a missing value; in a table of several columns,
//! [`Reader::late_notes`] reports the number of empty lines and the first of them. Empty lines before the header and after the last record
//! are not rows.
//!
//! # Column types
//!
//! The type of a column ([`ColumnKind`]) is recognised from the cells in the first 4 MiB of the file. In the table below, the first line that
//! applies to these cells decides. There, "most" means more than 90 % of the cells that are not missing. A cell that does not fit the type of its
//! column is an error, which names the line and the column.
//!
//! | cells | column type |
//! |---|---|
//! | most are digits, all of one length, some with a leading 0: `02139` | category |
//! | all are eight digits that make a date from 1900 to 2099, at least ten different: `20200131` | time |
//! | most are plain numbers | number |
//! | all are `true`/`false` or `yes`/`no` | boolean |
//! | most are dates: `2020-01-31`, `31.01.2020 18:00`, `Jan 31 2020`, `31-Jan-2020`, `January 31, 2020` | time |
//! | most are times of day: `14:30`, `14:30:05`, `2:30 PM` (see [`Values::TIME_OF_DAY_ORIGIN`]) | time |
//! | most are numbers with thousands separators, or have the same per cent or currency sign: `1,234,567.8`, `3.1%`, `$3.10`, `5 €` | number |
//! | anything else | category |
//!
//! Numbers may have thousands separators: the comma or the point, whichever is not the decimal mark. A per cent or currency sign is dropped:
//! `3.1%` is read as 3.1. A number with another per cent or currency sign than the rest of the column is an error. The decimal mark is the same for
//! the whole file. It is a comma if more numbers only make sense with a decimal comma than only with a decimal point. If both counts are equal, for
//! example because all numbers are like `1,234` and make sense with both, it can be a comma only in files that are separated by semicolons.
//!
//! In dates with the year last, the day is assumed to come before the month, unless dates in the first 4 MiB show that the month comes first
//! (`01/31/2020`). If no date shows which of them comes first, a note tells the user about the assumption.
//!
//! [`Reader::writing`] returns the conventions that a single cell does not show: decimal mark, order of day and month, per cent or currency sign.
//! [`Reading::writing`] applies them to another table, so that `predict` reads numbers and dates in the same way as the training table.
//!
//! # Missing values
//!
//! | cells | meaning |
//! |---|---|
//! | empty, `?`, `NA`, `NaN` (any case), `NaT`, `<NA>`, `#N/A`, and the strings in [`Reading::missing`] | missing in all columns |
//! | `-`, `--`, `.`, `na`, `n/a`, `n.a.`, `nat`, `null`, `none`, `nil` (any case), `\N` | levels in columns of strings, missing in all others |
//!
//! A column that contains only words from the second line of this table is categorical. The same rules apply to strings in Parquet and Arrow
//! files; columns of strings in these files are categorical unless [`Reading::kinds`] sets another type.
//!
//! # Damaged and malicious files
//!
//! Any sequence of bytes gives a table or an error, never a panic. [`read`] allocates at most 64 MiB plus 64 bytes for each byte of the file
//! (of the uncompressed text for gzip). Parquet files declare the sizes of their pages, and Arrow files those of their messages. A page or
//! message that declares more bytes than the file has is rejected before memory is allocated for it. It is also rejected if it would
//! decompress to more than 1024 times its size and to more than 8 MiB (a Parquet page) or 64 MiB (an Arrow message). The bound on memory
//! therefore holds except for Parquet and Arrow files that are compressed by more than a factor of 64.

mod arrays;
mod arrow;
mod byte_source;
mod catch_panic;
mod column;
mod dictionary;
mod number;
mod parquet;
mod read_all;
mod reader;
mod reading;
mod selected_columns;
mod source;
mod text;
mod time;
mod warnings;
mod write;

pub use catch_panic::is_guarded;
pub use column::{Category, Column, ColumnKind, Lines, Table, Values};
pub use read_all::read;
pub use reader::{ChooseColumns, Reader};
pub use reading::{ColumnConventions, Field, Reading, TextConventions, nearest};
pub use source::{BuiltIn, Source};
pub use warnings::warnings;
pub use write::{TableFormat, TableWriter};

/// Parses `true`, `false`, `yes` or `no`. If the user set the column type to boolean (`is_forced`), `0`, `1` and the first letters of these
/// words are accepted too.
fn parse_boolean(cell: &[u8], is_forced: bool) -> Option<bool> {
    let is_one_of = |words: &[&[u8]]| words.iter().any(|word| cell.eq_ignore_ascii_case(word));
    if is_one_of(&[b"true", b"yes"]) || is_forced && is_one_of(&[b"1", b"t", b"y"]) {
        Some(true)
    } else if is_one_of(&[b"false", b"no"]) || is_forced && is_one_of(&[b"0", b"f", b"n"]) {
        Some(false)
    } else {
        None
    }
}

/// The content of a cell as it is quoted in messages: with control characters escaped, truncated to 40 characters.
fn cell_excerpt(cell: &[u8]) -> String {
    const MAX_EXCERPT_CHARACTERS: usize = 40;
    let text = String::from_utf8_lossy(&cell[..cell.len().min(4 * MAX_EXCERPT_CHARACTERS)]);
    let mut excerpt = String::new();
    for character in text.chars().take(MAX_EXCERPT_CHARACTERS) {
        if crate::setting::needs_escape(character) {
            excerpt.extend(character.escape_default());
        } else {
            excerpt.push(character);
        }
    }
    if text.chars().count() > MAX_EXCERPT_CHARACTERS || cell.len() > 4 * MAX_EXCERPT_CHARACTERS {
        excerpt.push('…');
    }
    excerpt
}
