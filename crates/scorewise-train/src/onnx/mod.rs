//! ONNX: a model for any runtime. The encoded matrix goes in, probability and label at τ come out.
//!
//! ```text
//! x [N, F] float → (Gemm → Relu)* → Gemm → to double → Sigmoid or Softmax → mean over members → probability, label
//! ```
//!
//! From the logits on all is double, in the order of [`Predictor`](crate::model::Predictor): a label then differs from ours only
//! where a probability lies within the rounding of the f32 layers of τ. Sums are chains of `Add`, since runtimes lack a `Mean` of doubles.

mod graph;
mod proto;

use prost::Message;
use serde_json::json;

use crate::model::{Decision, Model};
pub(crate) use graph::Graph;
use proto::{DOUBLE, FLOAT, INT64, ModelProto, OperatorSetIdProto, StringStringEntryProto};
use scorewise_table::error::{Error, Result};

/// The version of the operators. 13 is the first in which `Squeeze` and `Softmax` have today's form: runtimes since 2020 know it.
const OPERATORS: i64 = 13;
/// The version of the format that came with these operators.
const FORMAT: i64 = 7;
/// What a protobuf file can hold.
const LARGEST: usize = i32::MAX as usize;

/// The bytes of an ONNX file: the same for equal models.
pub fn export(model: &Model) -> Result<Vec<u8>> {
    // What cannot be saved cannot be exported either.
    model.to_bytes()?;
    let mut graph = Graph::default();
    let sums: Vec<String> = (0..model.members.len()).map(|member| probabilities(&mut graph, model, member)).collect();
    let mean = mean(&mut graph, &sums);
    let classes = model.classes.len();
    let shape: &[Option<usize>] = if classes == 2 {
        let axis = graph.integers("axis", &[1]);
        graph.node("Squeeze", &[&mean, &axis], "probability", &[]);
        &[None]
    } else {
        graph.node("Identity", &[&mean], "probability", &[]);
        &[None, Some(classes)]
    };
    label(&mut graph, &model.decision);
    let about = format!(
        "{} of `{}`. {}",
        if classes == 2 { "Probability of the second class" } else { "Probabilities of the classes" },
        model.target.column,
        model.classes.join(", "),
    );
    graph.input("x", FLOAT, &[None, Some(model.encoder.width())], "The encoded matrix, its columns as in `features`.");
    graph.output("probability", DOUBLE, shape, &about);
    graph.output("label", INT64, &[None], "A place in `classes`, from 0.");
    let file = ModelProto {
        ir_version: FORMAT,
        producer_name: "scorewise".into(),
        producer_version: model.version.clone(),
        doc_string: format!("Trained for {}. {}", model.score, model.decision.words()),
        graph: Some(graph.finish()),
        opset_import: vec![OperatorSetIdProto { domain: String::new(), version: OPERATORS }],
        metadata_props: notes(model)?,
    };
    let length = file.encoded_len();
    if length > LARGEST {
        let hint = "train a smaller network or a smaller ensemble";
        return Err(Error::setting(
            "onnx",
            format!("{length} bytes are more than the {LARGEST} of an ONNX file"),
            hint,
        ));
    }
    Ok(file.encode_to_vec())
}

/// One member: from the inputs to its probabilities.
fn probabilities(graph: &mut Graph, model: &Model, member: usize) -> String {
    let logits = model.members[member].add_to_graph(graph, &format!("member.{member}"));
    let logits = graph.node("Cast", &[&logits], &format!("member.{member}.logit"), &[("to", DOUBLE.into())]);
    let name = format!("member.{member}.probability");
    if model.classes.len() == 2 {
        graph.node("Sigmoid", &[&logits], &name, &[])
    } else {
        graph.node("Softmax", &[&logits], &name, &[("axis", 1)])
    }
}

/// Added in the order of the members, as the predictor does.
fn mean(graph: &mut Graph, members: &[String]) -> String {
    let [first, rest @ ..] = members else { return String::new() };
    if rest.is_empty() {
        return first.clone();
    }
    let sum = rest
        .iter()
        .enumerate()
        .fold(first.clone(), |sum, (at, member)| graph.node("Add", &[&sum, member], &format!("sum.{}", at + 1), &[]));
    let count = graph.doubles("members", &[], &[members.len() as f64]);
    graph.node("Div", &[&sum, &count], "mean", &[])
}

fn label(graph: &mut Graph, decision: &Decision) {
    let best = |graph: &mut Graph, from: &str| {
        graph.node("ArgMax", &[from], "label", &[("axis", 1), ("keepdims", 0)]);
    };
    match decision {
        Decision::Threshold { threshold, .. } => {
            let threshold = graph.doubles("threshold", &[], &[*threshold]);
            let above = graph.node("Greater", &["probability", &threshold], "above", &[]);
            graph.node("Cast", &[&above], "label", &[("to", INT64.into())]);
        }
        Decision::Greatest => best(graph, "probability"),
        Decision::Thresholds { thresholds, .. } => {
            let thresholds = graph.doubles("thresholds", &[thresholds.len()], thresholds);
            let above = graph.node("Sub", &["probability", &thresholds], "above", &[]);
            best(graph, &above);
        }
        Decision::Centres { centres } => {
            let factors: Vec<f64> = crate::model::factors(centres).collect();
            let factors = graph.doubles("factors", &[factors.len()], &factors);
            let above = graph.node("Mul", &["probability", &factors], "above", &[]);
            best(graph, &above);
        }
    }
}

/// What travels with the graph: each note that a program may look for, and the whole description.
fn notes(model: &Model) -> Result<Vec<StringStringEntryProto>> {
    let mut notes = vec![
        ("score", model.score.clone()),
        ("prior", model.prior.clone().unwrap_or_default()),
        ("loss", model.loss.clone()),
        ("threshold", model.decision.threshold().map(|threshold| json!(threshold).to_string()).unwrap_or_default()),
        ("threshold_chosen", model.decision.words().to_owned()),
        ("classes", json!(model.classes).to_string()),
        ("features", json!(model.encoder.names()).to_string()),
        ("encoder", json!(model.encoder).to_string()),
        ("fingerprint", model.fingerprint.clone()),
        ("scorewise", model.description_json()?),
    ];
    notes.retain(|(_, value)| !value.is_empty());
    Ok(notes.into_iter().map(|(key, value)| StringStringEntryProto { key: key.into(), value }).collect())
}
