//! Model files: what is written is read, and what is not a model is told apart.

// The helpers of these tests are tests too.
#![allow(clippy::unwrap_used)]

mod models;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use scorewise_table::encode::{Coding, Encoder, Input};
use scorewise_table::groups::RowOrder;
use scorewise_table::output::{OutputKind, Outputs};
use scorewise_table::table::{Kind, Reading};
use scorewise_table::target::{Rule, Target};
use scorewise_train::model::{Chosen, Decision, Model, Predictor};
use scorewise_train::train::Plan;
use scorewise_train::{Dense, Network, Place, Shape};
use serde_json::{Value, json};

/// A folder for one test, gone at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("scorewise-model-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn refusal(bytes: &[u8]) -> String {
    Model::from_bytes("m.scorewise", bytes).unwrap_err().to_string()
}

/// The file with its description and header edited, and a checksum that fits.
fn edited(bytes: &[u8], edit: impl FnOnce(&mut Value, &mut Value)) -> Vec<u8> {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let mut description: Value = serde_json::from_str(header["__metadata__"]["scorewise"].as_str().unwrap()).unwrap();
    edit(&mut description, &mut header);
    header["__metadata__"]["scorewise"] = description.to_string().into();
    let header = header.to_string();
    models::signed([&(header.len() as u64).to_le_bytes(), header.as_bytes(), &bytes[8 + length..]].concat())
}

fn description(edit: impl FnOnce(&mut Value)) -> String {
    refusal(&edited(&models::binary(12, &[4], 2, 0.3).to_bytes().unwrap(), |description, _| edit(description)))
}

#[test]
fn every_model_comes_back_from_its_file_to_the_last_bit() {
    let folder = Folder::new("round");
    for (name, model) in models::all() {
        let path = folder.file(name);
        model.save(&path).unwrap();
        let back = Model::load(&path).unwrap();
        assert_eq!(back, model, "{name}");
        assert_eq!(back.to_bytes().unwrap(), fs::read(&path).unwrap(), "{name}");
    }
}

