//! Builds an ONNX graph. Every node has one output, and has the same name as this output.

use super::proto::{
    AttributeProto, DOUBLE, Dimension, FLOAT, FLOATS, GraphProto, INT64, INTEGER, INTEGERS, NodeProto, STRING, STRINGS,
    TensorProto, TensorShapeProto, TensorType, TypeProto, ValueInfoProto,
};
use crate::network::Dense;

/// The name of the ONNX operator set that contains the operators for trees.
pub(super) const TREE_OPERATORS: &str = "ai.onnx.ml";

/// The value of an attribute of a node.
pub(crate) enum Attribute {
    Integer(i64),
    Integers(Vec<i64>),
    Floats(Vec<f32>),
    String(&'static str),
    Strings(Vec<&'static str>),
}

impl Attribute {
    /// The protobuf message of an attribute with this name and value.
    fn with_name(self, name: &str) -> AttributeProto {
        let attribute = AttributeProto { name: name.into(), ..AttributeProto::default() };
        match self {
            Attribute::Integer(i) => AttributeProto { i, r#type: INTEGER, ..attribute },
            Attribute::Integers(ints) => AttributeProto { ints, r#type: INTEGERS, ..attribute },
            Attribute::Floats(floats) => AttributeProto { floats, r#type: FLOATS, ..attribute },
            Attribute::String(text) => AttributeProto { s: text.into(), r#type: STRING, ..attribute },
            Attribute::Strings(texts) => {
                let strings = texts.into_iter().map(Into::into).collect();
                AttributeProto { strings, r#type: STRINGS, ..attribute }
            }
        }
    }
}

/// An ONNX graph under construction.
#[derive(Default)]
pub(crate) struct GraphBuilder {
    graph: GraphProto,
}

impl GraphBuilder {
    /// Adds a node with one output; returns the name of the output.
    pub fn node(&mut self, operator: &str, inputs: &[&str], output: &str, attributes: &[(&str, i64)]) -> String {
        let attribute = |(name, value): &(&str, i64)| Attribute::Integer(*value).with_name(name);
        self.graph.node.push(NodeProto {
            input: inputs.iter().map(|name| (*name).to_owned()).collect(),
            output: vec![output.into()],
            name: output.into(),
            op_type: operator.into(),
            attribute: attributes.iter().map(attribute).collect(),
            domain: String::new(),
        });
        output.into()
    }

    /// Adds a node of the operator set for trees, with one input and one output; returns the name of the output.
    pub fn tree_node(
        &mut self,
        operator: &str,
        input: &str,
        output: &str,
        attributes: Vec<(&str, Attribute)>,
    ) -> String {
        self.graph.node.push(NodeProto {
            input: vec![input.into()],
            output: vec![output.into()],
            name: output.into(),
            op_type: operator.into(),
            attribute: attributes.into_iter().map(|(name, value)| value.with_name(name)).collect(),
            domain: TREE_OPERATORS.into(),
        });
        output.into()
    }

    /// Adds a node that converts numbers to integers; returns the name of its output.
    pub fn integer_cast(&mut self, input: &str, output: &str) -> String {
        self.node("Cast", &[input], output, &[("to", INT64.into())])
    }

    /// Whether the graph has nodes of the operator set for trees.
    pub(super) fn has_trees(&self) -> bool {
        self.graph.node.iter().any(|node| !node.domain.is_empty())
    }

    /// Adds the nodes of a look-up layer without its bias, and returns the name of their output. Each column of the graph's input `x` has rows of its
    /// own in the look-up table, one for each knot, frequent value and level. The number in a cell of the column says which row is used, counted from
    /// 0; for a number such as 2.25, rows 2 and 3 are gathered and interpolated. The results are added up over the columns. `layer` is the equivalent
    /// dense layer, whose weights are the transposed table.
    pub fn look_up(&mut self, name: &str, positions: &[usize], layer: &Dense) -> String {
        let Dense { inputs: rows, outputs, weights, .. } = layer;
        // A row of zeros is added after the last row of the table, because for the last position `Gather` reads the row after it too, with weight 0.
        let table: Vec<f32> = (0..(rows + 1) * outputs)
            .map(|at| if at / outputs < *rows { weights[at % outputs * rows + at / outputs] } else { 0.0 })
            .collect();
        let mut first = 0i64;
        let mut firsts = Vec::with_capacity(positions.len());
        for positions in positions {
            firsts.push(first);
            first += *positions as i64;
        }
        let of = |part: &str| format!("{name}.{part}");
        let table = self.floats(&of("table"), &[rows + 1, *outputs], &table);
        let firsts = self.integers(&of("first"), &firsts);
        let one = self.constant(&of("one"), INT64, &[], 1i64.to_le_bytes().to_vec());
        let axis = self.integers(&of("axis"), &[2]);
        let columns = self.integers(&of("columns"), &[1]);
        let whole = self.node("Floor", &["x"], &of("whole"), &[]);
        let share = self.node("Sub", &["x", &whole], &of("share"), &[]);
        let share = self.node("Unsqueeze", &[&share, &axis], &of("shares"), &[]);
        let whole = self.integer_cast(&whole, &of("position"));
        let low = self.node("Add", &[&whole, &firsts], &of("row"), &[]);
        let high = self.node("Add", &[&low, &one], &of("next_row"), &[]);
        let low = self.node("Gather", &[&table, &low], &of("low"), &[]);
        let high = self.node("Gather", &[&table, &high], &of("high"), &[]);
        let difference = self.node("Sub", &[&high, &low], &of("difference"), &[]);
        let part = self.node("Mul", &[&difference, &share], &of("part"), &[]);
        let sum = self.node("Add", &[&low, &part], &of("interpolated"), &[]);
        self.node("ReduceSum", &[&sum, &columns], &of("sum"), &[("keepdims", 0)])
    }

    /// Adds a constant tensor of f32 numbers to the graph; returns its name.
    pub fn floats(&mut self, name: &str, shape: &[usize], values: &[f32]) -> String {
        self.constant(name, FLOAT, shape, values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }

    /// Adds a constant tensor of f64 numbers to the graph; returns its name.
    pub fn doubles(&mut self, name: &str, shape: &[usize], values: &[f64]) -> String {
        self.constant(name, DOUBLE, shape, values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }

    /// Adds a constant list of integers to the graph; returns its name.
    pub fn integers(&mut self, name: &str, values: &[i64]) -> String {
        self.constant(name, INT64, &[values.len()], values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }

    /// Declares an input of the graph. In `shape`, `None` stands for the number of rows.
    pub fn input(&mut self, name: &str, element_type: i32, shape: &[Option<usize>], description: &str) {
        self.graph.input.push(value_info(name, element_type, shape, description));
    }

    /// Declares an output of the graph. In `shape`, `None` stands for the number of rows.
    pub fn output(&mut self, name: &str, element_type: i32, shape: &[Option<usize>], description: &str) {
        self.graph.output.push(value_info(name, element_type, shape, description));
    }

    /// The finished graph as a protobuf message.
    pub(super) fn finish(self) -> GraphProto {
        GraphProto { name: "scorewise".into(), ..self.graph }
    }

    /// Adds a constant tensor with the given bytes to the graph; returns its name.
    fn constant(&mut self, name: &str, element_type: i32, shape: &[usize], raw_data: Vec<u8>) -> String {
        let dims = shape.iter().map(|width| *width as i64).collect();
        self.graph.initializer.push(TensorProto { dims, data_type: element_type, name: name.into(), raw_data });
        name.into()
    }
}

/// The declaration of an input or output of the graph. In `shape`, `None` stands for the number of rows.
fn value_info(name: &str, element_type: i32, shape: &[Option<usize>], description: &str) -> ValueInfoProto {
    let dimension = |width: &Option<usize>| Dimension {
        dim_value: width.map(|width| width as i64),
        dim_param: width.is_none().then(|| "N".to_owned()),
    };
    let shape = TensorShapeProto { dim: shape.iter().map(dimension).collect() };
    let tensor_type = Some(TensorType { elem_type: element_type, shape: Some(shape) });
    ValueInfoProto { name: name.into(), r#type: Some(TypeProto { tensor_type }), doc_string: description.into() }
}
