//! What a forecast of many classes is judged by: a score of the whole matrix, or the classes' own scores averaged.

use std::fmt;
use std::str::FromStr;

use super::average::Average;
use super::confusion::MultiConfusion;
use super::square::Square;
use super::{tape, whole};
use crate::formula::{Checked, FormulaError, Number, ratio};
use crate::score::{Score, is_single_call, registry};

/// A score of an m×m confusion matrix.
///
/// ```
/// use scorewise::multiclass::{MultiConfusion, MultiScore};
///
/// let matrix = MultiConfusion::new(3, vec![50.0, 3.0, 2.0, 10.0, 30.0, 5.0, 1.0, 4.0, 15.0])?;
/// assert_eq!(MultiScore::parse("accuracy")?.value(&matrix), 95.0 / 120.0);
/// assert_eq!(MultiScore::parse("heidke")?.to_string(), "hss"); // an alias is read, never printed
/// let recall = MultiScore::parse("macro(recall)")?; // any score of two classes, averaged
/// assert!((recall.value(&matrix) - (50.0 / 55.0 + 30.0 / 45.0 + 15.0 / 20.0) / 3.0).abs() < 1e-15);
/// let error = MultiScore::parse("f1").unwrap_err().to_string();
/// assert!(error.ends_with("hint: write `macro(f1)`, `weighted(f1)` or `micro(f1)`"));
/// # Ok::<(), scorewise::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MultiScore {
    /// Σ Eₖₖ / n.
    Accuracy,
    /// The correlation of m classes, R_K.
    Mcc,
    /// Heidke's skill score, Cohen's κ.
    Hss,
    /// Peirce's skill score.
    Peirce,
    /// Gerrity's score, for ordered classes.
    Gerrity,
    /// A score of two classes for each class against the rest, averaged.
    Classwise(Average, Score),
}

/// Those of the whole matrix, by name.
const WHOLE: [(&str, MultiScore); 5] = [
    ("accuracy", MultiScore::Accuracy),
    ("mcc", MultiScore::Mcc),
    ("hss", MultiScore::Hss),
    ("peirce", MultiScore::Peirce),
    ("gerrity", MultiScore::Gerrity),
];

impl MultiScore {
    /// `accuracy`, `mcc`, `hss`, `peirce`, `gerrity`, or `macro(…)`, `weighted(…)`, `micro(…)` of any score of two classes.
    ///
    /// Aliases are those of the two-class registry.
    pub fn parse(text: &str) -> Result<Self, FormulaError> {
        let text = text.trim();
        if let Some((head, inside)) = call(text)
            && let Some(average) = Average::named(head)
        {
            return Ok(MultiScore::Classwise(average, Score::parse(inside)?));
        }
        let name = text.to_ascii_lowercase().replace('-', "_");
        let name = match registry::row(&name).map_or(name.as_str(), |row| row.name) {
            "tss" => "peirce", // with two classes they are the same
            "r_k" | "rk" => "mcc",
            other => other,
        };
        match WHOLE.iter().find(|(known, _)| *known == name) {
            Some((_, score)) => Ok(score.clone()),
            None => Err(unknown(text)),
        }
    }

    /// The value as a loss takes it: x/0 := 0.
    #[must_use]
    pub fn value(&self, matrix: &MultiConfusion) -> f64 {
        self.value_of(&matrix.square(), |_, value| value)
    }

    /// The value as a report shows it: nothing where it is undefined. A weighted average leaves out classes without rows,
    /// which count for nothing in it.
    #[must_use]
    pub fn checked(&self, matrix: &MultiConfusion) -> Option<f64> {
        if let MultiScore::Classwise(Average::Weighted, score) = self {
            let supported = matrix.binaries().into_iter().map(|binary| (binary.counts().positives, binary));
            let supported: Vec<_> = supported.filter(|(support, _)| *support > 0.0).collect();
            let total: f64 = supported.iter().map(|(support, _)| support).sum();
            let parts = supported.iter().map(|(support, binary)| Some(support * score.checked(binary)?));
            let sum: f64 = parts.sum::<Option<f64>>()?;
            return (total > 0.0).then(|| ratio(sum, total));
        }
        let cells: Vec<_> = matrix.cells().iter().map(|cell| Checked::constant(*cell)).collect();
        let checked = self.value_of(&Square { classes: matrix.classes(), cells: &cells }, |_, value| value);
        (checked.defined && checked.value.is_finite()).then_some(checked.value)
    }

