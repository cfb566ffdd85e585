//! Models of many shapes with reproducible weights, for the tests of model files and of the ONNX export.

// `dead_code` is allowed because every test file uses only some of these functions. `unwrap_used` is allowed because an example includes
// this file too, and that lint allows `unwrap` only in tests.
#![allow(dead_code, clippy::unwrap_used)]

use scorewise::calibration::{Calibration, CalibrationMethod};
use scorewise_table::encode::{ColumnEncoding, Cycle, Encoder, InputColumn, Standardisation};
use scorewise_table::groups::RowOrder;
use scorewise_table::table::{ColumnKind, Reading};
use scorewise_table::target::{ComparisonOperator, ConditionValue, LabelRule, Target};
use scorewise_train::Matrix;
use scorewise_train::ensemble::MeanOf;
use scorewise_train::learner::Member;
use scorewise_train::model::{Decision, Fingerprint, Model, ThresholdSource, VERSION};
use scorewise_train::network::{Network, NetworkShape};
use scorewise_train::plan::Plan;
use scorewise_train::trees::{TreeFeature, TreeNode, Trees};
use serde_json::json;

/// The test models, with their names.
pub fn test_models() -> Vec<(&'static str, Model)> {
    vec![
        ("linear", two_class_model(12, &[], 1, 0.3)),
        ("deep", two_class_model(48, &[50, 20, 5], 1, 0.415_000_000_000_000_1)),
        ("wide", two_class_model(17, &[200], 1, 0.5)),
        ("one-input", one_input_model()),
        ("ensemble", two_class_model(21, &[16, 8], 10, 0.1 + 0.3)),
        ("greatest", multiclass_model(9, &[12], 3, 1, Decision::Greatest)),
        ("linear-classes", multiclass_model(9, &[], 4, 3, Decision::Greatest)),
        (
            "thresholds",
            multiclass_model(
                13,
                &[10, 6],
                3,
                4,
                Decision::Thresholds {
                    thresholds: vec![0.5, 0.2, 0.3],
                    chosen: ThresholdSource::ValidationSweep,
                    words: "the best threshold of each class against all other classes on the validation rows".into(),
                },
            ),
        ),
        (
            "factors",
            multiclass_model(
                13,
                &[10],
                4,
                2,
                Decision::Factors {
                    factors: vec![0.6, 1.0, 0.35, 0.8],
                    chosen: ThresholdSource::ValidationSweep,
                    words: "best macro(f1) on the validation rows, with the probability of each class multiplied by a tuned factor".into(),
                },
            ),
        ),
        (
            "costs",
            multiclass_model(
                13,
                &[10],
                3,
                2,
                Decision::Costs { costs: vec![vec![0.0, 1.0, 0.3], vec![2.0, 0.0, 0.7], vec![0.9, 1.1, -0.2]] },
            ),
        ),
        ("centres", multiclass_model(13, &[10], 5, 2, Decision::Centres { centres: vec![0.4, -0.3, 0.0, 0.25, -1.0] })),
        // The index of a model in this list is the seed of its random rows in the example `onnx_case`, so new models are added at the end.
        ("calibrated", calibrated_model()),
    ]
}

/// A model with two classes.
pub fn two_class_model(features: usize, hidden: &[usize], members: usize, threshold: f64) -> Model {
    let shape = NetworkShape::new(features, hidden, 1).unwrap();
    let rule = LabelRule::Condition { comparison: ComparisonOperator::Above, operand: ConditionValue::Number(400.0) };
    Model {
        version: VERSION.into(),
        reading: Reading { delimiter: Some(';'), missing: vec!["-200".into()], ..Reading::default() },
        encoder: test_encoder(features),
        target: Target { column: "pm2.5 [µg/m³]".into(), rule, lead: 1 },
        classes: vec!["no".into(), "yes".into()],
        members: (0..members).map(|member| Member::Network(network_with_biases(&shape, 100 + member as u64))).collect(),
        weights: vec![1.0; members],
        mean: MeanOf::Probabilities,
        score: "tss".into(),
        prior: Some("cosine:0.5,0.1".into()),
        loss: "sol".into(),
        decision: Decision::Threshold {
            threshold,
            interval: Some((threshold - 0.01, threshold + 0.02)),
            value: Some(2.0 / 3.0),
            chosen: ThresholdSource::ValidationSweep,
            words: "the best tss on 1200 validation rows".into(),
        },
        seed: u64::MAX,
        calibration: None,
        fingerprint: Fingerprint::new().numbers(&[1.0, 2.0]).hex(),
        plan: Some(plan_with_hidden_layers(hidden)),
        reference: None,
        results: json!({"test": {"tss": 0.1 + 0.7, "f1": null}, "validation": 0.81}),
    }
}

