//! MULTICLASS: more than two classes, one threshold each; or any number of labels a row.
//!
//! Two ways from logits to a confusion matrix under random thresholds:
//!
//! - [`OneVersusRest`]: every class against the rest, with a prior of its own. pₖ = softmax(z)ₖ, or σ(zₖ) where a row may
//!   belong to several classes; a 2×2 matrix a class from Fₖ(pₖ); any score of the registry on each of them, then averaged.
//! - [`SimplexLoss`]: one decision among all classes, argmaxₖ (zₖ − τₖ) with Gumbel thresholds: P(j) = softmax(λ(z − μ))ⱼ. One m×m
//!   matrix whose rows keep their sums, and on it a [`MultiScore`]: the correlation R_K, Heidke, Peirce, Gerrity, or an average.
//!
//! [`SoftmaxCrossEntropy`] is what they are compared with.
//!
//! The two ways are made of two passes with a few numbers between them, so batches add up exactly: `expect` each batch and sum the
//! matrices, take `slopes` once, finish each batch with `gradient_with`.
//!
//! ```
//! use scorewise::multiclass::{Average, ClassRows, MultiConfusion, MultiScore, OneOf, OneVersusRest, SimplexLoss};
//! use scorewise::{Prior, Score};
//!
//! let logits = [2.0f32, 0.5, -1.0, 0.1, 1.2, 0.3, -0.5, 0.4, 0.2]; // three rows of three classes
//! let rows = ClassRows::new(&logits, 3, OneOf(&[0, 1, 2]))?;
//!
//! let priors = vec![Prior::cosine(0.5, 0.3)?, Prior::uniform(), Prior::cosine(0.3, 0.2)?];
//! let loss = OneVersusRest::new(Score::parse("f1")?, priors, Average::Macro)?;
//! let mut gradient = [0.0; 9];
//! let value = loss.value_and_gradient(&rows, &mut gradient)?;
//! assert!(value > 0.0 && value < 1.0 && gradient[0] < 0.0); // descent lifts the right class
//!
//! let loss = SimplexLoss::new(MultiScore::parse("mcc")?);
//! let value = loss.value_and_gradient(&rows, &mut gradient)?;
//! let expected = loss.expect(&rows)?;
//! assert_eq!(value, 1.0 - MultiScore::parse("r_k")?.value(&expected));
//! assert!((expected.row_sums()[2] - 1.0).abs() < 1e-15); // a row is shared out among the classes, and no more
//!
//! let argmax = MultiConfusion::from_logits(&rows); // 2 of 3 are right
//! assert_eq!(MultiScore::parse("accuracy")?.value(&argmax), 2.0 / 3.0);
//! # Ok::<(), scorewise::Error>(())
//! ```
//!
//! Three faults that are easily made here, and that tests guard against: priors of all classes that share the last one's
//! parameters; a "weighted" average that weighs a class by its negatives; soft assignments of a row that do not sum to one.

mod average;
mod rows;
mod link;
mod one_versus_rest;
mod square;
mod confusion;
mod tape;
mod whole;
mod score;
mod simplex;
mod cross_entropy;

pub use average::Average;
pub use confusion::MultiConfusion;
pub use cross_entropy::SoftmaxCrossEntropy;
pub use link::softmax;
pub use one_versus_rest::OneVersusRest;
pub use rows::{AnyOf, ClassLabels, ClassRows, OneOf};
pub use score::MultiScore;
pub use simplex::SimplexLoss;
