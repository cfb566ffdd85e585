//! Losses, their gradients by the logits, and expected confusion matrices.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use scorewise::multiclass::{AnyOf, ClassRows, OneOf, OneVersusRest};
use scorewise::temporal::{Series, TemporalLoss, Weighting};
use scorewise::{ExactLoss, Logits, Loss, Prior, Probabilities, Real, Result, Rows, Score, ScoreLoss};

use crate::arrays::{Flags, Numbers, Weighed, slice, with_rows};
use crate::fault::fault;

/// A loss and, where it was asked for, its gradient in the kind of the logits.
type Answer<'py> = (f64, Option<Gradient<'py>>);

/// A gradient of either kind.
#[derive(IntoPyObject)]
pub enum Gradient<'py> {
    /// f32
    Narrow(Bound<'py, PyArray1<f32>>),
    /// f64
    Wide(Bound<'py, PyArray1<f64>>),
}

/// Slopes of either kind, before Python has them.
enum Slopes {
    Narrow(Vec<f32>),
    Wide(Vec<f64>),
}

fn answer<'py>(py: Python<'py>, found: Result<(f64, Option<Slopes>)>) -> PyResult<Answer<'py>> {
    let (value, slopes) = found.map_err(fault)?;
    Ok((
        value,
        slopes.map(|slopes| match slopes {
            Slopes::Narrow(slopes) => Gradient::Narrow(slopes.into_pyarray(py)),
            Slopes::Wide(slopes) => Gradient::Wide(slopes.into_pyarray(py)),
        }),
    ))
}

/// A loss of numbers of one kind, with its gradient where it is wanted.
fn computed<R: Real>(
    rows: usize,
    wanted: bool,
    value: impl FnOnce() -> Result<f64>,
    both: impl FnOnce(&mut [R]) -> Result<f64>,
) -> Result<(f64, Option<Vec<R>>)> {
    if !wanted {
        return Ok((value()?, None));
    }
    let mut gradient = vec![R::ZERO; rows];
    let value = both(&mut gradient)?;
    Ok((value, Some(gradient)))
}

fn parsed(score: &str, prior: &str) -> PyResult<(Score, Prior)> {
    Ok((Score::parse(score).map_err(fault)?, prior.parse().map_err(fault)?))
}

/// The expected tn, fp, fn, tp.
#[pyfunction]
#[pyo3(signature = (labels, predictions, weights, prior, from_logits))]
pub fn expected_confusion(
    py: Python<'_>,
    labels: Flags<'_>,
    predictions: Numbers<'_>,
    weights: Option<Numbers<'_>>,
    prior: &str,
    from_logits: bool,
) -> PyResult<[f64; 4]> {
    // The matrix does not depend on the score.
    let (score, prior) = parsed("accuracy", prior)?;
    let loss = ScoreLoss::new(score, prior);
    let (labels, weighed) = (&labels.read()?[..], predictions.weighed(&weights)?);
    let found = py.detach(|| -> Result<_> {
        match from_logits {
            true => with_rows!(Logits, weighed, labels, rows => loss.expect(&rows)),
            false => with_rows!(Probabilities, weighed, labels, rows => loss.expect(&rows)),
        }
    });
    Ok(found.map_err(fault)?.array())
}

/// The loss of two classes, and its gradient by the logits where it is asked for.
#[pyfunction]
#[pyo3(signature = (labels, predictions, weights, score, prior, exact, from_logits, gradient))]
#[allow(clippy::too_many_arguments)] // one for each of Python's
pub fn loss<'py>(
    py: Python<'py>,
    labels: Flags<'_>,
    predictions: Numbers<'_>,
    weights: Option<Numbers<'_>>,
    score: &str,
    prior: &str,
    exact: bool,
    from_logits: bool,
    gradient: bool,
) -> PyResult<Answer<'py>> {
    let (score, prior) = parsed(score, prior)?;
    if gradient && !from_logits {
        return Err(fault("gradients are with respect to logits: give logits"));
    }
    let (labels, weighed) = (&labels.read()?[..], predictions.weighed(&weights)?);
    let found = py.detach(|| -> Result<_> {
        if !from_logits {
            let value = with_rows!(Probabilities, weighed, labels, rows => match exact {
                true => ExactLoss::new(score, prior).value(&rows),
                false => ScoreLoss::new(score, prior).value(&rows),
            });
            return Ok((value?, None));
        }
        let loss = match exact {
            true => Loss::Exact(ExactLoss::new(score, prior)),
            false => Loss::Score(ScoreLoss::new(score, prior)),
        };
        on_logits(&loss, labels, weighed, gradient)
    });
    answer(py, found)
}

