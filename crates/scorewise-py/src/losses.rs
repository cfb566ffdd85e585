//! Losses, their gradients with respect to the logits, and expected confusion matrices.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use scorewise::multiclass::{AnyOf, ClassRows, OneOf, OneVersusRest};
use scorewise::temporal::{Series, TemporalLoss, Weighting};
use scorewise::{ExactLoss, Logits, Loss, Prior, Probabilities, Real, Result, Score, ScoreLoss};

use crate::arrays::{BoolArray, FloatArray, RowArrays, slice, with_floats, with_rows};
use crate::errors::value_error;

/// The value of a loss and, if it was requested, the gradient, which is float32 or float64 like the logits.
type ValueAndGradient<'py> = (f64, Option<GradientArray<'py>>);

/// A NumPy array with one number for each logit, such as a gradient; it is float32 or float64, like the logits.
#[derive(IntoPyObject)]
pub enum GradientArray<'py> {
    /// float32
    F32(Bound<'py, PyArray1<f32>>),
    /// float64
    F64(Bound<'py, PyArray1<f64>>),
}

/// A gradient as a Rust vector. It becomes a [`GradientArray`] later, because making a NumPy array needs the interpreter lock.
enum Gradient {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

/// Labels of more than two classes: the class number of each row (uint32), or one boolean per row and class.
#[derive(FromPyObject)]
pub enum ClassLabelArray<'py> {
    OneOf(PyReadonlyArray1<'py, u32>),
    AnyOf(BoolArray<'py>),
}

impl From<Vec<f32>> for Gradient {
    /// A gradient with respect to logits of type f32.
    fn from(values: Vec<f32>) -> Self {
        Gradient::F32(values)
    }
}

impl From<Vec<f64>> for Gradient {
    /// A gradient with respect to logits of type f64.
    fn from(values: Vec<f64>) -> Self {
        Gradient::F64(values)
    }
}

impl Gradient {
    /// Converts the gradient to a NumPy array without copying it.
    fn into_array(self, py: Python<'_>) -> GradientArray<'_> {
        match self {
            Gradient::F32(values) => GradientArray::F32(values.into_pyarray(py)),
            Gradient::F64(values) => GradientArray::F64(values.into_pyarray(py)),
        }
    }
}

/// Converts the result of [`evaluate`] to Python: a gradient becomes a NumPy array, an error a `ValueError`.
fn to_python(py: Python<'_>, result: Result<(f64, Option<Gradient>)>) -> PyResult<ValueAndGradient<'_>> {
    let (value, gradient) = result.map_err(value_error)?;
    Ok((value, gradient.map(|gradient| gradient.into_array(py))))
}

/// Computes a loss. If `with_gradient` is true, `value_and_gradient` is called with a slice of `length` zeros, writes the gradient there and returns
/// the loss. Otherwise `value` is called.
fn evaluate<R: Real>(
    length: usize,
    with_gradient: bool,
    value: impl FnOnce() -> Result<f64>,
    value_and_gradient: impl FnOnce(&mut [R]) -> Result<f64>,
) -> Result<(f64, Option<Gradient>)>
where
    Gradient: From<Vec<R>>,
{
    if !with_gradient {
        return Ok((value()?, None));
    }
    let mut gradient = vec![R::ZERO; length];
    let value = value_and_gradient(&mut gradient)?;
    Ok((value, Some(gradient.into())))
}

/// Parses the text of a score and the text of a prior; an error becomes a `ValueError`.
fn parse_score_and_prior(score: &str, prior: &str) -> PyResult<(Score, Prior)> {
    Ok((Score::parse(score).map_err(value_error)?, prior.parse().map_err(value_error)?))
}

/// The expected confusion matrix when the threshold has the distribution `prior`, as `[tn, fp, fn, tp]`.
#[pyfunction]
#[pyo3(signature = (rows, prior, from_logits))]
pub fn expected_confusion(py: Python<'_>, rows: RowArrays<'_>, prior: &str, from_logits: bool) -> PyResult<[f64; 4]> {
    // `ScoreLoss` needs a score, but the expected confusion matrix is the same for every score.
    let (score, prior) = parse_score_and_prior("accuracy", prior)?;
    let loss = ScoreLoss::new(score, prior);
    let slices = rows.to_slices()?;
    let confusion = py.detach(|| -> Result<_> {
        match from_logits {
            true => with_rows!(Logits, slices, rows => loss.expect(&rows)),
            false => with_rows!(Probabilities, slices, rows => loss.expect(&rows)),
        }
    });
    Ok(confusion.map_err(value_error)?.array())
}

/// The loss for two classes and, if requested, its gradient with respect to the logits.
#[pyfunction]
#[pyo3(signature = (rows, score, prior, exact, from_logits, gradient))]
pub fn loss<'py>(
    py: Python<'py>,
    rows: RowArrays<'_>,
    score: &str,
    prior: &str,
    exact: bool,
    from_logits: bool,
    gradient: bool,
) -> PyResult<ValueAndGradient<'py>> {
    let (score, prior) = parse_score_and_prior(score, prior)?;
    if gradient && !from_logits {
        return Err(value_error("gradients are with respect to logits: pass logits, not probabilities"));
    }
    let slices = rows.to_slices()?;
    let result = py.detach(|| -> Result<_> {
        if !from_logits {
            let value = with_rows!(Probabilities, slices, rows => match exact {
                true => ExactLoss::new(score, prior).value(&rows),
                false => ScoreLoss::new(score, prior).value(&rows),
            });
            return Ok((value?, None));
        }
        let loss = match exact {
            true => Loss::Exact(ExactLoss::new(score, prior)),
            false => Loss::Score(ScoreLoss::new(score, prior)),
        };
        with_rows!(Logits, slices, rows => {
            evaluate(rows.len(), gradient, || loss.value(&rows), |out| loss.value_and_gradient(&rows, out))
        })
    });
    to_python(py, result)
}

/// The one-versus-rest loss for more than two classes, or for several labels per row. `rows` is (labels, logits, weights): the labels are
/// the class number of each row (uint32), or one boolean per row and class; the logits are given row by row.
#[pyfunction]
#[pyo3(signature = (rows, classes, score, priors, average, gradient))]
pub fn class_loss<'py>(
    py: Python<'py>,
    rows: (ClassLabelArray<'_>, FloatArray<'_>, Option<FloatArray<'_>>),
    classes: usize,
    score: &str,
    priors: Vec<String>,
    average: &str,
    gradient: bool,
) -> PyResult<ValueAndGradient<'py>> {
    let priors = priors.iter().map(|prior| prior.parse().map_err(value_error)).collect::<PyResult<Vec<Prior>>>()?;
    let score = Score::parse(score).map_err(value_error)?;
    let loss = OneVersusRest::new(score, priors, average.parse().map_err(value_error)?).map_err(value_error)?;
    let (labels, logits, weights) = &rows;
    let floats = logits.with_weights(weights.as_ref())?;
    let result = match labels {
        ClassLabelArray::OneOf(labels) => {
            let labels = OneOf(slice(labels)?);
            py.detach(|| -> Result<_> {
                with_floats!(floats, logits, weights => {
                    let rows = ClassRows::new(logits, classes, labels)?.with_weights(weights)?;
                    evaluate(logits.len(), gradient, || loss.value(&rows), |out| loss.value_and_gradient(&rows, out))
                })
            })
        }
        ClassLabelArray::AnyOf(labels) => {
            let labels = labels.to_bools()?;
            py.detach(|| -> Result<_> {
                with_floats!(floats, logits, weights => {
                    let rows = ClassRows::new(logits, classes, AnyOf(&labels))?.with_weights(weights)?;
                    evaluate(logits.len(), gradient, || loss.value(&rows), |out| loss.value_and_gradient(&rows, out))
                })
            })
        }
    };
    to_python(py, result)
}

/// The loss for time series, in which a false alarm shortly before an event and a missed event shortly after an alarm count less. `sequences`
/// holds, for each row, the number of the series that the row belongs to. `weighting` is a pair: the name of the rule (`value`, `sum` or
/// `maximum`, see `Weighting` in the crate scorewise), and the numbers by which an event or alarm reduces the weight of an error at distances
/// of 1, 2, … rows.
#[pyfunction]
#[pyo3(signature = (rows, sequences, score, prior, weighting, gradient))]
pub fn temporal_loss<'py>(
    py: Python<'py>,
    rows: RowArrays<'_>,
    sequences: PyReadonlyArray1<'_, u32>,
    score: &str,
    prior: &str,
    weighting: (String, Vec<f64>),
    gradient: bool,
) -> PyResult<ValueAndGradient<'py>> {
    let (score, prior) = parse_score_and_prior(score, prior)?;
    let (name, masks) = weighting;
    let weighting = match &name[..] {
        "value" => Weighting::value_weighted(&masks),
        "sum" => Weighting::sum(&masks),
        "maximum" => Weighting::maximum(&masks),
        other => return Err(value_error(format!("weighting must be value, sum or maximum, not `{other}`"))),
    };
    let loss = TemporalLoss::new(score, prior, weighting.map_err(value_error)?);
    let (slices, sequences) = (rows.to_slices()?, slice(&sequences)?);
    let result = py.detach(|| -> Result<_> {
        with_rows!(Logits, slices, rows => {
            let series = Series::new(rows)?.with_sequences(sequences)?;
            evaluate(series.len(), gradient, || loss.value(&series), |out| loss.value_and_gradient(&series, out))
        })
    });
    to_python(py, result)
}

