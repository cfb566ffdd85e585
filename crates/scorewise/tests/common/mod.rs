//! Random batches and helpers shared by the integration tests.

#![allow(dead_code, clippy::unwrap_used)] // a test file uses only some of the helpers; a panic fails the test

use scorewise::score::{REGISTRY, RegistryEntry};
use scorewise::{ClassCounts, Confusion, Prior, Probabilities, Rows, Score, is_positive};

/// The random number generator SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// A uniform random number in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        ((self.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }
    pub fn integer_below(&mut self, end: usize) -> usize {
        (self.next_u64() % end as u64) as usize
    }
}

/// Predictions with labels and optional weights.
pub struct Batch {
    pub probabilities: Vec<f64>,
    pub labels: Vec<bool>,
    pub weights: Option<Vec<f64>>,
}

impl Batch {
    /// A random batch of 1 to 60 rows. The share of positives, the skill of the predictions, whether predictions are tied, and whether rows have
    /// weights are random too.
    pub fn random(random: &mut Random) -> Self {
        let size = 1 + random.integer_below(60);
        let rate = [0.0, 0.02, 0.1, 0.3, 0.5, 0.8, 0.95, 1.0][random.integer_below(8)];
        let skill = [0.0, 0.3, 0.7][random.integer_below(3)];
        let steps = [0.0, 0.0, 4.0, 20.0][random.integer_below(4)];
        let labels: Vec<bool> = (0..size).map(|_| random.uniform() < rate).collect();
        let predict = |label: &bool| {
            let p = (1.0 - skill) * random.uniform()
                + skill * if *label { random.uniform().sqrt() } else { random.uniform().powi(2) };
            if steps > 0.0 { (p * steps).round() / steps } else { p }
        };
        let probabilities = labels.iter().map(predict).collect();
        let weights =
            (random.integer_below(3) == 0).then(|| (0..size).map(|_| random.integer_below(25) as f64 / 8.0).collect());
        Batch { probabilities, labels, weights }
    }

    pub fn rows(&self) -> Rows<'_, Probabilities<'_, f64>> {
        let rows = Rows::new(Probabilities(&self.probabilities), &self.labels).unwrap();
        match &self.weights {
            Some(weights) => rows.weighted(weights).unwrap(),
            None => rows,
        }
    }

    /// The weight of the row with this index; 1 if the rows have no weights.
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// The confusion matrix at a threshold, counted row by row.
    pub fn confusion_at(&self, threshold: f64) -> Confusion {
        let mut confusion = Confusion::default();
        for (row, (p, label)) in self.probabilities.iter().zip(&self.labels).enumerate() {
            *match (label, is_positive(*p, threshold)) {
                (false, false) => &mut confusion.tn,
                (false, true) => &mut confusion.fp,
                (true, false) => &mut confusion.fn_,
                (true, true) => &mut confusion.tp,
            } += self.weight(row);
        }
        confusion
    }

    /// The total weights of the positive and of the negative rows.
    pub fn counts(&self) -> ClassCounts {
        self.confusion_at(0.5).counts()
    }

    /// The expectation of a function of the confusion matrix under a random threshold, summed over the intervals between consecutive sorted
    /// predictions.
    pub fn brute_force_expectation(&self, prior: &Prior, number: impl Fn(&Confusion) -> f64) -> f64 {
        let mut edges = self.probabilities.clone();
        edges.extend([0.0, 1.0]);
        edges.sort_by(f64::total_cmp);
        edges.dedup();
        let interval = |ends: &[f64]| {
            let mass = prior.cdf(ends[1]) - prior.cdf(ends[0]);
            mass * number(&self.confusion_at(0.5 * (ends[0] + ends[1])))
        };
        edges.windows(2).map(interval).sum()
    }
}

/// Examples of priors. [`check_random_batches`] uses them one after the other.
pub fn priors() -> Vec<Prior> {
    let texts = [
        "uniform",
        "cosine:0.5,0.1",
        "cosine:0.3,0.3",
        "beta:2,5",
        "beta:0.5,0.5",
        "mix:0.1,cosine:0.6,0.05",
        "uniform:0.2,0.6",
        "normal:0.4,0.2",
    ];
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// Calls `check` with `count` random batches. The first batch comes with the first prior of [`priors`], the next with the next prior, and so on.
pub fn check_random_batches(seed: u64, count: usize, mut check: impl FnMut(&mut Random, &Batch, &Prior)) {
    let (mut random, priors) = (Random(seed), priors());
    for k in 0..count {
        let batch = Batch::random(&mut random);
        check(&mut random, &batch, &priors[k % priors.len()]);
    }
}

pub fn score(text: &str) -> Score {
    Score::parse(text).unwrap()
}

/// All registered scores, with example values for parameters that have no default.
pub fn all_scores() -> Vec<Score> {
    let with_parameters = [
        "net_benefit(threshold=0.2)",
        "standardised_net_benefit(threshold=0.1)",
        "relative_economic_value(alpha=0.3)",
        "cost(fp=1, fn=10)",
    ]
    .map(score);
    let is_listed = |row: &&RegistryEntry| with_parameters.iter().any(|score| score.row() == Some(row));
    let needs_parameters = |row: &&RegistryEntry| row.parameters.iter().any(|parameter| parameter.default.is_none());
    let others = REGISTRY.iter().filter(needs_parameters).filter(|row| !is_listed(row)).filter_map(Score::example);
    Score::all().chain(with_parameters.clone()).chain(others).collect()
}

pub fn assert_close(got: f64, expected: f64, tolerance: f64, what: &dyn std::fmt::Debug) {
    assert!((got - expected).abs() <= tolerance * expected.abs().max(1.0), "{what:?}: {got}, expected {expected}");
}

/// Priors of every family, including priors whose density is infinite at 0 or 1.
pub fn all_priors() -> Vec<Prior> {
    let texts = [
        "uniform",
        "uniform:0.2,0.8",
        "cosine:0.5,0.1",
        "cosine:0.3,0.3",
        "triangular:0.5,0.2",
        "epanechnikov:0.4,0.3",
        "quartic:0.6,0.25",
        "beta:2,5",
        "beta:0.5,0.5",
        "kumaraswamy:2,5",
        "kumaraswamy:0.5,0.7",
        "normal:0.5,0.1",
        "logistic:0.5,0.0137",
        "mix:0.05,cosine:0.5,0.1",
        "mix:0.3,beta:0.6,2",
    ];
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// Random logits, and labels that are correlated with the logits. About the fraction `rate` of the rows is positive. A logit is a random number
/// between −`scale` and `scale`, plus 0.5 for a positive row or minus 0.5 for a negative row.
pub fn logits_and_labels(random: &mut Random, rows: usize, rate: f64, scale: f64) -> (Vec<f64>, Vec<bool>) {
    let labels: Vec<bool> = (0..rows).map(|row| row == 0 || (row > 1 && random.uniform() < rate)).collect();
    let logit = |label: &bool| scale * (2.0 * random.uniform() - 1.0) + if *label { 0.5 } else { -0.5 };
    (labels.iter().map(logit).collect(), labels)
}
