//! LEARNING: from a table to a model that was trained for a score and carries its threshold.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use scorewise_table::table::{BuiltIn, Reading, Source, read};
//! use scorewise_train::train::{Plan, train};
//!
//! let adult = read(&Source::BuiltIn(BuiltIn::Adult), &Reading::default())?;
//! let mut plan = Plan::new("income", "f1");
//! plan.settings.epochs = 2; // a taste
//! let trained = train(&adult, None, &Reading::default(), &plan, |_, _, _| ControlFlow::Continue(()))?;
//! let threshold = trained.model.decision.threshold().unwrap(); // the best on the validation rows
//! let test = trained.test.unwrap(); // rows that nothing was learnt from
//! let alarms = test.probabilities.iter().filter(|p| **p > threshold).count();
//! assert!(alarms > 500 && test.labels.len() == 6513);
//! # Ok::<(), scorewise_train::Error>(())
//! ```
//!
//! The modules, in the order of the data:
//!
//! | | |
//! |---|---|
//! | [`table`] | files to typed columns, in chunks |
//! | [`encode`] | columns to a matrix of f32, as the training rows taught |
//! | [`target`], [`split`], [`groups`] | what is predicted, which rows teach and which judge, which rows are neighbours |
//! | [`Network`], [`Engine`], [`optim`] | a batch through the network and back, and a step |
//! | [`start`], [`mod@fit`], [`mod@ensemble`] | never stuck; epochs, early stopping, warm starts; many networks |
//! | [`model`], [`onnx`] | the file that carries it all, and its export |
//! | [`output`], [`spreadsheet`] | files that appear whole or not at all, and take no other file's place; cells that are no formulas |
//! | [`mod@train`] | the whole way |
//!
//! The engine by hand:
//!
//! ```
//! use scorewise::{Logits, Prior, Rows, Score, ScoreLoss};
//! use scorewise_train::optim::Adam;
//! use scorewise_train::{Engine, Matrix, Network, Shape};
//!
//! // Learn x > y from eight points.
//! let matrix = Matrix::new(2, &[0.1, 0.9, 0.8, 0.2, 0.3, 0.5, 0.9, 0.1, 0.2, 0.4, 0.6, 0.3, 0.5, 0.7, 0.7, 0.5]).unwrap();
//! let labels = [false, true, false, true, false, true, false, true];
//! let mut network = Network::glorot(Shape::new(2, &[8], 1).unwrap(), 1);
//! let loss = ScoreLoss::new(Score::parse("f1")?, Prior::uniform());
//! let (mut engine, mut adam) = (Engine::new(network.shape()), Adam::new(&network));
//! let (mut logits, mut slopes) = ([0.0; 8], [0.0; 8]);
//! for _ in 0..300 {
//!     engine.forward(&network, &matrix, &[0, 1, 2, 3, 4, 5, 6, 7], &mut logits);
//!     loss.value_and_gradient(&Rows::new(Logits(&logits), &labels)?, &mut slopes)?;
//!     let mut gradient = vec![0.0; network.parameters.len()];
//!     engine.backward(&network, &slopes, &mut gradient);
//!     adam.step(&mut network.parameters, &gradient, 0.02);
//! }
//! assert!(logits.iter().zip(&labels).all(|(logit, label)| (*logit > 0.0) == *label));
//! # Ok::<(), scorewise::Error>(())
//! ```

mod net;
mod engine;
pub mod optim;
pub mod start;
pub mod fit;
pub mod ensemble;
pub mod model;
pub mod onnx;
pub mod train;
pub mod reproduce;

pub use engine::{Engine, Level};
pub use model::Model;
pub use net::{Dense, Network, Shape};
pub use scorewise_table::{Error, Matrix, Note, Place, Result};
