//! Train for the score you will be judged by.
//!
//! People who forecast rare events are judged by F1, TSS, CSI, HSS …, but train with cross-entropy and then hunt for a
//! threshold. This crate makes the score itself the loss by treating the threshold as a random variable, and finds the best
//! threshold exactly. It computes; it reads no files, prints nothing, and all randomness comes from a seed.
//!
//! # The theory on one page
//!
//! Labels y, weights w, predictions p = σ(z). A prediction counts as positive when p > τ. Let τ be random with distribution
//! function F and density f on [0, 1], the *prior*. Then the confusion matrix has an expectation in closed form,
//!
//! ```text
//! TP = Σ w y F(p)        FP = Σ w (1 − y) F(p)        FN = P − TP        TN = N − FP
//! ```
//!
//! and a score s of it can be differentiated. The loss is ℓ = 1 − s(TN, FP, FN, TP), its gradient
//!
//! ```text
//! ∂ℓ/∂zᵢ = − wᵢ g f(pᵢ) pᵢ (1 − pᵢ)        g = ∂s/∂TP − ∂s/∂FN for positives, ∂s/∂FP − ∂s/∂TN for negatives
//! ```
//!
//! so a batch tells its rows two numbers and no more: batches, threads and machines add up exactly. As the prior narrows
//! around a threshold, the loss approaches the score at that threshold; trained with it, a model has its best threshold where
//! the prior is. For scores linear in the matrix the loss is exactly that of the expected score E[s(τ)]; for all others [`ExactLoss`] is.
//!
//! Marchetti, Guastavino, Piana, Campi (2022). Score-oriented loss functions. Pattern Recognition 132, 108913.
//!
//! # The way of the data
//!
//! | module | what it does |
//! |---|---|
//! | [`formula`] | a score as data: text to tree; value, slopes, bounds, LaTeX, Python source from that tree |
//! | [`score`] | the registry, one line a score, and scores of one's own |
//! | [`prior`] | the threshold as a random variable |
//! | [`Rows`] | predictions, labels, weights; the type says whether logits or probabilities |
//! | [`Confusion`] | four numbers that add up: tn, fp, fn, tp |
//! | [`loss`] | score of the expectation, exact expected score, cross-entropy; values and gradients |
//! | [`multiclass`] | one versus rest, multi-label, the Gumbel simplex |
//! | [`temporal`] | early and late alarms: value-weighted matrices for series |
//! | [`sweep`](mod@sweep) | all thresholds at once: optimum, interval, conditions, curve, bootstrap |
//! | [`theory`] | the exact law of a score under a prior, and the paper's bounds, corrected |
//!
//! # The whole chain
//!
//! ```
//! use scorewise::sweep::{Bootstrap, Condition, Resampling, sweep};
//! use scorewise::{Logits, Prior, Probabilities, Rows, Score, ScoreLoss};
//!
//! let logits = [2.1f32, 0.4, -0.3, -1.2, -2.0, 0.9];
//! let labels = [true, true, false, false, false, false];
//! let score = Score::parse("csi")?; // any of the registry, or a formula: "tp/(tp + fp + fn)"
//!
//! // Train: a value to watch, a gradient to descend.
//! let loss = ScoreLoss::new(score.clone(), "cosine:0.5,0.3".parse()?);
//! let mut gradient = [0.0; 6];
//! let value = loss.value_and_gradient(&Rows::new(Logits(&logits), &labels)?, &mut gradient)?;
//! assert!(value < 1.0 && gradient[1] < 0.0 && gradient[5] > 0.0);
//!
//! // Tune: the exact best threshold, the whole interval of it, and how sure it is.
//! let probabilities = logits.map(|z| 1.0 / (1.0 + (-z).exp()));
//! let rows = Rows::new(Probabilities(&probabilities), &labels)?;
//! let best = sweep(&rows)?.best_subject_to(&score, &Condition::parse("recall >= 0.9")?).unwrap();
//! assert_eq!(best.value, 2.0 / 3.0); // two hits, one false alarm
//! let bootstrap = Bootstrap { resampling: Resampling::Stratified, replicates: 200, seed: 0 };
//! let spread = bootstrap.best(&rows, &score, &[])?.threshold.interval(0.95).unwrap();
//! assert!(spread.0 <= best.threshold && best.threshold <= spread.1);
//! # Ok::<(), scorewise::Error>(())
//! ```
//!
//! With the feature `rayon` sorting, sweeping and bootstrapping use all cores; the result is the same to the bit.

pub mod formula;
pub mod score;
pub mod prior;
mod rows;
mod confusion;
mod real;
mod simd;
pub mod loss;
pub mod multiclass;
pub mod temporal;
pub mod sweep;
pub mod theory;
mod spread;
mod seed;
mod error;

pub use confusion::{Confusion, is_positive};
pub use error::{Error, Result};
pub use formula::{Counts, Formula, FormulaError, Shape};
pub use loss::{CrossEntropy, ExactLoss, Loss, ScoreLoss, Slopes};
pub use prior::Prior;
pub use real::Real;
pub use rows::{Logits, Predictions, Probabilities, Rows};
pub use score::{Direction, Score};
pub use seed::{Purpose, stream};
pub use spread::Spread;

/// The README's Rust examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