#[test]
fn the_documented_example_is_what_is_written() {
    let number = |column: &str, mean, deviation| Input {
        column: column.into(),
        kind: Kind::Number,
        lag: 0,
        coding: Coding::Number { mean, deviation, indicator: false },
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
        target: Target { column: "state".into(), rule: Rule::Classes(classes.clone()), lead: 1 },
        classes,
        members: vec![Network::from_layers(&[layer]).unwrap()],
        score: "tss".into(),
        prior: Some("cosine:0.5,0.1".into()),
        loss: "sol".into(),
        decision: Decision::Threshold {
            threshold: 0.4375,
            interval: Some((0.431, 0.444)),
            value: Some(0.625),
            chosen: Chosen::ValidationSweep,
            words: "the best tss on the validation rows".into(),
        },
        seed: 0,
        fingerprint: "9f0c5d1be3a24786".into(),
        plan: Some(Plan { lead: 1, hidden: Vec::new(), ..Plan::new("state", "tss") }),
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
    let shown: Value = serde_json::from_str(example).unwrap();
    // As texts: the order of the fields is part of the format.
    assert_eq!(shown.to_string(), header.to_string());
}

#[test]
fn the_safetensors_library_reads_our_files() {
    let model = models::binary(17, &[5], 2, 0.5);
    let bytes = model.to_bytes().unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(file.len(), 8);
    let weight = file.tensor("member.1.layer.0.weight").unwrap();
    assert_eq!((weight.dtype(), weight.shape()), (safetensors::Dtype::F32, &[5, 17][..]));
    let first = &model.members[1].to_layers()[0];
    let numbers: Vec<f32> = weight.data().chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    assert_eq!(numbers, first.weights);
    assert_eq!(file.tensor("member.0.layer.1.bias").unwrap().shape(), [1]);
}

#[test]
fn files_that_are_no_models_are_told_apart() {
    let folder = Folder::new("foreign");
    let load = |path: &Path| Model::load(path).unwrap_err().to_string();
    let another = "\nhint: name a file that `scorewise train` has written";
    let again = "\nhint: copy the file again from where it came, or train the model anew";

    let path = folder.file("absent");
    assert_eq!(load(&path), format!("{}: there is no such file{another}", path.display()));
    assert_eq!(load(&folder.0), format!("{}: is a folder, not a model{another}", folder.0.display()));
    let path = folder.file("empty");
    fs::write(&path, "").unwrap();
    assert_eq!(load(&path), format!("{}: is empty{again}", path.display()));
    if cfg!(unix) {
        assert_eq!(load(Path::new("/dev/null")), format!("/dev/null: is no regular file{another}"));
    }

    for text in
        ["x", "age,income\n39,50000\n40,60000\n", "{\"a\": 1, \"b\": [2, 3], \"c\": 4}", "PAR1\x15\x04\x15\x10\x15"]
    {
        assert_eq!(refusal(text.as_bytes()), format!("m.scorewise: is not a scorewise model{another}"));
    }
    let header = br#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    let other = [&(header.len() as u64).to_le_bytes()[..], header, &[0; 4]].concat();
    let expected = format!("m.scorewise: is a safetensors file but not a scorewise model{another}");
    assert_eq!(refusal(&other), expected);
}

#[test]
fn a_file_that_is_cut_off_anywhere_says_so() {
    let bytes = models::binary(12, &[4], 1, 0.3).to_bytes().unwrap();
    for end in [9, 100, bytes.len() / 2, bytes.len() - 1] {
        let expected = format!("m.scorewise: is cut off: {end} of at least ");
        assert!(refusal(&bytes[..end]).starts_with(&expected), "{}", refusal(&bytes[..end]));
    }
    let long = [&bytes[..], b"\n"].concat();
    assert!(refusal(&long).starts_with("m.scorewise: is damaged: 1 bytes follow its last tensor"));
}

#[test]
fn one_flipped_bit_anywhere_is_refused() {
    let original = models::binary(12, &[4], 2, 0.3).to_bytes().unwrap();
    for byte in 0..original.len() {
        for bit in 0..8 {
            let mut bytes = original.clone();
            bytes[byte] ^= 1 << bit;
            assert!(Model::from_bytes("m.scorewise", &bytes).is_err(), "bit {bit} of byte {byte}");
        }
    }
    // In the weights nothing but the checksum tells.
    let mut bytes = original.clone();
    let end = bytes.len();
    bytes[end - 2] ^= 1;
    let again = "copy the file again from where it came, or train the model anew";
    assert_eq!(refusal(&bytes), format!("m.scorewise: is damaged: its checksum does not match\nhint: {again}"));
}

#[test]
fn a_file_of_format_1_still_loads_and_no_other_file_passes_for_one() {
    let old = include_bytes!("data/format-1.scorewise");
    let model = models::binary(12, &[4], 2, 0.3);
    let loaded = Model::from_bytes("m.scorewise", old).unwrap();
    // Format 1 knew groups but no times, and a list of some settings instead of the plan.
    let order = RowOrder::of_file(Some("station"));
    let members = loaded.members.clone();
    let expected = Model {
        encoder: Encoder { order, ..model.encoder.clone() },
        plan: None,
        members: members.clone(),
        ..model.clone()
    };
    assert_eq!(loaded, expected);
    let weights = [0.463_212_94, 0.502_054_75, 0.406_185_5, -0.190_256_83];
    assert_eq!((members.len(), &members[0].parameters[..4]), (2, &weights[..]), "as the old file has them");
    let again = Model::from_bytes("m.scorewise", &loaded.to_bytes().unwrap()).unwrap();
    assert_eq!(again, loaded, "it is written anew in today's format");

    let new = model.to_bytes().unwrap();
    let as_first = |text: &mut Value| text["format"] = json!(1);
    let mismatch = "is damaged: a file of format 1 has no checksum";
    // Its format changed to 1, the checksum as it was, and signed anew.
    let mut changed = new.clone();
    let said = br#"\"format\":"#;
    let at = changed.windows(said.len()).position(|bytes| bytes == said).unwrap() + said.len();
    assert_eq!(changed[at], b'2');
    changed[at] = b'1';
    assert!(refusal(&changed).contains("is damaged: its checksum does not match"));
    assert!(refusal(&models::signed(changed)).contains(mismatch));
    // The name of the checksum changed too, so that there seems to be none.
    let renamed = edited(&new, |text, header| {
        as_first(text);
        header["__metadata__"].as_object_mut().unwrap().remove("checksum");
        header["__metadata__"]["cheeksum"] = json!("0123456789abcdef");
    });
    assert!(refusal(&renamed).contains(mismatch), "{}", refusal(&renamed));
    // A file of format 2 without a checksum, or with one in another form.
    let without = edited(&new, |_, header| {
        header["__metadata__"].as_object_mut().unwrap().remove("checksum");
    });
    assert!(refusal(&without).contains("is damaged: a file of format 2 has a checksum"));
    let long = edited(&new, |_, header| header["__metadata__"]["checksum"] = json!("0123456789abcdef0"));
    assert!(refusal(&long).contains("its checksum does not match"));
}

#[test]
fn a_newer_format_asks_for_an_update_whatever_else_it_holds() {
    let refused = description(|text| *text = json!({"format": 7, "rest": "of another shape"}));
    let expected = "m.scorewise: was written in format 7; this scorewise reads up to 2\nhint: update scorewise";
    assert_eq!(refused, expected);
    assert!(description(|text| text["format"] = json!(0)).contains("is damaged: there is no format 0"));
}

#[test]
fn a_description_that_contradicts_itself_is_refused() {
    let edits: [(&str, Value, &str); 13] = [
        ("/format", json!("1"), "its description does not read: invalid type: string \"1\", expected u64"),
        ("/classes", json!(["no"]), "1 classes are too few"),
        ("/classes", json!(["no", "no"]), "the class `no` comes twice"),
        ("/classes", json!(["a", "b", "c"]), "a condition has 2 classes, not 3"),
        ("/decision/threshold", json!(1.5), "the threshold 1.5 lies outside [0, 1]"),
        ("/decision/threshold", json!(0.9), "the threshold 0.9 lies outside its interval from"),
        ("/decision/threshold", Value::Null, "its description does not read: invalid type: null"),
        ("/decision", json!({"rule": "greatest"}), "two classes are decided by a threshold"),
        (
            "/network/widths",
            json!([13, 4, 1]),
            "the tensor `member.0.layer.0.weight` has shape [4, 12] in 192 bytes, not [4, 13]",
        ),
        (
            "/network/widths",
            json!([u64::MAX, u64::MAX, 1]),
            "the tensor `member.0.layer.0.weight` has shape [4, 12] in 192 bytes",
        ),
        ("/network/widths", json!([12, 0, 1]), "[12, 0, 1] are no widths of a network"),
        ("/network/members", json!(u64::MAX), "8 tensors are there for networks of 2 layers"),
        ("/target/lead", json!(9_000_000), "a lead of 9000000 rows is more than 1048576"),
    ];
    for (pointer, value, expected) in edits {
        let refused = description(|text| *text.pointer_mut(pointer).unwrap() = value.clone());
        let start = format!("m.scorewise: is damaged: {expected}");
        assert!(refused.starts_with(&start), "{pointer} {value}: {refused}");
        assert!(refused.ends_with("train the model anew"), "{refused}");
    }
    let more = description(|text| text["surprise"] = json!(1));
    assert!(more.contains("unknown field `surprise`"), "{more}");
    let narrow = description(|text| {
        text["encoder"]["inputs"].as_array_mut().unwrap().pop();
    });
    assert!(narrow.contains("the networks take 12 inputs and the encoder gives 11"), "{narrow}");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let bytes =
        edited(&models::binary(12, &[4], 2, 0.3).to_bytes().unwrap(), |text, _| text["results"] = json!("DEEP"));
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header = str::from_utf8(&bytes[8..8 + length]).unwrap().replace("\\\"DEEP\\\"", &deep);
    let bytes = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &bytes[8 + length..]].concat();
    let refused = refusal(&models::signed(bytes));
    assert!(refused.contains("its description does not read: recursion limit exceeded"), "{refused}");
}

