//! Tables: reading and writing files, the target, the split into training, validation and test rows, and the encoding of columns as a matrix.
//!
//! ```
//! use scorewise_table::encode::{EncodingOptions, Encoder};
//! use scorewise_table::groups::{Neighbours, RowOrder};
//! use scorewise_table::split::{SplitShares, Split};
//! use scorewise_table::table::{BuiltIn, Reading, Source, read};
//! use scorewise_table::target::Target;
//!
//! let adult = read(&Source::BuiltIn(BuiltIn::Adult), &Reading::default())?;
//! let (target, _) = Target::parse("income", &adult, None, 0)?;
//! let (labels, _) = target.labels(&adult, &Neighbours::new(&adult, &RowOrder::default())?)?;
//! let (parts, _) = Split::Random.split_rows(&adult, &labels, &SplitShares { test: 0.2, validation: 0.33 }, 0)?;
//! let choice = EncodingOptions { without: vec!["income".into()], ..EncodingOptions::default() };
//! let (encoder, _) = Encoder::fit(&adult, &parts.training, &choice)?; // learns means and levels from the training rows only
//! let matrix = encoder.encode(&adult)?.matrix;
//! assert_eq!((matrix.rows(), matrix.columns()), (32_561, encoder.width()));
//! # Ok::<(), scorewise_table::Error>(())
//! ```
//!
//! The modules, in the order in which data pass through them:
//!
//! | module | purpose |
//! |---|---|
//! | [`table`] | read files of several formats into typed columns, chunk by chunk; write tables to files |
//! | [`groups`] | the series that a row belongs to, and the order of the rows in time, for lags and leads |
//! | [`target`] | the column or condition to predict, and the label of each row |
//! | [`split`] | training, validation and test rows; cross-validation folds |
//! | [`dependence`] | which rows depend on each other, for confidence intervals |
//! | [`counts`] | tables in which each row holds a confusion matrix, and the order of these rows in time |
//! | [`distribution`] | the distribution of a column in a few bins, and how much it differs in a later table |
//! | [`periods`] | days, weeks, months or runs of rows, for results over time |
//! | [`encode`] | encode columns as a matrix of f32, with means and levels fitted on the training rows |
//! | [`Matrix`] | rows of features, aligned in memory for fast training |
//! | [`output`], [`spreadsheet`] | output files that are written completely or not at all; CSV cells that spreadsheets do not run as formulas |
//! | [`error`], [`setting`], [`Note`] | messages that name the file, line, column and setting, and what to do |

pub mod error;
pub mod setting;
mod note;
pub mod names;
pub mod table;
pub mod output;
pub mod spreadsheet;
pub mod groups;
pub mod target;
pub mod split;
pub mod dependence;
pub mod counts;
pub mod distribution;
pub mod periods;
pub mod encode;
mod buffer;
mod matrix;

pub use buffer::AlignedBuffer;
pub use error::{Error, Location, Result};
pub use matrix::{Matrix, PAD};
pub use note::Note;
