//! All integration tests of this crate in one binary: linking one binary takes a fraction of the time of linking one for each file.

#![allow(clippy::unwrap_used)] // a panic fails the test

mod table_files;

mod cells;
mod encode;
mod messages;
mod mutated_tables;
mod split;
mod table;
mod target;
mod wide;
