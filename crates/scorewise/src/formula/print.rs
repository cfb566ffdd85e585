//! Prints a formula as plain text, LaTeX, or Python source for frameworks that evaluate it on their own tensors.

use super::tree::{Binary, Cell, ExpressionTree, Node, Unary};

/// The precedences of operators, lowest first. An operand is put in brackets if its own operator has too low a precedence for its place in the
/// formula.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Precedence {
    Sum,
    Product,
    Sign,
    Power,
    Atom,
}

impl ExpressionTree {
    /// Plain text such as `2*tp/(2*tp + fp + fn)`, which parses back to the same tree.
    pub fn text(&self) -> String {
        self.text_of(self.nodes().len() - 1).0
    }

    /// LaTeX such as `\frac{2\,\mathrm{TP}}{2\,\mathrm{TP} + \mathrm{FP} + \mathrm{FN}}`.
    pub fn latex(&self) -> String {
        self.latex_of(self.nodes().len() - 1).0
    }

    /// Python source over the variables `tn fp fn tp p n total` and the functions `ratio power sqrt ln exp absolute minimum maximum`,
    /// which the caller must define. They must return 0 where the result is undefined, like the methods of [`Number`](super::Number).
    pub fn python(&self) -> String {
        self.python_of(self.nodes().len() - 1).0
    }

    /// The conditions under which the formula is undefined, as texts such as `tp + fp = 0`: one for every denominator and one for every argument of a
    /// logarithm, except constants. Negative arguments of logarithms and roots are not listed.
    pub fn undefined_when(&self) -> Vec<String> {
        let mut result = Vec::new();
        for node in self.nodes() {
            let argument = match *node {
                Node::Binary(Binary::Divide, _, denominator) => denominator,
                Node::Unary(Unary::Ln, argument) => argument,
                _ => continue,
            };
            let condition = format!("{} = 0", self.text_of(argument as usize).0);
            if !self.is_constant(argument) && !result.contains(&condition) {
                result.push(condition);
            }
        }
        result
    }

    /// Whether the node with index `at` depends on no cell of the confusion matrix.
    fn is_constant(&self, at: u16) -> bool {
        match self.nodes()[at as usize] {
            Node::Cell(_) => false,
            Node::Constant(_) => true,
            Node::Unary(_, a) => self.is_constant(a),
            Node::Binary(_, a, b) => self.is_constant(a) && self.is_constant(b),
        }
    }

    /// The text of the node with index `at`, and the precedence of its operator.
    fn text_of(&self, at: usize) -> (String, Precedence) {
        use Precedence::*;
        let child = |at: u16, needed: Precedence| with_brackets_if_needed(self.text_of(at as usize), needed, "(", ")");
        match self.nodes()[at] {
            Node::Cell(cell) => (cell.name().into(), Atom),
            Node::Constant(value) => (shortest_decimal(value), Atom),
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

    /// The LaTeX of the node with index `at`, and the precedence of its operator.
    fn latex_of(&self, at: usize) -> (String, Precedence) {
        use Precedence::*;
        let child = |at: u16, needed: Precedence| {
            with_brackets_if_needed(self.latex_of(at as usize), needed, "\\left(", "\\right)")
        };
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
                    // A dot separates a number from the factor before it, because two numbers with a thin space between them would look
                    // like one number. A negated factor needs brackets.
                    let right = child(b, Power);
                    let separator = if right.starts_with(|c: char| c.is_ascii_digit()) { "\\cdot " } else { "\\," };
                    (format!("{}{separator}{right}", child(a, Product)), Product)
                }
                // A fraction needs no brackets, except as the base of a power.
                Binary::Divide => (format!("\\frac{{{}}}{{{}}}", child(a, Sum), child(b, Sum)), Power),
                Binary::Power => (format!("{}^{{{}}}", child(a, Atom), child(b, Sum)), Power),
                Binary::Min => (format!("\\min\\left({}, {}\\right)", child(a, Sum), child(b, Sum)), Atom),
                Binary::Max => (format!("\\max\\left({}, {}\\right)", child(a, Sum), child(b, Sum)), Atom),
            },
        }
    }

    /// The Python source of the node with index `at`, and the precedence of its operator.
    fn python_of(&self, at: usize) -> (String, Precedence) {
        use Precedence::*;
        let child =
            |at: u16, needed: Precedence| with_brackets_if_needed(self.python_of(at as usize), needed, "(", ")");
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

/// Puts the text of an expression between `open` and `close` if the precedence of its operator is lower than `needed`.
fn with_brackets_if_needed(
    (text, precedence): (String, Precedence),
    needed: Precedence,
    open: &str,
    close: &str,
) -> String {
    if precedence < needed { format!("{open}{text}{close}") } else { text }
}

/// The name of a function in the text of a formula, such as `sqrt`; `-` for a negation.
fn function_name(function: Unary) -> &'static str {
    match function {
        Unary::Negate => "-",
        Unary::Sqrt => "sqrt",
        Unary::Ln => "ln",
        Unary::Exp => "exp",
        Unary::Abs => "abs",
    }
}

/// The shortest decimal that parses to the same number, without a trailing `.0`.
pub(crate) fn shortest_decimal(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_string)
}

/// A number as LaTeX, with a power of ten instead of an exponent such as `e-7`.
fn latex_number(value: f64) -> String {
    match shortest_decimal(value).split_once('e') {
        Some(("1", exponent)) => format!("10^{{{exponent}}}"),
        Some((digits, exponent)) => format!("{digits} \\cdot 10^{{{exponent}}}"),
        None => shortest_decimal(value),
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