/// A model with two binned inputs: the number `wind`, which has a frequent value, and the category `state`.
pub fn binned_model(hidden: &[usize], members: usize) -> Model {
    let number = ColumnEncoding::Knots {
        knots: vec![-1.0, 0.5, 2.0],
        own: vec![0.25],
        median: 0.25,
        spread: 1.5,
        missing: true,
    };
    let category = ColumnEncoding::Levels {
        levels: vec!["calm".into(), "storm".into()],
        ordered: false,
        rest: true,
        missing: false,
    };
    let input = |column: &str, kind, coding| InputColumn { column: column.into(), kind, lag: 0, part: None, coding };
    let inputs = vec![input("wind", ColumnKind::Number, number), input("state", ColumnKind::Category, category)];
    let shape = NetworkShape::look_up(vec![5, 3], hidden, 1).unwrap();
    Model {
        encoder: Encoder { inputs, ..test_encoder(2) },
        members: (0..members).map(|member| Member::Network(network_with_biases(&shape, 900 + member as u64))).collect(),
        weights: vec![1.0; members],
        mean: MeanOf::Probabilities,
        ..two_class_model(2, hidden, 1, 0.4)
    }
}

/// Trees on the inputs of [`binned_model`], the columns `wind` and `state`. The trees have three features: where the wind lies among its
/// knots, the level of the state, and a target statistic of the state.
fn fitted_trees(outputs: usize) -> Trees {
    let feature = |column, knots, is_level, values| TreeFeature { column, knots, is_level, values };
    let features = vec![
        feature(0, 3, false, vec![0.8, -1.0]),
        feature(1, 0, true, vec![0.0, 1.0, 2.0]),
        feature(1, 0, false, vec![0.125, 0.5, 0.25]),
    ];
    let question = |feature, number, left, missing_left| TreeNode { feature, number, left, missing_left };
    let leaf = |number| TreeNode { feature: TreeNode::LEAF, number, left: 0, missing_left: false };
    let deep = [
        question(0, 0.9, 1, true),
        question(1, 1.0, 3, false),
        leaf(-0.75),
        leaf(1.5),
        question(0, 0.25, 5, false),
        leaf(-0.25),
        leaf(0.5),
    ];
    let shallow = [question(2, 0.375, 1, false), leaf(0.3), leaf(-0.6)];
    let (mut nodes, mut roots) = (Vec::new(), Vec::new());
    for tree in 0..2 * outputs {
        roots.push(nodes.len() as u32);
        nodes.extend_from_slice(if tree % 3 == 1 { &shallow } else { &deep });
    }
    let bias = (0..outputs).map(|output| 0.1 * output as f32 - 0.2).collect();
    Trees::new(2, vec![5, 3], features, bias, nodes, roots).unwrap().with_gains(vec![0.5, 0.25, 0.25]).unwrap()
}

/// A model with two members, each of which consists of trees. The second member has no gains, as in files of older programs.
pub fn model_of_trees() -> Model {
    let mut other = fitted_trees(1).nodes().to_vec();
    other.iter_mut().filter(|node| node.feature == TreeNode::LEAF).for_each(|leaf| leaf.number *= -0.5);
    let first = fitted_trees(1);
    let second =
        Trees::new(2, vec![5, 3], first.features().to_vec(), vec![0.3], other, first.roots().to_vec()).unwrap();
    let decision = Decision::at(0.54, ThresholdSource::Given, "given");
    Model {
        members: vec![Member::Trees(first), Member::Trees(second)],
        weights: vec![1.0; 2],
        decision,
        ..binned_model(&[4], 1)
    }
}

