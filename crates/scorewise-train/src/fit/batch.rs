//! The rows of a batch, put together: what a loss sees of them.

use scorewise::multiclass::{ClassRows, OneOf, softmax};
use scorewise::prior::Chance;
use scorewise::sweep::{Best, sweep};
use scorewise::{Logits, Probabilities, Result, Rows, Score};

use super::objective::Objective;

/// The rows of a batch, put together, and room for what is computed of them. Made once, used for every batch.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// Row by row, as many as the network has outputs.
    pub logits: Vec<f32>,
    /// As many as logits.
    pub slopes: Vec<f32>,
    pub labels: Vec<u32>,
    positives: Vec<bool>,
    pub weights: Option<Vec<f32>>,
}

impl Batch {
    /// Takes the labels and weights of these rows, and makes room for their logits.
    pub fn take(&mut self, labels: &[u32], weights: Option<&[f32]>, rows: &[u32], outputs: usize) {
        self.logits.resize(rows.len() * outputs, 0.0);
        self.slopes.resize(rows.len() * outputs, 0.0);
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

    /// Logits a row.
    pub fn outputs(&self) -> usize {
        self.logits.len() / self.labels.len().max(1)
    }

    /// As a loss of two classes takes them.
    pub fn binary(&self) -> Result<Rows<'_, Logits<'_, f32>>> {
        let rows = Rows::new(Logits(&self.logits), &self.positives)?;
        match &self.weights {
            Some(weights) => rows.weighted(weights),
            None => Ok(rows),
        }
    }

    /// As a loss of many classes takes them.
    pub fn classes(&self) -> Result<ClassRows<'_, f32, OneOf<'_>>> {
        let rows = ClassRows::new(&self.logits, self.outputs(), OneOf(&self.labels))?;
        match &self.weights {
            Some(weights) => rows.weighted(weights),
            None => Ok(rows),
        }
    }

    /// The best threshold of one class against the rest; nothing where the score is nowhere defined. With one logit a row it is
    /// that of the positive class, whatever the number.
    pub fn best_threshold(&self, score: &Score, class: usize) -> Result<Option<Best>> {
        let probabilities = self.probabilities(class);
        let outputs = self.outputs();
        let members: Vec<bool> = if outputs == 1 {
            self.positives.clone()
        } else {
            self.labels.iter().map(|label| *label as usize == class).collect()
        };
        let weights: Option<Vec<f64>> =
            self.weights.as_ref().map(|weights| weights.iter().copied().map(f64::from).collect());
        let rows = Rows::new(Probabilities(&probabilities), &members)?;
        let rows = match &weights {
            Some(weights) => rows.weighted(weights)?,
            None => rows,
        };
        Ok(sweep(&rows)?.best(score))
    }

    /// What to add to the only logit of each row, after `moved`, for the lowest loss: of all steps of 1/20 up to 4 either way, the nearest
    /// of equals. Farther than that from the best threshold no prior reaches, and less than a step is less than chance.
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
        let mut shares = vec![0.0; outputs];
        let probability = |logits: &[f32]| match logits {
            [logit] => Chance::from_logit(f64::from(*logit)).p,
            logits => {
                softmax(logits, &mut shares);
                shares[class]
            }
        };
        self.logits.chunks_exact(outputs).map(probability).collect()
    }
}
