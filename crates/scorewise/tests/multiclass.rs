//! Properties and golden values of the multi-class losses and scores.

#![allow(clippy::unwrap_used)] // a panic fails the test

use scorewise::multiclass::{
    AnyOf, Average, ClassLabels, ClassRows, MultiConfusion, MultiScore, OneOf, OneVersusRest, SimplexLoss,
};
use scorewise::{Confusion, Error, Logits, Prior, Real, Rows, Score, ScoreLoss};

/// All averages of the scores of several classes.
const AVERAGES: [Average; 3] = [Average::Macro, Average::Weighted, Average::Micro];
/// Binary scores, which the tests average over the classes.
const SCORES: [&str; 7] = ["f1", "tss", "mcc", "csi", "far", "frequency_bias", "0.5*tss + 0.5*precision"];
/// Lists of priors: one prior for all classes, or one prior for each of four classes.
const PRIORS: [&[&str]; 4] = [
    &["uniform"],
    &["beta:0.5,0.5"],
    &["normal:0.4,0.3", "beta:2,3", "uniform", "logistic:0.3,0.2"],
    &["mix:0.1,normal:0.5,0.2", "kumaraswamy:2,3", "kumaraswamy:0.5,0.5", "beta:0.5,2"],
];
/// Scores of a confusion matrix with several classes.
const MULTI_SCORES: [&str; 10] = [
    "accuracy",
    "mcc",
    "hss",
    "peirce",
    "gerrity",
    "macro(f1)",
    "weighted(csi)",
    "micro(f1)",
    "macro(far)",
    "macro(frequency_bias)",
];

/// Random rows, usable with one class per row (`labels`) or with several classes per row (`flags`); the seed determines the rows.
#[derive(Clone)]
struct ClassBatch {
    classes: usize,
    logits: Vec<f64>,
    labels: Vec<u32>,
    flags: Vec<bool>,
    weights: Vec<f64>,
}

impl ClassBatch {
    /// Random rows with this number of classes, drawn with this seed.
    fn random(seed: u64, rows: usize, classes: usize) -> Self {
        let uniform = Prior::uniform();
        let mut random = uniform.sample(seed);
        let mut next = move || random.next().unwrap();
        ClassBatch {
            classes,
            logits: (0..rows * classes).map(|_| 4.0 * next() - 2.0).collect(),
            // The first rows contain every class once; the remaining rows belong more often to classes with a low index.
            labels: (0..rows)
                .map(|row| if row < classes { row as u32 } else { (classes as f64 * next() * next()) as u32 })
                .collect(),
            flags: (0..rows * classes).map(|_| next() < 0.3).collect(),
            weights: (0..rows).map(|_| 0.2 + 2.0 * next()).collect(),
        }
    }

    fn single_label_rows(&self) -> ClassRows<'_, f64, OneOf<'_>> {
        ClassRows::new(&self.logits, self.classes, OneOf(&self.labels)).unwrap()
    }

    fn weighted_rows(&self) -> ClassRows<'_, f64, OneOf<'_>> {
        self.single_label_rows().weighted(&self.weights).unwrap()
    }

    fn multi_label_rows(&self) -> ClassRows<'_, f64, AnyOf<'_>> {
        ClassRows::new(&self.logits, self.classes, AnyOf(&self.flags)).unwrap()
    }

    /// The same batch with other logits.
    fn with_logits(&self, logits: &[f64]) -> ClassBatch {
        ClassBatch { logits: logits.to_vec(), ..self.clone() }
    }

    /// A batch of the given rows and classes in the given order, with labels renumbered to match.
    fn select_rows_and_classes(&self, rows: &[usize], classes: &[usize]) -> ClassBatch {
        let new_label = |label: u32| classes.iter().position(|class| *class == label as usize).unwrap() as u32;
        let cells = || rows.iter().flat_map(|row| classes.iter().map(move |class| row * self.classes + class));
        ClassBatch {
            classes: classes.len(),
            logits: cells().map(|at| self.logits[at]).collect(),
            labels: rows.iter().map(|row| new_label(self.labels[*row])).collect(),
            flags: cells().map(|at| self.flags[at]).collect(),
            weights: rows.iter().map(|row| self.weights[*row]).collect(),
        }
    }
}

fn score(text: &str) -> Score {
    Score::parse(text).unwrap()
}

fn multi_score(text: &str) -> MultiScore {
    MultiScore::parse(text).unwrap()
}

/// A one-versus-rest loss for the score with this name.
fn one_versus_rest(name: &str, priors: &[&str], average: Average) -> OneVersusRest {
    let priors = priors.iter().map(|text| text.parse().unwrap()).collect();
    OneVersusRest::new(score(name), priors, average).unwrap()
}

/// A simplex loss for the score with this name, in which every setting differs from its default.
fn simplex_loss(name: &str) -> SimplexLoss {
    SimplexLoss::new(multi_score(name)).with_sharpness(1.5).unwrap().with_centres(vec![0.1, -0.3, 0.2, 0.4]).unwrap()
}

fn value_and_gradient<R: Real, L: ClassLabels>(loss: &OneVersusRest, rows: &ClassRows<'_, R, L>) -> (f64, Vec<R>) {
    let mut gradient = vec![R::ZERO; rows.len() * rows.classes()];
    (loss.value_and_gradient(rows, &mut gradient).unwrap(), gradient)
}

fn simplex_value_and_gradient<R: Real>(loss: &SimplexLoss, rows: &ClassRows<'_, R, OneOf<'_>>) -> (f64, Vec<R>) {
    let mut gradient = vec![R::ZERO; rows.len() * rows.classes()];
    (loss.value_and_gradient(rows, &mut gradient).unwrap(), gradient)
}

fn assert_close(got: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((got - expected).abs() <= tolerance * expected.abs().max(1.0), "{what}: {got}, expected {expected}");
}

