//! The tree of a formula, kept flat: every node stands after the nodes it is made of, equal nodes only once.
//!
//! Flat means that evaluation is one loop without recursion, whatever the text; once means that `tp+fp` is added up one
//! time however often a formula names it. Size and depth are bounded where nodes are added, so nothing built from a
//! tree (evaluation, printing) can run away.

use std::collections::HashMap;

use super::number::Number;
use crate::formula::Counts;

/// What a formula can read off a confusion matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Cell {
    Tn,
    Fp,
    Fn,
    Tp,
    /// p = tp + fn
    Positives,
    /// n = fp + tn
    Negatives,
    /// total = p + n
    Total,
}

impl Cell {
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

    pub fn named(name: &str) -> Option<Cell> {
        Cell::ALL.iter().find(|(_, known)| *known == name).map(|(cell, _)| *cell)
    }
}

/// The seven cells as numbers of any kind, in the order of [`Cell::ALL`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cells<T>(pub [T; 7]);

impl<T: Number> Cells<T> {
    /// From the four cells; the sums are formed here.
    pub fn new([tn, fp, fn_, tp]: [T; 4]) -> Self {
        let (p, n) = (tp.plus(fn_), fp.plus(tn));
        Cells([tn, fp, fn_, tp, p, n, p.plus(n)])
    }

    /// From hits and false alarms at fixed class counts, which intervals of them leave points. The rest of a class is cut
    /// at 0 as [`Confusion::at`](crate::Confusion::at) cuts it.
    pub fn at(tp: T, fp: T, counts: &Counts) -> Self {
        let rest = |all: T, part: T| all.minus(part).max(T::constant(0.0));
        let (p, n) = (T::constant(counts.positives), T::constant(counts.negatives));
        Cells([rest(n, fp), fp, rest(p, tp), tp, p, n, T::constant(counts.positives + counts.negatives)])
    }
}

/// A function of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Unary {
    Negate,
    Sqrt,
    Ln,
    Exp,
    Abs,
}

/// A function of two arguments.
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

/// One step of a formula; the numbers are places of earlier nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Node {
    Cell(Cell),
    Constant(f64),
    Unary(Unary, u16),
    Binary(Binary, u16, u16),
}

/// A formula as a list of nodes; the last one is the result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The result for these cells. `scratch` is cleared and filled: a caller in a loop allocates once.
    pub fn evaluate<T: Number>(&self, cells: &Cells<T>, scratch: &mut Vec<T>) -> T {
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

/// Largest number of parts of a formula written out, names expanded.
pub(crate) const MAX_SIZE: usize = 8192;
/// Deepest chain of parts: far beyond any formula, far below what a stack carries.
pub(crate) const MAX_DEPTH: usize = 256;

/// What a node is, bit for bit: floats compare by their bits so that a key can be hashed.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Cell(Cell),
    Constant(u64),
    Unary(Unary, u16),
    Binary(Binary, u16, u16),
}

/// Too large or too deep a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Size,
    Depth,
}

/// Adds nodes one after the other, each kind only once, within the limits.
#[derive(Default)]
pub(crate) struct Builder {
    nodes: Vec<Node>,
    places: HashMap<Key, u16>,
    /// Parts and depth of each node written out as a tree.
    extent: Vec<(usize, usize)>,
}

impl Builder {
    pub fn add(&mut self, node: Node) -> Result<u16, Limit> {
        let key = match node {
            Node::Cell(cell) => Key::Cell(cell),
            Node::Constant(value) => Key::Constant(value.to_bits()),
            Node::Unary(function, a) => Key::Unary(function, a),
            Node::Binary(function, a, b) => Key::Binary(function, a, b),
        };
        if let Some(place) = self.places.get(&key) {
            return Ok(*place);
        }
        let (size, depth) = match node {
            Node::Cell(_) | Node::Constant(_) => (1, 1),
            Node::Unary(_, a) => {
                let (size, depth) = self.extent[a as usize];
                (size + 1, depth + 1)
            }
            Node::Binary(_, a, b) => {
                let (a, b) = (self.extent[a as usize], self.extent[b as usize]);
                (a.0 + b.0 + 1, a.1.max(b.1) + 1)
            }
        };
        if size > MAX_SIZE || self.nodes.len() >= MAX_SIZE {
            return Err(Limit::Size);
        }
        if depth > MAX_DEPTH {
            return Err(Limit::Depth);
        }
        let place = self.nodes.len() as u16;
        self.nodes.push(node);
        self.extent.push((size, depth));
        self.places.insert(key, place);
        Ok(place)
    }

    /// The value of a part that reads no cell.
    pub fn constant(&self, place: u16) -> Option<f64> {
        // Every node under a constant expression is constant: evaluate the part with cells that would show.
        let tree = self.tree(place);
        let free_of_cells = tree.nodes.iter().all(|node| !matches!(node, Node::Cell(_)));
        free_of_cells.then(|| tree.evaluate(&Cells([f64::NAN; 7]), &mut Vec::new()))
    }

    /// The formula that ends at `result`.
    pub fn tree(&self, result: u16) -> Tree {
        Tree { nodes: self.nodes[..=result as usize].to_vec() }.pruned()
    }
}

impl Tree {
    /// With tp + fn, fp + tn and p + n read off the class counts instead of added up: fewer steps, and while a threshold
    /// moves these stay points, where intervals of their parts would add up to something wide.
    pub fn counted(&self) -> Self {
        let mut builder = Builder::default();
        let mut moved: Vec<u16> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let cell_at = |builder: &Builder, at: u16| match builder.nodes[at as usize] {
                Node::Cell(cell) => Some(cell),
                _ => None,
            };
            let node = match *node {
                Node::Unary(function, a) => Node::Unary(function, moved[a as usize]),
                Node::Binary(function, a, b) => {
                    let (a, b) = (moved[a as usize], moved[b as usize]);
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
            // A tree within the limits stays within them.
            moved.push(builder.add(node).unwrap_or(0));
        }
        match moved.last() {
            Some(last) => builder.tree(*last),
            None => self.clone(),
        }
    }

    /// Only the nodes that the result uses (arguments of scores are read as formulas, then dropped), each after its parts from
    /// left to right: however a formula came about, equal formulas are equal lists.
    fn pruned(&self) -> Self {
        let mut moved = vec![None; self.nodes.len()];
        let mut nodes = Vec::new();
        // What is still to be placed, the next on top; a node is looked at again once its parts are placed.
        let mut waiting: Vec<usize> = self.nodes.len().checked_sub(1).into_iter().collect();
        while let Some(&at) = waiting.last() {
            let place = |part: u16| moved[part as usize];
            let placed = match self.nodes[at] {
                Node::Unary(function, a) => place(a).map(|a| Node::Unary(function, a)).ok_or([a, a]),
                Node::Binary(function, a, b) => {
                    place(a).zip(place(b)).map(|(a, b)| Node::Binary(function, a, b)).ok_or([b, a])
                }
                leaf => Ok(leaf),
            };
            match placed {
                Ok(node) => {
                    waiting.pop();
                    if moved[at].is_none() {
                        moved[at] = Some(nodes.len() as u16);
                        nodes.push(node);
                    }
                }
                Err(parts) => {
                    waiting.extend(parts.iter().map(|part| *part as usize).filter(|part| moved[*part].is_none()));
                }
            }
        }
        Tree { nodes }
    }
}