fn on_logits(loss: &Loss, labels: &[bool], weighed: Weighed<'_>, gradient: bool) -> Result<(f64, Option<Slopes>)> {
    fn of<R: Real>(loss: &Loss, rows: &Rows<'_, Logits<'_, R>>, gradient: bool) -> Result<(f64, Option<Vec<R>>)> {
        computed(rows.len(), gradient, || loss.value(rows), |slopes| loss.value_and_gradient(rows, slopes))
    }
    Ok(match weighed {
        Weighed::Narrow(numbers, weights) => {
            let (value, slopes) = of(loss, &rows(numbers, labels, weights)?, gradient)?;
            (value, slopes.map(Slopes::Narrow))
        }
        Weighed::Wide(numbers, weights) => {
            let (value, slopes) = of(loss, &rows(numbers, labels, weights)?, gradient)?;
            (value, slopes.map(Slopes::Wide))
        }
    })
}

fn rows<'a, R: Real>(
    numbers: &'a [R],
    labels: &'a [bool],
    weights: Option<&'a [R]>,
) -> Result<Rows<'a, Logits<'a, R>>> {
    let rows = Rows::new(Logits(numbers), labels)?;
    weights.map_or(Ok(rows), |weights| rows.weighted(weights))
}

/// The loss of many classes or of many labels, one against the rest. `labels` holds the class of each row, or one flag for each
/// row and class.
#[pyfunction]
#[pyo3(signature = (labels, exclusive, logits, classes, weights, score, priors, average, gradient))]
#[allow(clippy::too_many_arguments)] // one for each of Python's
pub fn class_loss<'py>(
    py: Python<'py>,
    labels: PyReadonlyArray1<'_, u32>,
    exclusive: bool,
    logits: Numbers<'_>,
    classes: usize,
    weights: Option<Numbers<'_>>,
    score: &str,
    priors: Vec<String>,
    average: &str,
    gradient: bool,
) -> PyResult<Answer<'py>> {
    let priors = priors.iter().map(|prior| prior.parse().map_err(fault)).collect::<PyResult<Vec<Prior>>>()?;
    let score = Score::parse(score).map_err(fault)?;
    let loss = OneVersusRest::new(score, priors, average.parse().map_err(fault)?).map_err(fault)?;
    let (labels, weighed) = (slice(&labels)?, logits.weighed(&weights)?);
    let found = py.detach(|| -> Result<_> {
        let flags: Vec<bool> = if exclusive { Vec::new() } else { labels.iter().map(|flag| *flag != 0).collect() };
        let labels = if exclusive { Ok(OneOf(labels)) } else { Err(AnyOf(&flags)) };
        Ok(match weighed {
            Weighed::Narrow(logits, weights) => {
                let (value, slopes) = of_classes(&loss, logits, classes, labels, weights, gradient)?;
                (value, slopes.map(Slopes::Narrow))
            }
            Weighed::Wide(logits, weights) => {
                let (value, slopes) = of_classes(&loss, logits, classes, labels, weights, gradient)?;
                (value, slopes.map(Slopes::Wide))
            }
        })
    });
    answer(py, found)
}

fn of_classes<R: Real>(
    loss: &OneVersusRest,
    logits: &[R],
    classes: usize,
    labels: std::result::Result<OneOf<'_>, AnyOf<'_>>,
    weights: Option<&[R]>,
    gradient: bool,
) -> Result<(f64, Option<Vec<R>>)> {
    macro_rules! of {
        ($labels:expr) => {{
            let rows = ClassRows::new(logits, classes, $labels)?;
            let rows = if let Some(weights) = weights { rows.weighted(weights)? } else { rows };
            computed(logits.len(), gradient, || loss.value(&rows), |slopes| loss.value_and_gradient(&rows, slopes))
        }};
    }
    match labels {
        Ok(one) => of!(one),
        Err(any) => of!(any),
    }
}