/// A model that averages the logits of networks, trees and a linear model with different weights.
pub fn pooled_model() -> Model {
    let mut members = binned_model(&[4], 2).members;
    members.extend(binned_model(&[], 1).members);
    members.push(Member::Trees(fitted_trees(1)));
    Model { members, weights: vec![0.125, 0.125, 0.25, 0.5], mean: MeanOf::Logits, ..binned_model(&[4], 1) }
}

/// A model with more than two classes that averages the logits of a network and trees with different weights.
pub fn pooled_multiclass_model() -> Model {
    let shape = NetworkShape::look_up(vec![5, 3], &[4], 3).unwrap();
    let members = vec![Member::Network(network_with_biases(&shape, 77)), Member::Trees(fitted_trees(3))];
    Model {
        encoder: binned_model(&[4], 1).encoder,
        members,
        weights: vec![0.3, 0.7],
        mean: MeanOf::Logits,
        ..multiclass_model(2, &[4], 3, 1, Decision::Greatest)
    }
}

/// `count` random encoded rows for a model: a list of all their numbers, row by row, and a matrix of the same numbers. If the inputs of the model are
/// binned, each number is the index of a knot, frequent value or level of its column, or a fractional number between the indices of two knots.
pub fn random_rows_for(model: &Model, count: usize, seed: u64) -> (Vec<f32>, Matrix) {
    let Some(columns) = model.encoder.binned_columns() else { return random_rows(model.encoder.width(), count, seed) };
    let cell = |index: usize| {
        let column = &columns[index % columns.len()];
        let bits = random_bits(seed, index as u64);
        let share = (bits >> 40) as f32 / (1 << 24) as f32;
        match (bits % 3, column.knots.len()) {
            // A fractional number from 0, the index of the first knot, to the index of the last knot.
            (0 | 1, knots @ 2..) => share * (knots - 1) as f32,
            _ => ((bits >> 8) % column.positions() as u64) as f32,
        }
    };
    let values: Vec<f32> = (0..columns.len() * count).map(cell).collect();
    let matrix = Matrix::new(columns.len(), &values).unwrap();
    (values, matrix)
}

/// A plan for training networks with the given hidden layers.
pub fn plan_with_hidden_layers(hidden: &[usize]) -> Plan {
    let mut plan = Plan::new("state", "tss".parse().unwrap());
    plan.network_mut().unwrap().hidden = hidden.to_vec().try_into().unwrap();
    plan
}

/// The network of a member.
pub fn network_of(member: &Member) -> &Network {
    let Member::Network(network) = member else { panic!("not a network") };
    network
}

/// A model with `count` classes, more than two.
pub fn multiclass_model(features: usize, hidden: &[usize], count: usize, members: usize, decision: Decision) -> Model {
    let names: Vec<String> = (0..count).map(|class| format!("class \"{class}\"")).collect();
    let shape = NetworkShape::new(features, hidden, count).unwrap();
    Model {
        target: Target { column: "kind".into(), rule: LabelRule::Classes(names.clone()), lead: 0 },
        classes: names,
        members: (0..members).map(|member| Member::Network(network_with_biases(&shape, 500 + member as u64))).collect(),
        weights: vec![1.0; members],
        mean: MeanOf::Probabilities,
        score: "mcc".into(),
        prior: None,
        decision,
        ..two_class_model(features, hidden, 1, 0.5)
    }
}

/// Corrects the checksum of a model file; a file without a checksum is returned unchanged. Tests use it so that a damaged file passes the
/// checksum and reaches the other checks.
pub fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    let key = b"\"checksum\":\"";
    let start = &bytes[..bytes.len().min(256)];
    let offset = start.windows(key.len()).position(|window| window == key).map(|key_offset| key_offset + key.len());
    if let Some(offset) = offset.filter(|offset| offset + 16 <= bytes.len()) {
        bytes[offset..offset + 16].fill(b'0');
        let checksum = format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&bytes));
        bytes[offset..offset + 16].copy_from_slice(checksum.as_bytes());
    }
    bytes
}

