//! ONNX files from the Rust side. That a runtime agrees with our predictions is tested in `python/tests/test_onnx.py`.

mod models;

use scorewise_train::model::{Chosen, Decision, Model};
use scorewise_train::onnx;

#[test]
fn equal_models_give_equal_bytes() {
    for (name, model) in models::all() {
        let bytes = onnx::export(&model).unwrap();
        assert_eq!(bytes, onnx::export(&model.clone()).unwrap(), "{name}");
        // Field 1, a varint: the version of the format.
        assert_eq!(bytes[..2], [0x08, 7], "{name}");
    }
}

#[test]
fn weights_and_threshold_stand_in_the_file() {
    let model = models::binary(12, &[4], 1, 0.3);
    let bytes = onnx::export(&model).unwrap();
    let has = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    let layer = &models::network_of(&model.members[0]).to_layers()[0];
    let weights: Vec<u8> = layer.weights.iter().flat_map(|weight| weight.to_le_bytes()).collect();
    assert!(has(&weights) && has(&0.3f64.to_le_bytes()));
    assert!(has("the best tss on 1200 validation rows".as_bytes()) && has("pm2.5 [µg/m³]".as_bytes()));
}

#[test]
fn a_model_that_could_not_be_saved_is_not_exported() {
    let model = Model { decision: Decision::at(2.0, Chosen::Given, ""), ..models::binary(12, &[4], 1, 0.3) };
    let error = onnx::export(&model).unwrap_err().to_string();
    assert_eq!(error, "model: the threshold 2 lies outside [0, 1]");
}
