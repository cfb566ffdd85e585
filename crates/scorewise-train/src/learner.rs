//! Learners (types of models with their settings) and the members of an ensemble that they fit. To add a new type of model, add a variant to
//! [`Learner`] and to [`Member`]: ensembles, the model file, ONNX export, prediction, reports and Python use only what is defined here.

use std::collections::HashMap;
use std::ops::ControlFlow;

use scorewise_table::Matrix;
use scorewise_table::error::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::fit::{Epoch, Fit, Objective, Sample};
use crate::network::{self, Dense, Engine, HiddenLayers, Network, NetworkSettings, NetworkShape};
use crate::onnx::GraphBuilder;
use crate::trees::{self, TreeSettings, Trees, TreesDescription};

/// The type of model to train, with its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "learner", rename_all = "lowercase")]
pub enum Learner {
    /// A neural network.
    Network(NetworkSettings),
    /// Gradient-boosted trees.
    Trees(TreeSettings),
}

/// A name by which users choose one or more learners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum LearnerName {
    /// Neural networks
    Networks,
    /// Gradient-boosted trees, symmetric and leaf-wise
    Trees,
    /// Networks without hidden layers: the logit is a sum of functions, each of a single column
    Linear,
}

/// A member of an ensemble: a fitted model, which maps rows of features to logits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Member {
    /// A neural network.
    Network(Network),
    /// Gradient-boosted trees.
    Trees(Trees),
}

/// What a model file says in JSON about one member of the ensemble. The tensors of the member are stored separately.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "learner", rename_all = "lowercase", deny_unknown_fields)]
pub enum MemberDescription {
    /// A neural network.
    Network {
        /// The number of inputs, the number of units of each hidden layer, and the number of outputs.
        widths: Vec<usize>,
        /// For a network with binned inputs, the total number of knots, frequent values and levels of each input (missing values count as a level);
        /// empty if inputs are not binned.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        positions: Vec<usize>,
    },
    /// Gradient-boosted trees.
    Trees(TreesDescription),
}

/// A named tensor of f32 numbers in a model file.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTensor {
    /// Name of the tensor, unique within the member.
    pub name: String,
    /// Shape of the tensor.
    pub shape: Vec<usize>,
    /// Numbers of the tensor, row by row.
    pub values: Vec<f32>,
}

impl LearnerName {
    /// The learners with these names. Networks have the given settings; it is an error if there are no names.
    pub(crate) fn learners(names: &[LearnerName], network: &NetworkSettings) -> Result<Vec<Learner>> {
        let mut learners = Vec::new();
        for (_, name) in names.iter().enumerate().filter(|(index, name)| !names[..*index].contains(name)) {
            match name {
                LearnerName::Networks => learners.push(Learner::Network(network.clone())),
                LearnerName::Linear => {
                    learners.push(Learner::Network(NetworkSettings {
                        hidden: HiddenLayers::new(Vec::new())?,
                        ..network.clone()
                    }));
                }
                LearnerName::Trees => {
                    learners.push(Learner::Trees(TreeSettings::symmetric()));
                    learners.push(Learner::Trees(TreeSettings::leaf_wise()));
                }
            }
        }
        if learners.is_empty() {
            return Err(Error::setting(
                "learners",
                "must name at least one learner",
                "write for example `networks,trees`",
            ));
        }
        Ok(learners)
    }

