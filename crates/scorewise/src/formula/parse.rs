//! Recursive-descent parser from tokens to the expression tree; names of registered scores are replaced by their formulas.
//!
//! ```text
//! conditions = condition { ("and" | ",") condition }
//! condition  = formula comparison formula [ "per" number [ "rows" ] ] [ "with" number "%" ]
//! formula    = product { ("+" | "-") product }
//! product    = factor { ("*" | "/") factor }
//! factor     = ("-" | "+") factor | power
//! power      = atom [ "^" factor ]                       right-associative, binds tighter than a sign: -x^2 = -(x^2)
//! atom       = number | cell | "alarms" | function "(" formula, … ")" | score [ "(" [name "="] constant, … ")" ] | "(" formula ")"
//! ```

use super::error::{FormulaError, Span, excerpt};
use super::print::shortest_decimal;
use super::token::{SpannedToken, Token, tokenize};
use super::tree::{Binary, Builder, Cell, CellValues, ExpressionTree, LimitExceeded, Node, Unary};
use crate::score::registry::{self, Direction, RegistryEntry};

/// Maximum nesting of brackets, signs and powers: more than any real formula needs, and far below what would overflow the stack.
const MAX_NESTING: usize = 64;

/// Names of the functions that a formula can call.
const FUNCTIONS: [&str; 6] = ["sqrt", "ln", "exp", "abs", "min", "max"];

/// The comparison operator of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparator {
    AtLeast,
    Above,
    AtMost,
    Below,
    Equal,
    NotEqual,
}

/// The name that stands for tp + fp in a formula: the number of rows that are predicted positive.
const ALARMS: &str = "alarms";

/// One parsed condition: its left and right side, its comparison operator, its text, and the confidence (0.95 for `with 95%`) if it has one.
pub(crate) struct ParsedCondition {
    pub left: ExpressionTree,
    pub comparison: Comparator,
    pub right: ExpressionTree,
    pub text: String,
    pub confidence: Option<f64>,
}

/// Parses a formula.
pub(crate) fn parse_formula(text: &str) -> Result<ExpressionTree, FormulaError> {
    let mut parser = Parser::new(text, &[])?;
    let result = parser.parse_sum()?;
    parser.expect_end()?;
    Ok(parser.builder.tree(result))
}

/// Parses one or more conditions joined by `and` or a comma. A confidence applies to all conditions before it that have no confidence of their own.
pub(crate) fn parse_conditions(text: &str) -> Result<Vec<ParsedCondition>, FormulaError> {
    let mut result: Vec<ParsedCondition> = Vec::new();
    let mut parser = Parser::new(text, &[])?;
    let mut without_confidence = 0;
    loop {
        let condition = parser.parse_condition()?;
        result.push(condition);
        if let Some((confidence, span)) = parser.parse_confidence()? {
            for condition in &mut result[without_confidence..] {
                if matches!(condition.comparison, Comparator::Equal | Comparator::NotEqual) {
                    let message = "only a condition with >=, >, <= or < can have a confidence";
                    return Err(parser.error(span, message));
                }
                condition.confidence = Some(confidence / 100.0);
                condition.text = format!("{} with {}%", condition.text, shortest_decimal(confidence));
            }
            without_confidence = result.len();
        }
        match parser.peek() {
            Token::And | Token::Comma => parser.advance(),
            _ => {
                parser.expect_end()?;
                return Ok(result);
            }
        }
    }
}

/// A recursive-descent parser of formulas and conditions.
struct Parser<'a> {
    text: &'a str,
    tokens: Vec<SpannedToken>,
    /// Index in `tokens` of the token that is parsed next.
    at: usize,
    nesting: usize,
    builder: Builder,
    /// Names and values of the parameters (written as `$name`) of the registered formula that is being parsed; empty for a user's formula.
    parameters: &'a [(&'a str, f64)],
}

