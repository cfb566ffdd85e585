//! Exports a model to ONNX. The input of the ONNX graph is the encoded matrix; its outputs are the probabilities and the label of each row.
//!
//! ```text
//! x [N, F] float → (Gemm → Relu)* → Gemm → to double → Sigmoid or Softmax → mean over members → probability, label
//!                                  (if logits are averaged: to double → mean over members → Sigmoid or Softmax → probability, label)
//!                                  (with a calibration: … → raw, label → calibration → probability)
//! ```
//!
//! If the inputs are binned, the nodes of a look-up layer take the place of the first `Gemm`. Everything after the logits is computed in f64 and
//! in the same order as in [`Predictor`](crate::model::Predictor). So the label of an ONNX runtime can differ from the label of scorewise only
//! if the probability is closer to the threshold than the rounding error of the f32 layers. The members are summed with one `Add` node for each
//! member after the first, because runtimes do not implement `Mean` for f64.

mod calibration;
mod graph;
mod proto;

use prost::Message;
use serde_json::json;

use crate::ensemble::MeanOf;
use crate::model::{Decision, Model};
use graph::TREE_OPERATORS;
pub(crate) use graph::{Attribute, GraphBuilder};
use proto::{DOUBLE, FLOAT, INT64, ModelProto, OperatorSetIdProto, StringStringEntryProto};
use scorewise_table::error::{Error, Result};

/// The version of the ONNX operator set. Version 13 is the first in which `Squeeze` and `Softmax` have their current form; runtimes have supported
/// it since 2020.
const OPERATOR_SET: i64 = 13;
/// The version of the ONNX operator set for trees. Version 1 already has all operators that are needed.
const TREE_OPERATOR_SET: i64 = 1;
/// The version of the ONNX file format that was published with operator set 13.
const IR_VERSION: i64 = 7;
/// The maximum size of an ONNX file in bytes, which is the maximum size of any protobuf message.
const MAX_FILE_BYTES: usize = i32::MAX as usize;

/// Exports a model as the bytes of an ONNX file. Equal models give equal bytes.
pub fn export(model: &Model) -> Result<Vec<u8>> {
    // The bytes are not needed. This call only checks the model, because a model that cannot be saved must not be exported either.
    model.to_bytes()?;
    let mut graph = GraphBuilder::default();
    let members: Vec<String> = (0..model.members.len())
        .map(|member| {
            let logits = add_logits(&mut graph, model, member);
            match model.mean {
                MeanOf::Probabilities => {
                    add_probabilities(&mut graph, model, &logits, &format!("member.{member}.probability"))
                }
                MeanOf::Logits => logits,
            }
        })
        .collect();
    let mean = add_weighted_mean(&mut graph, &members, &model.weights);
    let mean = match model.mean {
        MeanOf::Probabilities => mean,
        MeanOf::Logits => add_probabilities(&mut graph, model, &mean, "probability_of_mean"),
    };
    let classes = model.classes.len();
    let raw = if model.calibration.is_some() { "raw" } else { "probability" };
    let shape: &[Option<usize>] = if classes == 2 {
        let axis = graph.integers("axis", &[1]);
        graph.node("Squeeze", &[&mean, &axis], raw, &[]);
        &[None]
    } else {
        graph.node("Identity", &[&mean], "probability", &[]);
        &[None, Some(classes)]
    };
    add_label(&mut graph, &model.decision, raw);
    if let (Some(calibration), Some(threshold)) = (&model.calibration, model.decision.threshold()) {
        calibration::add_nodes(&mut graph, calibration, threshold);
    }
    let description = format!(
        "{} of `{}`. {}",
        if classes == 2 { "Probability of the second class" } else { "Probabilities of the classes" },
        model.target.column,
        model.classes.join(", "),
    );
    graph.input("x", FLOAT, &[None, Some(model.encoder.width())], "The encoded matrix with the columns of `features`.");
    graph.output("probability", DOUBLE, shape, &description);
    graph.output("label", INT64, &[None], "Index of the class in `classes`, from 0.");
    if model.calibration.is_some() {
        graph.output("raw", DOUBLE, shape, "The prediction before the calibration.");
    }
    let mut operator_sets = vec![OperatorSetIdProto { domain: String::new(), version: OPERATOR_SET }];
    if graph.has_trees() {
        operator_sets.push(OperatorSetIdProto { domain: TREE_OPERATORS.into(), version: TREE_OPERATOR_SET });
    }
    let file = ModelProto {
        ir_version: IR_VERSION,
        producer_name: "scorewise".into(),
        producer_version: model.version.clone(),
        doc_string: format!("Trained for {}. {}", model.score, model.decision.words()),
        graph: Some(graph.finish()),
        opset_import: operator_sets,
        metadata_props: metadata(model)?,
    };
    let length = file.encoded_len();
    if length > MAX_FILE_BYTES {
        let hint = "train a smaller network or a smaller ensemble";
        return Err(Error::setting(
            "onnx",
            format!("the file would have {length} bytes, but ONNX files have at most {MAX_FILE_BYTES}"),
            hint,
        ));
    }
    Ok(file.encode_to_vec())
}

