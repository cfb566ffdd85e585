//! The engine against a plain network in f64, on every instruction set that the machine has.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use scorewise::{CrossEntropy, ExactLoss, Logits, Loss, Prior, Rows, Score, ScoreLoss};
use scorewise_train::Matrix;
use scorewise_train::network::{Adam, Descent};
use scorewise_train::network::{Engine, Level, Network, NetworkShape};

/// Reproducible numbers between −1 and 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// A dense network with ReLU, as one would write it on paper, in f64. `places` orders the parameters.
fn plain(widths: &[usize], parameters: &[f64], input: &[f64]) -> Vec<f64> {
    let (mut values, mut at) = (input.to_vec(), 0);
    for (layer, pair) in widths.windows(2).enumerate() {
        let (weights, biases) = (at, at + pair[0] * pair[1]);
        let unit = |output: usize| {
            let sum = (0..pair[0]).map(|i| parameters[weights + output * pair[0] + i] * values[i]).sum::<f64>();
            let sum = sum + parameters[biases + output];
            if layer + 2 < widths.len() { sum.max(0.0) } else { sum }
        };
        values = (0..pair[1]).map(unit).collect();
        at = biases + pair[1];
    }
    values
}

struct Case {
    network: Network,
    matrix: Matrix,
    inputs: Vec<f64>,
    labels: Vec<bool>,
    order: Vec<u32>,
}

fn case(hidden: &[usize], inputs: usize, rows: usize, seed: u64) -> Case {
    let mut random = Random(seed);
    let mut network = Network::glorot(NetworkShape::new(inputs, hidden, 1).unwrap(), seed);
    // Biases off 0, so that their slopes are seen too.
    for place in network.parameter_indices() {
        network.parameters[place] += 0.05 * random.next() as f32;
    }
    let values: Vec<f32> = (0..rows * inputs).map(|_| random.next() as f32).collect();
    let labels: Vec<bool> = (0..rows).map(|row| values[row * inputs] + 0.5 * random.next() as f32 > 0.3).collect();
    // Not in order, and not all: a batch is a selection.
    let order: Vec<u32> = (0..rows as u32).rev().filter(|row| row % 7 != 3).collect();
    let matrix = Matrix::new(inputs, &values).unwrap();
    let inputs =
        order.iter().flat_map(|row| values[*row as usize * inputs..][..inputs].to_vec()).map(f64::from).collect();
    let labels = order.iter().map(|row| labels[*row as usize]).collect();
    Case { network, matrix, inputs, labels, order }
}

fn shapes() -> Vec<(Vec<usize>, usize, usize)> {
    vec![
        (vec![], 3, 40),
        (vec![5], 2, 10),
        (vec![50, 20, 5], 48, 300),
        (vec![15, 8], 8, 1000),
        (vec![1], 1, 1),
        (vec![17, 33], 19, 65),
        (vec![64], 130, 40),
    ]
}

#[test]
fn forward_is_that_of_a_plain_network() {
    for (hidden, inputs, rows) in shapes() {
        let case = case(&hidden, inputs, rows, 3);
        let parameters: Vec<f64> =
            case.network.parameter_indices().iter().map(|place| f64::from(case.network.parameters[*place])).collect();
        let widths = case.network.shape().widths();
        for level in Level::all() {
            let mut logits = vec![0.0; case.order.len()];
            Engine::at(level, case.network.shape()).forward(&case.network, &case.matrix, &case.order, &mut logits);
            for (row, logit) in logits.iter().enumerate() {
                let expected = plain(widths, &parameters, &case.inputs[row * inputs..(row + 1) * inputs])[0];
                assert!(
                    (f64::from(*logit) - expected).abs() < 1e-5,
                    "{level:?}, {hidden:?}, row {row}: {logit} for {expected}"
                );
            }
        }
    }
}