/// Asserts that two slices are close, with a tolerance relative to the largest value.
fn assert_all_close(got: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(0.0, |scale: f64, value| scale.max(value.abs()));
    for (at, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!((got - expected).abs() <= tolerance * scale, "{what}, at {at}: {got}, expected {expected}");
    }
}

fn assert_same_matrix(got: &Confusion, expected: &Confusion, what: &str) {
    assert_all_close(&got.array(), &expected.array(), 1e-14, what);
}

/// Compares a gradient with fourth-order central differences.
fn assert_gradient_matches_differences(at: &[f64], value_and_gradient: impl Fn(&[f64]) -> (f64, Vec<f64>), what: &str) {
    let (_, gradient) = value_and_gradient(at);
    let scale = gradient.iter().fold(0.0, |scale: f64, derivative| scale.max(derivative.abs()));
    assert!(scale > 1e-6, "{what}: the gradient is too small to compare");
    let step = 1e-3;
    for k in 0..at.len() {
        let value_after = |by: f64| {
            let mut at = at.to_vec();
            at[k] += by * step;
            value_and_gradient(&at).0
        };
        let difference =
            (8.0 * (value_after(1.0) - value_after(-1.0)) - (value_after(2.0) - value_after(-2.0))) / (12.0 * step);
        let tolerance = 1e-6 * (difference.abs() + 1e-3 * scale);
        assert!(
            (gradient[k] - difference).abs() <= tolerance,
            "{what}, at {k}: {}, expected {difference}",
            gradient[k]
        );
    }
}

#[test]
fn gradient_of_the_one_versus_rest_loss_matches_central_differences() {
    // With this seed, the number of alarms of each class differs clearly from its number of events. Where the two are equal, the loss |s − 1| of the
    // frequency bias s has a kink.
    let batch = ClassBatch::random(21, 11, 4);
    for name in SCORES {
        for prior in PRIORS {
            for average in AVERAGES {
                if (name, average) == ("frequency_bias", Average::Micro) {
                    continue; // over all classes there are as many alarms as events, where |s − 1| has a kink
                }
                let loss = one_versus_rest(name, prior, average);
                let what = format!("{average}({name}), {prior:?}");
                let plain = |z: &[f64]| value_and_gradient(&loss, &batch.with_logits(z).single_label_rows());
                assert_gradient_matches_differences(&batch.logits, plain, &what);
                let weighted = |z: &[f64]| value_and_gradient(&loss, &batch.with_logits(z).weighted_rows());
                assert_gradient_matches_differences(&batch.logits, weighted, &format!("{what}, weights"));
                let labels = |z: &[f64]| {
                    value_and_gradient(
                        &loss,
                        &batch.with_logits(z).multi_label_rows().weighted(&batch.weights).unwrap(),
                    )
                };
                assert_gradient_matches_differences(&batch.logits, labels, &format!("{what}, multi-label"));
            }
        }
    }
}

#[test]
fn gradient_of_the_simplex_loss_matches_central_differences() {
    let batch = ClassBatch::random(2, 11, 4);
    for name in MULTI_SCORES {
        for loss in [SimplexLoss::new(multi_score(name)), simplex_loss(name)] {
            let plain = |z: &[f64]| simplex_value_and_gradient(&loss, &batch.with_logits(z).single_label_rows());
            assert_gradient_matches_differences(&batch.logits, plain, name);
            let weighted = |z: &[f64]| simplex_value_and_gradient(&loss, &batch.with_logits(z).weighted_rows());
            assert_gradient_matches_differences(&batch.logits, weighted, &format!("{name}, weights"));
        }
    }
}

/// Costs of four classes. A correct prediction of the last class has a negative cost, which is a gain.
const COSTS: &str = "cost_matrix(0, 1, 5, 2; 1, 0, 2.5, 1; 10, 3, 0, 4; 7, 1, 1, -0.5)";

#[test]
fn the_loss_of_a_cost_matrix_is_the_mean_expected_cost_of_softmax_probabilities_scaled_to_0_to_1() {
    let batch = ClassBatch::random(5, 30, 4);
    let MultiScore::Costs(costs) = multi_score(COSTS) else { panic!("not a cost matrix") };
    let costs_of: Vec<&[f64]> = costs.rows().collect();
    let expected_cost = |row: usize| {
        let exponentials: Vec<f64> = batch.logits[4 * row..4 * row + 4].iter().map(|z| z.exp()).collect();
        let products = exponentials.iter().zip(costs_of[batch.labels[row] as usize]).map(|(e, cost)| e * cost);
        products.sum::<f64>() / exponentials.iter().sum::<f64>()
    };
    let rows = batch.labels.len();
    let mean = (0..rows).map(expected_cost).sum::<f64>() / rows as f64;
    let loss = SimplexLoss::new(multi_score(COSTS));
    assert_close(loss.value(&batch.single_label_rows()).unwrap(), (mean + 0.5) / 10.5, 1e-13, COSTS);
    let matrix = loss.expect(&batch.single_label_rows()).unwrap();
    assert_close(multi_score(COSTS).value(&matrix), mean, 1e-13, COSTS);
    for loss in [loss, simplex_loss(COSTS)] {
        let plain = |z: &[f64]| simplex_value_and_gradient(&loss, &batch.with_logits(z).single_label_rows());
        assert_gradient_matches_differences(&batch.logits, plain, COSTS);
        let weighted = |z: &[f64]| simplex_value_and_gradient(&loss, &batch.with_logits(z).weighted_rows());
        assert_gradient_matches_differences(&batch.logits, weighted, COSTS);
    }
}

#[test]
fn the_cheapest_class_has_the_lowest_expected_cost() {
    let MultiScore::Costs(costs) = multi_score(COSTS) else { panic!("not a cost matrix") };
    assert_eq!(costs.cheapest(&[1.0, 0.0, 0.0, 0.0]), 0);
    // If the true class is 1 with probability 0.7 and 2 with probability 0.3, predicting class 1 has the lowest expected cost, 0.3 · 3 = 0.9.
    assert_eq!(costs.cheapest(&[0.0, 0.7, 0.3, 0.0]), 1);
    assert_eq!(costs.cheapest(&[0.7, 0.0, 0.3, 0.0]), 1);
}

