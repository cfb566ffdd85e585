//! The expression tree of a formula, stored as a flat list: every node comes after its operands, and equal nodes are stored once.
//!
//! The flat list makes evaluation one loop without recursion, and storing equal nodes once means that `tp+fp` is
//! computed once however often it occurs in a formula. Size and depth are limited when nodes are added, so everything that
//! works on a tree (evaluation, printing) takes bounded time and stack.

use std::collections::HashMap;

use super::number::Number;
use crate::formula::ClassCounts;

/// A variable of a formula: one of the four cells of the confusion matrix, or a sum of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Cell {
    Tn,
    Fp,
    Fn,
    Tp,
    /// The number of positives, p = tp + fn.
    Positives,
    /// The number of negatives, n = fp + tn.
    Negatives,
    /// The number of all rows, total = p + n.
    Total,
}

impl Cell {
    /// All variables with their names in formulas.
    pub const ALL: [(Cell, &'static str); 7] = [
        (Cell::Tn, "tn"),
        (Cell::Fp, "fp"),
        (Cell::Fn, "fn"),
        (Cell::Tp, "tp"),
        (Cell::Positives, "p"),
        (Cell::Negatives, "n"),
        (Cell::Total, "total"),
    ];

    pub fn name(self) -> &'static str {
        Cell::ALL[self as usize].1
    }

    pub fn from_name(name: &str) -> Option<Cell> {
        Cell::ALL.iter().find(|(_, known)| *known == name).map(|(cell, _)| *cell)
    }
}

/// The values of the seven variables tn, fp, fn, tp, p, n and total of a formula, in any [`Number`] type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellValues<T>(pub [T; 7]);

impl<T: Number> CellValues<T> {
    /// The values of all seven variables from the four cells of the matrix; p, n and total are computed as sums.
    pub fn new([tn, fp, fn_, tp]: [T; 4]) -> Self {
        let (p, n) = (tp.plus(fn_), fp.plus(tn));
        CellValues([tn, fp, fn_, tp, p, n, p.plus(n)])
    }

    /// The values of all seven variables from tp, fp and fixed class counts. The class counts stay exact when tp and fp are intervals. The
    /// cells fn and tn are clamped at 0 as in [`Confusion::at`](crate::Confusion::at).
    pub fn from_class_counts(tp: T, fp: T, counts: &ClassCounts) -> Self {
        let rest = |count: T, cell: T| count.minus(cell).max(T::constant(0.0));
        let (p, n) = (T::constant(counts.positives), T::constant(counts.negatives));
        CellValues([rest(n, fp), fp, rest(p, tp), tp, p, n, T::constant(counts.positives + counts.negatives)])
    }
}

/// A function or operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Unary {
    Negate,
    Sqrt,
    Ln,
    Exp,
    Abs,
}

/// A function or operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Min,
    Max,
}

/// A node of the expression tree: a variable, a constant, or an operation whose operands are given as indices of earlier nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Node {
    Cell(Cell),
    Constant(f64),
    Unary(Unary, u16),
    Binary(Binary, u16, u16),
}

/// A formula as a list of nodes, the last of which is the result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ExpressionTree {
    nodes: Vec<Node>,
}

impl ExpressionTree {
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The value of the formula at the given cells of the confusion matrix. `scratch` is overwritten; a caller that evaluates in a loop can pass
    /// the same vector to allocate only once.
    pub fn evaluate<T: Number>(&self, cells: &CellValues<T>, scratch: &mut Vec<T>) -> T {
        scratch.clear();
        for node in &self.nodes {
            let value = match *node {
                Node::Cell(cell) => cells.0[cell as usize],
                Node::Constant(value) => T::constant(value),
                Node::Unary(function, a) => {
                    let a = scratch[a as usize];
                    match function {
                        Unary::Negate => a.negate(),
                        Unary::Sqrt => a.sqrt(),
                        Unary::Ln => a.ln(),
                        Unary::Exp => a.exp(),
                        Unary::Abs => a.abs(),
                    }
                }
                Node::Binary(function, a, b) => {
                    let (a, b) = (scratch[a as usize], scratch[b as usize]);
                    match function {
                        Binary::Add => a.plus(b),
                        Binary::Subtract => a.minus(b),
                        Binary::Multiply => a.times(b),
                        Binary::Divide => a.over(b),
                        Binary::Power => a.power(b),
                        Binary::Min => a.min(b),
                        Binary::Max => a.max(b),
                    }
                }
            };
            scratch.push(value);
        }
        scratch[self.nodes.len() - 1]
    }
}

/// Maximum number of nodes of a formula. The nodes are counted after the names of scores have been replaced by their formulas, and a repeated
/// subexpression is counted each time.
pub(crate) const MAX_SIZE: usize = 8192;
/// Maximum depth of the expression tree: far beyond any real formula, and far below what would overflow the stack.
pub(crate) const MAX_DEPTH: usize = 256;

/// A node of the expression tree as the key of a hash map; two constants are equal if their bits are equal.
#[derive(PartialEq, Eq, Hash)]
enum NodeKey {
    Cell(Cell),
    Constant(u64),
    Unary(Unary, u16),
    Binary(Binary, u16, u16),
}

/// Which limit a formula exceeds: the number of nodes or the depth of its expression tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitExceeded {
    Size,
    Depth,
}

/// Appends nodes to a tree, storing equal nodes once and enforcing the limits on size and depth.
#[derive(Default)]
pub(crate) struct Builder {
    nodes: Vec<Node>,
    indices: HashMap<NodeKey, u16>,
    /// For each node, the number of nodes in its subtree, where a repeated subexpression is counted each time, and the depth of the subtree.
    size_and_depth: Vec<(usize, usize)>,
}

