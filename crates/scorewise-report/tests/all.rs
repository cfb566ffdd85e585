//! All integration tests of this crate in one binary: linking one binary takes a fraction of the time of linking one for each file.

#![allow(clippy::unwrap_used)] // a panic fails the test

mod picture_reader;

mod curves;
mod diagrams;
mod distributions;
mod evaluation;
mod explain;
mod page;
mod pictures;
mod priors;
mod thresholds;
mod training;
