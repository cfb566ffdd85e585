//! Showing: results in, pages and pictures out.
//!
//! A result is a [`Document`](document::Document); [`page`] makes one HTML file of it, [`figures`] its figures. A figure's data become a
//! [`Picture`], which the same code draws as SVG or as PNG, in memory and when asked. This crate prints nothing and writes no files.
//!
//! Marchetti, Guastavino, Piana, Campi (2022). Score-oriented loss functions. Pattern Recognition 132, 108913.
//!
//! ```
//! use scorewise::Prior;
//! use scorewise_report::{Thresholds, figure_thresholds};
//!
//! let panel = Thresholds {
//!     title: "Raised cosine: μ = 0.5, δ = 0.1".into(),
//!     prior: Prior::cosine(0.5, 0.1)?,
//!     thresholds: vec![0.48, 0.5, 0.55],
//! };
//! let picture = figure_thresholds(&[panel])?;
//! assert!(picture.svg()?.contains("mean 0.51, deviation 0.04"));
//! assert!(picture.png()?.starts_with(b"\x89PNG"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | `number` | numbers as people read them |
//! | [`evaluation`] | results with intervals: scores at a threshold, the best threshold, comparisons, trained models |
//! | `document` | a result as data: what a page and its figures are drawn from |
//! | `histogram` | values in [0, 1] as bars of area 1 |
//! | `curve`, `clip`, `simplify` | a prior's f and F as points; of a line what is inside, and as few points as are seen |
//! | `palette`, `text`, `stroke` | colours for every eye; the one font; how a line is drawn |
//! | `ticks`, `axes`, `panel` | round numbers, what stands around the data, and the data's own rectangle |
//! | `legend`, `layout`, `sheet`, `panes` | a strip of keys, panels in rows, one panel or several above their keys |
//! | `lines` | lines with names |
//! | `bitmap`, `picture` | a figure as SVG and PNG |
//! | `priors`, `thresholds`, `scores`, `classes`, `roc`, `precision_recall`, `performance`, `reliability`, `decision`, `training`, `law`, `difference` | the figures, one a file |
//! | `drawn` | which figures a result has |
//! | `page` | a result as one HTML file |
//!
//! # Text without fonts
//!
//! A fresh machine has no fonts, so the PNG's font comes from a crate: DejaVu Sans, which has the Greek and the signs we write.
//! plotters draws it itself (`ab_glyph`). The other way, SVG to PNG by resvg, would bring an SVG reader, a text shaper and a
//! second rasteriser into the build for the same dots. The SVG asks for plain `sans-serif` and lays its text out by DejaVu's widths, which are wider than most.
//!
//! The font's licence (Bitstream Vera, free to use, embed and sell as part of software) is part of the embedded file.

mod number;
pub mod document;
pub mod evaluation;
mod histogram;
mod curve;
mod clip;
mod simplify;
mod palette;
mod text;
mod stroke;
mod ticks;
mod axes;
mod panel;
mod legend;
mod layout;
mod sheet;
mod panes;
mod lines;
mod bitmap;
mod picture;
mod priors;
mod thresholds;
mod scores;
mod classes;
mod roc;
mod precision_recall;
mod performance;
mod reliability;
mod decision;
mod training;
mod law;
mod difference;
mod drawn;
mod page;
mod visible;
mod error;

pub use classes::{ClassBin, Classes, figure_classes};
pub use decision::{DecisionCurve, figure_decision};
pub use difference::{Differences, figure_difference};
pub use drawn::{Drawn, Moving, figure_of_scores, figures, file_name, paper_priors, paper_thresholds};
pub use error::{Error, Result};
pub use law::{ScoreLaw, figure_law};
pub use lines::NamedLine;
pub use number::{counted, ends, short, shown, spoken, step};
pub use page::{GENERATOR, page};
pub use palette::palette;
pub use performance::{Performance, figure_performance};
pub use picture::{Frame, Picture};
pub use precision_recall::{PrecisionRecall, figure_precision_recall};
pub use priors::{NamedPrior, PriorRow, figure_priors};
pub use reliability::{Reliability, ReliabilityBin, figure_reliability};
pub use roc::{Roc, figure_roc};
pub use scores::{ScoreCurves, figure_scores};
pub use thresholds::{Thresholds, figure_thresholds};
pub use training::{EpochValues, MemberCurves, ScoreByEpoch, TrainingCurves, figure_training};
pub use visible::visible;
