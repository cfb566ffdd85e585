//! Errors in a formula, with the position of the error and the nearest known name.

use std::fmt;

/// A range of characters of the formula, from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    /// The range of characters from `start` up to but not including `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Span { start, end }
    }
}

/// An error in a formula. Displayed as a sentence, an excerpt of the formula with carets under the error, and a hint if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaError {
    message: String,
    excerpt: Option<Excerpt>,
    hint: Option<String>,
}

/// The part of the formula around an error, and the position of the carets below it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Excerpt {
    text: String,
    column: usize,
    width: usize,
}

/// Number of characters shown on each side of an error; limited so that the excerpt fits a terminal line for a formula of any length.
const CONTEXT_CHARACTERS: usize = 36;

impl FormulaError {
    /// An error that concerns the formula as a whole.
    pub(crate) fn without_position(message: String) -> Self {
        FormulaError { message, excerpt: None, hint: None }
    }

    /// An error at the characters `span` of the formula `text`.
    pub(crate) fn with_position(text: &str, span: Span, message: String) -> Self {
        FormulaError { message, excerpt: Some(Excerpt::new(text, span)), hint: None }
    }

    /// The same error with a hint, which is displayed below it.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The error in one sentence, without the excerpt.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl Excerpt {
    /// The characters of `text` around `span`, on one line.
    fn new(text: &str, span: Span) -> Self {
        let skipped = span.start.saturating_sub(CONTEXT_CHARACTERS);
        let mut line = String::new();
        if skipped > 0 {
            line.push('…');
        }
        let column = usize::from(skipped > 0) + span.start - skipped;
        let shown = (span.end - span.start).min(CONTEXT_CHARACTERS) + CONTEXT_CHARACTERS + span.start - skipped;
        let mut characters = text.chars().skip(skipped);
        for c in characters.by_ref().take(shown) {
            // Control characters are replaced by spaces: a tab or newline would misalign the caret, and others could disturb the terminal.
            line.push(if c.is_control() { ' ' } else { c });
        }
        if characters.next().is_some() {
            line.push('…');
        }
        let remaining = line.chars().count().saturating_sub(column).max(1);
        Excerpt { text: line, column, width: (span.end - span.start).clamp(1, remaining) }
    }
}

impl fmt::Display for FormulaError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.message)?;
        if let Some(excerpt) = &self.excerpt {
            write!(out, "\n  {}\n  {}{}", excerpt.text, " ".repeat(excerpt.column), "^".repeat(excerpt.width))?;
        }
        if let Some(hint) = &self.hint {
            write!(out, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for FormulaError {}

/// The first `limit` characters of a text for an error message, with control characters replaced by spaces; ends with … if the text is longer.
pub(crate) fn excerpt(text: &str, limit: usize) -> String {
    let mut excerpt: String = text.chars().take(limit).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(limit).is_some() {
        excerpt.push('…');
    }
    excerpt
}