#[test]
fn invalid_cost_matrices_are_reported() {
    let message = |text: &str| MultiScore::parse(text).unwrap_err().to_string();
    assert!(
        message("cost_matrix(0, 1, 2; 1, 0, 3)")
            .starts_with("row 1 of the cost matrix has 3 costs, but there are 2 rows")
    );
    assert!(message("cost_matrix(0)").starts_with("a cost matrix needs at least 2 rows, not 1"));
    assert!(message("cost_matrix(0, x; 1, 0)").starts_with("`x` is not a cost"));
    assert!(message("cost_matrix(0, inf; 1, 0)").starts_with("inf is not a finite cost"));
    let error = multi_score(COSTS).check_classes(3).unwrap_err().to_string();
    assert_eq!(error, "score is a matrix of costs for 4 classes, but there are 3");
    assert_eq!(multi_score(COSTS).to_string(), COSTS);
    let three = MultiConfusion::new(3, vec![1.0; 9]).unwrap();
    assert_eq!(multi_score(COSTS).checked(&three), None);
}

#[test]
fn derivatives_with_respect_to_cells_match_central_differences() {
    let cells = [50.0, 3.0, 2.0, 10.0, 30.0, 5.0, 1.0, 4.0, 15.0];
    let matrix = |cells: &[f64]| MultiConfusion::new(3, cells.to_vec()).unwrap();
    for name in MULTI_SCORES {
        let score = multi_score(name);
        assert_gradient_matches_differences(&cells, |cells| score.value_and_derivatives(&matrix(cells)), name);
        assert_gradient_matches_differences(
            &cells,
            |cells| score.loss_and_derivatives(&matrix(cells)),
            &format!("loss of {name}"),
        );
        assert_close(score.value_and_derivatives(&matrix(&cells)).0, score.value(&matrix(&cells)), 1e-15, name);
        assert_close(score.loss_and_derivatives(&matrix(&cells)).0, score.loss(&matrix(&cells)), 1e-15, name);
    }
}

#[test]
fn losses_and_gradients_in_f32_agree_with_f64() {
    let batch = ClassBatch::random(3, 200, 4);
    let logits_f32: Vec<f32> = batch.logits.iter().map(|z| *z as f32).collect();
    let weights: Vec<f32> = batch.weights.iter().map(|weight| *weight as f32).collect();
    let rows = ClassRows::new(&logits_f32, 4, OneOf(&batch.labels)).unwrap().weighted(&weights).unwrap();
    let rows_f64 = batch.weighted_rows();
    let to_f64 = |gradient: Vec<f32>| gradient.into_iter().map(f64::from).collect::<Vec<_>>();
    for prior in PRIORS {
        let loss = one_versus_rest("f1", prior, Average::Macro);
        let ((value, gradient), (expected, expected_gradient)) =
            (value_and_gradient(&loss, &rows), value_and_gradient(&loss, &rows_f64));
        assert_close(value, expected, 1e-6, "value");
        assert_all_close(&to_f64(gradient), &expected_gradient, 1e-5, &format!("{prior:?}"));
    }
    for name in MULTI_SCORES {
        let ((value, gradient), (expected, expected_gradient)) = (
            simplex_value_and_gradient(&simplex_loss(name), &rows),
            simplex_value_and_gradient(&simplex_loss(name), &rows_f64),
        );
        assert_close(value, expected, 1e-6, name);
        assert_all_close(&to_f64(gradient), &expected_gradient, 1e-5, name);
    }
}

#[test]
fn multi_class_scores_agree_with_values_of_other_tools() {
    let golden: serde_json::Value = serde_json::from_str(include_str!("golden/multiclass.json")).unwrap();
    let cases = golden["cases"].as_array().unwrap();
    assert!(cases.len() > 100);
    for case in cases {
        let name = case["score"].as_str().unwrap();
        let text = match name.split_once('_') {
            Some((average, score)) => format!("{average}({score})"),
            None => name.to_string(),
        };
        let rows = golden["matrices"][case["matrix"].as_str().unwrap()].as_array().unwrap();
        let cells = rows.iter().flat_map(|row| row.as_array().unwrap()).map(|cell| cell.as_f64().unwrap()).collect();
        let matrix = MultiConfusion::new(rows.len(), cells).unwrap();
        let (got, expected) = (multi_score(&text).value(&matrix), case["value"].as_f64().unwrap());
        assert!((got - expected).abs() <= 1e-12 * expected.abs(), "{case}: {got}");
    }
}

#[test]
fn gerrity_score_agrees_with_its_published_definition_by_a_scoring_matrix() {
    // The expected value is Σ E_ij s_ij / n, where s is computed from a_i = (1 − Σ_{k≤i} r_k/n) / Σ_{k≤i} r_k/n, as printed in Gerrity (1992).
    // E is the confusion matrix, r its row sums, n its total, and s the scoring matrix.
    let batch = ClassBatch::random(4, 60, 5);
    let matrix = MultiConfusion::from_logits(&batch.weighted_rows());
    let (truth, total) = (matrix.row_sums(), matrix.total());
    let odds = |cut: usize| {
        let below: f64 = truth[..=cut].iter().sum::<f64>() / total;
        (1.0 - below) / below
    };
    let mut expected = 0.0;
    for i in 0..5usize {
        for j in 0..5usize {
            let (low, high) = (i.min(j), i.max(j));
            let reward: f64 = (0..low).map(|cut| 1.0 / odds(cut)).sum::<f64>() + (high..4).map(odds).sum::<f64>();
            expected += matrix.at(i, j) / total * (reward - (high - low) as f64) / 4.0;
        }
    }
    assert_close(multi_score("gerrity").value(&matrix), expected, 1e-13, "gerrity");
}

