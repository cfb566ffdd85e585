//! A forecast over all thresholds, as data for a page: the exact sweep, thinned without losing an optimum.

use scorewise::sweep::{Best, BestDistribution, Bootstrap, Condition, Sweep};
use scorewise::theory::{Law, Theory};
use scorewise::{Confusion, Prior, Probabilities, Real, Rows, Score};
use scorewise_report::document::{self, Bound, Forecast, Interval, Optimum, Point, Yardstick};

use crate::score::Summary;

/// Steps of the curve, about so many: finer than a screen, and small enough for a page.
const POINTS: usize = 1000;
/// Bins of the predictions: five of them make one of a reliability diagram.
const BINS: usize = 50;
/// Steps of the law of a score.
const STEPS: usize = 400;

/// What is asked of a forecast.
pub struct Question<'a> {
    /// Which rows: `test rows`.
    pub part: &'a str,
    /// Negative, positive.
    pub classes: [String; 2],
    /// The score that it is judged by.
    pub score: &'a Score,
    /// The threshold in use.
    pub threshold: f64,
    /// How it was chosen.
    pub chosen: String,
    /// On which rows: `these rows`.
    pub source: &'a str,
    /// Equally good thresholds.
    pub interval: Option<(f64, f64)>,
    /// 95 % of the best thresholds of resampled rows.
    pub spread: Option<(f64, f64)>,
    /// What the threshold is drawn from.
    pub prior: Option<&'a Prior>,
    /// What a threshold must satisfy.
    pub conditions: &'a [Condition],
    /// 95 % intervals of scores at the threshold.
    pub intervals: Vec<Interval>,
    /// The matrix of persistence, where there is a lead.
    pub persistence: Option<Confusion>,
}

impl Default for Question<'_> {
    fn default() -> Self {
        static NO_SCORE: std::sync::LazyLock<Score> =
            std::sync::LazyLock::new(|| Score::parse("tss").expect("it is registered"));
        Question {
            part: "rows",
            classes: names(),
            score: &NO_SCORE,
            threshold: 0.5,
            chosen: String::new(),
            source: "these rows",
            interval: None,
            spread: None,
            prior: None,
            conditions: &[],
            intervals: Vec::new(),
            persistence: None,
        }
    }
}

impl Question<'_> {
    /// At the best threshold, and how sure that is.
    pub fn tuned(&mut self, best: &Best, spread: &BestDistribution) {
        self.threshold = best.threshold;
        self.interval = Some(best.interval);
        self.spread = spread.threshold.interval(0.95);
        self.chosen = match self.conditions {
            [] => format!("best {} on these rows", self.score),
            _ => format!("best {} on these rows that satisfies the conditions", self.score),
        };
    }

    /// How sure the scores are at that threshold, held fast: the spread of the best values would be that of another number.
    pub fn judge<R: Real>(
        &mut self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        bootstrap: &Bootstrap,
    ) -> scorewise::Result<()> {
        let scores = document::in_order(Some(self.score.clone()));
        self.intervals = intervals(&Summary::new(rows, self.threshold, scores, bootstrap)?);
        Ok(())
    }
}

/// What the classes are called where they have no names.
pub fn names() -> [String; 2] {
    ["no event".into(), "event".into()]
}

/// The forecast behind a sweep.
pub fn forecast(sweep: &Sweep, question: &Question<'_>) -> Forecast {
    let mut forecast = Forecast {
        part: question.part.into(),
        classes: question.classes.clone(),
        score: question.score.name().into(),
        threshold: question.threshold,
        chosen: question.chosen.clone(),
        source: question.source.into(),
        rows: sweep.rows(),
        is_weighted: sweep.is_weighted(),
        interval: question.interval,
        spread: question.spread,
        prior: question.prior.map(ToString::to_string),
        conditions: question.conditions.iter().map(|condition| condition.text().into()).collect(),
        points: Vec::new(),
        bins: bins(sweep),
        optima: Vec::new(),
        intervals: question.intervals.clone(),
        yardsticks: yardsticks(sweep, question),
        roc_area: None,
        average_precision: None,
    };
    let areas = sweep.areas();
    (forecast.roc_area, forecast.average_precision) = (areas.roc, areas.average_precision);
    let scores = forecast.scores();
    let bests = match question.conditions {
        [] => sweep.all_best(&scores),
        conditions => scores.iter().map(|score| sweep.best_subject_to(score, conditions)).collect(),
    };
    let found = scores.iter().zip(bests);
    forecast.optima = found
        .filter_map(|(score, best)| {
            let best = best?;
            Some(Optimum {
                score: score.name().into(),
                threshold: best.threshold,
                value: best.value,
                interval: best.interval,
            })
        })
        .collect();
    let marks = forecast.optima.iter().map(|optimum| optimum.threshold).chain([question.threshold, 0.5]);
    forecast.points = points(sweep, &marks.collect::<Vec<_>>());
    forecast
}

