//! All integration tests of this crate are in one binary. It is linked much faster than a separate binary for each test file.

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