#[test]
fn expected_matrix_of_each_class_equals_that_of_a_binary_loss_for_this_class() {
    let batch = ClassBatch::random(5, 80, 3);
    let loss = one_versus_rest("f1", &["cosine:0.5,0.3", "beta:2,3", "uniform"], Average::Macro);
    for (class, got) in
        loss.expect(&batch.multi_label_rows().weighted(&batch.weights).unwrap()).unwrap().iter().enumerate()
    {
        let logits: Vec<f64> = batch.logits.iter().skip(class).step_by(3).copied().collect();
        let flags: Vec<bool> = batch.flags.iter().skip(class).step_by(3).copied().collect();
        let rows = Rows::new(Logits(&logits), &flags).unwrap().weighted(&batch.weights).unwrap();
        let binary = ScoreLoss::new(score("f1"), loss.priors()[class].clone()).expect(&rows).unwrap();
        assert_same_matrix(got, &binary, &format!("class {class}"));
    }
}

#[test]
fn multi_label_rows_with_one_class_give_the_binary_loss() {
    let batch = ClassBatch::random(6, 50, 1);
    let rows = Rows::new(Logits(&batch.logits), &batch.flags).unwrap();
    for average in AVERAGES {
        let (value, gradient) =
            value_and_gradient(&one_versus_rest("csi", &["beta:2,2"], average), &batch.multi_label_rows());
        let mut expected_gradient = vec![0.0; 50];
        let binary = ScoreLoss::new(score("csi"), "beta:2,2".parse().unwrap());
        let expected = binary.value_and_gradient(&rows, &mut expected_gradient).unwrap();
        assert_close(value, expected, 1e-14, average.name());
        assert_all_close(&gradient, &expected_gradient, 1e-13, average.name());
    }
}

/// A batch of two classes as a binary problem with `class` as the positive class: the logit is z₁ − z₀ for class 1 and z₀ − z₁ for class 0.
fn binary_view(batch: &ClassBatch, class: u32) -> (Vec<f64>, Vec<bool>) {
    let sign = if class == 1 { 1.0 } else { -1.0 };
    let logits = batch.logits.chunks(2).map(|z| sign * (z[1] - z[0])).collect();
    (logits, batch.labels.iter().map(|label| *label == class).collect())
}

#[test]
fn one_versus_rest_loss_of_two_classes_is_the_mean_of_two_binary_losses() {
    let batch = ClassBatch::random(7, 60, 2);
    let priors = ["cosine:0.4,0.3", "beta:0.5,2"];
    let (value, gradient) =
        value_and_gradient(&one_versus_rest("mcc", &priors, Average::Macro), &batch.single_label_rows());
    let (mut expected, mut expected_gradient) = (0.0, vec![0.0; 120]);
    for (class, prior) in priors.iter().enumerate() {
        let (logits, labels) = binary_view(&batch, class as u32);
        let rows = Rows::new(Logits(&logits), &labels).unwrap();
        let mut binary = vec![0.0; 60];
        let loss = ScoreLoss::new(score("mcc"), prior.parse().unwrap());
        expected += 0.5 * loss.value_and_gradient(&rows, &mut binary).unwrap();
        for (row, derivative) in binary.iter().enumerate() {
            expected_gradient[2 * row + class] += 0.5 * derivative;
            expected_gradient[2 * row + 1 - class] -= 0.5 * derivative;
        }
    }
    assert_close(value, expected, 1e-14, "value");
    assert_all_close(&gradient, &expected_gradient, 1e-12, "gradient");
}

#[test]
fn simplex_loss_of_two_classes_equals_the_binary_loss_with_uniform_prior() {
    let batch = ClassBatch::random(8, 60, 2);
    let (logits, labels) = binary_view(&batch, 1);
    let rows = Rows::new(Logits(&logits), &labels).unwrap().weighted(&batch.weights).unwrap();
    let class_rows = batch.weighted_rows();
    let pairs = [("accuracy", "accuracy"), ("mcc", "mcc"), ("hss", "hss"), ("peirce", "tss"), ("gerrity", "tss")];
    for (name, binary_name) in pairs {
        let loss = SimplexLoss::new(multi_score(name));
        let binary = ScoreLoss::new(score(binary_name), Prior::uniform());
        assert_same_matrix(&loss.expect(&class_rows).unwrap().binary(1), &binary.expect(&rows).unwrap(), name);
        let (value, gradient) = simplex_value_and_gradient(&loss, &class_rows);
        let mut expected = vec![0.0; 60];
        assert_close(value, binary.value_and_gradient(&rows, &mut expected).unwrap(), 1e-13, name);
        let expected: Vec<f64> = expected.iter().flat_map(|derivative| [-derivative, *derivative]).collect();
        assert_all_close(&gradient, &expected, 1e-12, name);
    }
}

#[test]
fn row_sums_of_expected_matrices_are_the_class_weights() {
    let batch = ClassBatch::random(9, 300, 4);
    let rows = batch.weighted_rows();
    let support = |class: u32| -> f64 {
        batch.labels.iter().zip(&batch.weights).filter(|(label, _)| **label == class).map(|(_, weight)| weight).sum()
    };
    let supports: Vec<f64> = (0..4).map(support).collect();
    assert_all_close(&simplex_loss("mcc").expect(&rows).unwrap().row_sums(), &supports, 1e-14, "simplex");
    assert_all_close(&MultiConfusion::from_logits(&rows).row_sums(), &supports, 1e-14, "argmax");
    let matrices = one_versus_rest("f1", PRIORS[2], Average::Macro).expect(&rows).unwrap();
    for (matrix, support) in matrices.iter().zip(&supports) {
        assert_close(matrix.counts().positives, *support, 1e-14, "positives");
        assert_close(matrix.total(), supports.iter().sum(), 1e-14, "total");
    }
}

