//! Splits a formula into tokens. Each token has its position, so that an error can point at it.

use super::error::{FormulaError, Span};

/// A number, name, operator or punctuation mark of a formula.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Number(f64),
    /// A name in lower case: the names of cells, functions and scores are not case-sensitive.
    Name(String),
    /// A parameter in a registered formula, written as `$name`.
    Parameter(String),
    Plus,
    Minus,
    Times,
    Over,
    Power,
    Open,
    Close,
    Comma,
    /// The sign `=` between a parameter and its value, or the comparison `=` or `==` in a condition.
    Equal,
    NotEqual,
    AtLeast,
    AtMost,
    Above,
    Below,
    And,
    /// The sign `%` after the confidence of a condition.
    Percent,
    End,
}

/// A token and its position in the formula.
#[derive(Clone, Debug)]
pub(crate) struct SpannedToken {
    pub token: Token,
    pub span: Span,
}

/// Maximum length of a formula in bytes.
pub(crate) const MAX_BYTES: usize = 4096;

/// The tokens of a formula with their positions; the last token is [`Token::End`].
pub(crate) fn tokenize(text: &str) -> Result<Vec<SpannedToken>, FormulaError> {
    if text.len() > MAX_BYTES {
        return Err(FormulaError::without_position(format!(
            "a formula of {} bytes is too long; the maximum is {MAX_BYTES}",
            text.len()
        )));
    }
    let characters: Vec<char> = text.chars().collect();
    let mut result = Vec::new();
    let mut at = 0;
    while at < characters.len() {
        let start = at;
        let next = characters.get(at + 1).copied();
        let (token, length) = match characters[at] {
            c if c.is_whitespace() => {
                at += 1;
                continue;
            }
            '+' => (Token::Plus, 1),
            // −, ·, × and ÷ are accepted because papers use them, and ** because Python uses it for powers.
            '-' | '−' => (Token::Minus, 1),
            '*' if next == Some('*') => (Token::Power, 2),
            '*' | '·' | '×' => (Token::Times, 1),
            '/' | '÷' => (Token::Over, 1),
            '^' => (Token::Power, 1),
            '(' => (Token::Open, 1),
            ')' => (Token::Close, 1),
            ',' => (Token::Comma, 1),
            '=' if next == Some('=') => (Token::Equal, 2),
            '=' => (Token::Equal, 1),
            '!' if next == Some('=') => (Token::NotEqual, 2),
            '≠' => (Token::NotEqual, 1),
            '>' if next == Some('=') => (Token::AtLeast, 2),
            '≥' => (Token::AtLeast, 1),
            '<' if next == Some('=') => (Token::AtMost, 2),
            '≤' => (Token::AtMost, 1),
            '>' => (Token::Above, 1),
            '<' => (Token::Below, 1),
            '&' if next == Some('&') => (Token::And, 2),
            '%' => (Token::Percent, 1),
            '0'..='9' | '.' => read_number(&characters, at)?,
            '$' if next.is_some_and(is_name_start) => {
                let (name, length) = read_name(&characters, at + 1);
                (Token::Parameter(name), length + 1)
            }
            c if is_name_start(c) => match read_name(&characters, at) {
                (name, length) if name == "and" => (Token::And, length),
                (name, length) => (Token::Name(name), length),
            },
            c => {
                let message = format!("`{}` has no meaning in a formula", c.escape_debug());
                return Err(FormulaError::with_position(text, Span::new(at, at + 1), message));
            }
        };
        at += length;
        result.push(SpannedToken { token, span: Span::new(start, at) });
    }
    result.push(SpannedToken { token: Token::End, span: Span::new(at, at + 1) });
    Ok(result)
}

/// Whether a name can start with this character.
fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

/// The name that starts at index `start`, in lower case, and its length in characters.
fn read_name(characters: &[char], start: usize) -> (String, usize) {
    let name: String =
        characters[start..].iter().take_while(|c| c.is_ascii_alphanumeric() || **c == '_').collect::<String>();
    let length = name.len();
    (name.to_ascii_lowercase(), length)
}

/// Parses the number that starts at index `start` and returns its token and its length in characters. A number consists of digits,
/// optionally with a decimal point and an exponent. This is the syntax of `f64::from_str`, except that a sign, `inf` and `nan` are not accepted.
fn read_number(characters: &[char], start: usize) -> Result<(Token, usize), FormulaError> {
    let digits = |from: usize| characters[from..].iter().take_while(|c| c.is_ascii_digit()).count();
    let mut end = start + digits(start);
    if characters.get(end) == Some(&'.') {
        end += 1;
        end += digits(end);
    }
    if matches!(characters.get(end), Some('e' | 'E')) {
        let sign = usize::from(matches!(characters.get(end + 1), Some('+' | '-')));
        let exponent = digits((end + 1 + sign).min(characters.len()));
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    let literal: String = characters[start..end].iter().collect();
    let text = || characters.iter().collect::<String>();
    match literal.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((Token::Number(value), end - start)),
        Ok(_) => Err(FormulaError::with_position(&text(), Span::new(start, end), "this number is too large".into())),
        Err(_) => {
            let message = format!("`{literal}` is not a number");
            Err(FormulaError::with_position(&text(), Span::new(start, end.max(start + 1)), message))
        }
    }
}
