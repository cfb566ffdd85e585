//! A formula as text again: plain, LaTeX, and Python source for hosts that evaluate on their own tensors.

use super::tree::{Binary, Cell, Node, Tree, Unary};

/// How tightly an expression holds together; brackets go around what is looser than its place allows.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Tightness {
    Sum,
    Product,
    Sign,
    Power,
    Atom,
}

impl Tree {
    /// As it is typed: `2*tp/(2*tp + fp + fn)`. Reads back to the same tree.
    pub fn text(&self) -> String {
        self.written(self.nodes().len() - 1).0
    }

    /// As it is set: `\frac{2\,\mathrm{TP}}{2\,\mathrm{TP} + \mathrm{FP} + \mathrm{FN}}`.
    pub fn latex(&self) -> String {
        self.set(self.nodes().len() - 1).0
    }

    /// As Python source over `tn fp fn tp p n total` and the functions `ratio power sqrt ln exp absolute minimum maximum`,
    /// which the host supplies with the guards of [`Number`](super::Number).
    pub fn python(&self) -> String {
        self.called(self.nodes().len() - 1).0
    }

    /// Every denominator and every argument of a logarithm that can come to 0, as conditions.
    pub fn pitfalls(&self) -> Vec<String> {
        let mut result = Vec::new();
        for node in self.nodes() {
            let pitfall = match *node {
                Node::Binary(Binary::Divide, _, b) if !self.is_constant(b) => format!("{} = 0", self.part(b)),
                Node::Unary(Unary::Ln, a) if !self.is_constant(a) => format!("{} = 0", self.part(a)),
                _ => continue,
            };
            if !result.contains(&pitfall) {
                result.push(pitfall);
            }
        }
        result
    }

    fn is_constant(&self, at: u16) -> bool {
        match self.nodes()[at as usize] {
            Node::Cell(_) => false,
            Node::Constant(_) => true,
            Node::Unary(_, a) => self.is_constant(a),
            Node::Binary(_, a, b) => self.is_constant(a) && self.is_constant(b),
        }
    }

    fn part(&self, at: u16) -> String {
        self.written(at as usize).0
    }

    fn written(&self, at: usize) -> (String, Tightness) {
        use Tightness::*;
        let child = |at: u16, needed: Tightness| bracketed(self.written(at as usize), needed, "(", ")");
        match self.nodes()[at] {
            Node::Cell(cell) => (cell.name().into(), Atom),
            Node::Constant(value) => (number(value), Atom),
            Node::Unary(Unary::Negate, a) => (format!("-{}", child(a, Sign)), Sign),
            Node::Unary(function, a) => (format!("{}({})", function_name(function), child(a, Sum)), Atom),
            Node::Binary(function, a, b) => match function {
                Binary::Add => (format!("{} + {}", child(a, Sum), child(b, Product)), Sum),
                Binary::Subtract => (format!("{} - {}", child(a, Sum), child(b, Product)), Sum),
                Binary::Multiply => (format!("{}*{}", child(a, Product), child(b, Sign)), Product),
                Binary::Divide => (format!("{}/{}", child(a, Product), child(b, Sign)), Product),
                Binary::Power => (format!("{}^{}", child(a, Atom), child(b, Sign)), Power),
                Binary::Min => (format!("min({}, {})", child(a, Sum), child(b, Sum)), Atom),
                Binary::Max => (format!("max({}, {})", child(a, Sum), child(b, Sum)), Atom),
            },
        }
    }