/// The loss over sequences, errors weighing by when they happen. `weighting` is `value`, `sum` or `maximum`.
#[pyfunction]
#[pyo3(signature = (labels, logits, weights, sequences, score, prior, weighting, masks, gradient))]
#[allow(clippy::too_many_arguments)] // one for each of Python's
pub fn temporal_loss<'py>(
    py: Python<'py>,
    labels: Flags<'_>,
    logits: Numbers<'_>,
    weights: Option<Numbers<'_>>,
    sequences: PyReadonlyArray1<'_, u32>,
    score: &str,
    prior: &str,
    weighting: &str,
    masks: Vec<f64>,
    gradient: bool,
) -> PyResult<Answer<'py>> {
    let (score, prior) = parsed(score, prior)?;
    let weighting = match weighting {
        "value" => Weighting::value_weighted(&masks),
        "sum" => Weighting::sum(&masks),
        "maximum" => Weighting::maximum(&masks),
        other => return Err(fault(format!("weighting must be value, sum or maximum, not `{other}`"))),
    };
    let loss = TemporalLoss::new(score, prior, weighting.map_err(fault)?);
    let (labels, sequences, weighed) = (&labels.read()?[..], slice(&sequences)?, logits.weighed(&weights)?);
    fn of<R: Real>(
        loss: &TemporalLoss,
        rows: Rows<'_, Logits<'_, R>>,
        sequences: &[u32],
        gradient: bool,
    ) -> Result<(f64, Option<Vec<R>>)> {
        let series = Series::new(rows)?.with_sequences(sequences)?;
        computed(series.len(), gradient, || loss.value(&series), |slopes| loss.value_and_gradient(&series, slopes))
    }
    let found = py.detach(|| -> Result<_> {
        Ok(match weighed {
            Weighed::Narrow(numbers, weights) => {
                let (value, slopes) = of(&loss, rows(numbers, labels, weights)?, sequences, gradient)?;
                (value, slopes.map(Slopes::Narrow))
            }
            Weighed::Wide(numbers, weights) => {
                let (value, slopes) = of(&loss, rows(numbers, labels, weights)?, sequences, gradient)?;
                (value, slopes.map(Slopes::Wide))
            }
        })
    });
    answer(py, found)
}

/// Gradient and a positive curvature by the margin, for machines that boost trees.
///
/// The curvature of a score's loss has no sign. What stands in for it is the size of the gradient, |∂ℓ/∂z|: the value of a leaf, −Σg/Σh, is
/// then the balance of its rows, between −1 and 1, whatever the score and however rare the events. A share `floor` of the density at
/// the prior's centre keeps it above 0 where the density is not, so that rows beyond the prior's support hold their leaf still instead of blowing it up.
/// Both are multiplied by the number of rows, for the hosts' limits on curvature are meant for gradients of the order of 1 a row.
#[pyfunction]
#[pyo3(signature = (labels, margins, weights, score, prior, floor))]
#[allow(clippy::type_complexity)] // two arrays
pub fn boosting<'py>(
    py: Python<'py>,
    labels: Flags<'_>,
    margins: PyReadonlyArray1<'_, f64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    score: &str,
    prior: &str,
    floor: f64,
) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
    let (score, prior) = parsed(score, prior)?;
    let (labels, margins) = (&labels.read()?[..], slice(&margins)?);
    let weights = weights.as_ref().map(slice).transpose()?;
    let found = py.detach(|| -> Result<_> {
        let rows = rows(margins, labels, weights)?;
        let loss = ScoreLoss::new(score, prior.clone());
        let slopes = loss.slopes(&loss.expect(&rows)?)?;
        let mut gradient = vec![0.0; margins.len()];
        loss.gradient_with(slopes, &rows, &mut gradient)?;
        let centre = prior.mean();
        let middling = prior.logit_density((centre / (1.0 - centre)).ln()).max(f64::MIN_POSITIVE);
        let scale = margins.len() as f64;
        let mut curvature = Vec::with_capacity(margins.len());
        for (row, slope) in gradient.iter_mut().enumerate() {
            let side = if labels[row] { slopes.positive } else { slopes.negative };
            let weight = weights.map_or(1.0, |weights| weights[row]);
            let least = floor * middling * side.abs() * weight;
            curvature.push((scale * slope.abs().max(least)).max(1e-16));
            *slope *= scale;
        }
        Ok((gradient, curvature))
    });
    let (gradient, curvature) = found.map_err(fault)?;
    Ok((gradient.into_pyarray(py), curvature.into_pyarray(py)))
}