    /// The names of the given learners, without repetition.
    pub(crate) fn of_learners(learners: &[Learner]) -> Vec<LearnerName> {
        let mut names = Vec::new();
        for learner in learners {
            let name = match learner {
                Learner::Network(settings) if settings.hidden.widths().is_empty() => LearnerName::Linear,
                Learner::Network(_) => LearnerName::Networks,
                Learner::Trees(_) => LearnerName::Trees,
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

impl Learner {
    /// Trains one member. After every epoch, `watch` receives the number of the epoch within its phase (warm-up or main phase) and the losses of the
    /// epoch. If `watch` returns `Break`, the training run stops.
    pub(crate) fn fit(
        &self,
        objective: &Objective,
        seed: u64,
        sample: &Sample<'_>,
        threads: usize,
        watch: &mut dyn FnMut(usize, &Epoch) -> ControlFlow<()>,
    ) -> Result<Fit> {
        match self {
            Learner::Network(settings) => network::fit(settings, objective, seed, sample, threads, watch),
            Learner::Trees(settings) => trees::fit(settings, objective, seed, sample, threads, watch),
        }
    }

    /// The settings of the network; `None` if the learner is not a network.
    #[must_use]
    pub fn network(&self) -> Option<&NetworkSettings> {
        match self {
            Learner::Network(settings) => Some(settings),
            Learner::Trees(_) => None,
        }
    }

    /// Mutable access to the settings of the network; `None` if the learner is not a network.
    pub fn network_mut(&mut self) -> Option<&mut NetworkSettings> {
        match self {
            Learner::Network(settings) => Some(settings),
            Learner::Trees(_) => None,
        }
    }

    /// Number of members that this learner trains on the same rows: `networks` if it is a network with hidden layers, at most two for trees, and one
    /// for a linear model. Trees and linear models depend less on chance than networks, whose initial weights are random.
    #[must_use]
    pub fn repeats(&self, networks: usize) -> usize {
        match self {
            Learner::Network(settings) if !settings.hidden.widths().is_empty() => networks,
            Learner::Network(_) => 1,
            // With cross-fitting, the second set of trees is trained on other folds. On five tables, the out-of-fold log-loss of the mean of two sets
            // was 0.6 % lower than that of one set.
            Learner::Trees(_) => networks.min(2),
        }
    }

    /// Checks that the settings of the learner can be used with this loss.
    pub fn check(&self, objective: &Objective) -> Result<()> {
        match self {
            Learner::Network(settings) => settings.check(objective),
            Learner::Trees(settings) => settings.check(),
        }
    }

    /// Number of epochs or boosting rounds of one training run that does not stop early, for progress bars. With a warm start, a
    /// network is trained in two phases. Each of them is counted as `NetworkSettings::epochs` epochs, even if `WarmStart::epochs` differs.
    #[must_use]
    pub fn max_epochs(&self) -> usize {
        match self {
            Learner::Network(settings) => {
                settings.epochs.saturating_mul(if settings.warm_start.is_some() { 2 } else { 1 })
            }
            Learner::Trees(settings) => settings.rounds.saturating_add(settings.score_rounds),
        }
    }
}

impl Member {
    /// Number of features that the member takes as input.
    #[must_use]
    pub fn inputs(&self) -> usize {
        match self {
            Member::Network(network) => network.shape().inputs(),
            Member::Trees(trees) => trees.inputs(),
        }
    }

    /// For each binned input, the number of its knots, frequent values and levels in total; missing values count as a level. Each of them has a
    /// position (0, 1, 2, …), which stands for it in the matrix. Empty if the inputs are not binned.
    #[must_use]
    pub fn positions(&self) -> &[usize] {
        match self {
            Member::Network(network) => network.shape().positions(),
            Member::Trees(trees) => trees.positions(),
        }
    }

    /// Number of logits that the member computes for a row: 1 for two classes, otherwise the number of classes.
    #[must_use]
    pub fn outputs(&self) -> usize {
        match self {
            Member::Network(network) => network.shape().outputs(),
            Member::Trees(trees) => trees.outputs(),
        }
    }

    /// Number of units of each hidden layer of the network; `None` if the member is not a network.
    #[must_use]
    pub fn hidden_widths(&self) -> Option<&[usize]> {
        match self {
            Member::Network(network) => {
                let widths = network.shape().widths();
                Some(&widths[1..widths.len() - 1])
            }
            Member::Trees(_) => None,
        }
    }

    /// The type of the member in one word: `network`, `linear` or `trees`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Member::Network(network) if network.shape().widths().len() == 2 => "linear",
            Member::Network(_) => "network",
            Member::Trees(_) => "trees",
        }
    }

    /// For trees, the share of each input in the sum of the gains of all splits; `None` for other members, for trees without splits, and for trees
    /// from an older model file.
    #[must_use]
    pub fn gains_of_inputs(&self) -> Option<Vec<f64>> {
        let Member::Trees(trees) = self else { return None };
        let mut gains = vec![0.0; trees.inputs()];
        for (feature, gain) in trees.features().iter().zip(trees.gains()) {
            gains[feature.column as usize] += f64::from(*gain);
        }
        gains.iter().any(|gain| *gain > 0.0).then_some(gains)
    }

    /// Replaces every logit z of the member by `scale` · z + `shift`.
    pub(crate) fn rescale(&mut self, scale: f64, shift: f64) {
        match self {
            Member::Network(network) => network.rescale_output(scale as f32, shift as f32),
            Member::Trees(trees) => trees.rescale(scale as f32, shift as f32),
        }
    }

    /// A short description for reports; for a network the widths of its layers, such as `48-50-20-5-1`.
    #[must_use]
    pub fn summary(&self) -> String {
        match self {
            Member::Network(network) => {
                network.shape().widths().iter().map(ToString::to_string).collect::<Vec<_>>().join("-")
            }
            Member::Trees(trees) => format!("{} trees", trees.roots().len()),
        }
    }

    /// Whether all parameters of the member are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        match self {
            Member::Network(network) => network.parameters.iter().all(|number| number.is_finite()),
            Member::Trees(trees) => trees.is_finite(),
        }
    }