#[test]
fn gradient_of_every_layer_loss_and_prior_matches_differences_in_f64() {
    let score = |text: &str| Score::parse(text).unwrap();
    let mut losses = vec![
        Loss::CrossEntropy(CrossEntropy::plain()),
        Loss::CrossEntropy(CrossEntropy::weighted(5.0, 1.0).unwrap()),
        Loss::Exact(ExactLoss::new(score("csi"), Prior::uniform())),
    ];
    let priors = [
        "uniform",
        "cosine:0.5,0.4",
        "triangular:0.5,0.5",
        "epanechnikov:0.5,0.5",
        "quartic:0.5,0.5",
        "beta:2,2",
        "kumaraswamy:2,2",
        "normal:0.5,0.3",
        "logistic:0.5,0.2",
        "mix:0.2,cosine:0.5,0.3",
    ];
    for prior in priors {
        losses.push(Loss::Score(ScoreLoss::new(score("f1"), prior.parse().unwrap())));
    }
    for (hidden, inputs, rows) in [(vec![6, 4, 3], 5, 60), (vec![], 4, 50), (vec![9], 3, 45)] {
        // Weights with which no two rows get the same logit, where the exact loss has a kink.
        let case = case(&hidden, inputs, rows, 16);
        let widths = case.network.shape().widths();
        let places = case.network.parameter_indices();
        let parameters: Vec<f64> = places.iter().map(|place| f64::from(case.network.parameters[*place])).collect();
        for loss in &losses {
            let value = |parameters: &[f64]| {
                let logits: Vec<f64> =
                    case.inputs.chunks_exact(inputs).map(|input| plain(widths, parameters, input)[0]).collect();
                loss.value(&Rows::new(Logits(&logits), &case.labels).unwrap()).unwrap()
            };
            let expected: Vec<f64> = (0..places.len())
                .map(|at| {
                    let moved = |by: f64| {
                        let mut parameters = parameters.clone();
                        parameters[at] += by;
                        value(&parameters)
                    };
                    (moved(1e-6) - moved(-1e-6)) / 2e-6
                })
                .collect();
            let largest = expected.iter().fold(0f64, |largest, slope| largest.max(slope.abs()));
            for level in Level::all() {
                let mut engine = Engine::at(level, case.network.shape());
                let (mut logits, mut slopes) = (vec![0f32; case.order.len()], vec![0f32; case.order.len()]);
                engine.forward(&case.network, &case.matrix, &case.order, &mut logits);
                loss.value_and_gradient(&Rows::new(Logits(&logits), &case.labels).unwrap(), &mut slopes).unwrap();
                let mut gradient = vec![0f32; case.network.parameters.len()];
                engine.backward(&case.network, &slopes, &mut gradient);
                for (place, expected) in places.iter().zip(&expected) {
                    let got = f64::from(gradient[*place]);
                    assert!(
                        (got - expected).abs() <= 2e-4 * largest,
                        "{level:?}, {hidden:?}, {loss:?}: {got} for {expected}"
                    );
                }
                places.iter().for_each(|place| gradient[*place] = 0.0);
                assert!(gradient.iter().all(|slope| *slope == 0.0), "the padding has no slope");
            }
        }
    }
}

#[test]
fn levels_agree_after_an_epoch_of_training() {
    // As many rows as the paper's epoch has, a seventh of them left out.
    let case = case(&[50, 20, 5], 48, 18_767, 5);
    let loss = ScoreLoss::new(Score::parse("f1").unwrap(), "cosine:0.5,0.3".parse().unwrap());
    let train = |level: Level| {
        let mut network = case.network.clone();
        let (mut engine, mut adam) = (Engine::at(level, network.shape()), Adam::at(level, &network));
        for (order, labels) in case.order.chunks(64).zip(case.labels.chunks(64)) {
            let (mut logits, mut slopes) = (vec![0.0; order.len()], vec![0.0; order.len()]);
            engine.forward(&network, &case.matrix, order, &mut logits);
            loss.value_and_gradient(&Rows::new(Logits(&logits), labels).unwrap(), &mut slopes).unwrap();
            let mut gradient = vec![0.0; network.parameters.len()];
            engine.backward(&network, &slopes, &mut gradient);
            adam.step(&mut network.parameters, &gradient, 1e-3);
        }
        let mut logits = vec![0.0; case.order.len()];
        engine.forward(&network, &case.matrix, &case.order, &mut logits);
        logits.iter().map(|z| 1.0 / (1.0 + (-f64::from(*z)).exp())).collect::<Vec<_>>()
    };
    let portable = train(Level::Portable);
    for level in Level::all() {
        let probabilities = train(level);
        let worst = probabilities.iter().zip(&portable).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-5, "{level:?}: {worst}");
        assert_eq!(train(level), probabilities, "the same bits twice");
    }
}

/// Batches below and above the size that is cut into parts, several outputs, a linear model, wide layers.
fn large_shapes() -> Vec<(Vec<usize>, usize, usize, usize)> {
    vec![
        (vec![50, 20, 5], 48, 1, 9000),
        (vec![17], 5, 3, 5000),
        (vec![], 11, 1, 5000),
        (vec![512, 40], 33, 2, 1500),
        (vec![300], 70, 1, 2100),
    ]
}

struct Large {
    network: Network,
    matrix: Matrix,
    order: Vec<u32>,
    slopes: Vec<f32>,
}