/// Random rows that look like encoded rows of a table, as a list of all their values, row by row, and as a matrix of the same values. Most values are
/// small, some are large, and some are 0.
pub fn random_rows(features: usize, count: usize, seed: u64) -> (Vec<f32>, Matrix) {
    let values: Vec<f32> = (0..features * count)
        .map(|index| match index % 11 {
            0 => 0.0,
            1 => 8.0 * random_unit(seed, index as u64),
            _ => 2.0 * random_unit(seed, index as u64),
        })
        .collect();
    let matrix = Matrix::new(features, &values).unwrap();
    (values, matrix)
}

/// Random bits that depend only on the seed and the number. They are computed with the final mixing step of MurmurHash3.
pub fn random_bits(seed: u64, number: u64) -> u64 {
    let mut bits = seed.wrapping_add(number.wrapping_mul(0xd134_2543_de82_ef95));
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        bits = (bits ^ (bits >> 33)).wrapping_mul(factor);
    }
    bits ^ (bits >> 33)
}

/// A random number in [−1, 1) that depends only on the seed and the number.
fn random_unit(seed: u64, number: u64) -> f32 {
    ((random_bits(seed, number) >> 11) as f64 / (1u64 << 52) as f64 - 1.0) as f32
}

/// A network with Glorot initialisation and biases other than 0.
fn network_with_biases(shape: &NetworkShape, seed: u64) -> Network {
    let mut layers = Network::glorot(shape.clone(), seed).to_layers();
    for layer in &mut layers {
        for (index, bias) in layer.biases.iter_mut().enumerate() {
            *bias = 0.3 * random_unit(seed, index as u64);
        }
    }
    Network::from_layers(shape.positions(), &layers).unwrap()
}

/// A model with one input and two classes.
fn one_input_model() -> Model {
    let model = two_class_model(1, &[3], 2, 0.5);
    Model { decision: Decision::at(0.43, ThresholdSource::Given, "given as --threshold 0.43"), ..model }
}

/// A model with two classes whose predictions are calibrated.
pub fn calibrated_model() -> Model {
    let knots = vec![(0.0, 0.0), (0.1, 0.05), (0.43, 0.1), (0.45, 0.2), (0.6, 0.201), (0.9, 0.97), (1.0, 0.99)];
    let calibration = Calibration::new(CalibrationMethod::Isotonic, knots).unwrap();
    let decision = Decision::at(0.55, ThresholdSource::Given, "given as --threshold 0.55");
    Model { decision, calibration: Some(calibration), ..two_class_model(12, &[6], 3, 0.5) }
}

/// An encoder that produces `width` columns. If `width` is at least 9, its inputs include every type of dense encoding; all further inputs are
/// numbers.
fn test_encoder(width: usize) -> Encoder {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let input = |column: &str, kind, lag, coding| InputColumn { column: column.into(), kind, lag, part: None, coding };
    let number = |index: usize| {
        let coding = ColumnEncoding::Number { mean: 1.0 / 3.0, deviation: 0.1 + index as f64, indicator: false };
        input(&format!("number {index}"), ColumnKind::Number, 0, coding)
    };
    let mut inputs = Vec::new();
    if width >= 9 {
        let levels = texts(&["\"quoted\"", "née", "\u{1f600}"]);
        let scales = (1..=4).map(|share| Standardisation { mean: 0.1 * f64::from(share), deviation: 0.3 }).collect();
        let onehot = ColumnEncoding::OneHot { levels, rest: true, indicator: false, scales };
        inputs.push(input("kind, of sort", ColumnKind::Category, 0, onehot));
        let levels = texts(&["low", "high"]);
        let ordinal = ColumnEncoding::Ordinal { levels, mean: 0.25, deviation: 1e-9, indicator: true };
        inputs.push(input("grade", ColumnKind::Category, 0, ordinal));
        let time = ColumnEncoding::Time { cycles: vec![Cycle::Year], indicator: true };
        inputs.push(input("at", ColumnKind::Time, 2, time));
    }
    let rest = width - if inputs.is_empty() { 0 } else { 9 };
    inputs.extend((0..rest).map(number));
    Encoder { inputs, order: RowOrder { group: Some("station".into()), time: Some("time".into()), step: Some(3600) } }
}
