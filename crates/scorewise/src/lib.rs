//! placeholder

pub mod formula;
pub mod score;
pub mod prior;
mod confusion;
mod rows;
mod real;
mod simd;
pub mod loss;
pub mod multiclass;
pub mod temporal;
pub mod sweep;
pub mod theory;
mod error;

pub use confusion::{Confusion, is_positive};
pub use error::{Error, Result};
pub use formula::{Counts, Formula, FormulaError, Shape};
pub use loss::{CrossEntropy, ExactLoss, Loss, ScoreLoss, Slopes};
pub use prior::Prior;
pub use real::Real;
pub use rows::{Logits, Predictions, Probabilities, Rows};
pub use score::{Direction, Score};