/// Adds the nodes that compute the logits of one member from the input. Returns the name of the logits in the graph.
fn add_logits(graph: &mut GraphBuilder, model: &Model, member: usize) -> String {
    let logits = model.members[member].add_to_graph(graph, &format!("member.{member}"));
    graph.node("Cast", &[&logits], &format!("member.{member}.logit"), &[("to", DOUBLE.into())])
}

/// Adds the node that computes probabilities from logits. Returns the name of the probabilities in the graph.
fn add_probabilities(graph: &mut GraphBuilder, model: &Model, logits: &str, name: &str) -> String {
    if model.classes.len() == 2 {
        graph.node("Sigmoid", &[logits], name, &[])
    } else {
        graph.node("Softmax", &[logits], name, &[("axis", 1)])
    }
}

/// Adds the nodes that compute the weighted mean of the predictions of the members, and returns the name of the mean. The predictions are summed in
/// the order of the members, as in [`Predictor`](crate::model::Predictor).
fn add_weighted_mean(graph: &mut GraphBuilder, members: &[String], weights: &[f64]) -> String {
    let weighted = |graph: &mut GraphBuilder, index: usize| {
        if weights[index] == 1.0 {
            return members[index].clone();
        }
        let weight = graph.doubles(&format!("member.{index}.weight"), &[], &[weights[index]]);
        graph.node("Mul", &[&members[index], &weight], &format!("member.{index}.weighted"), &[])
    };
    if let [only] = members {
        return only.clone();
    }
    let first = weighted(graph, 0);
    let sum = (1..members.len()).fold(first, |sum, index| {
        let member = weighted(graph, index);
        graph.node("Add", &[&sum, &member], &format!("sum.{index}"), &[])
    });
    let total = graph.doubles("members", &[], &[weights.iter().sum()]);
    graph.node("Div", &[&sum, &total], "mean", &[])
}

/// Adds the nodes that compute the label from the probabilities. With two classes, `raw` is the name of the predictions before the calibration.
fn add_label(graph: &mut GraphBuilder, decision: &Decision, raw: &str) {
    let arg_max = |graph: &mut GraphBuilder, from: &str| {
        graph.node("ArgMax", &[from], "label", &[("axis", 1), ("keepdims", 0)]);
    };
    match decision {
        Decision::Threshold { threshold, .. } => {
            let threshold = graph.doubles("threshold", &[], &[*threshold]);
            let above = graph.node("Greater", &[raw, &threshold], "above", &[]);
            graph.node("Cast", &[&above], "label", &[("to", INT64.into())]);
        }
        Decision::Greatest => arg_max(graph, "probability"),
        Decision::Thresholds { thresholds, .. } => {
            let thresholds = graph.doubles("thresholds", &[thresholds.len()], thresholds);
            let above = graph.node("Sub", &["probability", &thresholds], "above", &[]);
            arg_max(graph, &above);
        }
        Decision::Factors { factors, .. } => {
            let factors = graph.doubles("factors", &[factors.len()], factors);
            let above = graph.node("Mul", &["probability", &factors], "above", &[]);
            arg_max(graph, &above);
        }
        Decision::Costs { costs } => {
            let costs = graph.doubles("costs", &[costs.len(), costs.len()], &costs.concat());
            let expected = graph.node("MatMul", &["probability", &costs], "expected_cost", &[]);
            graph.node("ArgMin", &[&expected], "label", &[("axis", 1), ("keepdims", 0)]);
        }
        Decision::Centres { centres } => {
            let factors: Vec<f64> = crate::model::centre_factors(centres).collect();
            let factors = graph.doubles("factors", &[factors.len()], &factors);
            let above = graph.node("Mul", &["probability", &factors], "above", &[]);
            arg_max(graph, &above);
        }
    }
}

/// The metadata of the ONNX file: the most important settings as separate entries, and the JSON metadata of the model file as one further entry.
fn metadata(model: &Model) -> Result<Vec<StringStringEntryProto>> {
    let text = |threshold: Option<f64>| threshold.map(|threshold| json!(threshold).to_string()).unwrap_or_default();
    let mut entries = vec![
        ("score", model.score.clone()),
        ("prior", model.prior.clone().unwrap_or_default()),
        ("loss", model.loss.clone()),
        ("threshold", text(model.probability_threshold())),
        ("raw_threshold", text(model.decision.threshold().filter(|_| model.calibration.is_some()))),
        ("threshold_chosen", model.decision.words().to_owned()),
        ("classes", json!(model.classes).to_string()),
        ("features", json!(model.encoder.names()).to_string()),
        ("encoder", json!(model.encoder).to_string()),
        ("fingerprint", model.fingerprint.clone()),
        ("scorewise", model.description_json()?),
    ];
    entries.retain(|(_, value)| !value.is_empty());
    Ok(entries.into_iter().map(|(key, value)| StringStringEntryProto { key: key.into(), value }).collect())
}
