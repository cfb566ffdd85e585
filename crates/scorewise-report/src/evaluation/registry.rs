//! The registered scores and the families of priors, as JSON.

use scorewise::multiclass::{Average, MultiConfusion, MultiScore};
use scorewise::prior::{FAMILIES, Family};
use scorewise::score::{Parameter, REGISTRY, RegistryEntry, no_skill};
use scorewise::{Confusion, Direction, Prior, Score, Shape};
use serde::Serialize;

/// The levels of the quantiles of a prior.
const LEVELS: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// A score, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoreDescription {
    /// Its name in the registry, or its formula.
    pub name: String,
    /// The name with its parameters.
    pub signature: String,
    /// The formula over tp, fp, fn, tn, p, n and total.
    pub formula: String,
    /// The formula in LaTeX.
    pub latex: String,
    /// The formula in Python.
    pub python: String,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// Numbers that the score needs besides the matrix.
    pub parameters: Vec<ParameterDescription>,
    /// Which values are better.
    pub direction: ScoreDirection,
    /// The value of a perfect forecast.
    pub perfect: Option<f64>,
    /// The smallest and the largest value; `None` for an infinite end.
    pub range: Option<[Option<f64>; 2]>,
    /// The value of a forecast without skill; `None` when it varies.
    pub no_skill: Option<f64>,
    /// The shape of the formula.
    pub shape: &'static str,
    /// Conditions under which the score is undefined.
    pub undefined_when: Vec<String>,
    /// A remark.
    pub note: &'static str,
    /// The publication that introduced it.
    pub reference: &'static str,
    /// The value on a matrix, where one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Option<f64>>,
}

/// A parameter of a score, as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ParameterDescription {
    /// Its name.
    pub name: &'static str,
    /// Its value when none is given.
    pub default: Option<f64>,
}

/// Which values of a score are better, as JSON: `"higher"`, `"lower"` or `{"toward": 1.0}`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ScoreDirection {
    /// Higher values.
    Higher,
    /// Lower values.
    Lower,
    /// Values near this one.
    Toward(f64),
}

/// A score of more than two classes, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MultiScoreDescription {
    /// Its name.
    pub name: String,
    /// How a score of two classes is averaged; `None` for a score of the whole matrix.
    pub average: Option<&'static str>,
    /// The score that is averaged.
    pub of: Option<ScoreDescription>,
    /// The value on a matrix, where one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Option<f64>>,
}

/// A family of priors, as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PriorFamilyDescription {
    /// Its name.
    pub name: &'static str,
    /// How a prior of the family is written.
    pub form: &'static str,
    /// A prior of the family.
    pub example: &'static str,
    /// The distribution function.
    pub cdf: &'static str,
    /// When to use it.
    pub note: &'static str,
}

/// A prior, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PriorDescription {
    /// How it is written.
    pub prior: String,
    /// Where its density is positive.
    pub support: (f64, f64),
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation.
    pub deviation: f64,
    /// Some quantiles.
    pub quantiles: Vec<PriorQuantile>,
}

/// A quantile of a prior, as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PriorQuantile {
    /// The level.
    pub level: f64,
    /// The quantile.
    pub threshold: f64,
}

impl ScoreDescription {
    /// A score, evaluated on a matrix where one is given.
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
    /// A score of more than two classes, evaluated on a matrix of two classes where one is given.
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
    /// A prior.
    #[must_use]
    pub fn new(prior: &Prior) -> Self {
        let quantile = |level: f64| PriorQuantile { level, threshold: prior.quantile(level) };
        PriorDescription {
            prior: prior.to_string(),
            support: prior.support(),
            mean: prior.mean(),
            deviation: prior.variance().sqrt(),
            quantiles: LEVELS.map(quantile).to_vec(),
        }
    }
}

/// Every score of the registry; those with parameters at an example of them.
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

/// The shape of a score's formula.
#[must_use]
pub fn shape_name(score: &Score) -> &'static str {
    match score.shape() {
        Shape::Linear => "linear",
        Shape::LinearFractional => "linear-fractional",
        Shape::Nonlinear => "nonlinear",
    }
}
