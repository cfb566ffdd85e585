//! Descriptions of the registered scores and of the families of priors, in the form that is written as JSON.

use scorewise::multiclass::{Average, MultiConfusion, MultiScore};
use scorewise::prior::{FAMILIES, Family};
use scorewise::score::{Parameter, REGISTRY, RegistryEntry, no_skill};
use scorewise::{Confusion, Direction, Prior, Score, Shape};
use serde::Serialize;

/// The probabilities p for which the p-quantile of a prior is reported.
const QUANTILE_LEVELS: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// Name, formula and properties of a score, in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoreDescription {
    /// Name of the score in the registry; the formula itself for a score given as a formula.
    pub name: String,
    /// Name of the score with its parameters.
    pub signature: String,
    /// Formula of the score in tp, fp, fn, tn, p = tp + fn, n = fp + tn and total = p + n.
    pub formula: String,
    /// Formula of the score in LaTeX.
    pub latex: String,
    /// Formula of the score in Python.
    pub python: String,
    /// Other names under which the score is registered.
    pub aliases: &'static [&'static str],
    /// Parameters that the score takes in addition to the confusion matrix.
    pub parameters: Vec<ParameterDescription>,
    /// Whether higher values, lower values or values near an ideal are better.
    pub direction: ScoreDirection,
    /// Score of a perfect forecast.
    pub perfect: Option<f64>,
    /// Smallest and largest possible score; an end is `None` when it is infinite.
    pub range: Option<[Option<f64>; 2]>,
    /// Score of a forecast without skill; `None` when it is not the same for all such forecasts.
    pub no_skill: Option<f64>,
    /// Mathematical form of the formula: `linear`, `linear-fractional` or `nonlinear`.
    pub shape: &'static str,
    /// Descriptions of the conditions under which the score is undefined.
    pub undefined_when: Vec<String>,
    /// A remark on the score; may be empty.
    pub note: &'static str,
    /// Reference to the publication that introduced the score.
    pub reference: &'static str,
    /// Score of the given confusion matrix; the outer `None` means that no matrix was given, the inner one that the score is undefined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Option<f64>>,
}

/// A parameter of a score, in the form that is written as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ParameterDescription {
    /// Name of the parameter.
    pub name: &'static str,
    /// Default value of the parameter; `None` when the parameter is required.
    pub default: Option<f64>,
}

/// Which values of a score are better, written as JSON: `"higher"`, `"lower"` or `{"toward": 1.0}`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ScoreDirection {
    /// Higher values are better.
    Higher,
    /// Lower values are better.
    Lower,
    /// Values near this ideal value are better.
    Toward(f64),
}

/// A multiclass score and how it is averaged over the classes, in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MultiScoreDescription {
    /// Name of the multiclass score.
    pub name: String,
    /// The name of the way in which the scores of the classes are averaged, such as `macro`; `None` for a score of the whole confusion matrix.
    pub average: Option<&'static str>,
    /// The binary score that is averaged over the classes; `None` for a score of the whole confusion matrix.
    pub of: Option<ScoreDescription>,
    /// Score of the given confusion matrix; the outer `None` means that no matrix was given, the inner one that the score is undefined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Option<f64>>,
}

/// A family of priors, in the form that is written as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PriorFamilyDescription {
    /// Name of the family.
    pub name: &'static str,
    /// The syntax of a prior of this family with the names of its parameters, such as `cosine:centre,half_width`.
    pub form: &'static str,
    /// An example of a prior of this family.
    pub example: &'static str,
    /// Formula of the cumulative distribution function of the family.
    pub cdf: &'static str,
    /// A remark on the family, such as when to use it.
    pub note: &'static str,
}

/// Support, mean, standard deviation and quantiles of a prior, in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PriorDescription {
    /// The prior in the syntax that users write.
    pub prior: String,
    /// The interval on which the density of the prior is positive.
    pub support: (f64, f64),
    /// Mean of the prior.
    pub mean: f64,
    /// Standard deviation of the prior.
    pub deviation: f64,
    /// Quantiles of the prior for the probabilities 0.05, 0.25, 0.5, 0.75 and 0.95.
    pub quantiles: Vec<PriorQuantile>,
}