    /// The loss: 1 − the value, or the average of the classes' own losses where lower, or a certain value, is better.
    #[must_use]
    pub fn loss(&self, matrix: &MultiConfusion) -> f64 {
        self.loss_of(&matrix.square())
    }

    /// The value and its slopes by all m² cells, row by row.
    #[must_use]
    pub fn value_and_slopes(&self, matrix: &MultiConfusion) -> (f64, Vec<f64>) {
        let classes = matrix.classes();
        tape::value_and_slopes(matrix.cells(), |cells| self.value_of(&Square { classes, cells }, |_, value| value))
    }

    /// The loss and its slopes by all m² cells, row by row.
    #[must_use]
    pub fn loss_and_slopes(&self, matrix: &MultiConfusion) -> (f64, Vec<f64>) {
        let classes = matrix.classes();
        tape::value_and_slopes(matrix.cells(), |cells| self.loss_of(&Square { classes, cells }))
    }

    fn loss_of<T: Number>(&self, matrix: &Square<'_, T>) -> T {
        match self {
            MultiScore::Classwise(..) => self.value_of(matrix, Score::loss_of),
            _ => T::constant(1.0).minus(self.value_of(matrix, |_, value| value)),
        }
    }

    /// The score, with what is averaged over classes made from each class's value.
    fn value_of<T: Number>(&self, matrix: &Square<'_, T>, of_class: impl Fn(&Score, T) -> T) -> T {
        match self {
            MultiScore::Accuracy => whole::accuracy(matrix),
            MultiScore::Mcc => whole::mcc(matrix),
            MultiScore::Hss => whole::hss(matrix),
            MultiScore::Peirce => whole::peirce(matrix),
            MultiScore::Gerrity => whole::gerrity(matrix),
            MultiScore::Classwise(average, score) => {
                average.of(&matrix.binaries(), |cells| of_class(score, score.formula().value_of(cells)))
            }
        }
    }
}

/// `head(inside)`, where the text is that and nothing else.
fn call(text: &str) -> Option<(&str, &str)> {
    let open = text.find('(').filter(|open| is_single_call(text, *open))?;
    Some((&text[..open], &text[open + 1..text.len() - 1]))
}

fn unknown(text: &str) -> FormulaError {
    let averages = |inside: &str| format!("`macro({inside})`, `weighted({inside})` or `micro({inside})`");
    let known: Vec<_> = WHOLE.iter().map(|(name, _)| format!("`{name}`")).collect();
    let fault = |what: &str| FormulaError::without_position(format!("{what} is not a score of many classes"));
    match Score::parse(text) {
        Ok(score) => fault(&format!("`{score}`")).hint(format!("write {}", averages(score.name()))),
        Err(_) => fault(&format!("`{}`", excerpt(text))).hint(format!(
            "there are {}, and {}",
            known.join(", "),
            averages("…")
        )),
    }
}

/// At most forty characters, without control characters: an error is a sentence, not an echo.
fn excerpt(text: &str) -> String {
    text.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

impl fmt::Display for MultiScore {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MultiScore::Classwise(average, score) => write!(out, "{average}({score})"),
            whole => WHOLE.iter().find(|(_, known)| known == whole).map_or(Ok(()), |(name, _)| out.write_str(name)),
        }
    }
}

impl FromStr for MultiScore {
    type Err = FormulaError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        MultiScore::parse(text)
    }
}
