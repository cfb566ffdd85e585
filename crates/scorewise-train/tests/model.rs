//! Tests of model files: written models are read back unchanged, and damaged files and files that are not models give clear errors.

// Tests and their helpers may call `unwrap`, because a panic fails the test.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use scorewise::calibration::{Calibration, CalibrationMethod};
use scorewise_table::distribution::{ColumnDistribution, NumberCounts, ValueCounts};
use scorewise_table::encode::{ColumnEncoding, Encoder, InputColumn};
use scorewise_table::groups::RowOrder;
use scorewise_table::output::{OutputKind, Outputs};
use scorewise_table::table::{Category, Column, ColumnKind, Reading, Table, Values};
use scorewise_table::target::{LabelRule, Target};
use scorewise_train::Location;
use scorewise_train::learner::Member;
use scorewise_train::model::{
    Decision, HeldOut, HeldOutPart, Model, Predictor, Reference, StoredEstimate, ThresholdSource,
};
use scorewise_train::network::{Dense, Network, NetworkShape};
use scorewise_train::plan::Plan;
use serde_json::{Value, json};

/// A temporary folder that is removed at the end of the test.
struct TestFolder(PathBuf);

impl TestFolder {
    /// Creates an empty folder for the test with this name.
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("scorewise-model-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        TestFolder(path)
    }

    /// The path of a file in the folder.
    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The sorted names of the files in the folder.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The error message for a file with the given bytes.
fn load_error(bytes: &[u8]) -> String {
    Model::from_bytes("m.scorewise", bytes).unwrap_err().to_string()
}

/// The bytes of a model file after `edit` has changed its JSON metadata (first argument) or its header (second argument), with a correct checksum.
fn edit_model_file(bytes: &[u8], edit: impl FnOnce(&mut Value, &mut Value)) -> Vec<u8> {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let mut description: Value = serde_json::from_str(header["__metadata__"]["scorewise"].as_str().unwrap()).unwrap();
    edit(&mut description, &mut header);
    header["__metadata__"]["scorewise"] = description.to_string().into();
    let header = header.to_string();
    crate::models::with_checksum(
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &bytes[8 + length..]].concat(),
    )
}

/// The error message for a model file whose JSON metadata was changed by `edit`.
fn error_after_editing(edit: impl FnOnce(&mut Value)) -> String {
    load_error(&edit_model_file(
        &crate::models::two_class_model(12, &[4], 2, 0.3).to_bytes().unwrap(),
        |description, _| {
            edit(description);
        },
    ))
}

#[test]
fn every_model_is_read_back_unchanged() {
    let folder = TestFolder::new("round");
    for (name, model) in crate::models::test_models() {
        let path = folder.file(name);
        model.save(&path).unwrap();
        let read = Model::load(&path).unwrap();
        assert_eq!(read, model, "{name}");
        assert_eq!(read.to_bytes().unwrap(), fs::read(&path).unwrap(), "{name}");
    }
}

/// The field `reference` of the example in docs/model-file.md: the distributions and the score of a training run.
fn reference_of_the_documentation() -> Reference {
    let column = |name: &str, ends: &[f64], counts: &[u64], missing| ColumnDistribution {
        column: name.into(),
        missing,
        values: ValueCounts::Numbers(NumberCounts { ends: ends.to_vec(), counts: counts.to_vec() }),
    };
    let estimate = |value, low, high| StoredEstimate { value: Some(value), low: Some(low), high: Some(high) };
    Reference {
        rows: 800,
        columns: vec![
            column("bz", &[-4.0, 3.5], &[260, 270, 265], 5),
            column("speed", &[390.0, 455.0], &[270, 265, 265], 0),
        ],
        held_out: Some(HeldOut {
            part: HeldOutPart::Test,
            rows: 200,
            score: estimate(0.6, 0.47, 0.71),
            corrected: false,
            base_rate: estimate(0.2, 0.15, 0.26),
            alarm_rate: estimate(0.25, 0.195, 0.314),
            predictions: NumberCounts { ends: vec![0.25, 0.5], counts: vec![120, 40, 40] },
            resample: None,
        }),
    }
}