    /// What the model file says in JSON about the member.
    #[must_use]
    pub fn description(&self) -> MemberDescription {
        match self {
            Member::Network(network) => MemberDescription::Network {
                widths: network.shape().widths().to_vec(),
                positions: network.shape().positions().to_vec(),
            },
            Member::Trees(trees) => MemberDescription::Trees(TreesDescription::of(trees)),
        }
    }

    /// The parameters of the member as named tensors for the model file.
    #[must_use]
    pub fn tensors(&self) -> Vec<NamedTensor> {
        match self {
            Member::Network(network) => {
                let tensors = |(number, layer): (usize, Dense)| {
                    let [weight, bias] = tensor_names(number);
                    let Dense { inputs, outputs, weights, biases } = layer;
                    [
                        NamedTensor { name: weight, shape: vec![outputs, inputs], values: weights },
                        NamedTensor { name: bias, shape: vec![outputs], values: biases },
                    ]
                };
                network.to_layers().into_iter().enumerate().flat_map(tensors).collect()
            }
            Member::Trees(trees) => trees.tensors(),
        }
    }

    /// Adds nodes to an ONNX graph that compute the logits of the member from the graph's input `x`. Returns the name of the logits in the graph.
    pub(crate) fn add_to_graph(&self, graph: &mut GraphBuilder, name: &str) -> String {
        match self {
            Member::Network(network) => {
                let (layers, positions) = (network.to_layers(), network.shape().positions());
                let (mut from, last) = ("x".to_owned(), layers.len() - 1);
                for (number, layer) in layers.iter().enumerate() {
                    let name = format!("{name}.layer.{number}");
                    let bias = graph.floats(&format!("{name}.bias"), &[layer.outputs], &layer.biases);
                    from = if number == 0 && !positions.is_empty() {
                        let sums = graph.look_up(&name, positions, layer);
                        graph.node("Add", &[&sums, &bias], &name, &[])
                    } else {
                        let shape = [layer.outputs, layer.inputs];
                        let weight = graph.floats(&format!("{name}.weight"), &shape, &layer.weights);
                        graph.node("Gemm", &[&from, &weight, &bias], &name, &[("transB", 1)])
                    };
                    if number < last {
                        from = graph.node("Relu", &[&from], &format!("{name}.relu"), &[]);
                    }
                }
                from
            }
            Member::Trees(trees) => trees.add_to_graph(graph, name),
        }
    }
}

