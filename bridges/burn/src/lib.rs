//! Train burn models for the score they will be judged by.
//!
//! The loss is 1 − the score of the expected confusion matrix under a random threshold. It works for every registered score, for your own
//! formulas and for every prior (distribution of the threshold), with tensor operations on the device of the logits:
//!
//! ```
//! use burn::tensor::{Device, Int, Tensor};
//! use scorewise_burn::ScoreLossConfig;
//!
//! let device = Device::flex().autodiff();
//! let logits = Tensor::<1>::from_floats([2.1, 0.4, -0.3, -1.2, -2.0, 0.9], &device).require_grad();
//! let targets = Tensor::<1, Int>::from_ints([1, 1, 0, 0, 0, 0], &device);
//!
//! let loss = ScoreLossConfig::new("csi".into()).with_prior("cosine:0.5,0.3".into()).init();
//! let value = loss.forward(logits.clone(), targets);
//! let gradient = logits.grad(&value.backward()).unwrap().to_data().to_vec::<f32>().unwrap();
//!
//! assert!(value.into_scalar::<f32>() < 1.0);
//! // Gradient descent raises the logit of the uncertain positive and lowers that of the false alarm.
//! assert!(gradient[1] < 0.0 && gradient[5] > 0.0);
//! ```
//!
//! # How it is computed
//!
//! ```text
//! TP = Σ w y F(p)        FP = Σ w (1 − y) F(p)        FN = P − TP        TN = N − FP        ℓ = 1 − s(TN, FP, FN, TP)
//! ∂ℓ/∂zᵢ = wᵢ g f(pᵢ) pᵢ (1 − pᵢ)        g = ∂ℓ/∂TP − ∂ℓ/∂FN for positives, ∂ℓ/∂FP − ∂ℓ/∂TN for negatives
//! ```
//!
//! Here y are the labels, w the weights, z the logits, p = σ(z) the probabilities, F and f the distribution function and the density of the prior, P
//! and N the total weights of positives and negatives, and s the score.
//!
//! Scores and priors are defined only in `scorewise`. F and its derivative are evaluated with the piecewise polynomials of that crate
//! (`scorewise::Prior::piecewise_polynomial`) by Horner's rule. ℓ and g are computed by the formulas and dual numbers of that crate, applied to
//! tensors with one value per class. Loss and gradient are therefore both known when `forward` returns. The autodiff graph contains only the product
//! of predictions and gradient, so autodiff never differentiates a table lookup or a division by zero. No value is read back to the host.
//!
//! | module | what it does |
//! |---|---|
//! | `config` | [`ScoreLossConfig`], the configuration of a loss |
//! | `log_odds` | converts predictions to the log-odds of each class, and gradients back |
//! | `prior_cdf` | F(σ(z)) and its derivative, computed on the device |
//! | `class_values` | formula arithmetic on tensors with one value per class |
//! | `loss` | [`ScoreLoss`] |
//! | `metric` | `ScoreMetric`; needs the feature `train` |

mod config;
mod log_odds;
mod prior_cdf;
mod class_values;
mod loss;
#[cfg(feature = "train")]
mod metric;

pub use config::{ScoreLossConfig, Task};
pub use loss::ScoreLoss;
#[cfg(feature = "train")]
pub use metric::{ScoreInput, ScoreMetric};

/// Runs the README's example as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
