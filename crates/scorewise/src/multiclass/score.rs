//! Scores of a multi-class forecast: a score of the whole matrix, or an average of the binary scores of the classes.

use std::fmt;
use std::str::FromStr;

use super::average::Average;
use super::confusion::MultiConfusion;
use super::costs::CostMatrix;
use super::square::SquareMatrix;
use super::{matrix_scores, tape};
use crate::formula::{Checked, FormulaError, Number, excerpt, ratio};
use crate::score::{Score, is_single_call, registry};

/// A score of an m×m confusion matrix.
///
/// ```
/// use scorewise::multiclass::{MultiConfusion, MultiScore};
///
/// let matrix = MultiConfusion::new(3, vec![50.0, 3.0, 2.0, 10.0, 30.0, 5.0, 1.0, 4.0, 15.0])?;
/// assert_eq!(MultiScore::parse("accuracy")?.value(&matrix), 95.0 / 120.0);
/// assert_eq!(MultiScore::parse("heidke")?.to_string(), "hss"); // aliases are accepted but never printed
/// let recall = MultiScore::parse("macro(recall)")?; // an average of any binary score
/// assert!((recall.value(&matrix) - (50.0 / 55.0 + 30.0 / 45.0 + 15.0 / 20.0) / 3.0).abs() < 1e-15);
/// let error = MultiScore::parse("f1").unwrap_err().to_string();
/// assert!(error.ends_with("hint: write `macro(f1)`, `weighted(f1)` or `micro(f1)`"));
/// # Ok::<(), scorewise::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MultiScore {
    /// The share of correctly predicted rows.
    Accuracy,
    /// The multi-class correlation R_K.
    Mcc,
    /// The Heidke skill score, also known as Cohen's κ.
    Hss,
    /// The Peirce skill score.
    Peirce,
    /// The Gerrity score, for ordered classes.
    Gerrity,
    /// The mean cost, if every pair of a true and a predicted class has its own cost; lower is better.
    Costs(CostMatrix),
    /// The average of a binary score over the classes, where each class is compared with all others.
    Classwise(Average, Score),
}

/// The scores that are computed from the whole matrix, with their names.
const MATRIX_SCORES: [(&str, MultiScore); 5] = [
    ("accuracy", MultiScore::Accuracy),
    ("mcc", MultiScore::Mcc),
    ("hss", MultiScore::Hss),
    ("peirce", MultiScore::Peirce),
    ("gerrity", MultiScore::Gerrity),
];

impl MultiScore {
    /// Parses `accuracy`, `mcc`, `hss`, `peirce`, `gerrity`, or `macro(…)`, `weighted(…)`, `micro(…)` of any binary score, or a matrix of costs such
    /// as `cost_matrix(0, 1, 5; 1, 0, 2; 10, 3, 0)`, with a row for each true class.
    ///
    /// The aliases of these names in the registry of binary scores, such as `heidke` for `hss`, are accepted as well.
    pub fn parse(text: &str) -> Result<Self, FormulaError> {
        let text = text.trim();
        if let Some((head, inside)) = split_call(text)
            && let Some(average) = Average::from_name(head)
        {
            return Ok(MultiScore::Classwise(average, Score::parse(inside)?));
        }
        if let Some((head, inside)) = split_call(text)
            && head.trim_end() == CostMatrix::NAME
        {
            return Ok(MultiScore::Costs(CostMatrix::parse(inside)?));
        }
        let name = text.to_ascii_lowercase().replace('-', "_");
        let name = match registry::row(&name).map_or(name.as_str(), |row| row.name) {
            "tss" => "peirce", // for two classes, tss is the Peirce score
            "r_k" | "rk" => "mcc",
            other => other,
        };
        match MATRIX_SCORES.iter().find(|(known, _)| *known == name) {
            Some((_, score)) => Ok(score.clone()),
            None => Err(unknown_score_error(text)),
        }
    }

    /// Returns an error if the score is a cost matrix and the number of its classes is not `classes`.
    pub fn check_classes(&self, classes: usize) -> crate::Result<()> {
        match self {
            MultiScore::Costs(costs) if costs.classes() != classes => {
                let reason = format!("is a matrix of costs for {} classes, but there are {classes}", costs.classes());
                Err(crate::Error::Setting { what: "score", reason })
            }
            _ => Ok(()),
        }
    }

    /// The value of the score as a loss uses it, with undefined results such as x/0 replaced by 0.
    #[must_use]
    pub fn value(&self, matrix: &MultiConfusion) -> f64 {
        self.value_of(&matrix.as_square_matrix(), |_, value| value)
    }