impl<'a> Parser<'a> {
    /// A parser for `text`. `parameters` are the names and values of the parameters (written as `$name`) that the text may contain.
    fn new(text: &'a str, parameters: &'a [(&'a str, f64)]) -> Result<Self, FormulaError> {
        Ok(Parser { text, tokens: tokenize(text)?, at: 0, nesting: 0, builder: Builder::default(), parameters })
    }

    /// The token that is parsed next; it is not consumed.
    fn peek(&self) -> &Token {
        &self.tokens[self.at].token
    }

    /// The position in the text of the token that is parsed next.
    fn current_span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// Consumes one token, unless it is the last one, `End`.
    fn advance(&mut self) {
        // The list of tokens ends with the token `End`. The index stays on `End`, so that there is always a next token.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    /// An error at a position of the text.
    fn error(&self, span: Span, message: impl Into<String>) -> FormulaError {
        FormulaError::with_position(self.text, span, message.into())
    }

    /// Returns an error unless the whole text has been parsed.
    fn expect_end(&self) -> Result<(), FormulaError> {
        match self.peek() {
            Token::End => Ok(()),
            Token::Close => Err(self.error(self.current_span(), "this bracket was never opened")),
            Token::AtLeast | Token::AtMost | Token::Above | Token::Below | Token::Equal | Token::NotEqual => {
                Err(self.error(self.current_span(), "a score cannot contain a comparison"))
            }
            Token::Percent => Err(self
                .error(self.current_span(), "`%` has no meaning in a formula")
                .with_hint("write 0.3 for 30 %; a condition can end with a confidence such as `with 95%`")),
            _ => Err(self
                .error(self.current_span(), "an operator is missing before the marked text")
                .with_hint("write `2*tp` for twice tp")),
        }
    }

    /// Parses two formulas with a comparison between them, and `per 1000` after them if the condition has it.
    fn parse_condition(&mut self) -> Result<ParsedCondition, FormulaError> {
        let start = self.current_span().start;
        let left = self.parse_sum()?;
        let comparison = match self.peek() {
            Token::AtLeast => Comparator::AtLeast,
            Token::Above => Comparator::Above,
            Token::AtMost => Comparator::AtMost,
            Token::Below => Comparator::Below,
            Token::Equal => Comparator::Equal,
            Token::NotEqual => Comparator::NotEqual,
            _ => {
                return Err(self
                    .error(
                        self.current_span(),
                        "a condition needs a comparison: one of >=, >, <=, <, =, != is missing here",
                    )
                    .with_hint("write a condition such as `precision >= 0.3`"));
            }
        };
        self.advance();
        let right = self.parse_sum()?;
        let right = self.parse_per(left, right)?;
        let end = self.current_span().start;
        let condition: String = self.text.chars().skip(start).take(end - start).collect();
        let (left, right) = (self.builder.tree(left), self.builder.tree(right));
        Ok(ParsedCondition { left, comparison, right, text: condition.trim().to_string(), confidence: None })
    }

    /// Whether the next token is this word.
    fn is_at_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(name) if name == word)
    }

    /// Parses `per 1000` or `per 1000 rows` after the right side of a condition, if it is there. Returns the right side, converted to the total
    /// number of rows: `50 per 1000` becomes 50·total/1000.
    fn parse_per(&mut self, left: u16, right: u16) -> Result<u16, FormulaError> {
        let span = self.current_span();
        if !self.is_at_word("per") {
            return Ok(right);
        }
        self.advance();
        let rows = match *self.peek() {
            Token::Number(rows) if rows > 0.0 => rows,
            _ => {
                let error = self.error(self.current_span(), "a number of rows above 0 is expected here");
                return Err(error.with_hint("write a condition such as `alarms <= 50 per 1000`"));
            }
        };
        self.advance();
        if self.is_at_word("rows") || self.is_at_word("row") {
            self.advance();
        }
        // If all cells of the matrix double, a number of rows doubles too, whereas a score such as precision stays the same.
        let left = self.builder.tree(left);
        let value = |scale: f64| {
            left.evaluate(&CellValues::new([13.0, 7.0, 5.0, 11.0].map(|cell| cell * scale)), &mut Vec::new())
        };
        let (once, twice): (f64, f64) = (value(1.0), value(2.0));
        if !((twice - 2.0 * once).abs() <= 1e-9 * once.abs() && once != 0.0) {
            let message = "only a number of rows, such as `alarms`, can be compared with a rate such as `50 per 1000`";
            return Err(self.error(span, message).with_hint("write a condition such as `alarms <= 50 per 1000`"));
        }
        let total = self.add(Node::Cell(Cell::Total), span)?;
        let product = self.add_binary(Binary::Multiply, right, total, span)?;
        let rows = self.add(Node::Constant(rows), span)?;
        self.add_binary(Binary::Divide, product, rows, span)
    }

    /// Parses the confidence after a condition, such as `with 95%`, if it is there. Returns the percentage and its position.
    fn parse_confidence(&mut self) -> Result<Option<(f64, Span)>, FormulaError> {
        if !self.is_at_word("with") {
            return Ok(None);
        }
        self.advance();
        let span = self.current_span();
        let Token::Number(percentage) = *self.peek() else {
            let error = self.error(span, "a percentage is expected here");
            return Err(error.with_hint("write a confidence such as `with 95%`"));
        };
        self.advance();
        if *self.peek() != Token::Percent {
            let error = self.error(span, "a confidence is a percentage, and `%` is missing after this number");
            return Err(error.with_hint("write a confidence such as `with 95%`"));
        }
        self.advance();
        if !(50.0..100.0).contains(&percentage) {
            let error = self.error(span, "a confidence must be a percentage from 50 to below 100");
            return Err(error.with_hint("write a confidence such as `with 95%`"));
        }
        Ok(Some((percentage, span)))
    }

    /// Adds a node to the tree and returns its index. `span` is the position that is reported if the formula becomes too large.
    fn add(&mut self, node: Node, span: Span) -> Result<u16, FormulaError> {
        self.builder.add(node).map_err(|limit| {
            let message = match limit {
                LimitExceeded::Size => "the formula becomes too large here",
                LimitExceeded::Depth => "the formula is nested too deeply here",
            };
            self.error(span, message)
        })
    }

    /// Adds an operation with two operands to the tree and returns the index of its node.
    fn add_binary(&mut self, function: Binary, left: u16, right: u16, span: Span) -> Result<u16, FormulaError> {
        self.add(Node::Binary(function, left, right), span)
    }

    /// Parses a sum of products and returns the index of its node.
    fn parse_sum(&mut self) -> Result<u16, FormulaError> {
        let mut left = self.parse_product()?;
        loop {
            let function = match self.peek() {
                Token::Plus => Binary::Add,
                Token::Minus => Binary::Subtract,
                _ => return Ok(left),
            };
            let span = self.current_span();
            self.advance();
            let right = self.parse_product()?;
            left = self.add_binary(function, left, right, span)?;
        }
    }

    /// Parses a product of factors and returns the index of its node.
    fn parse_product(&mut self) -> Result<u16, FormulaError> {
        let mut left = self.parse_factor()?;
        loop {
            let function = match self.peek() {
                Token::Times => Binary::Multiply,
                Token::Over => Binary::Divide,
                _ => return Ok(left),
            };
            let span = self.current_span();
            self.advance();
            let right = self.parse_factor()?;
            left = self.add_binary(function, left, right, span)?;
        }
    }

    /// Parses a sign followed by a factor, or a power, and returns the index of its node. All nesting (brackets, signs, powers)
    /// passes through this function, so it checks the depth.
    fn parse_factor(&mut self) -> Result<u16, FormulaError> {
        let span = self.current_span();
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(self.error(span, format!("the formula is nested more than {MAX_NESTING} levels deep here")));
        }
        let result = match self.peek() {
            Token::Minus => {
                self.advance();
                let inner = self.parse_factor()?;
                self.add(Node::Unary(Unary::Negate, inner), span)?
            }
            Token::Plus => {
                self.advance();
                self.parse_factor()?
            }
            _ => {
                let base = self.parse_atom()?;
                if *self.peek() == Token::Power {
                    let span = self.current_span();
                    self.advance();
                    let exponent = self.parse_factor()?;
                    self.add_binary(Binary::Power, base, exponent, span)?
                } else {
                    base
                }
            }
        };
        self.nesting -= 1;
        Ok(result)
    }

