//! Compares the engine with a straightforward f64 implementation, for every instruction set that this machine supports.

#![allow(clippy::unwrap_used)] // Tests may call `unwrap`, because a panic fails the test.

use scorewise::{CrossEntropy, ExactLoss, InstructionSet, Logits, Loss, Prior, Rows, Score, ScoreLoss};
use scorewise_train::Matrix;
use scorewise_train::network::{Adam, Descent, Engine, Network, NetworkShape};

/// A generator of reproducible random numbers between −1 and 1.
struct TestRandom(u64);

impl TestRandom {
    /// The next random number, between −1 and 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Outputs of a dense network with ReLU, computed directly in f64. The parameters are in the order of [`Network::parameter_indices`].
fn reference_outputs(widths: &[usize], parameters: &[f64], input: &[f64]) -> Vec<f64> {
    let (mut values, mut offset) = (input.to_vec(), 0);
    for (layer, pair) in widths.windows(2).enumerate() {
        let (weights, biases) = (offset, offset + pair[0] * pair[1]);
        let unit = |output: usize| {
            let sum = (0..pair[0]).map(|i| parameters[weights + output * pair[0] + i] * values[i]).sum::<f64>();
            let sum = sum + parameters[biases + output];
            if layer + 2 < widths.len() { sum.max(0.0) } else { sum }
        };
        values = (0..pair[1]).map(unit).collect();
        offset = biases + pair[1];
    }
    values
}

/// A network with a batch of rows, the features of these rows in f64, and their labels.
struct EngineCase {
    network: Network,
    matrix: Matrix,
    /// The widths of the layers. A look-up layer counts as the equivalent dense layer, which has one input for each row of the look-up table.
    widths: Vec<usize>,
    inputs: Vec<f64>,
    labels: Vec<bool>,
    order: Vec<u32>,
}

/// A network with dense layers only, and random rows.
fn dense_case(hidden: &[usize], inputs: usize, rows: usize, seed: u64) -> EngineCase {
    let mut random = TestRandom(seed);
    let mut network = Network::glorot(NetworkShape::new(inputs, hidden, 1).unwrap(), seed);
    // Random changes make the biases differ from 0.
    for index in network.parameter_indices() {
        network.parameters[index] += 0.05 * random.next() as f32;
    }
    let values: Vec<f32> = (0..rows * inputs).map(|_| random.next() as f32).collect();
    let labels: Vec<bool> = (0..rows).map(|row| values[row * inputs] + 0.5 * random.next() as f32 > 0.3).collect();
    // Like a shuffled batch, this batch has the rows in a different order than the matrix, and only some of them.
    let order: Vec<u32> = (0..rows as u32).rev().filter(|row| row % 7 != 3).collect();
    let matrix = Matrix::new(inputs, &values).unwrap();
    let inputs =
        order.iter().flat_map(|row| values[*row as usize * inputs..][..inputs].to_vec()).map(f64::from).collect();
    let labels = order.iter().map(|row| labels[*row as usize]).collect();
    let widths = network.shape().widths().to_vec();
    EngineCase { network, matrix, widths, inputs, labels, order }
}

/// A network whose first layer is a look-up layer, and random inputs for it. Column c of the inputs has c + 1 rows in the look-up table. Two thirds
/// of the input values are not integers, so that the layer interpolates between two of these rows.
fn look_up_case(hidden: &[usize], columns: usize, rows: usize, seed: u64) -> EngineCase {
    let mut random = TestRandom(seed);
    let positions: Vec<usize> = (1..=columns).collect();
    let sum: usize = positions.iter().sum();
    let mut network = Network::glorot(NetworkShape::look_up(positions.clone(), hidden, 1).unwrap(), seed);
    for index in network.parameter_indices() {
        network.parameters[index] += 0.05 * random.next() as f32;
    }
    let mut values: Vec<f32> = Vec::new();
    for row in 0..rows {
        for (column, positions) in positions.iter().enumerate() {
            let position = (0.5 + 0.5 * random.next()) * (positions - 1) as f64;
            values.push(if (row + column) % 3 > 0 { position } else { position.round() } as f32);
        }
    }
    let labels: Vec<bool> = (0..rows).map(|_| random.next() > 0.3).collect();
    let order: Vec<u32> = (0..rows as u32).rev().filter(|row| row % 7 != 3).collect();
    let matrix = Matrix::new(columns, &values).unwrap();
    let mut inputs = Vec::new();
    for row in &order {
        for (column, positions) in positions.iter().enumerate() {
            let position = f64::from(values[*row as usize * columns + column]);
            inputs.extend((0..*positions).map(|at| (1.0 - (position - at as f64).abs()).max(0.0)));
        }
    }
    let labels = order.iter().map(|row| labels[*row as usize]).collect();
    let widths = [&[sum], hidden, &[1]].concat();
    EngineCase { network, matrix, widths, inputs, labels, order }
}

/// For each test case: the widths of the hidden layers, the number of inputs, and the number of rows.
fn case_shapes() -> Vec<(Vec<usize>, usize, usize)> {
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
fn logits_agree_with_an_f64_computation() {
    let dense = case_shapes().into_iter().map(|(hidden, inputs, rows)| dense_case(&hidden, inputs, rows, 3));
    let look_up =
        case_shapes().into_iter().map(|(hidden, inputs, rows)| look_up_case(&hidden, inputs.min(20), rows, 3));
    for case in dense.chain(look_up) {
        let parameters: Vec<f64> =
            case.network.parameter_indices().iter().map(|index| f64::from(case.network.parameters[*index])).collect();
        let (widths, inputs) = (&case.widths, case.widths[0]);
        for instructions in InstructionSet::supported() {
            let mut logits = vec![0.0; case.order.len()];
            Engine::with_instructions(instructions, case.network.shape()).forward(
                &case.network,
                &case.matrix,
                &case.order,
                &mut logits,
            );
            for (row, logit) in logits.iter().enumerate() {
                let expected =
                    reference_outputs(widths, &parameters, &case.inputs[row * inputs..(row + 1) * inputs])[0];
                assert!(
                    (f64::from(*logit) - expected).abs() < 1e-5,
                    "{instructions:?}, {:?}, row {row}: the logit is {logit}, expected {expected}",
                    case.network.shape()
                );
            }
        }
    }
}

#[test]
fn gradients_match_central_differences_for_all_types_of_layers_losses_and_priors() {
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
    // The exact loss is not differentiable if two rows have the same logit. With these seeds, the logits of all rows are clearly different.
    let dense = [(vec![6, 4, 3], 5, 60), (vec![], 4, 50), (vec![9], 3, 45)];
    let cases = dense.iter().map(|(hidden, inputs, rows)| dense_case(hidden, *inputs, *rows, 16));
    let look_up = [(vec![6, 4, 3], 5, 60), (vec![], 4, 50), (vec![17], 3, 45)];
    for case in cases.chain(look_up.iter().map(|(hidden, columns, rows)| look_up_case(hidden, *columns, *rows, 65))) {
        let (widths, inputs) = (&case.widths, case.widths[0]);
        let indices = case.network.parameter_indices();
        let parameters: Vec<f64> = indices.iter().map(|index| f64::from(case.network.parameters[*index])).collect();
        for loss in &losses {
            let value = |parameters: &[f64]| {
                let logits: Vec<f64> = case
                    .inputs
                    .chunks_exact(inputs)
                    .map(|input| reference_outputs(widths, parameters, input)[0])
                    .collect();
                loss.value(&Rows::new(Logits(&logits), &case.labels).unwrap()).unwrap()
            };
            let expected: Vec<f64> = (0..indices.len())
                .map(|index| {
                    let value_at = |change: f64| {
                        let mut parameters = parameters.clone();
                        parameters[index] += change;
                        value(&parameters)
                    };
                    (value_at(1e-6) - value_at(-1e-6)) / 2e-6
                })
                .collect();
            let largest = expected.iter().fold(0f64, |largest, derivative| largest.max(derivative.abs()));
            for instructions in InstructionSet::supported() {
                let mut engine = Engine::with_instructions(instructions, case.network.shape());
                let (mut logits, mut logit_gradient) = (vec![0f32; case.order.len()], vec![0f32; case.order.len()]);
                engine.forward(&case.network, &case.matrix, &case.order, &mut logits);
                loss.value_and_gradient(&Rows::new(Logits(&logits), &case.labels).unwrap(), &mut logit_gradient)
                    .unwrap();
                let mut gradient = vec![0f32; case.network.parameters.len()];
                engine.backward(&case.network, &logit_gradient, &mut gradient);
                for (index, expected) in indices.iter().zip(&expected) {
                    let got = f64::from(gradient[*index]);
                    assert!(
                        (got - expected).abs() <= 2e-4 * largest,
                        "{instructions:?}, {:?}, {loss:?}: the derivative is {got}, expected {expected}",
                        case.network.shape()
                    );
                }
                indices.iter().for_each(|index| gradient[*index] = 0.0);
                assert!(gradient.iter().all(|derivative| *derivative == 0.0), "the gradient of the padding must be 0");
            }
        }
    }
}

#[test]
fn instruction_sets_agree_after_an_epoch_of_training() {
    // `dense_case` leaves out a seventh of the rows, so the epoch has 16086 rows as in Marchetti et al. (2022).
    let case = dense_case(&[50, 20, 5], 48, 18_767, 5);
    let loss = ScoreLoss::new(Score::parse("f1").unwrap(), "cosine:0.5,0.3".parse().unwrap());
    let train = |instructions: InstructionSet| {
        let mut network = case.network.clone();
        let (mut engine, mut adam) =
            (Engine::with_instructions(instructions, network.shape()), Adam::with_instructions(instructions, &network));
        for (order, labels) in case.order.chunks(64).zip(case.labels.chunks(64)) {
            let (mut logits, mut logit_gradient) = (vec![0.0; order.len()], vec![0.0; order.len()]);
            engine.forward(&network, &case.matrix, order, &mut logits);
            loss.value_and_gradient(&Rows::new(Logits(&logits), labels).unwrap(), &mut logit_gradient).unwrap();
            let mut gradient = vec![0.0; network.parameters.len()];
            engine.backward(&network, &logit_gradient, &mut gradient);
            adam.step(&mut network.parameters, &gradient, 1e-3);
        }
        let mut logits = vec![0.0; case.order.len()];
        engine.forward(&network, &case.matrix, &case.order, &mut logits);
        logits.iter().map(|z| 1.0 / (1.0 + (-f64::from(*z)).exp())).collect::<Vec<_>>()
    };
    let portable = train(InstructionSet::Portable);
    for instructions in InstructionSet::supported() {
        let probabilities = train(instructions);
        let worst = probabilities.iter().zip(&portable).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-5, "{instructions:?}: the greatest difference is {worst}");
        assert_eq!(train(instructions), probabilities, "a second epoch from the same start must give the same bits");
    }
}

/// For each test case: the widths of the hidden layers, and the numbers of inputs, outputs and rows. Among the cases are batches of one and of
/// several chunks, several outputs, a linear model and wide layers.
fn large_case_shapes() -> Vec<(Vec<usize>, usize, usize, usize)> {
    vec![
        (vec![50, 20, 5], 48, 1, 9000),
        (vec![17], 5, 3, 5000),
        (vec![], 11, 1, 5000),
        (vec![512, 40], 33, 2, 1500),
        (vec![300], 70, 1, 2100),
    ]
}

/// A network with a batch of many rows and a random gradient with respect to the logits of these rows.
struct LargeCase {
    network: Network,
    matrix: Matrix,
    order: Vec<u32>,
    logit_gradient: Vec<f32>,
}

/// A network with random rows and a random gradient.
fn large_case(hidden: &[usize], inputs: usize, outputs: usize, rows: usize) -> LargeCase {
    let mut random = TestRandom(17);
    let network = Network::glorot(NetworkShape::new(inputs, hidden, outputs).unwrap(), 4);
    let values: Vec<f32> = (0..rows * inputs).map(|_| random.next() as f32).collect();
    LargeCase {
        network,
        matrix: Matrix::new(inputs, &values).unwrap(),
        order: (0..rows as u32).map(|row| (row * 7919) % rows as u32).collect(),
        logit_gradient: (0..rows * outputs).map(|_| random.next() as f32).collect(),
    }
}

/// The logits of the batch, and the gradient with respect to the parameters.
fn logits_and_gradient(engine: &mut Engine, case: &LargeCase) -> (Vec<f32>, Vec<f32>) {
    let mut logits = vec![0.0; case.logit_gradient.len()];
    let mut gradient = vec![0.0; case.network.parameters.len()];
    engine.forward(&case.network, &case.matrix, &case.order, &mut logits);
    engine.backward(&case.network, &case.logit_gradient, &mut gradient);
    (logits, gradient)
}

#[test]
fn logits_and_gradient_have_the_same_bits_for_any_number_of_threads() {
    for (hidden, inputs, outputs, rows) in large_case_shapes() {
        let case = large_case(&hidden, inputs, outputs, rows);
        for instructions in InstructionSet::supported() {
            let engine = || Engine::with_instructions(instructions, case.network.shape());
            let expected = logits_and_gradient(&mut engine(), &case);
            for threads in [1, 2, 3] {
                let threaded = logits_and_gradient(&mut engine().with_threads(threads), &case);
                assert!(threaded == expected, "the bits differ: {instructions:?}, {hidden:?}, {threads} threads");
            }
        }
    }
}

#[test]
fn gradient_of_a_large_batch_is_the_sum_over_small_batches() {
    for (hidden, inputs, outputs, rows) in large_case_shapes() {
        let case = large_case(&hidden, inputs, outputs, rows);
        let mut engine = Engine::new(case.network.shape());
        let (logits, gradient) = logits_and_gradient(&mut engine, &case);
        let mut sum = vec![0f64; gradient.len()];
        for (number, order) in case.order.chunks(100).enumerate() {
            let range = number * 100 * outputs..(number * 100 + order.len()) * outputs;
            let logit_gradient = case.logit_gradient[range.clone()].to_vec();
            let small = LargeCase {
                order: order.to_vec(),
                logit_gradient,
                network: case.network.clone(),
                matrix: case.matrix.clone(),
            };
            let (small_logits, small_gradient) = logits_and_gradient(&mut engine, &small);
            assert_eq!(small_logits, logits[range]);
            sum.iter_mut().zip(&small_gradient).for_each(|(sum, derivative)| *sum += f64::from(*derivative));
        }
        let largest = sum.iter().fold(0f64, |largest, derivative| largest.max(derivative.abs()));
        for (derivative, sum) in gradient.iter().zip(&sum) {
            assert!(
                (f64::from(*derivative) - sum).abs() < 1e-5 * largest,
                "{hidden:?}: the derivative is {derivative}, expected {sum}"
            );
        }
    }
}

#[test]
fn the_gradient_is_correct_if_activations_are_computed_again_instead_of_stored() {
    // The whole batch has 700 · 33 000 activations, which is more than the engine stores. Half of the batch has few enough.
    let case = large_case(&[700], 3, 1, 33_000);
    let mut engine = Engine::new(case.network.shape()).with_threads(2);
    let (logits, gradient) = logits_and_gradient(&mut engine, &case);
    let mut sum = vec![0f64; gradient.len()];
    for (number, order) in case.order.chunks(16_500).enumerate() {
        let range = number * 16_500..(number + 1) * 16_500;
        let logit_gradient = case.logit_gradient[range.clone()].to_vec();
        let half = LargeCase {
            order: order.to_vec(),
            logit_gradient,
            network: case.network.clone(),
            matrix: case.matrix.clone(),
        };
        let (half_logits, half_gradient) = logits_and_gradient(&mut engine, &half);
        assert_eq!(half_logits, logits[range]);
        sum.iter_mut().zip(&half_gradient).for_each(|(sum, derivative)| *sum += f64::from(*derivative));
    }
    let largest = sum.iter().fold(0f64, |largest, derivative| largest.max(derivative.abs()));
    for (derivative, sum) in gradient.iter().zip(&sum) {
        assert!((f64::from(*derivative) - sum).abs() < 1e-5 * largest, "got {derivative}, expected {sum}");
    }
}

#[test]
fn prediction_and_prefetching_do_not_change_the_backward_pass() {
    let case = large_case(&[50, 20, 5], 48, 1, 3000);
    let mut engine = Engine::new(case.network.shape());
    let (logits, gradient) = logits_and_gradient(&mut engine, &case);
    let (mut again, mut predicted) = (vec![0.0; 3000], vec![0.0; 3000]);
    engine.forward(&case.network, &case.matrix, &case.order, &mut again);
    engine.prefetch(&case.matrix, &case.order[5..]);
    engine.predict(&case.network, &case.matrix, &case.order, &mut predicted);
    engine.predict(&case.network, &case.matrix, &case.order[..50], &mut again[..50]);
    let mut gradient_again = vec![0.0; gradient.len()];
    engine.backward(&case.network, &case.logit_gradient, &mut gradient_again);
    assert!(predicted == logits && again == logits && gradient_again == gradient);
}

/// The parameters of a network after three epochs of training.
fn trained_parameters(engine: &mut Engine, adam: &mut Adam, case: &LargeCase, batch: usize) -> Vec<f32> {
    let loss = ScoreLoss::new(Score::parse("f1").unwrap(), "cosine:0.5,0.3".parse().unwrap());
    let mut network = case.network.clone();
    let mut gradient = vec![0.0; network.parameters.len()];
    for _ in 0..3 {
        for order in case.order.chunks(batch) {
            let labels: Vec<bool> = order.iter().map(|row| row % 5 == 0).collect();
            let (mut logits, mut logit_gradient) = (vec![0.0; order.len()], vec![0.0; order.len()]);
            engine.forward(&network, &case.matrix, order, &mut logits);
            loss.value_and_gradient(&Rows::new(Logits(&logits), &labels).unwrap(), &mut logit_gradient).unwrap();
            engine.backward(&network, &logit_gradient, &mut gradient);
            adam.step(&mut network.parameters, &gradient, 1e-2);
        }
    }
    network.parameters.to_vec()
}

#[test]
fn training_gives_the_same_bits_for_any_number_of_threads() {
    let case = large_case(&[50, 20, 5], 48, 1, 20_000);
    for batch in [4096, 20_000] {
        let train = |threads: usize| {
            let mut engine = Engine::new(case.network.shape()).with_threads(threads);
            trained_parameters(&mut engine, &mut Adam::new(&case.network), &case, batch)
        };
        let expected = train(1);
        assert!(expected[..] != case.network.parameters[..]);
        assert!(train(2) == expected && train(3) == expected, "batch {batch}");
    }
}

#[test]
fn adam_stays_finite_and_stops_changing_weights_when_a_gradient_becomes_zero() {
    let network = Network::glorot(NetworkShape::new(3, &[4], 1).unwrap(), 1);
    for instructions in InstructionSet::supported() {
        let (mut adam, mut parameters) = (Adam::with_instructions(instructions, &network), network.parameters.clone());
        let mut gradient = vec![0.0; parameters.len()];
        gradient[0] = 1.0;
        adam.step(&mut parameters, &gradient, 1e-3);
        gradient[0] = 0.0;
        for _ in 0..5000 {
            adam.step(&mut parameters, &gradient, 1e-3);
        }
        let before_last_step = parameters.clone();
        adam.step(&mut parameters, &gradient, 1e-3);
        assert!(
            before_last_step == parameters && parameters.iter().all(|parameter| parameter.is_finite()),
            "{instructions:?}"
        );
        assert!((parameters[0] - network.parameters[0]).abs() < 0.02);
    }
}

#[test]
fn optimisers_follow_their_formulas() {
    let network = Network::glorot(NetworkShape::new(3, &[4], 1).unwrap(), 1);
    let weight = network.parameter_indices()[0];
    let bias = *network.parameter_indices().last().unwrap();
    let derivatives = [0.3f64, -0.2, 0.5, 0.1];
    let (mut adam, mut parameters) = (Adam::new(&network), network.parameters.clone());
    adam.decay = 0.1;
    let (mut expected_weight, mut expected_bias, mut m, mut v) = (f64::from(parameters[weight]), 0.0f64, 0.0, 0.0);
    for (t, derivative) in derivatives.iter().enumerate() {
        let mut gradient = vec![0.0; parameters.len()];
        gradient[weight] = *derivative as f32;
        gradient[bias] = *derivative as f32;
        adam.step(&mut parameters, &gradient, 0.01);
        m = 0.9 * m + 0.1 * derivative;
        v = 0.999 * v + 0.001 * derivative * derivative;
        let (first, second) = (m / (1.0 - 0.9f64.powi(t as i32 + 1)), v / (1.0 - 0.999f64.powi(t as i32 + 1)));
        let step = first / (second.sqrt() + 1e-7);
        expected_weight -= 0.01 * (step + 0.1 * expected_weight);
        expected_bias -= 0.01 * step; // Biases do not decay.
        assert!(
            (f64::from(parameters[weight]) - expected_weight).abs() < 1e-6,
            "got {}, expected {expected_weight}",
            parameters[weight]
        );
        assert!(
            (f64::from(parameters[bias]) - expected_bias).abs() < 1e-6,
            "got {}, expected {expected_bias}",
            parameters[bias]
        );
    }
    let (mut descent, mut parameters) = (Descent::new(&network, 0.5), vec![0.0; network.parameters.len()]);
    let gradient = vec![1.0; parameters.len()];
    descent.step(&mut parameters, &gradient, 0.1);
    descent.step(&mut parameters, &gradient, 0.1);
    assert!((parameters[0] + 0.1 * (1.0 + 1.5)).abs() < 1e-7);
}