#[test]
fn weighted_average_weights_each_class_by_its_positive_rows() {
    let batch = ClassBatch::random(10, 40, 3);
    let loss = |average| one_versus_rest("recall", &["uniform"], average);
    let matrices = loss(Average::Weighted).expect(&batch.single_label_rows()).unwrap();
    let value = |share: &dyn Fn(&Confusion) -> f64| {
        let total: f64 = matrices.iter().map(share).sum();
        1.0 - matrices.iter().map(|matrix| share(matrix) * score("recall").value(matrix)).sum::<f64>() / total
    };
    let got = loss(Average::Weighted).of(&matrices).unwrap();
    assert_close(got, value(&|matrix| matrix.counts().positives), 1e-14, "weighted");
    assert!((got - value(&|matrix| matrix.counts().negatives)).abs() > 1e-3);
    assert_close(loss(Average::Macro).of(&matrices).unwrap(), value(&|_| 1.0), 1e-14, "macro");
    // The average of the recalls, weighted by the number of rows of each class, equals accuracy.
    let matrix = MultiConfusion::from_logits(&batch.single_label_rows());
    assert_close(
        multi_score("weighted(recall)").value(&matrix),
        multi_score("accuracy").value(&matrix),
        1e-15,
        "recall",
    );
}

#[test]
fn every_class_uses_its_own_prior() {
    let batch = ClassBatch::random(11, 40, 3);
    let texts = ["cosine:0.2,0.1", "cosine:0.5,0.1", "cosine:0.8,0.1"];
    let all = one_versus_rest("f1", &texts, Average::Macro);
    let matrices = all.expect(&batch.single_label_rows()).unwrap();
    for class in 0..3 {
        let alone = one_versus_rest("f1", &[texts[class]], Average::Macro);
        assert_eq!(matrices[class], alone.expect(&batch.single_label_rows()).unwrap()[class]);
        let difference =
            all.value(&batch.single_label_rows()).unwrap() - alone.value(&batch.single_label_rows()).unwrap();
        assert!(difference.abs() > 1e-3, "{class}: {difference}");
    }
}

#[test]
fn computing_the_gradient_in_batches_gives_the_gradient_of_all_rows() {
    let all_rows = ClassBatch::random(12, 100, 4);
    let parts: Vec<ClassBatch> = [(0, 17), (17, 18), (18, 100)]
        .map(|(from, to)| all_rows.select_rows_and_classes(&(from..to).collect::<Vec<_>>(), &[0, 1, 2, 3]))
        .into();
    for average in AVERAGES {
        let loss = one_versus_rest("f1", PRIORS[2], average);
        let mut sums = vec![Confusion::default(); 4];
        for part in &parts {
            sums.iter_mut().zip(loss.expect(&part.weighted_rows()).unwrap()).for_each(|(sum, part)| *sum += part);
        }
        let (value, expected) = value_and_gradient(&loss, &all_rows.weighted_rows());
        assert_close(loss.of(&sums).unwrap(), value, 1e-14, average.name());
        let derivatives = loss.derivatives(&sums).unwrap();
        let mut gradient = Vec::new();
        for part in &parts {
            let mut part_gradient = vec![0.0; part.logits.len()];
            loss.gradient_with(&derivatives, &part.weighted_rows(), &mut part_gradient).unwrap();
            gradient.extend(part_gradient);
        }
        assert_all_close(&gradient, &expected, 1e-13, average.name());
    }
    for name in MULTI_SCORES {
        let loss = simplex_loss(name);
        let mut sum = MultiConfusion::empty(4).unwrap();
        for part in &parts {
            sum += &loss.expect(&part.weighted_rows()).unwrap();
        }
        let (value, expected) = simplex_value_and_gradient(&loss, &all_rows.weighted_rows());
        assert_close(loss.of(&sum).unwrap(), value, 1e-14, name);
        let derivatives = loss.derivatives(&sum).unwrap();
        let mut gradient = Vec::new();
        for part in &parts {
            let mut part_gradient = vec![0.0; part.logits.len()];
            loss.gradient_with(&derivatives, &part.weighted_rows(), &mut part_gradient).unwrap();
            gradient.extend(part_gradient);
        }
        assert_all_close(&gradient, &expected, 1e-12, name);
    }
}

#[test]
fn order_of_rows_and_classes_does_not_change_multi_class_losses() {
    let batch = ClassBatch::random(13, 50, 4);
    let rows: Vec<usize> = (0..50).map(|row| (row * 7 + 3) % 50).collect();
    let classes = [2, 0, 3, 1];
    let other = batch.select_rows_and_classes(&rows, &classes);
    let reordered = |gradient: &[f64]| -> Vec<f64> {
        rows.iter().flat_map(|row| classes.iter().map(move |class| gradient[row * 4 + class])).collect()
    };
    for average in AVERAGES {
        let loss = one_versus_rest("csi", PRIORS[3], average);
        let relabelled = one_versus_rest("csi", &classes.map(|class| PRIORS[3][class]), average);
        let (value, gradient) = value_and_gradient(&loss, &batch.weighted_rows());
        let (other_value, other_gradient) = value_and_gradient(&relabelled, &other.weighted_rows());
        assert_close(other_value, value, 1e-14, average.name());
        assert_all_close(&other_gradient, &reordered(&gradient), 1e-12, average.name());
    }
    for name in MULTI_SCORES.into_iter().filter(|name| *name != "gerrity") {
        let loss = simplex_loss(name);
        let relabelled = loss.clone().with_centres(classes.map(|class| loss.centres()[class]).to_vec()).unwrap();
        let (value, gradient) = simplex_value_and_gradient(&loss, &batch.weighted_rows());
        let (other_value, other_gradient) = simplex_value_and_gradient(&relabelled, &other.weighted_rows());
        assert_close(other_value, value, 1e-13, name);
        assert_all_close(&other_gradient, &reordered(&gradient), 1e-12, name);
    }
    // The Gerrity score is for ordered classes: reversing their order does not change the score, but another order does.
    let all: Vec<usize> = (0..50).collect();
    let gerrity_of = |classes: &[usize]| {
        multi_score("gerrity")
            .value(&MultiConfusion::from_logits(&batch.select_rows_and_classes(&all, classes).single_label_rows()))
    };
    assert_close(gerrity_of(&[3, 2, 1, 0]), gerrity_of(&[0, 1, 2, 3]), 1e-14, "reversed");
    assert!((gerrity_of(&[2, 0, 3, 1]) - gerrity_of(&[0, 1, 2, 3])).abs() > 1e-3);
}