/// The gradient of the loss with respect to the margins (logits), and a positive curvature for each row, as training of gradient-boosted trees
/// needs them. Both are multiplied by the number of rows. `floor` is the smallest allowed curvature of a row, as a fraction of the curvature at the
/// prior's mean.
#[pyfunction]
#[pyo3(signature = (rows, score, prior, floor))]
pub fn boosting<'py>(
    py: Python<'py>,
    rows: RowArrays<'_>,
    score: &str,
    prior: &str,
    floor: f64,
) -> PyResult<(GradientArray<'py>, GradientArray<'py>)> {
    /// A vector with a zero for each row, of the same type as the logits.
    fn zeros<R: Real>(rows: &scorewise::Rows<'_, Logits<'_, R>>) -> Vec<R> {
        vec![R::ZERO; rows.len()]
    }
    let (score, prior) = parse_score_and_prior(score, prior)?;
    let loss = ScoreLoss::new(score, prior);
    let slices = rows.to_slices()?;
    let result = py.detach(|| -> Result<(Gradient, Gradient)> {
        with_rows!(Logits, slices, rows => {
            let (mut gradient, mut curvature) = (zeros(&rows), zeros(&rows));
            loss.gradient_and_curvature(&rows, floor, &mut gradient, &mut curvature)?;
            Ok((gradient.into(), curvature.into()))
        })
    });
    let (gradient, curvature) = result.map_err(value_error)?;
    Ok((gradient.into_array(py), curvature.into_array(py)))
}