    /// Parses a number, a cell, a function call, a score, a parameter or a formula in brackets, and returns the index of its node.
    fn parse_atom(&mut self) -> Result<u16, FormulaError> {
        let span = self.current_span();
        let token = self.peek().clone();
        self.advance();
        match token {
            Token::Number(value) => self.add(Node::Constant(value), span),
            Token::Open => {
                let inner = self.parse_sum()?;
                self.expect_close(span)?;
                Ok(inner)
            }
            Token::Name(name) => self.parse_name(&name, span),
            Token::Parameter(name) => match self.parameters.iter().find(|(known, _)| *known == name) {
                Some(&(_, value)) => self.add_signed_constant(value, span),
                None => Err(self.error(span, format!("`${name}` is not a parameter of this formula"))),
            },
            Token::End => Err(self.error(span, "the formula ends too early: a number, a cell or a score is missing")),
            Token::Close => Err(self.error(span, "a number, a cell or a score is missing before this bracket")),
            _ => Err(self.error(span, "a number, a cell or a score is expected here")),
        }
    }

    /// Consumes a closing bracket, or returns an error; `opened` is the position of the opening bracket.
    fn expect_close(&mut self, opened: Span) -> Result<(), FormulaError> {
        match self.peek() {
            Token::Close => {
                self.advance();
                Ok(())
            }
            Token::End => Err(self.error(opened, "this bracket is never closed")),
            _ => {
                Err(self
                    .error(self.current_span(), "a closing bracket or an operator is missing before the marked text"))
            }
        }
    }

