//! Measures the time of boosted trees for the comparison in `bench/trees_peers.py`. The program reads tables that Python has written.
//! Every line of standard input is a command; the program runs it once, and prints its duration in seconds and a number to compare: for a training
//! run the training loss before the last round, for a prediction the mean logit.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use scorewise::{CrossEntropy, Loss};
use scorewise_table::encode::{Encoder, EncodingOptions};
use scorewise_table::table::{Reading, Source, read};
use scorewise_train::Matrix;
use scorewise_train::backend::{Backend, Cpu};
use scorewise_train::fit::Objective;
use scorewise_train::job::{Dataset, Job, RowSplit};
use scorewise_train::learner::Learner;
use scorewise_train::trees::{TreeFeature, TreeNode, TreeSettings, Trees};

/// A result with any type of error.
type AnyResult<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> AnyResult<()> {
    let folder = std::env::args()
        .nth(1)
        .ok_or("usage: time_trees FOLDER, with the folder that bench/trees_peers.py has written")?;
    let mut tables: BTreeMap<String, Dataset> = BTreeMap::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let name = *words.get(1).ok_or("the name of the table is missing")?;
        if !tables.contains_key(name) {
            tables.insert(name.into(), read_table(Path::new(&folder), name)?);
        }
        let table = &tables[name];
        let (seconds, number) = match words.as_slice() {
            ["train", _, growth, leaves, codes, rounds, threads] => {
                let settings = settings(growth, leaves.parse()?, codes.parse()?, rounds.parse()?)?;
                train(table, settings, threads.parse()?)?
            }
            ["predict", _, trees] => {
                let trees = read_trees(&Path::new(&folder).join(trees), table.matrix.columns())?;
                let rows = &table.splits[0].training;
                let mut logits = vec![0.0; rows.len()];
                let start = Instant::now();
                trees.predict(&table.matrix, rows, &mut logits);
                let seconds = start.elapsed().as_secs_f64();
                (seconds, logits.iter().map(|logit| f64::from(*logit)).sum::<f64>() / logits.len() as f64)
            }
            _ => {
                let commands = "`train TABLE GROWTH LEAVES CODES ROUNDS THREADS` or `predict TABLE TREES`";
                return Err(format!("`{line}` is not a command: write {commands}").into());
            }
        };
        println!("{seconds} {number}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// Settings of trees that use all rows and all features and do not stop early. `codes` is the maximum number of bins of a feature. For symmetric
/// trees, `leaves` must be a power of two.
fn settings(growth: &str, leaves: usize, codes: usize, rounds: usize) -> AnyResult<TreeSettings> {
    let settings = match growth {
        "leaf-wise" => TreeSettings { leaves: Some(leaves), ..TreeSettings::leaf_wise() },
        "symmetric" => TreeSettings { depth: leaves.ilog2() as usize, ..TreeSettings::symmetric() },
        _ => return Err(format!("`{growth}` is neither `leaf-wise` nor `symmetric`").into()),
    };
    Ok(TreeSettings {
        rounds,
        patience: rounds,
        learning_rate: Some(0.1),
        row_share: 1.0,
        feature_share: Some(1.0),
        codes,
        ..settings
    })
}

/// Trains trees on all rows of a table. Returns the duration in seconds and the training loss before the last round.
fn train(table: &Dataset, settings: TreeSettings, threads: usize) -> AnyResult<(f64, f64)> {
    let objective = Objective::Binary(Loss::CrossEntropy(CrossEntropy::plain()));
    let job = Job { dataset: 0, split: 0, learner: Learner::Trees(settings), objective, seed: 1 };
    let watch = |_: usize, _: usize, _: &_| ControlFlow::Continue(());
    let start = Instant::now();
    let fits = Cpu { threads }.fit(std::slice::from_ref(table), &[job], &watch)?;
    let seconds = start.elapsed().as_secs_f64();
    let fit = fits.into_iter().next().flatten().ok_or("the training run was stopped")?;
    Ok((seconds, fit.history.last().ok_or("the training run had no rounds")?.training))
}

/// Reads the inputs from NAME.parquet and encodes them as `scorewise train` does, or reads numbers from NAME.f32, whose number of columns is in
/// NAME.txt. The labels are in NAME.u8. All rows are training rows, and the first row is the only validation row.
fn read_table(folder: &Path, name: &str) -> AnyResult<Dataset> {
    let path = |extension: &str| folder.join(format!("{name}.{extension}"));
    let labels: Vec<u32> = std::fs::read(path("u8"))?.into_iter().map(u32::from).collect();
    let training: Vec<u32> = (0..labels.len() as u32).collect();
    let (matrix, binned) = if path("parquet").exists() {
        let table = read(&Source::parse(&path("parquet").display().to_string()), &Reading::default())?;
        let (encoder, _) =
            Encoder::fit(&table, &training, &EncodingOptions { bins: 96, ..EncodingOptions::default() })?;
        (encoder.encode(&table)?.matrix, encoder.binned_columns().map(Arc::from))
    } else {
        let columns = std::fs::read_to_string(path("txt"))?.trim().parse()?;
        (Matrix::new(columns, &read_numbers(&path("f32"))?).ok_or("the last row of the .f32 file is incomplete")?, None)
    };
    let splits = vec![RowSplit { training, validation: vec![0] }];
    Ok(Dataset { matrix, binned, labels: labels.into(), classes: 2, weights: None, places: None, splits })
}

/// Reads trees of another library from a file of numbers. The first number is the bias. It is followed by five numbers for each node: the number of
/// the node in its tree (0 begins a tree), the feature (−1 for a leaf), the threshold or the value of the leaf, the left child, and 1 if missing
/// values go to the left.
fn read_trees(path: &Path, inputs: usize) -> AnyResult<Trees> {
    let numbers = read_numbers(path)?;
    let (bias, rows) = numbers.split_first().ok_or("the file of the trees is empty")?;
    let (mut nodes, mut roots) = (Vec::new(), Vec::new());
    for row in rows.chunks_exact(5) {
        if row[0] == 0.0 {
            roots.push(nodes.len() as u32);
        }
        let feature = if row[1] < 0.0 { TreeNode::LEAF } else { row[1] as u32 };
        nodes.push(TreeNode { feature, number: row[2], left: row[3] as u32, missing_left: row[4] == 1.0 });
    }
    let feature = |column| TreeFeature { column, knots: u32::MAX, is_level: false, values: Vec::new() };
    let features = (0..inputs as u32).map(feature).collect();
    Ok(Trees::new(inputs, Vec::new(), features, vec![*bias], nodes, roots)?)
}

/// Reads a file of little-endian f32 numbers.
fn read_numbers(path: &Path) -> AnyResult<Vec<f32>> {
    let bytes = std::fs::read(path)?;
    Ok(bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect())
}
