//! The native module of the Python package `scorewise`: borrows NumPy arrays, releases the interpreter lock, calls the Rust crates, and
//! raises their errors as `ValueError`, with settings in the message written as Python parameters. Array shapes and public names are defined in
//! `python/scorewise`.
//!
//! Functions for scores and losses borrow predictions, weights and class numbers instead of copying them, and read them while the interpreter lock
//! is released: no other thread may write to such an array before the function has returned. Boolean labels and the columns of tables are copied.

#![allow(clippy::needless_pass_by_value)] // pyo3 passes the arguments of a Python function by value

mod arrays;
mod errors;
mod files;
mod measures;
mod losses;
mod frameworks;
mod table;
mod interrupt;
mod model;
mod pool;
mod temporal;
mod pages;
mod command;

/// The native part of the package `scorewise`. Private: names and signatures may change at any time.
#[pyo3::pymodule]
mod _scorewise {
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::files::check_output;
    #[pymodule_export]
    use crate::frameworks::{pieces, prior_facts, score_facts};
    #[pymodule_export]
    use crate::losses::{boosting, class_loss, expected_confusion, loss, temporal_loss};
    #[pymodule_export]
    use crate::measures::{PySweep, class_score, confusion, costs, priors, score, score_counts, scores, theory};
    #[pymodule_export]
    use crate::model::{PyModel, train, training_options};
    #[pymodule_export]
    use crate::pages::{curves_svg, figure_png, figures, page, report};
    #[pymodule_export]
    use crate::pool::{cross_fit, pool, pool_logits, pool_probabilities};
    #[pymodule_export]
    use crate::temporal::{PyTemporalSweep, compare, score_series};
}