    /// Adds a constant to the tree; the sign of a negative constant becomes a separate node. The parser treats the minus sign of a printed
    /// formula in the same way, so printing a formula and parsing it again gives the same tree.
    fn add_signed_constant(&mut self, value: f64, span: Span) -> Result<u16, FormulaError> {
        let index = self.add(Node::Constant(value.abs()), span)?;
        if value.is_sign_negative() { self.add(Node::Unary(Unary::Negate, index), span) } else { Ok(index) }
    }

    /// Parses a cell, a function call or a score whose name has just been read, and returns the index of its node.
    fn parse_name(&mut self, name: &str, span: Span) -> Result<u16, FormulaError> {
        if let Some(cell) = Cell::from_name(name) {
            return self.add(Node::Cell(cell), span);
        }
        if name == ALARMS {
            let (tp, fp) = (self.add(Node::Cell(Cell::Tp), span)?, self.add(Node::Cell(Cell::Fp), span)?);
            return self.add_binary(Binary::Add, tp, fp, span);
        }
        if FUNCTIONS.contains(&name) {
            return self.parse_function_call(name, span);
        }
        match registry::row(name) {
            Some(row) => {
                let values = self.parse_arguments(row, span)?;
                self.expand_score(row, &values, span)
            }
            None => {
                let error = self.error(span, format!("`{}` is not a score, a cell or a function", excerpt(name, 40)));
                Err(match nearest_name(name) {
                    Some(known) => error.with_hint(format!("did you mean `{known}`?")),
                    None => error.with_hint("`scorewise scores` lists all scores"),
                })
            }
        }
    }

    /// Parses the arguments of the function `name` and returns the index of the node of the call.
    fn parse_function_call(&mut self, name: &str, span: Span) -> Result<u16, FormulaError> {
        if *self.peek() != Token::Open {
            return Err(self.error(span, format!("`{name}` is a function: write `{name}(…)`")));
        }
        let opened = self.current_span();
        self.advance();
        let first = self.parse_sum()?;
        let unary = match name {
            "sqrt" => Some(Unary::Sqrt),
            "ln" => Some(Unary::Ln),
            "exp" => Some(Unary::Exp),
            "abs" => Some(Unary::Abs),
            _ => None,
        };
        if let Some(function) = unary {
            if *self.peek() == Token::Comma {
                return Err(self.error(self.current_span(), format!("`{name}` takes one argument")));
            }
            self.expect_close(opened)?;
            return self.add(Node::Unary(function, first), span);
        }
        // min and max take two or more arguments.
        let function = if name == "min" { Binary::Min } else { Binary::Max };
        if *self.peek() != Token::Comma {
            return Err(self.error(self.current_span(), format!("`{name}` takes two or more arguments")));
        }
        let mut result = first;
        while *self.peek() == Token::Comma {
            self.advance();
            let right = self.parse_sum()?;
            result = self.add_binary(function, result, right, span)?;
        }
        self.expect_close(opened)?;
        Ok(result)
    }