fn large(hidden: &[usize], inputs: usize, outputs: usize, rows: usize) -> Large {
    let mut random = Random(17);
    let network = Network::glorot(NetworkShape::new(inputs, hidden, outputs).unwrap(), 4);
    let values: Vec<f32> = (0..rows * inputs).map(|_| random.next() as f32).collect();
    Large {
        network,
        matrix: Matrix::new(inputs, &values).unwrap(),
        order: (0..rows as u32).map(|row| (row * 7919) % rows as u32).collect(),
        slopes: (0..rows * outputs).map(|_| random.next() as f32).collect(),
    }
}

fn logits_and_gradient(engine: &mut Engine, case: &Large) -> (Vec<f32>, Vec<f32>) {
    let mut logits = vec![0.0; case.slopes.len()];
    let mut gradient = vec![0.0; case.network.parameters.len()];
    engine.forward(&case.network, &case.matrix, &case.order, &mut logits);
    engine.backward(&case.network, &case.slopes, &mut gradient);
    (logits, gradient)
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for (hidden, inputs, outputs, rows) in large_shapes() {
        let case = large(&hidden, inputs, outputs, rows);
        for level in Level::all() {
            let engine = || Engine::at(level, case.network.shape());
            let alone = logits_and_gradient(&mut engine(), &case);
            for threads in [1, 2, 3] {
                let shared = logits_and_gradient(&mut engine().with_threads(threads), &case);
                assert!(shared == alone, "{level:?}, {hidden:?}, {threads} threads");
            }
        }
    }
}

#[test]
fn a_batch_in_parts_has_the_gradient_of_its_small_batches_together() {
    for (hidden, inputs, outputs, rows) in large_shapes() {
        let case = large(&hidden, inputs, outputs, rows);
        let mut engine = Engine::new(case.network.shape());
        let (logits, gradient) = logits_and_gradient(&mut engine, &case);
        let mut sum = vec![0f64; gradient.len()];
        for (at, order) in case.order.chunks(100).enumerate() {
            let part = at * 100 * outputs..(at * 100 + order.len()) * outputs;
            let slopes = case.slopes[part.clone()].to_vec();
            let part_case =
                Large { order: order.to_vec(), slopes, network: case.network.clone(), matrix: case.matrix.clone() };
            let (part_logits, part_gradient) = logits_and_gradient(&mut engine, &part_case);
            assert_eq!(part_logits, logits[part]);
            sum.iter_mut().zip(&part_gradient).for_each(|(sum, slope)| *sum += f64::from(*slope));
        }
        let largest = sum.iter().fold(0f64, |largest, slope| largest.max(slope.abs()));
        for (slope, sum) in gradient.iter().zip(&sum) {
            assert!((f64::from(*slope) - sum).abs() < 1e-5 * largest, "{hidden:?}: {slope} for {sum}");
        }
    }
}

#[test]
fn activations_that_are_not_kept_are_computed_again() {
    // 700 · 33 000 numbers are more than are kept; the same rows in two halves are not.
    let case = large(&[700], 3, 1, 33_000);
    let mut engine = Engine::new(case.network.shape()).with_threads(2);
    let (logits, gradient) = logits_and_gradient(&mut engine, &case);
    let mut sum = vec![0f64; gradient.len()];
    for (at, order) in case.order.chunks(16_500).enumerate() {
        let part = at * 16_500..(at + 1) * 16_500;
        let slopes = case.slopes[part.clone()].to_vec();
        let half = Large { order: order.to_vec(), slopes, network: case.network.clone(), matrix: case.matrix.clone() };
        let (half_logits, half_gradient) = logits_and_gradient(&mut engine, &half);
        assert_eq!(half_logits, logits[part]);
        sum.iter_mut().zip(&half_gradient).for_each(|(sum, slope)| *sum += f64::from(*slope));
    }
    let largest = sum.iter().fold(0f64, |largest, slope| largest.max(slope.abs()));
    for (slope, sum) in gradient.iter().zip(&sum) {
        assert!((f64::from(*slope) - sum).abs() < 1e-5 * largest, "{slope} for {sum}");
    }
}

#[test]
fn prediction_and_hints_leave_the_way_back_as_it_was() {
    let case = large(&[50, 20, 5], 48, 1, 3000);
    let mut engine = Engine::new(case.network.shape());
    let (logits, gradient) = logits_and_gradient(&mut engine, &case);
    let (mut again, mut predicted) = (vec![0.0; 3000], vec![0.0; 3000]);
    engine.forward(&case.network, &case.matrix, &case.order, &mut again);
    engine.prefetch(&case.matrix, &case.order[5..]);
    engine.predict(&case.network, &case.matrix, &case.order, &mut predicted);
    engine.predict(&case.network, &case.matrix, &case.order[..50], &mut again[..50]);
    let mut gradient_again = vec![0.0; gradient.len()];
    engine.backward(&case.network, &case.slopes, &mut gradient_again);
    assert!(predicted == logits && again == logits && gradient_again == gradient);
}

