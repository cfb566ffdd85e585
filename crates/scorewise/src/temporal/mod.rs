//! Losses for time series, in which errors are weighted by their timing. For example, with the default weighting, an alarm one step before
//! an event counts as half an error, and an error far from any event or alarm counts twice.
//!
//! ```text
//! TP = Σ y F        TN = Σ (1 − y)(1 − F)        wFP = Σ (1 − yₜ) Fₜ (1 − ωₜ + αₜ)        wFN = Σ yₜ (1 − Fₜ − σₜ + βₜ)
//! ```
//!
//! Here yₜ is the label of row t, F the distribution function of the prior, Fₜ = F(pₜ) its value at the prediction pₜ, and w₁ ≥ w₂ ≥ … are the
//! weights of the distances 1, 2, … The credits and penalties are expected values under one random threshold τ for all rows:
//!
//! ```text
//! ωₜ  credit of an alarm before an event:      Σ wₖ yₜ₊ₖ                      or   max wₖ yₜ₊ₖ
//! σₜ  credit of a miss after an alarm:         Σ wₖ (F(pₜ₋ₖ) − F(pₜ))₊        or   Σ wₖ (F(rₖ) − F(rₖ₋₁))
//! αₜ  penalty of an isolated false alarm:      1 without an event within ±window, else 0
//! βₜ  penalty of an isolated miss:             1 − F(the highest p within ±window)
//! ```
//!
//! The left formulas apply if all credits are added, the right ones if only the largest credit is used. Here x₊ = max(x, 0) and rₖ = max(pₜ, pₜ₋₁, …,
//! pₜ₋ₖ). Since the weights do not increase with distance, the nearest alarm gives the largest credit; it is at distance k while rₖ₋₁ ≤ τ < rₖ. All
//! these expectations are exact. Unlike in an ordinary confusion matrix, the sums TP + wFN and wFP + TN depend on the threshold, so the gradient
//! needs the derivatives of the score with respect to all four cells. There are three [`Weighting`]s:
//!
//! | weighting | ω, σ | α, β | default weights |
//! |---|---|---|---|
//! | value-weighted (2021) | maximum | yes | 1/2, 1/3, 1/4 |
//! | sum (wSOL, 2026) | sum | no | 1/2, 1/4, 1/8 |
//! | maximum (wSOL, 2026) | maximum | no | 1/2, 1/4, 1/8 |
//!
//! Windows end where a sequence begins or ends; they never extend into another sequence.
//!
//! ```
//! use scorewise::temporal::{Series, TemporalLoss, Weighting};
//! use scorewise::{Confusion, Logits, Prior, Rows, Score};
//!
//! // Two sequences of four hourly rows: one with an alarm one hour before the event, one with an event without any alarm.
//! let logits = [-2.0, 1.5, -1.0, -3.0, -2.0, -2.5, -1.0, -3.0];
//! let labels = [false, false, true, false, false, false, true, false];
//! let sequences = [1, 1, 1, 1, 2, 2, 2, 2];
//! let series = Series::new(Rows::new(Logits(&logits), &labels)?)?.with_sequences(&sequences)?;
//!
//! let loss = TemporalLoss::new(Score::parse("csi")?, Prior::cosine(0.5, 0.4)?, Weighting::default());
//! // The early alarm counts ½, the miss after it ½, the other miss 2.
//! assert_eq!(loss.at(&series, 0.5), Confusion::new(5.0, 0.5, 2.5, 0.0));
//!
//! let mut gradient = [0.0; 8];
//! let value = loss.value_and_gradient(&series, &mut gradient)?;
//! assert!(value > 0.0 && value < 1.0);
//! // Gradient descent raises the logits of both events, and more for the event without an alarm.
//! assert!(gradient[6] < gradient[2] && gradient[2] < 0.0);
//! # Ok::<(), scorewise::Error>(())
//! ```
//!
//! Guastavino, Piana, Benvenuto (2021). Bad and good errors: value-weighted skill scores in deep ensemble learning.
//! arXiv:2103.02881.
//! Legnaro, Guastavino, Marchetti (2026). Weighted score-oriented losses for temporally localized event prediction.
//! arXiv:2606.23145.

mod series;
mod weighting;
mod band;
mod temporal_loss;
mod sweep;

pub use series::Series;
pub use sweep::{TemporalSweep, matrices_of_rows};
pub use temporal_loss::TemporalLoss;
pub use weighting::Weighting;