#[test]
fn mean_over_random_gumbel_thresholds_is_the_expected_matrix() {
    let (logits, centres, sharpness) = ([0.3, -0.4, 1.1], [0.2, -0.5, 0.9], 1.7);
    let loss = SimplexLoss::new(multi_score("accuracy"))
        .with_sharpness(sharpness)
        .unwrap()
        .with_centres(centres.to_vec())
        .unwrap();
    let expected = loss.expect(&ClassRows::new(&logits, 3, OneOf(&[1])).unwrap()).unwrap();
    let uniform = Prior::uniform();
    let mut random = uniform.sample(14);
    let draws = 200_000;
    let mut counts = [0.0; 3];
    for _ in 0..draws {
        // The random threshold is τ = μ − G/λ, where μ is the centre, λ the sharpness, G = −ln(−ln U), and U is uniform in (0, 1).
        let margins = [0, 1, 2].map(|k| {
            let gumbel = -(-random.next().unwrap().ln()).ln();
            logits[k] - (centres[k] - gumbel / sharpness)
        });
        let winner = (0..3).max_by(|a, b| margins[*a].total_cmp(&margins[*b])).unwrap();
        counts[winner] += 1.0;
    }
    for (class, count) in counts.iter().enumerate() {
        let (p, got) = (expected.at(1, class), count / f64::from(draws));
        let deviation = (p * (1.0 - p) / f64::from(draws)).sqrt();
        assert!((got - p).abs() < 4.0 * deviation, "class {class}: {got}, expected {p}");
    }
}

#[test]
fn simplex_loss_with_large_sharpness_approaches_argmax() {
    let batch = ClassBatch::random(15, 100, 3);
    let sharp = SimplexLoss::new(multi_score("mcc")).with_sharpness(1e6).unwrap();
    let expected = MultiConfusion::from_logits(&batch.single_label_rows());
    assert_all_close(sharp.expect(&batch.single_label_rows()).unwrap().cells(), expected.cells(), 1e-12, "argmax");
    assert_close(
        1.0 - sharp.value(&batch.single_label_rows()).unwrap(),
        multi_score("mcc").value(&expected),
        1e-12,
        "mcc",
    );
}

#[test]
fn losses_are_finite_at_extreme_logits_and_weights() {
    let mut batch = ClassBatch::random(16, 40, 4);
    for (at, logit) in batch.logits.iter_mut().enumerate() {
        *logit *= [1.0, 30.0, 400.0, 5e3][at / 4 % 4];
    }
    batch.logits[..4].copy_from_slice(&[1e4, -1e4, 1e4, 0.0]);
    for (row, weight) in batch.weights.iter_mut().enumerate() {
        *weight = [1.0, 0.0, 1e12, 1e-12][row / 3 % 4];
    }
    let zero_weights = vec![0.0; 40];
    for weights in [&batch.weights, &zero_weights] {
        let rows = batch.single_label_rows().weighted(weights).unwrap();
        for name in SCORES {
            for prior in PRIORS {
                for average in AVERAGES {
                    let loss = one_versus_rest(name, prior, average);
                    let (value, gradient) = value_and_gradient(&loss, &rows);
                    assert!(
                        value.is_finite() && gradient.iter().all(|derivative| derivative.is_finite()),
                        "{name} {prior:?}"
                    );
                    let (value, gradient) =
                        value_and_gradient(&loss, &batch.multi_label_rows().weighted(weights).unwrap());
                    assert!(
                        value.is_finite() && gradient.iter().all(|derivative| derivative.is_finite()),
                        "{name} {prior:?}"
                    );
                }
            }
        }
        for name in MULTI_SCORES {
            let (value, gradient) = simplex_value_and_gradient(&simplex_loss(name), &rows);
            assert!(value.is_finite() && gradient.iter().all(|derivative| derivative.is_finite()), "{name}");
        }
    }
}

#[test]
fn gradient_is_accurate_where_a_probability_rounds_to_one() {
    // The first row has the logits z = (60, 0, −5) and the true class 1: p₀ rounds to 1, and a gradient computed from 1 − p₀ would be 0.
    let rows = [60.0, 0.0, -5.0, 0.2, 0.1, 0.4];
    let loss = one_versus_rest("recall", &["uniform"], Average::Macro);
    let class_rows = ClassRows::new(&rows, 3, OneOf(&[1, 0])).unwrap();
    let (_, gradient) = value_and_gradient(&loss, &class_rows);
    // Among the recalls of the classes, only that of class 1 depends on the first row, and it equals p₁ of that row. So the derivative of the
    // loss with respect to z₁ is −⅓ ∂p₁/∂z₁ = −⅓ p₁(1 − p₁).
    let others = 60f64.exp() + (-5f64).exp();
    let derivative = -others / ((1.0 + others) * (1.0 + others)) / 3.0;
    assert!((gradient[1] - derivative).abs() <= 1e-13 * derivative.abs(), "{}, expected {derivative}", gradient[1]);
    // The derivative with respect to z₀ is ⅓ p₁p₀, and p₀ equals 1 − p₁ to 28 digits.
    assert!((gradient[0] + derivative).abs() <= 1e-13 * derivative.abs(), "{}, expected {}", gradient[0], -derivative);
}

