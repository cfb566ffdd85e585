//! Losses and scores for more than two classes, or for several labels per row, with a random threshold per class.
//!
//! There are two ways to compute an expected confusion matrix from logits under random thresholds:
//!
//! - [`OneVersusRest`]: each class is compared with all others, with a prior per class. A row with logits z has the probability softmax(z)ₖ of
//!   class k, or σ(zₖ) if a row may have several labels. The prior of class k gives the expected 2×2 matrix of this class; a binary score is
//!   computed on each matrix, and the results are averaged.
//! - [`SimplexLoss`]: each row is predicted as one class, argmaxₖ (zₖ − τₖ), where the random thresholds τₖ follow Gumbel distributions with
//!   centres μₖ and a sharpness λ. The probability of class j is then softmax(λ(z − μ))ⱼ. This gives one expected m×m matrix, whose row sums are
//!   the total weights of the rows of each class. A [`MultiScore`] is computed on this matrix, for example R_K, Heidke, Peirce, Gerrity, a mean
//!   cost or an average over the classes.
//!
//! [`SoftmaxCrossEntropy`] is the usual loss of a classifier, provided for comparison.
//!
//! [`OneVersusRest`] and [`SimplexLoss`] are computed in two passes over the rows, so that batches can be combined exactly: compute the matrix
//! of each batch with `expect`, add the matrices, compute the `derivatives` once, and compute the gradient of each batch with `gradient_with`.
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
//! assert!(value > 0.0 && value < 1.0 && gradient[0] < 0.0); // gradient descent raises the logit of the true class
//!
//! let loss = SimplexLoss::new(MultiScore::parse("mcc")?);
//! let value = loss.value_and_gradient(&rows, &mut gradient)?;
//! let expected = loss.expect(&rows)?;
//! assert_eq!(value, 1.0 - MultiScore::parse("r_k")?.value(&expected));
//! assert!((expected.row_sums()[2] - 1.0).abs() < 1e-15); // the probabilities of a row sum to 1
//!
//! let argmax = MultiConfusion::from_logits(&rows); // 2 of 3 rows are predicted correctly
//! assert_eq!(MultiScore::parse("accuracy")?.value(&argmax), 2.0 / 3.0);
//! # Ok::<(), scorewise::Error>(())
//! ```
//!
//! Tests guard against three common mistakes in implementations: that all classes use the prior of the last class, that a "weighted" average
//! weights a class by its negatives, and that the class probabilities of a row do not sum to one.

mod average;
mod rows;
mod link;
mod one_versus_rest;
mod square;
mod confusion;
mod tape;
mod matrix_scores;
mod costs;
mod score;
mod simplex;
mod cross_entropy;

pub use average::Average;
pub use confusion::MultiConfusion;
pub use costs::CostMatrix;
pub use cross_entropy::SoftmaxCrossEntropy;
pub use link::softmax;
pub use one_versus_rest::OneVersusRest;
pub use rows::{AnyOf, ClassLabels, ClassRows, OneOf};
pub use score::MultiScore;
pub use simplex::SimplexLoss;
