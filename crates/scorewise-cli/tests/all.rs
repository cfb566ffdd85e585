//! Compiles all integration tests of this crate to one program, because linking one program is much faster than linking one for each file.

#![allow(clippy::unwrap_used)] // a panic fails the test

mod folder;

mod bad_input;
mod cli;
mod costs;
mod counts;
mod explain;
mod files;
mod guarantee;
mod hints;
mod monitor;
mod odd_tables;
mod options;
mod predictions;
mod readings;
mod report;
mod reproduce;
mod temporal;
mod train;