    fn set(&self, at: usize) -> (String, Tightness) {
        use Tightness::*;
        let child = |at: u16, needed: Tightness| bracketed(self.set(at as usize), needed, "\\left(", "\\right)");
        match self.nodes()[at] {
            Node::Cell(cell) => (latex_cell(cell).into(), Atom),
            Node::Constant(value) => (latex_number(value), Atom),
            Node::Unary(function, a) => match function {
                Unary::Negate => (format!("-{}", child(a, Sign)), Sign),
                Unary::Sqrt => (format!("\\sqrt{{{}}}", child(a, Sum)), Atom),
                Unary::Abs => (format!("\\left|{}\\right|", child(a, Sum)), Atom),
                Unary::Ln | Unary::Exp => {
                    (format!("\\{}\\left({}\\right)", function_name(function), child(a, Sum)), Atom)
                }
            },
            Node::Binary(function, a, b) => match function {
                Binary::Add => (format!("{} + {}", child(a, Sum), child(b, Product)), Sum),
                Binary::Subtract => (format!("{} - {}", child(a, Sum), child(b, Product)), Sum),
                Binary::Multiply => {
                    // Between two numbers a thin space would read as one number; a sign needs brackets.
                    let right = child(b, Power);
                    let sign = if right.starts_with(|c: char| c.is_ascii_digit()) { "\\cdot " } else { "\\," };
                    (format!("{}{sign}{right}", child(a, Product)), Product)
                }
                // A fraction holds together by itself, except under a power.
                Binary::Divide => (format!("\\frac{{{}}}{{{}}}", child(a, Sum), child(b, Sum)), Power),
                Binary::Power => (format!("{}^{{{}}}", child(a, Atom), child(b, Sum)), Power),
                Binary::Min => (format!("\\min\\left({}, {}\\right)", child(a, Sum), child(b, Sum)), Atom),
                Binary::Max => (format!("\\max\\left({}, {}\\right)", child(a, Sum), child(b, Sum)), Atom),
            },
        }
    }

    fn called(&self, at: usize) -> (String, Tightness) {
        use Tightness::*;
        let child = |at: u16, needed: Tightness| bracketed(self.called(at as usize), needed, "(", ")");
        let call = |name: &str, a: u16, b: u16| (format!("{name}({}, {})", child(a, Sum), child(b, Sum)), Atom);
        match self.nodes()[at] {
            Node::Cell(cell) => (cell.name().into(), Atom),
            Node::Constant(value) => (format!("{value:?}"), Atom),
            Node::Unary(Unary::Negate, a) => (format!("-{}", child(a, Sign)), Sign),
            Node::Unary(Unary::Abs, a) => (format!("absolute({})", child(a, Sum)), Atom),
            Node::Unary(function, a) => (format!("{}({})", function_name(function), child(a, Sum)), Atom),
            Node::Binary(function, a, b) => match function {
                Binary::Add => (format!("{} + {}", child(a, Sum), child(b, Product)), Sum),
                Binary::Subtract => (format!("{} - {}", child(a, Sum), child(b, Product)), Sum),
                Binary::Multiply => (format!("{} * {}", child(a, Product), child(b, Sign)), Product),
                Binary::Divide => call("ratio", a, b),
                Binary::Power => call("power", a, b),
                Binary::Min => call("minimum", a, b),
                Binary::Max => call("maximum", a, b),
            },
        }
    }
}

fn bracketed((text, tightness): (String, Tightness), needed: Tightness, open: &str, close: &str) -> String {
    if tightness < needed { format!("{open}{text}{close}") } else { text }
}

fn function_name(function: Unary) -> &'static str {
    match function {
        Unary::Negate => "-",
        Unary::Sqrt => "sqrt",
        Unary::Ln => "ln",
        Unary::Exp => "exp",
        Unary::Abs => "abs",
    }
}

/// The shortest digits that read back to the same number, without a useless `.0`.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_string)
}

fn latex_number(value: f64) -> String {
    match number(value).split_once('e') {
        Some(("1", exponent)) => format!("10^{{{exponent}}}"),
        Some((digits, exponent)) => format!("{digits} \\cdot 10^{{{exponent}}}"),
        None => number(value),
    }
}

fn latex_cell(cell: Cell) -> &'static str {
    match cell {
        Cell::Tn => "\\mathrm{TN}",
        Cell::Fp => "\\mathrm{FP}",
        Cell::Fn => "\\mathrm{FN}",
        Cell::Tp => "\\mathrm{TP}",
        Cell::Positives => "P",
        Cell::Negatives => "N",
        Cell::Total => "n",
    }
}