#[test]
fn a_class_without_rows_counts_as_zero_in_a_macro_average_and_not_at_all_in_a_weighted_average() {
    // Class 2 has no rows. A macro average includes it with the value 0 (x/0 := 0), a weighted average ignores it, and a report shows undefined
    // values as undefined.
    let matrix = MultiConfusion::from_labels(3, &[0, 0, 1, 1], &[0, 1, 1, 1], None).unwrap();
    let f1 = [2.0 / 3.0, 4.0 / 5.0];
    assert_close(multi_score("macro(f1)").value(&matrix), (f1[0] + f1[1]) / 3.0, 1e-15, "macro");
    assert_close(multi_score("weighted(f1)").value(&matrix), (f1[0] + f1[1]) / 2.0, 1e-15, "weighted");
    assert_eq!(multi_score("macro(f1)").checked(&matrix), None);
    assert_close(multi_score("weighted(f1)").checked(&matrix).unwrap(), (f1[0] + f1[1]) / 2.0, 1e-15, "weighted");
    assert_eq!(multi_score("gerrity").checked(&matrix), None);
    assert_eq!(multi_score("accuracy").checked(&matrix), Some(0.75));
    let batch = ClassBatch::random(17, 20, 3);
    let labels: Vec<u32> = batch.labels.iter().map(|label| label % 2).collect();
    let rows = ClassRows::new(&batch.logits, 3, OneOf(&labels)).unwrap();
    for average in AVERAGES {
        let (value, gradient) = value_and_gradient(&one_versus_rest("tss", &["uniform"], average), &rows);
        assert!(value.is_finite() && gradient.iter().all(|derivative| derivative.is_finite()));
    }
}

#[test]
fn scores_of_constant_forecasts_and_empty_matrices_are_undefined() {
    let constant = MultiConfusion::from_labels(3, &[0, 1, 2], &[1, 1, 1], Some(&[0.1, 0.2, 0.3])).unwrap();
    assert_eq!((multi_score("mcc").checked(&constant), multi_score("mcc").value(&constant)), (None, 0.0));
    assert_close(multi_score("hss").checked(&constant).unwrap(), 0.0, 1e-15, "hss");
    let one_class = MultiConfusion::from_labels(3, &[1, 1], &[1, 1], None).unwrap();
    for name in ["mcc", "hss", "peirce", "gerrity"] {
        assert_eq!(multi_score(name).checked(&one_class), None, "{name}");
    }
    let empty = MultiConfusion::empty(3).unwrap();
    for name in MULTI_SCORES {
        assert_eq!((multi_score(name).value(&empty), multi_score(name).checked(&empty)), (0.0, None), "{name}");
        assert!(
            multi_score(name).loss_and_derivatives(&empty).1.iter().all(|derivative| derivative.is_finite()),
            "{name}"
        );
    }
}

#[test]
fn macro_loss_of_a_score_with_an_ideal_value_averages_the_losses_of_the_classes() {
    // The mean of the frequency biases 5/3 and 1/3 is 1, the ideal value, but neither bias is ideal.
    let matrix = MultiConfusion::from_labels(2, &[0, 0, 0, 1, 1, 1], &[0, 0, 0, 0, 0, 1], None).unwrap();
    assert_close(multi_score("macro(frequency_bias)").loss(&matrix), (2.0 / 3.0 + 2.0 / 3.0) / 2.0, 1e-15, "bias");
    assert_close(multi_score("macro(frequency_bias)").value(&matrix), 1.0, 1e-15, "bias");
    assert_close(multi_score("macro(far)").loss(&matrix), (2.0 / 5.0) / 2.0, 1e-15, "lower is better");
    let loss = one_versus_rest("frequency_bias", &["uniform"], Average::Macro);
    assert_close(loss.of(&matrix.binaries()).unwrap(), 2.0 / 3.0, 1e-15, "bias");
}

