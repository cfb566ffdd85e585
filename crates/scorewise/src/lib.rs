//! Train for the score you will be judged by.
//!
//! Forecasts of rare events are evaluated with F1, TSS, CSI, HSS and similar scores, but models are usually trained with
//! cross-entropy, and a threshold is chosen afterwards. This crate makes the score itself the loss, by treating the threshold as
//! a random variable, and finds the best threshold exactly. It reads no files and prints nothing, and all randomness comes
//! from a seed.
//!
//! # Theory
//!
//! Let y be the labels, w the weights and p = σ(z) the predictions. A prediction counts as positive if p > τ. Let the threshold τ be
//! random with distribution function F and density f on [0, 1], the *prior*. Then the expected confusion matrix has a closed form:
//!
//! ```text
//! TP = Σ w y F(p)        FP = Σ w (1 − y) F(p)        FN = P − TP        TN = N − FP
//! ```
//!
//! Here P and N are the total weights of positives and negatives. A score s of this matrix can be differentiated. The loss is
//! ℓ = 1 − s(TN, FP, FN, TP), and its gradient is
//!
//! ```text
//! ∂ℓ/∂zᵢ = − wᵢ g f(pᵢ) pᵢ (1 − pᵢ)        g = ∂s/∂TP − ∂s/∂FN for positives, ∂s/∂FP − ∂s/∂TN for negatives
//! ```
//!
//! The rows of a batch interact only through the two values of g, so the loss can be computed exactly over several batches, threads or
//! machines. As the prior narrows around a threshold, the loss approaches 1 − the score at that threshold; the best threshold of
//! a model trained with this loss tends to lie where the prior has most of its probability. For scores that are linear in TP and FP at fixed
//! P and N, the loss equals 1 − E[s(τ)], where s(τ) is the score at threshold τ. For other scores the loss in general differs from
//! 1 − E[s(τ)], which [`ExactLoss`] computes.
//!
//! Marchetti, Guastavino, Piana, Campi (2022). Score-oriented loss functions. Pattern Recognition 132, 108913.
//!
//! # Modules
//!
//! | module | what it does |
//! |---|---|
//! | [`formula`] | scores as formulas: parsing, value, gradient, bounds, LaTeX and Python source |
//! | [`score`] | the registry of scores, and scores defined by the user |
//! | [`prior`] | distributions of the random threshold |
//! | [`Rows`] | predictions (logits or probabilities), labels and weights |
//! | [`Confusion`] | the confusion matrix tn, fp, fn, tp |
//! | [`loss`] | the score of the expected matrix, the exact expected score and cross-entropy, with gradients |
//! | [`multiclass`] | one-versus-rest, multi-label and softmax (Gumbel simplex) losses |
//! | [`temporal`] | losses for time series that weight early and late alarms |
//! | [`sweep`](mod@sweep) | evaluation of all thresholds: optimum, interval, conditions, curve, bootstrap |
//! | [`calibration`] | increasing curves that turn predictions into probabilities, without changing a decision |
//! | [`theory`] | the exact distribution of a score under a prior, and the bounds of Marchetti et al. (2022), corrected |
//!
//! # Example
//!
//! ```
//! use scorewise::sweep::{Bootstrap, Condition, Resampling, sweep};
//! use scorewise::{Logits, Prior, Probabilities, Rows, Score, ScoreLoss};
//!
//! let logits = [2.1f32, 0.4, -0.3, -1.2, -2.0, 0.9];
//! let labels = [true, true, false, false, false, false];
//! let score = Score::parse("csi")?; // a registered score, or a formula such as "tp/(tp + fp + fn)"
//!
//! // Train: compute the loss and its gradient.
//! let loss = ScoreLoss::new(score.clone(), "cosine:0.5,0.3".parse()?);
//! let mut gradient = [0.0; 6];
//! let value = loss.value_and_gradient(&Rows::new(Logits(&logits), &labels)?, &mut gradient)?;
//! assert!(value < 1.0 && gradient[1] < 0.0 && gradient[5] > 0.0);
//!
//! // Tune: the best threshold under a condition, and its bootstrap interval.
//! let probabilities = logits.map(|z| 1.0 / (1.0 + (-z).exp()));
//! let rows = Rows::new(Probabilities(&probabilities), &labels)?;
//! let best = sweep(&rows)?.best_subject_to(&score, &Condition::parse("recall >= 0.9")?).unwrap();
//! assert_eq!(best.value, 2.0 / 3.0); // two hits, one false alarm
//! let bootstrap = Bootstrap { resampling: Resampling::Stratified, replicates: 200, seed: 0 };
//! let interval = bootstrap.best(&rows, &score, &[])?.threshold.interval(0.95).unwrap();
//! assert!(interval.0 <= best.threshold && best.threshold <= interval.1);
//! # Ok::<(), scorewise::Error>(())
//! ```
//!
//! With the feature `rayon`, sorting, sweeping and bootstrapping use all cores; the results are bit-identical to those without it.

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
pub mod calibration;
pub mod theory;
mod spread;
mod stability;
mod seed;
mod error;

pub use confusion::{Confusion, is_positive};
pub use error::{Error, Result};
pub use formula::{ClassCounts, Formula, FormulaError, Shape};
pub use loss::{ClassDerivatives, CrossEntropy, ExactLoss, Loss, ScoreLoss};
pub use prior::Prior;
pub use real::Real;
pub use rows::{Logits, Predictions, Probabilities, Rows};
pub use score::{Direction, Score};
pub use seed::{Purpose, stream};
pub use simd::InstructionSet;
pub use spread::MeanAndDeviation;
pub use stability::{population_stability_index, stability_by_chance, stability_contributions};

/// Runs the Rust examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
