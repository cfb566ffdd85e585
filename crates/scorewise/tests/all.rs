//! All integration tests of this crate in one binary: linking one binary takes a fraction of the time of linking one for each file.

#![allow(clippy::unwrap_used)] // a panic fails the test

mod common;

mod bootstrap;
mod calibration;
mod counts;
mod costs;
mod docs;
mod formula;
mod golden;
mod guarantee;
mod host;
mod laws;
mod multiclass;
mod priors;
mod smooth;
mod streams;
mod sweep;
mod temporal;
mod theory;