#[test]
fn a_reference_for_monitoring_that_does_not_fit_the_model_is_refused() {
    let model = crate::models::two_class_model(12, &[4], 2, 0.3);
    let with = |change: &dyn Fn(&mut Reference)| {
        let columns = vec![ColumnDistribution {
            column: model.encoder.inputs[0].column.clone(),
            missing: 3,
            values: ValueCounts::Times(0),
        }];
        let mut reference = Reference { rows: 3, columns, ..reference_of_the_documentation() };
        change(&mut reference);
        Model { reference: Some(reference), ..model.clone() }.to_bytes().map_err(|error| error.to_string())
    };
    let bytes = with(&|_| {}).unwrap();
    assert!(Model::from_bytes("m.scorewise", &bytes).unwrap().reference.is_some());
    /// A change that makes a reference invalid.
    type Damage<'a> = &'a dyn Fn(&mut Reference);
    let cases: [(Damage<'_>, &str); 5] = [
        (&|reference| reference.columns[0].column = "other".into(), "the model does not read this column"),
        (&|reference| reference.columns.push(reference.columns[0].clone()), "it is listed twice"),
        (&|reference| reference.rows = 4, "it counts 3 rows instead of 4"),
        (
            &|reference| reference.held_out.as_mut().unwrap().predictions.ends.clear(),
            "the distribution of the predictions",
        ),
        (&|reference| reference.held_out.as_mut().unwrap().score.low = Some(f64::NAN), "is not finite"),
    ];
    for (change, expected) in cases {
        let message = with(change).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn the_example_in_the_documentation_of_model_files_matches_a_written_file() {
    let number = |column: &str, mean, deviation| InputColumn {
        column: column.into(),
        kind: ColumnKind::Number,
        lag: 0,
        part: None,
        coding: ColumnEncoding::Number { mean, deviation, indicator: false },
    };
    let classes = vec!["quiet".to_owned(), "storm".to_owned()];
    let layer = Dense { inputs: 2, outputs: 1, weights: vec![-1.25, 0.5], biases: vec![0.125] };
    let model = Model {
        version: "0.1.0".into(),
        reading: Reading { missing: vec!["-200".into()], ..Reading::default() },
        encoder: Encoder {
            inputs: vec![number("bz", -0.7, 5.25), number("speed", 431.5, 98.0)],
            order: Default::default(),
        },
        target: Target { column: "state".into(), rule: LabelRule::Classes(classes.clone()), lead: 1 },
        classes,
        members: vec![Member::Network(Network::from_layers(&[], &[layer]).unwrap())],
        weights: vec![1.0],
        mean: scorewise_train::ensemble::MeanOf::Probabilities,
        score: "tss".into(),
        prior: Some("cosine:0.5,0.1".into()),
        loss: "sol".into(),
        decision: Decision::Threshold {
            threshold: 0.4375,
            interval: Some((0.431, 0.444)),
            value: Some(0.625),
            chosen: ThresholdSource::ValidationSweep,
            words: "the best tss on the validation rows".into(),
        },
        seed: 0,
        calibration: Some(
            Calibration::new(CalibrationMethod::Beta, vec![(0.0, 0.0005), (0.4375, 0.125), (1.0, 0.9375)]).unwrap(),
        ),
        fingerprint: "9f0c5d1be3a24786".into(),
        plan: Some(Plan { lead: 1, ..crate::models::plan_with_hidden_layers(&[]) }),
        reference: Some(reference_of_the_documentation()),
        results: json!({"test": 0.6}),
    };
    let bytes = model.to_bytes().unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let text = header["__metadata__"]["scorewise"].as_str().unwrap().to_owned();
    header["__metadata__"]["scorewise"] = serde_json::from_str(&text).unwrap();
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/model-file.md")).unwrap();
    let (_, example) = page.split_once("```json\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let documented: Value = serde_json::from_str(example).unwrap();
    // The JSON is compared as text, because the order of the fields is part of the format.
    assert_eq!(documented.to_string(), header.to_string());
}

#[test]
fn the_safetensors_library_reads_model_files() {
    let model = crate::models::two_class_model(17, &[5], 2, 0.5);
    let bytes = model.to_bytes().unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(file.len(), 8);
    let weight = file.tensor("member.1.layer.0.weight").unwrap();
    assert_eq!((weight.dtype(), weight.shape()), (safetensors::Dtype::F32, &[5, 17][..]));
    let first = &crate::models::network_of(&model.members[1]).to_layers()[0];
    let numbers: Vec<f32> = weight.data().chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    assert_eq!(numbers, first.weights);
    assert_eq!(file.tensor("member.0.layer.1.bias").unwrap().shape(), [1]);
}

#[test]
fn files_that_are_not_models_give_specific_errors() {
    let folder = TestFolder::new("foreign");
    let load = |path: &Path| Model::load(path).unwrap_err().to_string();
    let other_file_hint = "\nhint: give a file that was written by `scorewise train`";
    let copy_hint = "\nhint: copy the file again from its source, or train the model again";

    let path = folder.file("absent");
    assert_eq!(load(&path), format!("{}: there is no such file{other_file_hint}", path.display()));
    assert_eq!(load(&folder.0), format!("{}: is a folder, not a model file{other_file_hint}", folder.0.display()));
    let path = folder.file("empty");
    fs::write(&path, "").unwrap();
    assert_eq!(load(&path), format!("{}: is empty{copy_hint}", path.display()));
    if cfg!(unix) {
        assert_eq!(load(Path::new("/dev/null")), format!("/dev/null: is not a regular file{other_file_hint}"));
    }

    for text in
        ["x", "age,income\n39,50000\n40,60000\n", "{\"a\": 1, \"b\": [2, 3], \"c\": 4}", "PAR1\x15\x04\x15\x10\x15"]
    {
        assert_eq!(load_error(text.as_bytes()), format!("m.scorewise: is not a scorewise model{other_file_hint}"));
    }
    let header = br#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    let other = [&(header.len() as u64).to_le_bytes()[..], header, &[0; 4]].concat();
    let expected = format!("m.scorewise: is a safetensors file but not a scorewise model{other_file_hint}");
    assert_eq!(load_error(&other), expected);
}

#[test]
fn a_truncated_file_is_reported_as_truncated() {
    let bytes = crate::models::two_class_model(12, &[4], 1, 0.3).to_bytes().unwrap();
    for end in [9, 100, bytes.len() / 2, bytes.len() - 1] {
        let expected = format!("m.scorewise: is truncated: it has {end} of at least ");
        assert!(load_error(&bytes[..end]).starts_with(&expected), "{}", load_error(&bytes[..end]));
    }
    let long = [&bytes[..], b"\n"].concat();
    assert!(load_error(&long).starts_with("m.scorewise: is damaged: 1 bytes follow its last tensor"));
}

#[test]
fn a_file_with_one_flipped_bit_anywhere_is_refused() {
    let original = crate::models::two_class_model(12, &[4], 2, 0.3).to_bytes().unwrap();
    for byte in 0..original.len() {
        for bit in 0..8 {
            let mut bytes = original.clone();
            bytes[byte] ^= 1 << bit;
            assert!(
                Model::from_bytes("m.scorewise", &bytes).is_err(),
                "the file was read although bit {bit} of byte {byte} was flipped"
            );
        }
    }
    // If only a weight is changed, the file is valid except for its checksum.
    let mut bytes = original.clone();
    let end = bytes.len();
    bytes[end - 2] ^= 1;
    let hint = "copy the file again from its source, or train the model again";
    assert_eq!(load_error(&bytes), format!("m.scorewise: is damaged: its checksum does not match\nhint: {hint}"));
}

#[test]
fn a_file_of_format_1_loads_and_no_later_file_is_accepted_as_format_1() {
    let old = include_bytes!("data/format-1.scorewise");
    let model = crate::models::two_class_model(12, &[4], 2, 0.3);
    let loaded = Model::from_bytes("m.scorewise", old).unwrap();
    // In a file of format 1, the row order has a group column but no time column. The file has a list of some settings instead of a plan.
    let order = RowOrder::of_file(Some("station"));
    let members = loaded.members.clone();
    let expected = Model {
        encoder: Encoder { order, ..model.encoder.clone() },
        plan: None,
        calibration: None,
        fingerprint: loaded.fingerprint.clone(),
        members: members.clone(),
        ..model.clone()
    };
    assert_eq!(loaded, expected);
    let weights = [0.463_212_94, 0.502_054_75, 0.406_185_5, -0.190_256_83];
    assert_eq!(
        (members.len(), &crate::models::network_of(&members[0]).parameters[..4]),
        (2, &weights[..]),
        "the loaded model must have the weights that are in the file of format 1"
    );
    // A number of members that is far too large for the number of tensors is refused before memory is allocated for the members.
    let many = edit_model_file(old, |text, _| text["network"]["members"] = json!(u64::MAX));
    assert!(
        load_error(&many).contains("8 tensors, but 18446744073709551615 members need 4 each"),
        "{}",
        load_error(&many)
    );
    let again = Model::from_bytes("m.scorewise", &loaded.to_bytes().unwrap()).unwrap();
    assert_eq!(again, loaded, "a model of format 1 must stay the same when it is written in the current format");

    let new = model.to_bytes().unwrap();
    let set_format_1 = |text: &mut Value| text["format"] = json!(1);
    let mismatch = "is damaged: a file of format 1 must not have a checksum";
    // The format number of a new file is changed to 1, first without and then with a correction of the checksum.
    let mut changed = new.clone();
    let key = br#"\"format\":"#;
    let offset = changed.windows(key.len()).position(|bytes| bytes == key).unwrap() + key.len();
    assert_eq!(changed[offset], b'5');
    changed[offset] = b'1';
    assert!(load_error(&changed).contains("is damaged: its checksum does not match"));
    assert!(load_error(&crate::models::with_checksum(changed)).contains(mismatch));
    // The key of the checksum is changed too, so that the file seems to have no checksum.
    let renamed = edit_model_file(&new, |text, header| {
        set_format_1(text);
        header["__metadata__"].as_object_mut().unwrap().remove("checksum");
        header["__metadata__"]["cheeksum"] = json!("0123456789abcdef");
    });
    assert!(load_error(&renamed).contains(mismatch), "{}", load_error(&renamed));
    // A file of format 5 is refused if it has no checksum, or a checksum that is too long.
    let without = edit_model_file(&new, |_, header| {
        header["__metadata__"].as_object_mut().unwrap().remove("checksum");
    });
    assert!(load_error(&without).contains("is damaged: a file of format 5 must have a checksum"));
    let long = edit_model_file(&new, |_, header| header["__metadata__"]["checksum"] = json!("0123456789abcdef0"));
    assert!(load_error(&long).contains("is damaged: its checksum does not match"));
}

#[test]
fn a_file_of_format_2_loads_and_gives_the_predictions_of_the_program_that_wrote_it() {
    let model = Model::from_bytes("m.scorewise", include_bytes!("data/format-2.scorewise")).unwrap();
    let colours = Category { codes: vec![0, 1, 0], levels: vec!["red".into(), "blue".into()] };
    let columns = vec![
        Column { name: "x".into(), values: Values::Number(vec![1.288, -0.037, -0.962]) },
        Column { name: "colour".into(), values: Values::Category(colours) },
    ];
    let matrix = model.encoder.encode(&Table { columns, ..Table::default() }).unwrap().matrix;
    let probabilities = Predictor::new(&model).probabilities(&matrix, |_| Location::default()).unwrap();
    // These probabilities were printed by the program that wrote the file.
    assert_eq!(probabilities, [0.7640469226466888, 0.37032562796135765, 0.4021134463084828]);
}

#[test]
fn a_file_of_format_3_loads_and_gives_the_predictions_of_the_program_that_wrote_it() {
    let model = Model::from_bytes("m.scorewise", include_bytes!("data/format-3.scorewise")).unwrap();
    assert_eq!(model.weights, [1.0, 1.0]);
    let states = Category { codes: vec![0, 1, 1], levels: vec!["wild".into(), "rough".into()] };
    let columns = vec![
        Column { name: "wind".into(), values: Values::Number(vec![f64::NAN, 5.7, 3.3]) },
        Column { name: "state".into(), values: Values::Category(states) },
    ];
    let matrix = model.encoder.encode(&Table { columns, ..Table::default() }).unwrap().matrix;
    let probabilities = Predictor::new(&model).probabilities(&matrix, |_| Location::default()).unwrap();
    // These probabilities were printed by the program that wrote the file.
    assert_eq!(probabilities, [0.3285611874791566, 0.5827807206133547, 0.34629638251419315]);
}

#[test]
fn a_file_of_format_4_loads_without_calibration_and_gives_the_predictions_of_the_program_that_wrote_it() {
    let model = Model::from_bytes("m.scorewise", include_bytes!("data/format-4.scorewise")).unwrap();
    assert_eq!(model.weights.len(), 4);
    let states = Category { codes: vec![0, 1, 2], levels: vec!["wild".into(), "rough".into(), "calm".into()] };
    let columns = vec![
        Column { name: "wind".into(), values: Values::Number(vec![f64::NAN, 5.7, 3.3]) },
        Column { name: "state".into(), values: Values::Category(states) },
    ];
    let matrix = model.encoder.encode(&Table { columns, ..Table::default() }).unwrap().matrix;
    let probabilities = Predictor::new(&model).probabilities(&matrix, |_| Location::default()).unwrap();
    // These probabilities were printed by the program that wrote the file.
    assert_eq!(probabilities, [0.7093786952646861, 0.7114840543783887, 0.1521055840897367]);
    assert_eq!(model.calibration, None);
    assert_eq!(model.reference, None);
    assert_eq!(*model.calibrated(&probabilities), probabilities);
    assert_eq!(model.probability_threshold(), model.decision.threshold());
}

#[test]
fn calibrated_probabilities_have_the_labels_and_the_order_of_raw_predictions() {
    for threshold in [0.1, 0.43, 0.5, 0.55, 0.9] {
        let decision = Decision::at(threshold, ThresholdSource::Given, "given");
        let model = Model { decision, ..crate::models::calibrated_model() };
        let loaded = Model::from_bytes("m.scorewise", &model.to_bytes().unwrap()).unwrap();
        let (_, matrix) = crate::models::random_rows(12, 2000, 3);
        let predictor = Predictor::new(&loaded);
        let mut raw = predictor.probabilities(&matrix, |_| Location::default()).unwrap();
        raw.extend([0.0, 0.1, 0.43, 0.5, 0.55, 0.9, 1.0]);
        raw.sort_by(f64::total_cmp);
        let (probabilities, limit) = (loaded.calibrated(&raw), loaded.probability_threshold().unwrap());
        assert!(probabilities.is_sorted());
        let labels: Vec<u32> = probabilities.iter().map(|p| u32::from(*p > limit)).collect();
        assert_eq!(labels, predictor.labels(&raw));
        assert!(*probabilities != raw);
    }
}

#[test]
fn invalid_calibrations_are_refused() {
    for (knots, expected) in [
        (json!([[0.0, 0.1]]), "calibration must have 2 to 10000 knots, not 1"),
        (
            json!([[0.0, 0.1], [0.5, 0.1], [1.0, 0.9]]),
            "its knots must increase and have finite slopes, but (0.5, 0.1) follows (0, 0.1)",
        ),
        (json!([[0.0, 0.1], [0.5, 0.4], [0.2, 0.5], [1.0, 0.9]]), "its knots must increase"),
        (json!([[0.0, 0.1], [1.0, 1.5]]), "both numbers of the knot (1, 1.5) must lie between 0 and 1"),
        (json!([[0.0, -0.1], [1.0, 0.5]]), "both numbers of the knot (0, -0.1) must lie between 0 and 1"),
        (json!([[0.1, 0.1], [1.0, 0.5]]), "must begin with 0 and end with 1"),
        (json!([[0.0, 0.1], [1.0, null]]), "its description cannot be parsed"),
    ] {
        let error = error_after_editing(|text| text["calibration"] = json!({"method": "beta", "knots": knots}));
        assert!(error.contains(expected), "{error}");
    }
    let error = error_after_editing(|text| text["calibration"] = json!({"method": "spline", "knots": []}));
    assert!(error.contains("its description cannot be parsed"), "{error}");
    let calibration = crate::models::calibrated_model().calibration;
    let classes = Model { calibration, ..crate::models::pooled_multiclass_model() };
    assert!(classes.to_bytes().unwrap_err().to_string().contains("a model with two classes can have a calibration"));
}

#[test]
fn the_weights_of_members_are_written_to_the_file_and_used_and_invalid_weights_are_refused() {
    let equal = crate::models::two_class_model(12, &[4], 2, 0.3);
    let weighted = Model { weights: vec![0.2, 0.6], ..equal.clone() };
    let loaded = Model::from_bytes("m.scorewise", &weighted.to_bytes().unwrap()).unwrap();
    assert_eq!(loaded, weighted);
    let (_, matrix) = crate::models::random_rows(12, 5, 1);
    let predict = |model: &Model| Predictor::new(model).probabilities(&matrix, |_| Location::default()).unwrap();
    let alone = |member: usize| {
        predict(&Model { members: vec![equal.members[member].clone()], weights: vec![1.0], ..equal.clone() })
    };
    for ((mean, first), second) in predict(&loaded).iter().zip(alone(0)).zip(alone(1)) {
        assert!((mean - (0.25 * first + 0.75 * second)).abs() < 1e-12);
    }
    for weights in [vec![1.0], vec![1.0, 0.0], vec![1.0, -1.0], vec![1.0, f64::INFINITY]] {
        assert!(Model { weights, ..equal.clone() }.to_bytes().is_err());
    }
}

#[test]
fn the_gains_of_trees_are_written_to_the_file_and_summed_for_each_column_of_the_table() {
    let model = crate::models::model_of_trees();
    let columns: Vec<&str> = model.encoder.matrix_columns().into_iter().map(|(name, _)| name).collect();
    // The second and the third feature of the trees come from the second column. Members without stored gains are ignored.
    let expected = vec![(columns[0], 0.5), (columns[1], 0.5)];
    assert_eq!(model.gain_of_columns(), Some(expected.clone()));
    let bytes = model.to_bytes().unwrap();
    assert_eq!(Model::from_bytes("m", &bytes).unwrap().gain_of_columns(), Some(expected.clone()));
    assert_eq!(crate::models::pooled_model().gain_of_columns(), Some(expected));
    assert_eq!(crate::models::binned_model(&[4], 2).gain_of_columns(), None);
    // The gains of each member are weighted by the weight of the member.
    let Member::Trees(second) = &model.members[1] else { panic!("not trees") };
    let second = second.clone().with_gains(vec![1.0, 0.0, 0.0]).unwrap();
    let members = vec![model.members[0].clone(), Member::Trees(second)];
    let weighted = Model { members, weights: vec![0.5, 1.5], ..model.clone() };
    let gains = weighted.gain_of_columns().unwrap();
    assert!((gains[0].1 - 0.875).abs() < 1e-9 && (gains[1].1 - 0.125).abs() < 1e-9, "{gains:?}");
    // The description in a model file says for which trees there is a tensor of gains. A file whose tensors contradict its description is refused.
    let description =
        |edit: fn(&mut Value)| load_error(&edit_model_file(&bytes, |description, _| edit(&mut description["members"])));
    let missing = description(|members| members[1]["gains"] = true.into());
    assert!(missing.contains("the file has 11 tensors, but its 2 members need 12"), "{missing}");
    let unexpected = description(|members| members[0]["gains"] = false.into());
    assert!(unexpected.contains("the file has 11 tensors, but its 2 members need 10"), "{unexpected}");
    let moved = description(|members| {
        members[0]["gains"] = false.into();
        members[1]["gains"] = true.into();
    });
    assert!(moved.contains("the tensor `member.1.gains` is missing"), "{moved}");
}

#[test]
fn binned_inputs_that_do_not_fit_the_networks_are_refused() {
    let model = crate::models::binned_model(&[4], 2);
    let bytes = model.to_bytes().unwrap();
    assert_eq!(Model::from_bytes("m.scorewise", &bytes).unwrap(), model);
    for (pointer, value, expected) in [
        (
            "/encoder/inputs/0/knots",
            json!([-1.0, 0.5]),
            "member 0 and the encoder disagree on the number of knots, frequent values and levels of the binned inputs",
        ),
        (
            "/encoder/inputs/0/knots",
            json!([0.5, -1.0, 2.0]),
            "the knots or the frequent values are not finite numbers in ascending order",
        ),
        ("/encoder/inputs/0/knots", json!([]), "the encoding has 0 knots and 1 frequent values; it must have"),
        ("/encoder/inputs/0/spread", json!(0.0), "input `wind`"),
        ("/encoder/inputs/1/levels", json!(["calm", "calm"]), "input `state`"),
        ("/members/1/positions", json!([5, 4]), "the tensor `member.1."),
        ("/members/1/positions", json!([5, 0]), "a network needs"),
        ("/members/1/positions", json!([5]), "the network has 2 inputs, but the length of its list `positions` is 1"),
        ("/members/1/positions", json!([]), "the tensor `member.1."),
    ] {
        let changed = edit_model_file(&bytes, |text, _| *text.pointer_mut(pointer).unwrap() = value.clone());
        let error = load_error(&changed);
        assert!(error.contains(expected), "{pointer} = {value}: {error}");
    }
}

#[test]
fn the_error_for_a_file_of_a_newer_format_asks_for_an_update() {
    let refused = error_after_editing(|text| *text = json!({"format": 7, "rest": "of another shape"}));
    let expected =
        "m.scorewise: has format 7, but this version of scorewise reads formats up to 5\nhint: update scorewise";
    assert_eq!(refused, expected);
    assert!(error_after_editing(|text| text["format"] = json!(0)).contains("is damaged: its format number is 0"));
}

#[test]
fn a_model_file_with_an_inconsistent_description_is_refused() {
    let edits: [(&str, Value, &str); 13] = [
        ("/format", json!("1"), "its description cannot be parsed: invalid type: string \"1\", expected u64"),
        ("/classes", json!(["no"]), "the model has 1 classes, but at least 2 are needed"),
        ("/classes", json!(["no", "no"]), "the class `no` appears twice"),
        ("/classes", json!(["a", "b", "c"]), "a target given as a condition has 2 classes, not 3"),
        ("/decision/threshold", json!(1.5), "the threshold 1.5 lies outside [0, 1]"),
        ("/decision/threshold", json!(0.9), "the threshold 0.9 lies outside the interval of equally good thresholds"),
        ("/decision/threshold", Value::Null, "its description cannot be parsed: invalid type: null"),
        ("/decision", json!({"rule": "greatest"}), "a model with two classes needs a threshold"),
        (
            "/members/0/widths",
            json!([13, 4, 1]),
            "the tensor `member.0.layer.0.weight` has shape [4, 12] and 192 bytes, which do not fit the expected shape [4, 13]",
        ),
        (
            "/members/0/widths",
            json!([u64::MAX, u64::MAX, 1]),
            "the tensor `member.0.layer.0.weight` has shape [4, 12] and 192 bytes",
        ),
        ("/members/0/widths", json!([12, 0, 1]), "a network needs two or more layer widths"),
        ("/members", json!([]), "the file has 8 tensors, but its 0 members need 0"),
        ("/target/lead", json!(9_000_000), "a lead of 9000000 rows is too long; the limit is 1048576"),
    ];
    for (pointer, value, expected) in edits {
        let refused = error_after_editing(|text| *text.pointer_mut(pointer).unwrap() = value.clone());
        let start = format!("m.scorewise: is damaged: {expected}");
        assert!(refused.starts_with(&start), "{pointer} {value}: {refused}");
        assert!(refused.ends_with("train the model again"), "{refused}");
    }
    let unknown_field = error_after_editing(|text| text["surprise"] = json!(1));
    assert!(unknown_field.contains("unknown field `surprise`"), "{unknown_field}");
    let narrow = error_after_editing(|text| {
        text["encoder"]["inputs"].as_array_mut().unwrap().pop();
    });
    assert!(narrow.contains("the members have 12 inputs, but the encoder produces 11 columns"), "{narrow}");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let bytes = edit_model_file(&crate::models::two_class_model(12, &[4], 2, 0.3).to_bytes().unwrap(), |text, _| {
        text["results"] = json!("DEEP");
    });
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header = str::from_utf8(&bytes[8..8 + length]).unwrap().replace("\\\"DEEP\\\"", &deep);
    let bytes = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &bytes[8 + length..]].concat();
    let refused = load_error(&crate::models::with_checksum(bytes));
    assert!(refused.contains("its description cannot be parsed: recursion limit exceeded"), "{refused}");
}

#[test]
fn errors_name_the_invalid_tensor() {
    let bytes = crate::models::two_class_model(12, &[4], 2, 0.3).to_bytes().unwrap();
    let name = "member.1.layer.0.bias";
    let refused = |edit: &dyn Fn(&mut Value)| load_error(&edit_model_file(&bytes, |_, header| edit(header)));
    let renamed = refused(&|header| {
        let tensor = header.as_object_mut().unwrap().remove(name).unwrap();
        header["bias"] = tensor;
    });
    assert!(renamed.contains("is damaged: the tensor `member.1.layer.0.bias` is missing"), "{renamed}");
    let dtype = refused(&|header| header[name]["dtype"] = json!("I32"));
    assert!(dtype.contains("is damaged: the tensor `member.1.layer.0.bias` has the type `I32`, not `F32`"), "{dtype}");
    let shape = refused(&|header| header[name]["shape"] = json!([2, 2]));
    let problem = "`member.1.layer.0.bias` has shape [2, 2] and 16 bytes, which do not fit the expected shape [4]";
    assert!(shape.contains(problem), "{shape}");
    let mut bytes = bytes;
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(
        load_error(&crate::models::with_checksum(bytes)).contains("member 1 has weights that are not finite numbers")
    );
}

#[test]
fn an_invalid_model_is_not_saved() {
    let folder = TestFolder::new("unfit");
    let path = folder.file("m.scorewise");
    let good = crate::models::two_class_model(12, &[4], 1, 0.3);
    good.save(&path).unwrap();
    let before = fs::read(&path).unwrap();
    let mut diverged = good.clone();
    let Member::Network(network) = &mut diverged.members[0] else { panic!("not a network") };
    network.parameters[0] = f32::INFINITY;
    let mut mismatched = good.clone();
    mismatched.members.push(Member::Network(Network::glorot(NetworkShape::new(11, &[4], 1).unwrap(), 1)));
    let mut constant = good.clone();
    if let Some(input) = constant.encoder.inputs.last_mut() {
        input.coding = ColumnEncoding::Number { mean: 0.0, deviation: 0.0, indicator: false };
    }
    let undecided = Model { decision: Decision::at(f64::NAN, ThresholdSource::Given, ""), ..good };
    for (model, expected) in [
        (diverged, "member 0 has weights that are not finite numbers"),
        (mismatched, "member 1 has a different number of inputs or outputs than member 0"),
        (constant, "input `number 2`: the standard deviation is 0"),
        (undecided, "the threshold NaN lies outside [0, 1]"),
    ] {
        let error = model.save(&path).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(folder.names(), ["m.scorewise"]);
}

#[test]
fn files_are_written_atomically() {
    let folder = TestFolder::new("write");
    let path = folder.file("m.scorewise");
    let (old, new) = (model_file_bytes(0.25), model_file_bytes(0.75));
    let create = || Outputs::new().create(&path, OutputKind::Model).unwrap();
    write_model_file(&path, &old).unwrap();
    let mut file = create();
    file.write_all(&new[..100]).unwrap();
    drop(file);
    assert_eq!(fs::read(&path).unwrap(), old);
    assert_eq!(folder.names(), ["m.scorewise"]);
    let mut file = create();
    file.write_all(&new).unwrap();
    assert_eq!(fs::read(&path).unwrap(), old);
    file.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), new);
    assert_eq!(folder.names(), ["m.scorewise"]);
}

/// Writes a model file that consists of the given bytes.
fn write_model_file(path: &Path, bytes: &[u8]) -> scorewise_train::Result<()> {
    Outputs::new().write(path, OutputKind::Model, bytes)
}

/// The bytes of a model file whose model has this threshold.
fn model_file_bytes(threshold: f64) -> Vec<u8> {
    crate::models::two_class_model(12, &[4], 2, threshold).to_bytes().unwrap()
}

#[test]
fn saving_a_model_replaces_an_older_model_but_refuses_to_replace_any_other_file() {
    let folder = TestFolder::new("kinds");
    let model = crate::models::two_class_model(12, &[4], 2, 0.5);
    let path = folder.file("m.scorewise");
    model.save(&path).unwrap();
    model.save(&path).unwrap();
    // A truncated model and an empty file may be replaced too.
    for bytes in [&model.to_bytes().unwrap()[..300], b""] {
        fs::write(&path, bytes).unwrap();
        model.save(&path).unwrap();
        assert_eq!(Model::load(&path).unwrap(), model);
    }
    fs::write(&path, "notes").unwrap();
    let message = model.save(&path).unwrap_err().to_string();
    let problem = "already exists and is not a scorewise model\nhint: name another file, or remove this one first";
    assert_eq!(message, format!("{}: {problem}", path.display()));
    assert_eq!(fs::read(&path).unwrap(), b"notes");
}

#[test]
fn an_unwritable_path_gives_an_error_with_a_hint() {
    let folder = TestFolder::new("unwritable");
    let refused = |path: &Path| write_model_file(path, b"x").unwrap_err().to_string();
    let parent = folder.0.display();
    let expected = format!(
        "{parent}: is a folder, not a file to write to\nhint: name a file in this folder: `{parent}/model.scorewise`"
    );
    assert_eq!(refused(&folder.0), expected);
    let expected = format!(
        "{parent}/no/m: the folder `{parent}/no` does not exist\nhint: create it first: mkdir -p '{parent}/no'"
    );
    assert_eq!(refused(&folder.file("no/m")), expected);
    fs::write(folder.file("file"), model_file_bytes(0.5)).unwrap();
    let expected = format!("{parent}/file/m: `{parent}/file` is a file, not a folder\nhint: name another folder");
    assert_eq!(refused(&folder.file("file/m")), expected);
    let mut permissions = fs::metadata(folder.file("file")).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(folder.file("file"), permissions).unwrap();
    let expected = format!("{parent}/file: is write-protected\nhint: name another file, or allow writing to this one");
    assert_eq!(refused(&folder.file("file")), expected);
    assert_eq!(folder.names(), ["file"]);
    if Path::new("/dev/full").exists() {
        assert!(refused(Path::new("/dev/full")).starts_with("/dev/full: cannot be written: No space left on device"));
        write_model_file(Path::new("/dev/null"), b"x").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}

#[cfg(unix)]
#[test]
fn symbolic_links_and_permissions_are_preserved() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TestFolder::new("link");
    write_model_file(&folder.file("file"), &model_file_bytes(0.25)).unwrap();
    fs::set_permissions(folder.file("file"), fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(folder.file("file"), folder.file("link")).unwrap();
    write_model_file(&folder.file("link"), &model_file_bytes(0.75)).unwrap();
    assert_eq!(fs::read(folder.file("file")).unwrap(), model_file_bytes(0.75));
    assert!(fs::symlink_metadata(folder.file("link")).unwrap().is_symlink());
    assert_eq!(fs::metadata(folder.file("file")).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_probability_is_the_mean_over_the_members() {
    let model = crate::models::two_class_model(12, &[4], 3, 0.3);
    let (_, matrix) = crate::models::random_rows(12, 5000, 1); // 5000 rows are predicted in several blocks.
    let place = |_| Location::file("t.csv");
    let mean = Predictor::new(&model).probabilities(&matrix, place).unwrap();
    let by_member: Vec<Vec<f64>> = model
        .members
        .iter()
        .map(|member| Model { members: vec![member.clone()], weights: vec![1.0], ..model.clone() })
        .map(|model| Predictor::new(&model).probabilities(&matrix, place).unwrap())
        .collect();
    for row in [0, 1, 4095, 4096, 4999] {
        assert_eq!(mean[row], (by_member[0][row] + by_member[1][row] + by_member[2][row]) / 3.0);
    }
    let labels = Predictor::new(&model).labels(&mean);
    assert!(labels.iter().zip(&mean).all(|(label, p)| (*label == 1) == (*p > 0.3)));
    assert!(labels.contains(&0) && labels.contains(&1));
}

#[test]
fn probabilities_of_classes_sum_to_one_and_are_the_softmax_of_the_logits() {
    let model = crate::models::multiclass_model(9, &[], 4, 1, Decision::Greatest);
    let (values, matrix) = crate::models::random_rows(9, 50, 2);
    let predictor = Predictor::new(&model);
    let probabilities = predictor.probabilities(&matrix, |_| Location::default()).unwrap();
    let layer = &crate::models::network_of(&model.members[0]).to_layers()[0];
    for (row, p) in values.chunks(9).zip(probabilities.chunks(predictor.outputs())) {
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        let logit = |class: usize| -> f64 {
            let weights = &layer.weights[class * 9..][..9];
            let sum: f64 = weights.iter().zip(row).map(|(w, x)| f64::from(*w) * f64::from(*x)).sum();
            sum + f64::from(layer.biases[class])
        };
        let total: f64 = (0..4).map(|class| logit(class).exp()).sum();
        for (class, p) in p.iter().enumerate() {
            assert!((p - logit(class).exp() / total).abs() < 1e-5);
        }
    }
}

#[test]
fn the_error_names_the_row_whose_prediction_overflows_f32() {
    let mut model = crate::models::two_class_model(1, &[3], 1, 0.5);
    let mut layers = crate::models::network_of(&model.members[0]).to_layers();
    layers[0].weights.fill(1e30);
    layers[1].weights = vec![1e30, -1e30, 0.0];
    model.members = vec![Member::Network(Network::from_layers(&[], &layers).unwrap())];
    let matrix = scorewise_train::Matrix::new(1, &[0.0, 1e30]).unwrap();
    let place = |row: usize| Location { line: Some(row as u64 + 2), ..Location::file("t.csv") };
    let error = Predictor::new(&model).probabilities(&matrix, place).unwrap_err().to_string();
    let problem = "its values are so large that the prediction is not a number";
    assert_eq!(error, format!("t.csv:3: {problem}\nhint: correct or remove the row"));
}
