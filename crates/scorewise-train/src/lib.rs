//! LEARNING: from rows of features to a network that was trained for a score.
//!
//! Under construction, from the inside out: the network ([`Network`]), the engine ([`Engine`]), optimisers ([`optim`]), a start that
//! is never stuck ([`start`]) and fitting ([`mod@fit`]) stand; tables, encoding, splits, the model file and the command come next.
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

pub mod error;
mod note;
mod names;
pub mod table;
pub mod groups;
pub mod encode;
pub mod target;
pub mod split;
mod net;
mod engine;
pub mod optim;
pub mod start;
pub mod fit;
pub mod ensemble;
pub mod model;
pub mod onnx;
pub mod train;

pub use engine::{Engine, Level, Matrix};
pub use error::{Error, Place, Result};
pub use model::Model;
pub use net::{Dense, Network, Shape};
pub use note::Note;
