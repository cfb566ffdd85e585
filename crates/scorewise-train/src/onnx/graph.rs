//! A graph as it is put together: every node is named after what it gives.

use super::proto::{
    AttributeProto, DOUBLE, Dimension, FLOAT, GraphProto, INT64, INTEGER, NodeProto, TensorProto, TensorShapeProto,
    TensorType, TypeProto, ValueInfoProto,
};

#[derive(Default)]
pub(crate) struct Graph {
    graph: GraphProto,
}

impl Graph {
    /// Adds a node with one output, and gives that output's name.
    pub fn node(&mut self, operator: &str, inputs: &[&str], output: &str, attributes: &[(&str, i64)]) -> String {
        let attribute =
            |(name, value): &(&str, i64)| AttributeProto { name: (*name).into(), i: *value, r#type: INTEGER };
        self.graph.node.push(NodeProto {
            input: inputs.iter().map(|name| (*name).to_owned()).collect(),
            output: vec![output.into()],
            name: output.into(),
            op_type: operator.into(),
            attribute: attributes.iter().map(attribute).collect(),
        });
        output.into()
    }

    pub fn floats(&mut self, name: &str, shape: &[usize], values: &[f32]) -> String {
        self.constant(name, FLOAT, shape, values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }

    pub fn doubles(&mut self, name: &str, shape: &[usize], values: &[f64]) -> String {
        self.constant(name, DOUBLE, shape, values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }

    pub fn integers(&mut self, name: &str, values: &[i64]) -> String {
        self.constant(name, INT64, &[values.len()], values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }

    /// Names an input; a dimension without a size is the number of rows.
    pub fn input(&mut self, name: &str, kind: i32, shape: &[Option<usize>], about: &str) {
        self.graph.input.push(described(name, kind, shape, about));
    }

    /// Names an output; a dimension without a size is the number of rows.
    pub fn output(&mut self, name: &str, kind: i32, shape: &[Option<usize>], about: &str) {
        self.graph.output.push(described(name, kind, shape, about));
    }

    pub(super) fn finish(self) -> GraphProto {
        GraphProto { name: "scorewise".into(), ..self.graph }
    }

    fn constant(&mut self, name: &str, kind: i32, shape: &[usize], raw_data: Vec<u8>) -> String {
        let dims = shape.iter().map(|width| *width as i64).collect();
        self.graph.initializer.push(TensorProto { dims, data_type: kind, name: name.into(), raw_data });
        name.into()
    }
}

fn described(name: &str, kind: i32, shape: &[Option<usize>], about: &str) -> ValueInfoProto {
    let dimension = |width: &Option<usize>| Dimension {
        dim_value: width.map(|width| width as i64),
        dim_param: width.is_none().then(|| "N".to_owned()),
    };
    let shape = TensorShapeProto { dim: shape.iter().map(dimension).collect() };
    let tensor_type = Some(TensorType { elem_type: kind, shape: Some(shape) });
    ValueInfoProto { name: name.into(), r#type: Some(TypeProto { tensor_type }), doc_string: about.into() }
}