/// A few epochs at a batch size, by the engine and optimiser given.
fn trained(engine: &mut Engine, adam: &mut Adam, case: &Large, batch: usize) -> Vec<f32> {
    let loss = ScoreLoss::new(Score::parse("f1").unwrap(), "cosine:0.5,0.3".parse().unwrap());
    let mut network = case.network.clone();
    let mut gradient = vec![0.0; network.parameters.len()];
    for _ in 0..3 {
        for order in case.order.chunks(batch) {
            let labels: Vec<bool> = order.iter().map(|row| row % 5 == 0).collect();
            let (mut logits, mut slopes) = (vec![0.0; order.len()], vec![0.0; order.len()]);
            engine.forward(&network, &case.matrix, order, &mut logits);
            loss.value_and_gradient(&Rows::new(Logits(&logits), &labels).unwrap(), &mut slopes).unwrap();
            engine.backward(&network, &slopes, &mut gradient);
            adam.step(&mut network.parameters, &gradient, 1e-2);
        }
    }
    network.parameters
}

#[test]
fn a_whole_training_is_the_same_to_the_bit_with_any_number_of_threads() {
    let case = large(&[50, 20, 5], 48, 1, 20_000);
    for batch in [4096, 20_000] {
        let train = |threads: usize| {
            let mut engine = Engine::new(case.network.shape()).with_threads(threads);
            trained(&mut engine, &mut Adam::new(&case.network), &case, batch)
        };
        let alone = train(1);
        assert!(alone != case.network.parameters);
        assert!(train(2) == alone && train(3) == alone, "batch {batch}");
    }
}

#[test]
fn dead_units_keep_adam_fast_and_finite() {
    let network = Network::glorot(NetworkShape::new(3, &[4], 1).unwrap(), 1);
    for level in Level::all() {
        let (mut adam, mut parameters) = (Adam::at(level, &network), network.parameters.clone());
        let mut gradient = vec![0.0; parameters.len()];
        gradient[0] = 1.0;
        adam.step(&mut parameters, &gradient, 1e-3);
        gradient[0] = 0.0;
        for _ in 0..5000 {
            adam.step(&mut parameters, &gradient, 1e-3);
        }
        let settled = parameters.clone();
        adam.step(&mut parameters, &gradient, 1e-3);
        assert!(settled == parameters && parameters.iter().all(|parameter| parameter.is_finite()), "{level:?}");
        assert!((parameters[0] - network.parameters[0]).abs() < 0.02);
    }
}

#[test]
fn optimisers_take_the_steps_of_their_formulas() {
    let network = Network::glorot(NetworkShape::new(3, &[4], 1).unwrap(), 1);
    let place = network.parameter_indices()[0];
    let bias = *network.parameter_indices().last().unwrap();
    let slopes = [0.3f64, -0.2, 0.5, 0.1];
    let (mut adam, mut parameters) = (Adam::new(&network), network.parameters.clone());
    adam.decay = 0.1;
    let (mut theta, mut free, mut m, mut v) = (f64::from(parameters[place]), 0.0f64, 0.0, 0.0);
    for (t, slope) in slopes.iter().enumerate() {
        let mut gradient = vec![0.0; parameters.len()];
        gradient[place] = *slope as f32;
        gradient[bias] = *slope as f32;
        adam.step(&mut parameters, &gradient, 0.01);
        m = 0.9 * m + 0.1 * slope;
        v = 0.999 * v + 0.001 * slope * slope;
        let (first, second) = (m / (1.0 - 0.9f64.powi(t as i32 + 1)), v / (1.0 - 0.999f64.powi(t as i32 + 1)));
        let step = first / (second.sqrt() + 1e-7);
        theta -= 0.01 * (step + 0.1 * theta);
        free -= 0.01 * step; // a bias does not decay
        assert!((f64::from(parameters[place]) - theta).abs() < 1e-6, "{} for {theta}", parameters[place]);
        assert!((f64::from(parameters[bias]) - free).abs() < 1e-6, "{} for {free}", parameters[bias]);
    }
    let (mut descent, mut parameters) = (Descent::new(&network, 0.5), vec![0.0; network.parameters.len()]);
    let gradient = vec![1.0; parameters.len()];
    descent.step(&mut parameters, &gradient, 0.1);
    descent.step(&mut parameters, &gradient, 0.1);
    assert!((parameters[0] + 0.1 * (1.0 + 1.5)).abs() < 1e-7);
}
