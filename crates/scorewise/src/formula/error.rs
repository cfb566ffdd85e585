//! What is wrong with a formula, and where: the text with a caret under the fault, and the nearest known name.

use std::fmt;

/// A stretch of characters of the text, from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Self {
        Span { start, end }
    }
}

/// A fault in a formula. Shown, it is a sentence, the text with carets under the fault, and a hint where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaError {
    message: String,
    place: Option<Place>,
    hint: Option<String>,
}

/// The piece of the text around the fault, ready to print.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    excerpt: String,
    column: usize,
    width: usize,
}

/// Characters shown on either side of a fault: the line fits a terminal whatever the length of the formula.
const CONTEXT: usize = 36;

impl FormulaError {
    pub(crate) fn plain(message: String) -> Self {
        FormulaError { message, place: None, hint: None }
    }

    pub(crate) fn at(text: &str, span: Span, message: String) -> Self {
        FormulaError { message, place: Some(Place::new(text, span)), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The fault in one sentence, without the excerpt.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl Place {
    fn new(text: &str, span: Span) -> Self {
        let skipped = span.start.saturating_sub(CONTEXT);
        let mut excerpt = String::new();
        if skipped > 0 {
            excerpt.push('…');
        }
        let column = usize::from(skipped > 0) + span.start - skipped;
        let shown = (span.end - span.start).min(CONTEXT) + CONTEXT + span.start - skipped;
        let mut characters = text.chars().skip(skipped);
        for c in characters.by_ref().take(shown) {
            // A tab or a newline would move the caret; a control character could do worse to a terminal.
            excerpt.push(if c.is_control() { ' ' } else { c });
        }
        if characters.next().is_some() {
            excerpt.push('…');
        }
        let room = excerpt.chars().count().saturating_sub(column).max(1);
        Place { excerpt, column, width: (span.end - span.start).clamp(1, room) }
    }
}

impl fmt::Display for FormulaError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.message)?;
        if let Some(place) = &self.place {
            write!(out, "\n  {}\n  {}{}", place.excerpt, " ".repeat(place.column), "^".repeat(place.width))?;
        }
        if let Some(hint) = &self.hint {
            write!(out, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for FormulaError {}