#[test]
fn multi_class_matrices_match_matrices_counted_by_hand() {
    let logits = [0.0, 1.0, 2.0, 5.0, 5.0, 1.0, -1.0, -2.0, -3.0];
    let rows = ClassRows::new(&logits, 3, OneOf(&[2, 1, 0])).unwrap().weighted(&[1.0, 2.0, 4.0]).unwrap();
    let matrix = MultiConfusion::from_logits(&rows); // if logits are equal, the first class is predicted
    assert_eq!(matrix.cells(), [4.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(matrix, MultiConfusion::from_labels(3, &[2, 1, 0], &[2, 0, 0], Some(&[1.0, 2.0, 4.0])).unwrap());
    assert_eq!((matrix.row_sums(), matrix.column_sums()), (vec![4.0, 2.0, 1.0], vec![6.0, 0.0, 1.0]));
    assert_eq!((matrix.classes(), matrix.total(), matrix.at(1, 0)), (3, 7.0, 2.0));
    assert_eq!(matrix.binary(0), Confusion::new(1.0, 2.0, 0.0, 4.0));
    assert_eq!(matrix.micro(), Confusion::new(12.0, 2.0, 2.0, 5.0));
    assert_eq!((matrix.clone() + matrix.clone()).total(), 14.0);
}

#[test]
fn multi_class_scores_and_averages_are_parsed_and_printed() {
    for name in MULTI_SCORES {
        assert_eq!(multi_score(name).to_string(), name);
        assert_eq!(name.parse::<MultiScore>().unwrap(), multi_score(name));
    }
    let aliases = [
        ("Heidke", "hss"),
        ("cohen-kappa", "hss"),
        ("R_K", "mcc"),
        ("tss", "peirce"),
        (" Macro( f-measure ) ", "macro(f1)"),
        ("micro(cost(fp=1, fn=2))", "micro(cost(fp=1, fn=2))"),
        ("weighted(0.5*tss + 0.5*csi)", "weighted(0.5*tss + 0.5*csi)"),
    ];
    for (text, name) in aliases {
        assert_eq!(multi_score(text).to_string(), name);
    }
    for average in AVERAGES {
        assert_eq!(average.to_string().parse::<Average>().unwrap(), average);
    }
    let loss = simplex_loss("mcc");
    assert_eq!((loss.score(), loss.sharpness(), loss.centres().len()), (&multi_score("mcc"), 1.5, 4));
    let loss = one_versus_rest("f1", &["uniform"], Average::Micro);
    assert_eq!((loss.score().name(), loss.average(), loss.priors().len()), ("f1", Average::Micro, 1));
}

#[test]
fn invalid_multi_class_input_is_reported() {
    let logits = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    let rows = |logits: &'static [f64], classes, labels: &'static [u32]| ClassRows::new(logits, classes, OneOf(labels));
    let valid = || ClassRows::new(&logits, 3, OneOf(&[0, 1])).unwrap();
    let simplex = || SimplexLoss::new(multi_score("mcc"));
    let message = |error: Option<Error>| error.map(|error| error.to_string()).unwrap_or_default();
    let two = one_versus_rest("f1", &["uniform", "uniform"], Average::Macro);
    let cases: Vec<(Option<Error>, &str)> = vec![
        (rows(&[0.0; 5], 3, &[0, 1]).err(), "logits must have rows × classes = 2×3 values, not 5"),
        (rows(&[], 3, &[]).err(), "there are no rows; at least one is needed"),
        (rows(&[0.0], 1, &[0]).err(), "classes must be at least 2, not 1"),
        (rows(&[0.0], 0, &[0]).err(), "classes must be at least 1, not 0"),
        (
            rows(&[0.0; 2], usize::MAX, &[0, 0]).err(),
            "logits must have rows × classes = 2×18446744073709551615 values, not 2",
        ),
        (rows(&[0.0; 6], 3, &[0, 7]).err(), "labels, row 1: 7 is not below the number of classes"),
        (
            rows(&[0.0, 1.0, 2.0, 3.0, f64::NAN, 5.0], 3, &[0, 1]).err(),
            "logits, row 1, class 1: NaN is not a finite number",
        ),
        (rows(&[0.0, 1.0, f64::INFINITY], 3, &[0]).err(), "logits, row 0, class 2: inf is not a finite number"),
        (ClassRows::new(&logits, 3, AnyOf(&[true; 5])).err(), "labels must have rows × classes = 1×3 values, not 5"),
        (ClassRows::new(&logits, 3, AnyOf(&[true; 3])).err(), "logits must have rows × classes = 1×3 values, not 6"),
        (valid().weighted(&[1.0]).err(), "wrong number of rows in weights: 1, expected 2"),
        (valid().weighted(&[1.0, -2.0]).err(), "weights, row 1: -2 is not a finite number at or above 0"),
        (valid().weighted(&[f64::NAN, 1.0]).err(), "weights, row 0: not a number"),
        (
            OneVersusRest::new(score("f1"), vec![], Average::Macro).err(),
            "priors must contain one prior for all classes or one prior for each class, but the list is empty",
        ),
        (
            two.value(&valid()).err(),
            "priors must contain one entry for all classes or one for each of the 3 classes, not 2",
        ),
        (
            two.value_and_gradient(&valid(), &mut [0.0; 5]).err(),
            "priors must contain one entry for all classes or one for each of the 3 classes, not 2",
        ),
        (
            simplex().value_and_gradient(&valid(), &mut [0.0; 5]).err(),
            "gradient must have rows × classes = 2×3 values, not 5",
        ),
        (
            simplex().gradient_with(&[0.0; 4], &valid(), &mut [0.0; 6]).err(),
            "derivatives must contain one value for each of 3×3 cells, not 4",
        ),
        (
            one_versus_rest("f1", &["uniform"], Average::Macro).gradient_with(&[], &valid(), &mut [0.0; 6]).err(),
            "derivatives must contain one `ClassDerivatives` for each of the 3 classes, not 0",
        ),
        (simplex().with_sharpness(0.0).err(), "sharpness must be between 1e-6 and 1e6, not 0"),
        (simplex().with_sharpness(f64::NAN).err(), "sharpness must be between 1e-6 and 1e6, not NaN"),
        (
            simplex().with_centres(vec![]).err(),
            "centres must contain one centre for all classes or one centre for each class, but the list is empty",
        ),
        (
            simplex().with_centres(vec![0.0, f64::INFINITY]).err(),
            "centres must lie between -1e6 and 1e6; the centre of class 1 is inf",
        ),
        (
            simplex().with_centres(vec![0.0, 1.0]).unwrap().value(&valid()).err(),
            "centres must contain one entry for all classes or one for each of the 3 classes, not 2",
        ),
        (MultiConfusion::new(2, vec![1.0; 3]).err(), "confusion matrix must have 2×2 cells, not 3"),
        (
            MultiConfusion::new(2, vec![1.0, 2.0, -3.0, 4.0]).err(),
            "confusion matrix must have finite cells that are 0 or above; the cell in row 1, column 0 is -3",
        ),
        (
            MultiConfusion::from_labels(2, &[0, 1], &[0, 2], None).err(),
            "predicted labels, row 1: 2 is not below the number of classes",
        ),
        ("best".parse::<Average>().err(), "average must be macro, weighted or micro, not `best`"),
        (
            MultiScore::parse("f1").err().map(Error::from),
            "`f1` is not a multi-class score\nhint: write `macro(f1)`, `weighted(f1)` or `micro(f1)`",
        ),
        (
            MultiScore::parse("best").err().map(Error::from),
            "`best` is not a multi-class score\nhint: the multi-class scores are `accuracy`, `mcc`, `hss`, `peirce`, `gerrity`, and \
             `macro(…)`, `weighted(…)` or `micro(…)`",
        ),
    ];
    for (error, expected) in cases {
        assert_eq!(message(error), expected);
    }
    let overflow = SimplexLoss::new(multi_score("macro(exp(1e6*tp))"));
    assert_eq!(
        overflow.value(&valid()).unwrap_err().to_string(),
        "score `macro(exp(1e6*tp))` is not finite for these rows; rescale the formula"
    );
}
