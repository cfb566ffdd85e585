//! Logits, labels and weights of the rows of a batch, gathered for the loss.

use scorewise::multiclass::{ClassRows, OneOf, softmax};
use scorewise::prior::Probability;
use scorewise::sweep::{Best, sweep};
use scorewise::{Logits, Probabilities, Result, Rows, Score};

use super::objective::Objective;

/// Logits, labels and weights of the rows of a batch. Made once and reused for every batch.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The logits, row by row, one for each output.
    pub logits: Vec<f32>,
    /// Gradient of the loss with respect to the logits.
    pub gradient: Vec<f32>,
    pub labels: Vec<u32>,
    positives: Vec<bool>,
    pub weights: Option<Vec<f32>>,
}

impl Batch {
    /// Gathers the labels and weights of these rows, and makes room for their logits.
    pub fn gather(&mut self, labels: &[u32], weights: Option<&[f32]>, rows: &[u32], outputs: usize) {
        self.logits.resize(rows.len() * outputs, 0.0);
        self.gradient.resize(rows.len() * outputs, 0.0);
        self.labels.clear();
        self.labels.extend(rows.iter().map(|row| labels[*row as usize]));
        self.positives.clear();
        self.positives.extend(self.labels.iter().map(|label| *label != 0));
        if let Some(weights) = weights {
            let gathered = self.weights.get_or_insert_default();
            gathered.clear();
            gathered.extend(rows.iter().map(|row| weights[*row as usize]));
        }
    }

    /// Number of logits of a row.
    pub fn outputs(&self) -> usize {
        self.logits.len() / self.labels.len().max(1)
    }

    /// The batch as the rows of a loss for two classes.
    pub fn binary(&self) -> Result<Rows<'_, Logits<'_, f32>>> {
        let rows = Rows::new(Logits(&self.logits), &self.positives)?;
        match &self.weights {
            Some(weights) => rows.weighted(weights),
            None => Ok(rows),
        }
    }

    /// The batch as the rows of a loss for many classes.
    pub fn classes(&self) -> Result<ClassRows<'_, f32, OneOf<'_>>> {
        let rows = ClassRows::new(&self.logits, self.outputs(), OneOf(&self.labels))?;
        match &self.weights {
            Some(weights) => rows.weighted(weights),
            None => Ok(rows),
        }
    }

    /// The best threshold of one class against the rest; `None` if the score is undefined everywhere. With one logit for each row it is
    /// the threshold of the positive class, and `class` is ignored.
    pub fn best_threshold(&self, score: &Score, class: usize) -> Result<Option<Best>> {
        let probabilities = self.probabilities(class);
        let outputs = self.outputs();
        let is_class: Vec<bool> = if outputs == 1 {
            self.positives.clone()
        } else {
            self.labels.iter().map(|label| *label as usize == class).collect()
        };
        let weights: Option<Vec<f64>> =
            self.weights.as_ref().map(|weights| weights.iter().copied().map(f64::from).collect());
        let rows = Rows::new(Probabilities(&probabilities), &is_class)?;
        let rows = match &weights {
            Some(weights) => rows.weighted(weights)?,
            None => rows,
        };
        Ok(sweep(&rows)?.best(score))
    }

    /// The shift that gives the lowest loss when it is added, together with `moved`, to the only logit of each row. All multiples of 1/20 from −4 to 4 are
    /// tried, and the smallest of equally good ones is returned: no prior reaches farther, and finer steps are below sampling noise.
    pub fn lowest_shift(&mut self, objective: &Objective, moved: f32) -> Result<f32> {
        let logits: Vec<f32> = self.logits.iter().map(|logit| logit + moved).collect();
        let mut lowest = (f64::INFINITY, 0.0);
        for step in (0..=80_i16).flat_map(|step| [step, -step]) {
            let shift = f32::from(step) * 0.05;
            self.logits.iter_mut().zip(&logits).for_each(|(logit, old)| *logit = old + shift);
            let value = objective.value(self)?;
            if value < lowest.0 {
                lowest = (value, shift);
            }
        }
        Ok(lowest.1)
    }

    fn probabilities(&self, class: usize) -> Vec<f64> {
        let outputs = self.outputs();
        let mut row_probabilities = vec![0.0; outputs];
        let probability = |logits: &[f32]| match logits {
            [logit] => Probability::from_logit(f64::from(*logit)).p,
            logits => {
                softmax(logits, &mut row_probabilities);
                row_probabilities[class]
            }
        };
        self.logits.chunks_exact(outputs).map(probability).collect()
    }
}
