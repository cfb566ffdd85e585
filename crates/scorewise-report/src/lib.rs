//! HTML reports and figures for the results of scorewise.
//!
//! A result is a [`Document`](document::Document). [`page`] turns it into one HTML file, and [`figures`] returns its figures. Each figure is a
//! [`Picture`] that is rendered on demand, in memory, as SVG or PNG by the same code. This crate prints nothing and writes no files.
//!
//! Marchetti, Guastavino, Piana, Campi (2022). Score-oriented loss functions. Pattern Recognition 132, 108913.
//!
//! ```
//! use scorewise::Prior;
//! use scorewise_report::{ThresholdPanel, figure_thresholds};
//!
//! let panel = ThresholdPanel {
//!     title: "Raised cosine: μ = 0.5, δ = 0.1".into(),
//!     prior: Prior::cosine(0.5, 0.1)?,
//!     thresholds: vec![0.48, 0.5, 0.55],
//! };
//! let picture = figure_thresholds(&[panel])?;
//! assert!(picture.svg()?.contains("mean 0.51, standard deviation 0.04"));
//! assert!(picture.png()?.starts_with(b"\x89PNG"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | `number` | formatting of numbers |
//! | [`evaluation`] | results with intervals: scores at a threshold, the best threshold, comparisons, trained models |
//! | `document` | a result as data, from which the page and its figures are made |
//! | `histogram` | normalised histogram of values in [0, 1] |
//! | `curve`, `clip`, `simplify` | density and distribution function of a prior as points; line clipping and simplification |
//! | `palette`, `text`, `stroke` | colours for colour-blind readers, the embedded font, line styles |
//! | `ticks`, `axes`, `panel` | tick positions, axes with labels, the plotting area between the axes |
//! | `legend`, `layout`, `single_panel`, `panel_grid` | legends, arrangement of panels in rows, figures with one panel or several |
//! | `lines` | lines with a name in the legend |
//! | `bitmap`, `picture` | rendering as SVG and PNG |
//! | `priors`, `thresholds`, `scores`, `classes`, `roc`, `precision_recall`, `performance`, `reliability`, `decision`, `training`, `score_distribution`, `difference`, `importance`, `dependence`, `series`, `periods`, `alarms` | the figures, one per file |
//! | `figures` | all figures of a result |
//! | `page` | a result as one HTML file |
//! | `control_characters` | escapes control characters in names that users chose |
//!
//! # Fonts
//!
//! The machine may have no fonts installed, so the font of the PNG is embedded: DejaVu Sans, which has the Greek letters and mathematical
//! symbols of the figures. plotters renders it with `ab_glyph`. Converting the SVG with resvg would give the same picture, but would add an
//! SVG parser, a text shaper and a second rasteriser to the build. The SVG asks for the generic font `sans-serif`. The SVG is laid out with the
//! text widths of DejaVu Sans, which are larger than those of most fonts, so text fits in other fonts too.
//!
//! The licence of the font (Bitstream Vera: free to use, embed and sell as part of software) is contained in the embedded font file.

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
mod single_panel;
mod panel_grid;
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
mod score_distribution;
mod difference;
mod importance;
mod dependence;
mod alarms;
mod series;
mod periods;
mod figures;
mod page;
mod control_characters;
mod error;

pub use alarms::{AlarmChart, AlarmPanel, figure_alarms};
pub use classes::{ClassBin, ClassHistograms, figure_classes};
pub use control_characters::escape_control_characters;
pub use decision::{DecisionCurve, figure_decision};
pub use dependence::{DependenceCurves, figure_dependence};
pub use difference::{Differences, figure_difference};
pub use error::{Error, Result};
pub use figures::{
    MovingMark, ReportFigure, figures, forecast_scores_figure, paper_figure_1, paper_figure_2, score_file_name,
};
pub use importance::{ImportanceBar, ImportanceBars, figure_importance};
pub use lines::NamedLine;
pub use number::{
    format_count, format_interval_ends, format_number, format_optional, format_rounded, format_threshold_range,
};
pub use page::{GENERATOR_META_TAG, page};
pub use palette::palette;
pub use performance::{Performance, figure_performance};
pub use periods::{PeriodScores, ScoreWithInterval, figure_periods};
pub use picture::{Frame, Picture};
pub use precision_recall::{PrecisionRecall, figure_precision_recall};
pub use priors::{NamedPrior, PriorRow, figure_priors};
pub use reliability::{Reliability, ReliabilityBin, figure_reliability};
pub use roc::{Roc, figure_roc};
pub use score_distribution::{ScoreDistributionFigure, figure_score_distribution};
pub use scores::{ScoreCurves, figure_scores};
pub use series::{CumulativeScore, SeriesCurve, figure_series};
pub use thresholds::{ThresholdPanel, figure_thresholds};
pub use training::{EpochValues, MemberCurves, ScoreByEpoch, TrainingCurves, figure_training};