impl Builder {
    /// Adds a node and returns its index; if the tree already contains an equal node, returns the index of that node.
    pub fn add(&mut self, node: Node) -> Result<u16, LimitExceeded> {
        let key = match node {
            Node::Cell(cell) => NodeKey::Cell(cell),
            Node::Constant(value) => NodeKey::Constant(value.to_bits()),
            Node::Unary(function, a) => NodeKey::Unary(function, a),
            Node::Binary(function, a, b) => NodeKey::Binary(function, a, b),
        };
        if let Some(index) = self.indices.get(&key) {
            return Ok(*index);
        }
        let (size, depth) = match node {
            Node::Cell(_) | Node::Constant(_) => (1, 1),
            Node::Unary(_, a) => {
                let (size, depth) = self.size_and_depth[a as usize];
                (size + 1, depth + 1)
            }
            Node::Binary(_, a, b) => {
                let (a, b) = (self.size_and_depth[a as usize], self.size_and_depth[b as usize]);
                (a.0 + b.0 + 1, a.1.max(b.1) + 1)
            }
        };
        if size > MAX_SIZE || self.nodes.len() >= MAX_SIZE {
            return Err(LimitExceeded::Size);
        }
        if depth > MAX_DEPTH {
            return Err(LimitExceeded::Depth);
        }
        let index = self.nodes.len() as u16;
        self.nodes.push(node);
        self.size_and_depth.push((size, depth));
        self.indices.insert(key, index);
        Ok(index)
    }

    /// The value of the subexpression whose node has this index, if it is constant; `None` if it depends on a cell of the confusion matrix.
    pub fn constant_value(&self, index: u16) -> Option<f64> {
        let tree = self.tree(index);
        let free_of_cells = tree.nodes.iter().all(|node| !matches!(node, Node::Cell(_)));
        free_of_cells.then(|| tree.evaluate(&CellValues([f64::NAN; 7]), &mut Vec::new()))
    }

    /// The tree of the formula whose result is the node at index `result`.
    pub fn tree(&self, result: u16) -> ExpressionTree {
        ExpressionTree { nodes: self.nodes[..=result as usize].to_vec() }.without_unused_nodes()
    }
}

impl ExpressionTree {
    /// The same formula with tp + fn, fp + tn and p + n replaced by the class counts. This takes fewer operations, and in
    /// interval arithmetic the class counts stay exact, whereas a sum of two intervals would be too wide.
    pub fn with_class_counts(&self) -> Self {
        let mut builder = Builder::default();
        let mut new_index: Vec<u16> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let cell_at = |builder: &Builder, at: u16| match builder.nodes[at as usize] {
                Node::Cell(cell) => Some(cell),
                _ => None,
            };
            let node = match *node {
                Node::Unary(function, a) => Node::Unary(function, new_index[a as usize]),
                Node::Binary(function, a, b) => {
                    let (a, b) = (new_index[a as usize], new_index[b as usize]);
                    match (function, cell_at(&builder, a), cell_at(&builder, b)) {
                        (Binary::Add, Some(Cell::Tp), Some(Cell::Fn))
                        | (Binary::Add, Some(Cell::Fn), Some(Cell::Tp)) => Node::Cell(Cell::Positives),
                        (Binary::Add, Some(Cell::Fp), Some(Cell::Tn))
                        | (Binary::Add, Some(Cell::Tn), Some(Cell::Fp)) => Node::Cell(Cell::Negatives),
                        (Binary::Add, Some(Cell::Positives), Some(Cell::Negatives)) => Node::Cell(Cell::Total),
                        _ => Node::Binary(function, a, b),
                    }
                }
                leaf => leaf,
            };
            // Replacing a sum by a class count never makes a tree larger or deeper, so the limits are not exceeded and `add` cannot fail.
            new_index.push(builder.add(node).unwrap_or(0));
        }
        match new_index.last() {
            Some(last) => builder.tree(*last),
            None => self.clone(),
        }
    }

    /// The same tree without unused nodes. The parser leaves unused nodes behind: for example, it adds a node for each argument of a score, but then
    /// uses only the value of the argument. The nodes are sorted: every node comes after its operands, the left operand first. So equal formulas
    /// give equal lists of nodes, no matter in which order the nodes were added.
    fn without_unused_nodes(&self) -> Self {
        let mut new_index = vec![None; self.nodes.len()];
        let mut nodes = Vec::new();
        // Depth-first traversal with an explicit stack; a node is visited again after its operands were added to the new list.
        let mut pending: Vec<usize> = self.nodes.len().checked_sub(1).into_iter().collect();
        while let Some(&at) = pending.last() {
            let new_index_of = |operand: u16| new_index[operand as usize];
            let placed = match self.nodes[at] {
                Node::Unary(function, a) => new_index_of(a).map(|a| Node::Unary(function, a)).ok_or([a, a]),
                Node::Binary(function, a, b) => {
                    new_index_of(a).zip(new_index_of(b)).map(|(a, b)| Node::Binary(function, a, b)).ok_or([b, a])
                }
                leaf => Ok(leaf),
            };
            match placed {
                Ok(node) => {
                    pending.pop();
                    if new_index[at].is_none() {
                        new_index[at] = Some(nodes.len() as u16);
                        nodes.push(node);
                    }
                }
                Err(operands) => {
                    pending.extend(
                        operands
                            .iter()
                            .map(|operand| *operand as usize)
                            .filter(|operand| new_index[*operand].is_none()),
                    );
                }
            }
        }
        ExpressionTree { nodes }
    }
}