impl MemberDescription {
    /// Number of tensors that the member needs; an error if the layer widths are invalid. A file may be malicious, so this number is compared
    /// with the number of tensors in the file before memory is allocated.
    pub(crate) fn tensor_count(&self) -> std::result::Result<usize, String> {
        match self {
            MemberDescription::Network { widths, positions } => {
                network_shape(widths, positions).map(|shape| 2 * (shape.widths().len() - 1))
            }
            MemberDescription::Trees(trees) => Ok(trees.tensor_count()),
        }
    }

    /// Names and shapes of the tensors that the member needs.
    pub(crate) fn expected_tensors(&self) -> Vec<(String, Vec<usize>)> {
        match self {
            MemberDescription::Network { widths, positions } => {
                let Ok(shape) = network_shape(widths, positions) else { return Vec::new() };
                let tensors = |(number, pair): (usize, &[usize])| {
                    let [weight, bias] = tensor_names(number);
                    [(weight, vec![pair[1], pair[0]]), (bias, vec![pair[1]])]
                };
                shape.dense_widths().windows(2).enumerate().flat_map(tensors).collect()
            }
            MemberDescription::Trees(trees) => trees.expected_tensors(),
        }
    }

    /// Builds the member from its tensors, which must have the names and shapes that `expected_tensors` returns.
    pub(crate) fn member(&self, mut tensors: HashMap<String, Vec<f32>>) -> std::result::Result<Member, String> {
        match self {
            MemberDescription::Network { widths, positions } => {
                let mut take =
                    |name: &str| tensors.remove(name).ok_or_else(|| format!("the tensor `{name}` is missing"));
                let mut layers = Vec::new();
                for (number, pair) in network_shape(widths, positions)?.dense_widths().windows(2).enumerate() {
                    let [weight, bias] = tensor_names(number);
                    let (weights, biases) = (take(&weight)?, take(&bias)?);
                    layers.push(Dense { inputs: pair[0], outputs: pair[1], weights, biases });
                }
                let network = Network::from_layers(positions, &layers)
                    .ok_or("the layers of the network do not have the expected widths")?;
                Ok(Member::Network(network))
            }
            MemberDescription::Trees(trees) => trees.trees(tensors).map(Member::Trees),
        }
    }
}

/// Computes the logits of any member. It keeps one engine for each network shape, because most members have the same shape and can share
/// an engine.
#[derive(Debug, Default)]
pub(crate) struct LogitEngine {
    networks: Vec<(NetworkShape, Engine)>,
}

impl LogitEngine {
    /// Writes the logits of the given rows to `logits`, row by row.
    pub fn predict(&mut self, member: &Member, matrix: &Matrix, rows: &[u32], logits: &mut [f32]) {
        match member {
            Member::Network(network) => {
                let known_engine = self.networks.iter().position(|(shape, _)| shape == network.shape());
                let engine_index = known_engine.unwrap_or_else(|| {
                    self.networks.push((network.shape().clone(), Engine::new(network.shape())));
                    self.networks.len() - 1
                });
                self.networks[engine_index].1.predict(network, matrix, rows, logits);
            }
            Member::Trees(trees) => trees.predict(matrix, rows, logits),
        }
    }
}

/// The names of the two tensors of the layer with this index: the weights and the biases.
fn tensor_names(layer: usize) -> [String; 2] {
    ["weight", "bias"].map(|name| format!("layer.{layer}.{name}"))
}

/// The shape of a network. `widths` and `positions` are the fields of [`MemberDescription`]; the result is an error if they are invalid.
fn network_shape(widths: &[usize], positions: &[usize]) -> std::result::Result<NetworkShape, String> {
    let shape = match widths {
        [inputs, hidden @ .., outputs] if positions.is_empty() => NetworkShape::new(*inputs, hidden, *outputs),
        [inputs, hidden @ .., outputs] if positions.len() == *inputs => {
            NetworkShape::look_up(positions.to_vec(), hidden, *outputs)
        }
        [_, _, ..] => {
            return Err(format!(
                "the network has {} inputs, but the length of its list `positions` is {}",
                widths[0],
                positions.len()
            ));
        }
        _ => None,
    };
    shape.ok_or_else(|| "a network needs two or more layer widths; widths and position counts must be above 0".into())
}
