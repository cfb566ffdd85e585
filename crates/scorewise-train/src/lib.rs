//! Trains models for a score: from a table to a model with its threshold.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use scorewise_table::table::{BuiltIn, Reading, Source, read};
//! use scorewise_train::backend::Cpu;
//! use scorewise_train::plan::Plan;
//! use scorewise_train::train::train;
//!
//! let adult = read(&Source::BuiltIn(BuiltIn::Adult), &Reading::default())?;
//! let mut plan = Plan::new("income", "f1".parse()?);
//! plan.network_mut().unwrap().epochs = 2; // short, for this example
//! let watch = |_: usize, _: usize, _: &_| ControlFlow::Continue(());
//! let trained = train(&adult, None, &Reading::default(), &plan, &Cpu { threads: 2 }, &watch)?;
//! let threshold = trained.model.decision.threshold().unwrap(); // the threshold with the best F1 on the validation rows
//! let test = trained.test.unwrap(); // rows that were not used in training
//! let alarms = test.probabilities.iter().filter(|p| **p > threshold).count();
//! assert!(alarms > 500 && test.labels.len() == 6513);
//! # Ok::<(), scorewise_train::Error>(())
//! ```
//!
//! The modules, in the order in which data pass through them:
//!
//! | module | contents |
//! |---|---|
//! | [`plan`] | the settings of a training run, as one typed value |
//! | [`job`] | the encoded rows of a table, and the list of training jobs |
//! | [`learner`] | the model types that can be trained, and the fitted members of an ensemble |
//! | [`mod@fit`] | losses, and when a training run stops or restarts |
//! | [`network`] | neural networks: settings, training loop, and the engine that computes logits and gradients |
//! | [`trees`] | gradient-boosted trees: settings, growth, boosting rounds |
//! | [`backend`] | the hardware on which training jobs run |
//! | [`ensemble`] | the weighted mean of the probabilities or logits that the members of an ensemble predict |
//! | [`model`], [`onnx`] | the model file, and its export to ONNX |
//! | [`mod@train`] | prepare, run and finish one training run or all folds of a cross-validation |
//! | [`reproduce`] | the experiments of Marchetti et al. (2022) |
//!
//! The engine that computes logits and gradients can be used without the rest of the crate:
//!
//! ```
//! use scorewise::{Logits, Prior, Rows, Score, ScoreLoss};
//! use scorewise_train::Matrix;
//! use scorewise_train::network::{Adam, Engine, Network, NetworkShape};
//!
//! // Learn x > y from eight points.
//! let matrix = Matrix::new(2, &[0.1, 0.9, 0.8, 0.2, 0.3, 0.5, 0.9, 0.1, 0.2, 0.4, 0.6, 0.3, 0.5, 0.7, 0.7, 0.5]).unwrap();
//! let labels = [false, true, false, true, false, true, false, true];
//! let mut network = Network::glorot(NetworkShape::new(2, &[8], 1).unwrap(), 1);
//! let loss = ScoreLoss::new(Score::parse("f1")?, Prior::uniform());
//! let (mut engine, mut adam) = (Engine::new(network.shape()), Adam::new(&network));
//! let (mut logits, mut logit_gradient) = ([0.0; 8], [0.0; 8]);
//! for _ in 0..300 {
//!     engine.forward(&network, &matrix, &[0, 1, 2, 3, 4, 5, 6, 7], &mut logits);
//!     loss.value_and_gradient(&Rows::new(Logits(&logits), &labels)?, &mut logit_gradient)?;
//!     let mut gradient = vec![0.0; network.parameters.len()];
//!     engine.backward(&network, &logit_gradient, &mut gradient);
//!     adam.step(&mut network.parameters, &gradient, 0.02);
//! }
//! assert!(logits.iter().zip(&labels).all(|(logit, label)| (*logit > 0.0) == *label));
//! # Ok::<(), scorewise::Error>(())
//! ```

pub mod plan;
pub mod job;
pub mod learner;
pub mod fit;
pub mod network;
pub mod trees;
pub mod backend;
pub mod ensemble;
pub mod model;
pub mod onnx;
pub mod train;
pub mod reproduce;

pub use model::Model;
pub use scorewise_table::{Error, Location, Matrix, Note, Result};