/// Steps of the curve in rising order, each at a threshold that is easy to say; these thresholds are among them as they are.
pub fn points(sweep: &Sweep, marks: &[f64]) -> Vec<Point> {
    let mut marks = marks.to_vec();
    marks.sort_by(f64::total_cmp);
    marks.dedup();
    let marked: Vec<_> = marks.into_iter().map(|mark| (mark, sweep.step(mark))).collect();
    let is_marked = |thresholds: (f64, f64)| marked.iter().any(|(_, step)| step.thresholds == thresholds);
    let steps = sweep.curve(&[], POINTS).into_iter().filter(|step| !is_marked(step.thresholds));
    let steps = steps.map(|step| (step.threshold(), step)).collect::<Vec<_>>();
    let mut points: Vec<Point> = steps
        .into_iter()
        .chain(marked)
        .map(|(threshold, step)| Point {
            threshold,
            low: step.thresholds.0,
            high: step.thresholds.1,
            cells: step.confusion.array(),
        })
        .collect();
    points.sort_by(|one, other| one.threshold.total_cmp(&other.threshold));
    points
}

fn bins(sweep: &Sweep) -> Vec<document::Bin> {
    let bin = |bin: scorewise::sweep::Bin| document::Bin {
        low: bin.low,
        high: bin.high,
        mean: bin.mean,
        positives: bin.positives,
        negatives: bin.negatives,
    };
    sweep.bins(BINS).into_iter().map(bin).collect()
}

/// The intervals of a summary.
pub fn intervals(summary: &Summary) -> Vec<Interval> {
    let one = |scored: &crate::score::Scored| {
        let (low, high) = scored.interval?;
        Some(Interval { score: scored.score.name().into(), low, high })
    };
    summary.scores.iter().filter_map(one).collect()
}

/// Forecasts that anyone could make.
fn yardsticks(sweep: &Sweep, question: &Question<'_>) -> Vec<Yardstick> {
    let counts = sweep.counts();
    let mut yardsticks = vec![
        Yardstick { name: "always yes".into(), cells: [0.0, counts.negatives, 0.0, counts.positives] },
        Yardstick { name: "always no".into(), cells: [counts.negatives, 0.0, counts.positives, 0.0] },
    ];
    if let Some(matrix) = question.persistence {
        yardsticks.push(Yardstick { name: "persistence".into(), cells: matrix.array() });
    }
    yardsticks
}

/// A score under a random threshold.
pub fn theory(score: &Score, prior: &Prior, found: &Theory, law: &Law) -> document::Theory {
    let finite = |value: f64| value.is_finite().then_some(value);
    let bounds = found.bounds.iter().map(|bound| Bound {
        name: bound.name.clone(),
        exact: finite(bound.exact),
        bound: finite(bound.bound),
    });
    let atoms = law.atoms();
    let every = atoms.len().div_ceil(STEPS).max(1);
    let mut so_far = 0.0;
    let mut steps = Vec::new();
    for (at, atom) in atoms.iter().enumerate() {
        so_far += atom.probability;
        if at == 0 || at + 1 == atoms.len() || at % every == 0 {
            steps.push((atom.value, so_far.min(1.0)));
        }
    }
    document::Theory {
        score: score.name().into(),
        prior: prior.to_string(),
        expected: found.expected_confusion.array(),
        score_of_expectation: found.score_of_expectation,
        expected_score: found.expected_score,
        jensen_gap: found.jensen_gap,
        deviation: found.deviation,
        calibrated_threshold: found.calibrated_threshold,
        bounds: bounds.collect(),
        law: steps,
    }
}
