//! All integration tests of this crate in one binary: linking one binary takes a fraction of the time of linking one for each file.

#![allow(clippy::unwrap_used)] // Tests may call `unwrap`, because a panic fails the test.

mod models;
mod patterns;

mod engine;
mod ensemble;
mod fit;
mod messages;
mod model;
mod mutated_models;
mod onnx;
mod plan;
mod remote;
mod reproduce;
mod temporal;
mod train;
mod trees;