#[test]
fn tensors_that_do_not_fit_are_named() {
    let bytes = models::binary(12, &[4], 2, 0.3).to_bytes().unwrap();
    let name = "member.1.layer.0.bias";
    let refused = |edit: &dyn Fn(&mut Value)| refusal(&edited(&bytes, |_, header| edit(header)));
    let renamed = refused(&|header| {
        let tensor = header.as_object_mut().unwrap().remove(name).unwrap();
        header["bias"] = tensor;
    });
    assert!(renamed.contains("is damaged: the tensor `member.1.layer.0.bias` is missing"), "{renamed}");
    let kind = refused(&|header| header[name]["dtype"] = json!("I32"));
    assert!(kind.contains("is damaged: the tensor `member.1.layer.0.bias` holds `I32`, not `F32`"), "{kind}");
    let shape = refused(&|header| header[name]["shape"] = json!([2, 2]));
    assert!(shape.contains("the tensor `member.1.layer.0.bias` has shape [2, 2] in 16 bytes, not [4]"), "{shape}");
    let mut bytes = bytes;
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(refusal(&models::signed(bytes)).contains("network 1 has weights that are not finite numbers"));
}

#[test]
fn what_could_not_be_loaded_is_not_written() {
    let folder = Folder::new("unfit");
    let path = folder.file("m.scorewise");
    let good = models::binary(12, &[4], 1, 0.3);
    good.save(&path).unwrap();
    let before = fs::read(&path).unwrap();
    let mut diverged = good.clone();
    diverged.members[0].parameters[0] = f32::INFINITY;
    let mut unlike = good.clone();
    unlike.members.push(Network::glorot(Shape::new(12, &[5], 1).unwrap(), 1));
    let mut constant = good.clone();
    if let Some(input) = constant.encoder.inputs.last_mut() {
        input.coding = Coding::Number { mean: 0.0, deviation: 0.0, indicator: false };
    }
    let undecided = Model { decision: Decision::at(f64::NAN, Chosen::Given, ""), ..good };
    for (model, expected) in [
        (diverged, "network 0 has weights that are not finite numbers"),
        (unlike, "network 1 has another shape than the first"),
        (constant, "input `number 2`: the deviation is 0"),
        (undecided, "the threshold NaN lies outside [0, 1]"),
    ] {
        let error = model.save(&path).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(folder.names(), ["m.scorewise"]);
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let folder = Folder::new("write");
    let path = folder.file("m.scorewise");
    let (old, new) = (bytes(0.25), bytes(0.75));
    let create = || Outputs::new().create(&path, OutputKind::Model).unwrap();
    write(&path, &old).unwrap();
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

fn write(path: &Path, bytes: &[u8]) -> scorewise_train::Result<()> {
    Outputs::new().write(path, OutputKind::Model, bytes)
}

/// A model with this threshold.
fn bytes(threshold: f64) -> Vec<u8> {
    models::binary(12, &[4], 2, threshold).to_bytes().unwrap()
}

#[test]
fn a_model_takes_the_place_of_an_older_model_and_of_no_other_file() {
    let folder = Folder::new("kinds");
    let model = models::binary(12, &[4], 2, 0.5);
    let path = folder.file("m.scorewise");
    model.save(&path).unwrap();
    model.save(&path).unwrap();
    // What is left of a model, and an empty file, are nothing to keep.
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
fn a_place_that_cannot_be_written_to_is_named_with_the_cure() {
    let folder = Folder::new("unwritable");
    let refused = |path: &Path| write(path, b"x").unwrap_err().to_string();
    let shown = folder.0.display();
    let expected =
        format!("{shown}: is a folder, not a file to write to\nhint: name a file in it: `{shown}/model.scorewise`");
    assert_eq!(refused(&folder.0), expected);
    let expected =
        format!("{shown}/no/m: the folder `{shown}/no` does not exist\nhint: create it first: mkdir -p '{shown}/no'");
    assert_eq!(refused(&folder.file("no/m")), expected);
    fs::write(folder.file("file"), bytes(0.5)).unwrap();
    let expected = format!("{shown}/file/m: `{shown}/file` is a file, not a folder\nhint: name another folder");
    assert_eq!(refused(&folder.file("file/m")), expected);
    let mut rights = fs::metadata(folder.file("file")).unwrap().permissions();
    rights.set_readonly(true);
    fs::set_permissions(folder.file("file"), rights).unwrap();
    let expected = format!("{shown}/file: is write-protected\nhint: name another file, or allow writing to this one");
    assert_eq!(refused(&folder.file("file")), expected);
    assert_eq!(folder.names(), ["file"]);
    if Path::new("/dev/full").exists() {
        assert!(refused(Path::new("/dev/full")).starts_with("/dev/full: cannot be written: No space left on device"));
        write(Path::new("/dev/null"), b"x").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_rights_stay() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("link");
    write(&folder.file("file"), &bytes(0.25)).unwrap();
    fs::set_permissions(folder.file("file"), fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(folder.file("file"), folder.file("link")).unwrap();
    write(&folder.file("link"), &bytes(0.75)).unwrap();
    assert_eq!(fs::read(folder.file("file")).unwrap(), bytes(0.75));
    assert!(fs::symlink_metadata(folder.file("link")).unwrap().is_symlink());
    assert_eq!(fs::metadata(folder.file("file")).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_probability_is_the_mean_over_the_members() {
    let model = models::binary(12, &[4], 3, 0.3);
    let (_, matrix) = models::rows(12, 5000, 1); // more than one chunk
    let place = |_| Place::file("t.csv");
    let mean = Predictor::new(&model).probabilities(&matrix, place).unwrap();
    let alone: Vec<Vec<f64>> = model
        .members
        .iter()
        .map(|member| Model { members: vec![member.clone()], ..model.clone() })
        .map(|model| Predictor::new(&model).probabilities(&matrix, place).unwrap())
        .collect();
    for row in [0, 1, 4095, 4096, 4999] {
        assert_eq!(mean[row], (alone[0][row] + alone[1][row] + alone[2][row]) / 3.0);
    }
    let labels = Predictor::new(&model).labels(&mean);
    assert!(labels.iter().zip(&mean).all(|(label, p)| (*label == 1) == (*p > 0.3)));
    assert!(labels.contains(&0) && labels.contains(&1));
}

#[test]
fn probabilities_of_classes_sum_to_one_and_follow_the_logits() {
    let model = models::classes(9, &[], 4, 1, Decision::Greatest);
    let (values, matrix) = models::rows(9, 50, 2);
    let predictor = Predictor::new(&model);
    let probabilities = predictor.probabilities(&matrix, |_| Place::default()).unwrap();
    let layer = &model.members[0].to_layers()[0];
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
fn a_row_beyond_f32_is_named() {
    let mut model = models::binary(1, &[3], 1, 0.5);
    let mut layers = model.members[0].to_layers();
    layers[0].weights.fill(1e30);
    layers[1].weights = vec![1e30, -1e30, 0.0];
    model.members = vec![Network::from_layers(&layers).unwrap()];
    let matrix = scorewise_train::Matrix::new(1, &[0.0, 1e30]).unwrap();
    let place = |row: usize| Place { line: Some(row as u64 + 2), ..Place::file("t.csv") };
    let error = Predictor::new(&model).probabilities(&matrix, place).unwrap_err().to_string();
    let problem = "its values are so large that the network's answer is not a number";
    assert_eq!(error, format!("t.csv:3: {problem}\nhint: correct or remove the row"));
}
