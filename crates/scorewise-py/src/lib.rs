//! BRIDGE: the native module of the Python package. It borrows arrays, lets other Python threads run, calls the Rust crates, and turns
//! their errors into `ValueError`s with the same sentences. Shapes and names are the business of `python/scorewise`.
//!
//! Arrays are borrowed, not copied, and the interpreter is free while they are read: another thread must not write to an array before the
//! function that was given it has returned.

#![allow(clippy::needless_pass_by_value)] // Python's arguments are handed over, whatever becomes of them

mod arrays;
mod fault;
mod files;
mod measures;
mod losses;
mod hosts;
mod table;
mod model;
mod pages;
mod command;

/// What Rust computes for the package `scorewise`. Not for users: names and shapes may change.
#[pyo3::pymodule]
mod _scorewise {
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::files::check_output;
    #[pymodule_export]
    use crate::hosts::{pieces, prior_facts, score_facts};
    #[pymodule_export]
    use crate::losses::{boosting, class_loss, expected_confusion, loss, temporal_loss};
    #[pymodule_export]
    use crate::measures::{Sweep, class_score, confusion, priors, score, scores, theory};
    #[pymodule_export]
    use crate::model::{Model, train};
    #[pymodule_export]
    use crate::pages::{curves_svg, figure_png, figures, page, report};
}
