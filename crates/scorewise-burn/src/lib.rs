//! Train burn models for the score they will be judged by.
//!
//! The loss is 1 − the score of the expected confusion matrix while the threshold is random, for any score of the registry or formula of
//! one's own and any prior, as tensor operations on the device that the logits are on:
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
//! assert!(gradient[1] < 0.0 && gradient[5] > 0.0); // descent lifts the weak hit and sinks the false alarm
//! ```
//!
//! # How it is computed
//!
//! ```text
//! TP = Σ w y F(p)        FP = Σ w (1 − y) F(p)        FN = P − TP        TN = N − FP        ℓ = 1 − s(TN, FP, FN, TP)
//! ∂ℓ/∂zᵢ = wᵢ g f(pᵢ) pᵢ (1 − pᵢ)        g = ∂ℓ/∂TP − ∂ℓ/∂FN for positives, ∂ℓ/∂FP − ∂ℓ/∂TN for negatives
//! ```
//!
//! Nothing is listed twice. F and its slope are the core's polynomials, `scorewise::Prior::pieces`, looked up and evaluated by Horner's rule;
//! ℓ and g are the core's formula and the core's dual numbers over tensors of one number a class. Both ∂ℓ/∂z and ℓ are therefore
//! known when `forward` returns, and burn's graph holds one product: autodiff meets neither a lookup nor a division by zero. No value is
//! read back to the host.
//!
//! | module | what it does |
//! |---|---|
//! | `config` | what a loss is made of, as burn configures things |
//! | `link` | logits to the log-odds of each class, and slopes back |
//! | `law` | F(σ(z)) and its slope on a device |
//! | `figure` | the numbers of a formula on a device |
//! | `loss` | [`ScoreLoss`] |
//! | `metric` | `ScoreMetric`, with the feature `train` |

mod config;
mod link;
mod law;
mod figure;
mod loss;
#[cfg(feature = "train")]
mod metric;

pub use config::{ScoreLossConfig, Task};
pub use loss::ScoreLoss;
#[cfg(feature = "train")]
pub use metric::{ScoreInput, ScoreMetric};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
