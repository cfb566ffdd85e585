//! Showing: results in, pictures out.
//!
//! A figure of the paper, and the base on which the others will stand. A figure is drawn twice by the same code, as
//! SVG and as PNG; both come back in memory as a [`Picture`]. This crate prints nothing and writes no files.
//!
//! Marchetti, Guastavino, Piana, Campi (2022). Score-oriented loss functions. Pattern Recognition 132, 108913.
//!
//! | module | what it does |
//! |---|---|
//! | `curve`, `simplify` | a prior's f and F as points, and as few of them as are seen |
//! | `palette`, `text` | colours for every eye; the one font |
//! | `axes`, `legend` | what figures share: a panel, a strip of keys |
//! | `bitmap`, `picture` | a figure as SVG and PNG |
//! | `priors` | a figure |
//!
//! # Text without fonts
//!
//! A fresh machine has no fonts, so the PNG's font comes from a crate: DejaVu Sans, which has the Greek and the signs we write.
//! plotters draws it itself (`ab_glyph`). The other way, SVG to PNG by resvg, would bring an SVG reader, a text shaper and a
//! second rasteriser into the build for the same dots. The SVG asks for plain `sans-serif` and lays its text out by DejaVu's widths, which are wider than most.
//!
//! The font's licence (Bitstream Vera, free to use, embed and sell as part of software) is part of the embedded file.

mod curve;
mod simplify;
mod palette;
mod text;
mod axes;
mod legend;
mod bitmap;
mod picture;
mod priors;
mod error;

pub use error::{Error, Result};
pub use picture::Picture;
pub use priors::{NamedPrior, PriorRow, figure_priors};