    /// Parses the arguments of a score, given by position or by name, and returns the name and value of every parameter.
    /// Parameters that are not given have their defaults.
    fn parse_arguments(
        &mut self,
        row: &'static RegistryEntry,
        span: Span,
    ) -> Result<Vec<(&'static str, f64)>, FormulaError> {
        let mut values: Vec<Option<f64>> = vec![None; row.parameters.len()];
        if *self.peek() == Token::Open {
            let opened = self.current_span();
            if row.parameters.is_empty() {
                let message = format!("`{}` takes no parameters", row.name);
                return Err(self.error(opened, message));
            }
            self.advance();
            let mut count = 0;
            while *self.peek() != Token::Close {
                if count > 0 {
                    if *self.peek() != Token::Comma {
                        self.expect_close(opened)?;
                    }
                    self.advance();
                }
                let (index, value, at) = self.parse_argument(row, count)?;
                if values[index].is_some() {
                    let message = format!("`{}` is given twice", row.parameters[index].name);
                    return Err(self.error(at, message));
                }
                let parameter = &row.parameters[index];
                if !(value >= parameter.low && value <= parameter.high && value.is_finite()) {
                    let (name, bounds) = (parameter.name, parameter.bounds());
                    let message = format!("{name} must be {bounds}, not {value}");
                    return Err(self.error(at, message));
                }
                values[index] = Some(value);
                count += 1;
            }
            self.expect_close(opened)?;
        }
        row.parameters
            .iter()
            .zip(values)
            .map(|(parameter, value)| match value.or(parameter.default) {
                Some(value) => Ok((parameter.name, value)),
                None => {
                    let message = format!("`{}` needs a value for {}", row.name, parameter.name);
                    Err(self.error(span, message).with_hint(format!("write `{}`", row.signature())))
                }
            })
            .collect()
    }

    /// Parses one argument and returns the index of its parameter, its value, and its position in the text.
    fn parse_argument(
        &mut self,
        row: &'static RegistryEntry,
        count: usize,
    ) -> Result<(usize, f64, Span), FormulaError> {
        let at = self.current_span();
        let named = match (self.peek().clone(), self.tokens.get(self.at + 1).map(|spanned| &spanned.token)) {
            (Token::Name(name), Some(Token::Equal)) => Some(name),
            _ => None,
        };
        let index = match &named {
            Some(name) => {
                self.advance();
                self.advance();
                row.parameters.iter().position(|parameter| parameter.name == name)
            }
            None => (count < row.parameters.len()).then_some(count),
        };
        // Parameters named after cells must be given by name, because users expect different orders: is `cost(1, 10)` fp=1, fn=10 or tn=1, fp=10?
        if named.is_none() && row.parameters.iter().any(|parameter| Cell::from_name(parameter.name).is_some()) {
            let error = self.error(at, format!("the parameters of `{}` must be given by name", row.name));
            let numbers = if row.direction == Direction::Lower { "fp=1, fn=10" } else { "tn=1, tp=10" };
            return Err(error.with_hint(format!(
                "write the name of the cell before each number, such as `{}({numbers})`",
                row.name
            )));
        }
        let Some(index) = index else {
            let names: Vec<_> = row.parameters.iter().map(|parameter| parameter.name).collect();
            let parameters = if names.len() == 1 { "parameter" } else { "parameters" };
            let (score, names) = (row.name, names.join(", "));
            let message = format!("`{score}` takes only the {parameters} {names}");
            return Err(self.error(at, message));
        };
        let value = self.parse_sum()?;
        match self.builder.constant_value(value) {
            Some(value) => Ok((index, value, at)),
            None => Err(self.error(at, format!("a parameter of `{}` must be a number, not a formula", row.name))),
        }
    }

    /// Adds the formula of a registered score to the tree, in place of the name of the score.
    fn expand_score(
        &mut self,
        row: &'static RegistryEntry,
        values: &[(&str, f64)],
        span: Span,
    ) -> Result<u16, FormulaError> {
        // The formula of a registered score may contain names of other scores, which are expanded in the same way. A test checks that this
        // recursion ends.
        let mut inner = Parser::new(row.formula, values)?;
        inner.builder = std::mem::take(&mut self.builder);
        let result = inner.parse_sum().and_then(|result| inner.expect_end().map(|()| result));
        self.builder = inner.builder;
        result.map_err(|error| self.error(span, error.message().to_string()))
    }
}

/// The known name most similar to `name`; `None` if no known name is similar.
pub(crate) fn nearest_name(name: &str) -> Option<&'static str> {
    if name.len() > 40 {
        return None;
    }
    let known = Cell::ALL.iter().map(|(_, cell)| *cell).chain(FUNCTIONS).chain([ALARMS]);
    let all = known.chain(registry::names());
    // A suggestion may differ in one character of a short name, or in a third of the characters of a long name. A name that differs more
    // would be misleading.
    let limit = 1.max(name.len() / 3);
    all.filter(|known| known.len().abs_diff(name.len()) <= limit)
        .map(|known| (known, strsim::damerau_levenshtein(name, known)))
        .filter(|(_, distance)| *distance <= limit)
        .min_by_key(|(known, distance)| (*distance, known.len()))
        .map(|(known, _)| known)
}
