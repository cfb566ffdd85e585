//! Tests of the contents of ONNX files. `python/tests/test_onnx.py` tests that an ONNX runtime predicts the same as scorewise.

use scorewise_train::model::{Decision, Model, ThresholdSource};
use scorewise_train::onnx;

#[test]
fn equal_models_give_equal_bytes() {
    for (name, model) in crate::models::test_models() {
        let bytes = onnx::export(&model).unwrap();
        assert_eq!(bytes, onnx::export(&model.clone()).unwrap(), "{name}");
        // The file begins with the version of the ONNX format, 7: 0x08 is the protobuf tag of field 1 with a varint.
        assert_eq!(bytes[..2], [0x08, 7], "{name}");
    }
}

#[test]
fn the_onnx_file_contains_the_weights_and_the_threshold() {
    let model = crate::models::two_class_model(12, &[4], 1, 0.3);
    let bytes = onnx::export(&model).unwrap();
    let contains = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
    let layer = &crate::models::network_of(&model.members[0]).to_layers()[0];
    let weights: Vec<u8> = layer.weights.iter().flat_map(|weight| weight.to_le_bytes()).collect();
    assert!(contains(&weights) && contains(&0.3f64.to_le_bytes()));
    assert!(contains("the best tss on 1200 validation rows".as_bytes()) && contains("pm2.5 [µg/m³]".as_bytes()));
}

#[test]
fn an_invalid_model_is_not_exported() {
    let model = Model {
        decision: Decision::at(2.0, ThresholdSource::Given, ""),
        ..crate::models::two_class_model(12, &[4], 1, 0.3)
    };
    let error = onnx::export(&model).unwrap_err().to_string();
    assert_eq!(error, "model: the threshold 2 lies outside [0, 1]");
}