/// A quantile of a prior, in the form that is written as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PriorQuantile {
    /// Probability that a random threshold with this prior does not exceed the quantile.
    pub level: f64,
    /// The quantile, which is a threshold.
    pub threshold: f64,
}

impl ScoreDescription {
    /// Describes a score. If `matrix` is given, the description also contains the score of this confusion matrix.
    #[must_use]
    pub fn new(score: &Score, matrix: Option<&Confusion>) -> Self {
        let row = score.row();
        let end = |value: f64| value.is_finite().then_some(value);
        let parameter =
            |parameter: &Parameter| ParameterDescription { name: parameter.name, default: parameter.default };
        ScoreDescription {
            name: score.name().to_string(),
            signature: row.map_or(score.name().to_string(), RegistryEntry::signature),
            formula: score.formula().text(),
            latex: score.formula().latex(),
            python: score.formula().python(),
            aliases: row.map_or(&[][..], |row| row.aliases),
            parameters: row.map_or(Vec::new(), |row| row.parameters.iter().map(parameter).collect()),
            direction: match score.direction() {
                Direction::Higher => ScoreDirection::Higher,
                Direction::Lower => ScoreDirection::Lower,
                Direction::Toward(ideal) => ScoreDirection::Toward(ideal),
            },
            perfect: row.and_then(|row| row.perfect),
            range: row.map(|row| [end(row.range.0), end(row.range.1)]),
            no_skill: no_skill(score),
            shape: shape_name(score),
            undefined_when: score.formula().undefined_when(),
            note: row.map_or("", |row| row.note),
            reference: row.map_or("", |row| row.reference),
            value: matrix.map(|matrix| score.checked(matrix)),
        }
    }
}

impl MultiScoreDescription {
    /// Describes a multiclass score. If `matrix`, a binary confusion matrix, is given, the description also contains the score of this matrix.
    #[must_use]
    pub fn new(score: &MultiScore, matrix: Option<&Confusion>) -> Self {
        let (average, of) = match score {
            MultiScore::Classwise(average, score) => (Some(average), Some(score)),
            _ => (None, None),
        };
        MultiScoreDescription {
            name: score.to_string(),
            average: average.map(|average: &Average| average.name()),
            of: of.map(|score| ScoreDescription::new(score, None)),
            value: matrix.map(|matrix| {
                let matrix = MultiConfusion::new(2, matrix.array().to_vec()).ok()?;
                score.checked(&matrix)
            }),
        }
    }
}

impl PriorDescription {
    /// Describes a prior.
    #[must_use]
    pub fn new(prior: &Prior) -> Self {
        let quantile = |level: f64| PriorQuantile { level, threshold: prior.quantile(level) };
        PriorDescription {
            prior: prior.to_string(),
            support: prior.support(),
            mean: prior.mean(),
            deviation: prior.variance().sqrt(),
            quantiles: QUANTILE_LEVELS.map(quantile).to_vec(),
        }
    }
}

/// Every score of the registry. A score with parameters is returned with example values for its parameters.
pub fn registered_scores() -> impl Iterator<Item = Score> {
    REGISTRY.iter().filter_map(Score::example)
}

/// Every family of priors.
#[must_use]
pub fn prior_families() -> Vec<PriorFamilyDescription> {
    let family =
        |&Family { name, form, example, cdf, note }: &Family| PriorFamilyDescription { name, form, example, cdf, note };
    FAMILIES.iter().map(family).collect()
}

/// Name of the mathematical form of the score's formula: `linear`, `linear-fractional` or `nonlinear`.
#[must_use]
pub fn shape_name(score: &Score) -> &'static str {
    match score.shape() {
        Shape::Linear => "linear",
        Shape::LinearFractional => "linear-fractional",
        Shape::Nonlinear => "nonlinear",
    }
}