    /// The value of the score as a report shows it; `None` if the score is undefined. A weighted average ignores classes without rows, because their
    /// weight is 0.
    #[must_use]
    pub fn checked(&self, matrix: &MultiConfusion) -> Option<f64> {
        if let MultiScore::Classwise(Average::Weighted, score) = self {
            let supported = matrix.binaries().into_iter().map(|binary| (binary.counts().positives, binary));
            let supported: Vec<_> = supported.filter(|(support, _)| *support > 0.0).collect();
            let total: f64 = supported.iter().map(|(support, _)| support).sum();
            let weighted = supported.iter().map(|(support, binary)| Some(support * score.checked(binary)?));
            let sum: f64 = weighted.sum::<Option<f64>>()?;
            return (total > 0.0).then(|| ratio(sum, total));
        }
        let cells: Vec<_> = matrix.cells().iter().map(|cell| Checked::constant(*cell)).collect();
        let checked = self.value_of(&SquareMatrix { classes: matrix.classes(), cells: &cells }, |_, value| value);
        (checked.defined && checked.value.is_finite()).then_some(checked.value)
    }

    /// The loss. For a score of the whole matrix it is 1 − the score; for an average over classes it is the average of the losses of the classes. For
    /// a matrix of costs it is the mean cost, shifted and scaled so that the lowest cost is 0 and the highest is 1.
    #[must_use]
    pub fn loss(&self, matrix: &MultiConfusion) -> f64 {
        self.loss_of(&matrix.as_square_matrix())
    }

    /// The value of the score and its derivatives with respect to all m² cells of the matrix, row by row.
    #[must_use]
    pub fn value_and_derivatives(&self, matrix: &MultiConfusion) -> (f64, Vec<f64>) {
        let classes = matrix.classes();
        tape::value_and_derivatives(matrix.cells(), |cells| {
            self.value_of(&SquareMatrix { classes, cells }, |_, value| value)
        })
    }

    /// The loss and its derivatives with respect to all m² cells of the matrix, row by row.
    #[must_use]
    pub fn loss_and_derivatives(&self, matrix: &MultiConfusion) -> (f64, Vec<f64>) {
        let classes = matrix.classes();
        tape::value_and_derivatives(matrix.cells(), |cells| self.loss_of(&SquareMatrix { classes, cells }))
    }

    /// Same as [`MultiScore::loss`], but for any [`Number`] type.
    fn loss_of<T: Number>(&self, matrix: &SquareMatrix<'_, T>) -> T {
        match self {
            MultiScore::Classwise(..) => self.value_of(matrix, Score::loss_of),
            MultiScore::Costs(costs) => costs.loss(matrix),
            _ => T::constant(1.0).minus(self.value_of(matrix, |_, value| value)),
        }
    }

    /// The value of the score. In an average over classes, `of_class` is applied to the score of each class before averaging.
    fn value_of<T: Number>(&self, matrix: &SquareMatrix<'_, T>, of_class: impl Fn(&Score, T) -> T) -> T {
        match self {
            MultiScore::Accuracy => matrix_scores::accuracy(matrix),
            MultiScore::Mcc => matrix_scores::mcc(matrix),
            MultiScore::Hss => matrix_scores::hss(matrix),
            MultiScore::Peirce => matrix_scores::peirce(matrix),
            MultiScore::Gerrity => matrix_scores::gerrity(matrix),
            MultiScore::Costs(costs) => costs.mean(matrix),
            MultiScore::Classwise(average, score) => {
                average.over_classes(&matrix.binaries(), |cells| of_class(score, score.formula().value_of(cells)))
            }
        }
    }
}

/// Splits a text of the form `head(inside)` into `head` and `inside`; `None` for any other text.
fn split_call(text: &str) -> Option<(&str, &str)> {
    let open = text.find('(').filter(|open| is_single_call(text, *open))?;
    Some((&text[..open], &text[open + 1..text.len() - 1]))
}

/// The error for a text that is not a multi-class score, with a hint that lists the multi-class scores or suggests an average.
fn unknown_score_error(text: &str) -> FormulaError {
    let averages = |inside: &str| format!("`macro({inside})`, `weighted({inside})` or `micro({inside})`");
    let known: Vec<_> = MATRIX_SCORES.iter().map(|(name, _)| format!("`{name}`")).collect();
    let error = |what: &str| FormulaError::without_position(format!("{what} is not a multi-class score"));
    match Score::parse(text) {
        Ok(score) => error(&format!("`{score}`")).with_hint(format!("write {}", averages(score.name()))),
        Err(_) => error(&format!("`{}`", excerpt(text, 40))).with_hint(format!(
            "the multi-class scores are {}, and {}",
            known.join(", "),
            averages("…")
        )),
    }
}

impl fmt::Display for MultiScore {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MultiScore::Classwise(average, score) => write!(out, "{average}({score})"),
            MultiScore::Costs(costs) => write!(out, "{costs}"),
            matrix_score => MATRIX_SCORES
                .iter()
                .find(|(_, known)| known == matrix_score)
                .map_or(Ok(()), |(name, _)| out.write_str(name)),
        }
    }
}

impl FromStr for MultiScore {
    type Err = FormulaError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        MultiScore::parse(text)
    }
}
