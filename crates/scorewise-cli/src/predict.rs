//! `scorewise predict`: probabilities and predicted classes for the rows of a table, with the true classes if the table has them.
//!
//! The columns of the output have fixed names, so `score`, `tune`, `compare` and `theory` find them without options, also through a pipe.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use scorewise::is_positive;
use scorewise_table::encode::UnexpectedValues;
use scorewise_table::groups::Neighbours;
use scorewise_table::names::missing_columns;
use scorewise_table::output::{AtomicFile, OutputKind, Outputs};
use scorewise_table::table::{Column, ColumnKind, Reader, Reading, Source, Table, TableFormat, TableWriter, Values};
use scorewise_table::target::{LabelRule, Unmatched};
use scorewise_train::model::{Decision, Model, Predictor, ThresholdSource};
use scorewise_train::{Error, Location};
use serde::Serialize;

use crate::formatting::{count_text, pretty_json};
use crate::outcome::{Failure, Outcome, note};
use crate::predictions::{DECISION, PredictedRows, TRUTH, WEIGHT, file_metadata};
use crate::train::ReadArguments;

/// Arguments of `scorewise predict`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise predict model.scorewise new.csv -o predictions.csv\n  \
    zcat new.csv.gz | scorewise predict model.scorewise - | scorewise score -\n  \
    scorewise predict model.scorewise new.parquet --with id,time -o predictions.parquet\n\n\
    Columns of the output for two classes: probability (of the positive class, calibrated), decision (1 above the threshold, else 0), truth (1 or 0, \
    empty if unknown; only if the table has the target), threshold, score, negative and positive (the names of the classes), raw and raw_threshold \
    (the prediction and the threshold before the calibration, if the model has one), weight (if the model was trained with weights), and the columns \
    of --with. For more classes: one probability for each class, decision and truth \
    as names of classes, score.")]
pub struct PredictArguments {
    /// Model file written by `scorewise train`
    model: PathBuf,
    /// Table to predict: a file (.csv, .tsv, .csv.gz, .parquet, .arrow; - for standard input) or a built-in table
    table: String,
    /// File to write: .csv, .tsv, .csv.gz, .parquet or .arrow [default: CSV on standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace an existing file whatever it contains, not only earlier predictions; the table and the model are never replaced
    #[arg(long)]
    overwrite: bool,
    /// Columns of the table to copy to the output
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    with: Vec<String>,
    /// Threshold to use instead of the model's, on the scale of the column probability
    #[arg(long, value_parser = crate::score::parse_threshold)]
    threshold: Option<f64>,
    #[command(flatten)]
    reading: ReadArguments,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print a summary as JSON; requires -o
    #[arg(long, requires = "output")]
    json: bool,
}

/// Predicts all rows of a table.
pub fn run(arguments: &PredictArguments) -> Result<Outcome, Failure> {
    let mut model = Model::load(&arguments.model)?;
    if let Some(threshold) = arguments.threshold {
        if model.decision.threshold().is_none() {
            let problem = format!("the model has {} classes", model.classes.len());
            return Err(Error::setting(
                "threshold",
                problem,
                "remove this option: thresholds are for models with two classes",
            )
            .into());
        }
        // If the model has a calibration, its own threshold is for raw predictions, but the given threshold is for calibrated probabilities.
        // So the threshold of the model is replaced only if there is no calibration.
        if model.calibration.is_none() {
            model.decision = Decision::at(threshold, ThresholdSource::Given, "given");
        }
    }
    let threads = crate::train::thread_count(arguments.threads)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| predict(&model, arguments))
}

/// Predicts the rows of the table chunk by chunk, and writes the predictions.
fn predict(model: &Model, arguments: &PredictArguments) -> Result<Outcome, Failure> {
    let source = Source::parse(&arguments.table);
    let mut reader = Reader::open(&source, &model_reading(model, &arguments.reading)?)?;
    let columns = OutputColumns::new(model, &reader, arguments)?;
    let outputs = Outputs::new().reads_file(&arguments.model).reads(&source);
    let outputs = outputs.overwrites(crate::report_output::OVERWRITE, arguments.overwrite);
    let out = PredictOutput::create(arguments.output.as_ref(), outputs)?;
    let format = match &arguments.output {
        // The name of a pipe or a device has no extension that says the format, so CSV is written.
        Some(path) if path.metadata().is_ok_and(|metadata| !metadata.is_file()) => TableFormat::Csv,
        Some(path) => TableFormat::of(path)?,
        None => TableFormat::Csv,
    };
    let empty_table = columns.empty_table();
    // The header is written with the first rows, so that a table that cannot be read produces no output.
    let (mut out, mut writer) = (Some(out), None);
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template("{spinner} {human_pos} rows, {per_sec}, {elapsed}")?);
    let predictor = Predictor::new(model);
    let (mut rows, mut positives) = (0u64, 0u64);
    let (mut unexpected_values, mut unmatched) = (UnexpectedValues::default(), Unmatched::default());
    // A model with lags uses earlier rows of a time series, and a lead needs the true class in a later row. These rows may be anywhere in the file,
    // so the whole table is read first.
    let needs_whole_table = model.encoder.lags() > 0 || columns.has_truth && model.target.lead > 0;
    let mut whole_table = needs_whole_table.then(|| reader.whole());
    while let Some(table) = whole_table.take().or_else(|| reader.next()) {
        let table = table?;
        let encoded = model.encoder.encode(&table)?;
        let predictions = predictor.probabilities(&encoded.matrix, |row| table.place(row))?;
        let decisions = match (&model.calibration, arguments.threshold) {
            (Some(_), Some(threshold)) => {
                let is_above = |probability: &f64| u32::from(is_positive(*probability, threshold));
                model.calibrated(&predictions).iter().map(is_above).collect()
            }
            _ => predictor.labels(&predictions),
        };
        let truth = columns.true_classes(&table, &mut unmatched)?;
        unexpected_values.add(&encoded.unexpected);
        rows += table.rows() as u64;
        positives += decisions.iter().filter(|class| **class == 1).count() as u64;
        let predicted = PredictedRows { predictions, threshold: arguments.threshold, decisions, truth };
        let predictions = columns.output_table(&predicted, &table);
        if let Some(out) = out.take() {
            writer = Some(TableWriter::create(out, format, &empty_table, &[DECISION, TRUTH], &file_metadata(model))?);
        }
        let Some(writer) = &mut writer else { continue };
        match writer.write(&predictions) {
            // A closed pipe, as in `| head`, ends the work without an error.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(String::new().into()),
            result => result?,
        }
        bar.set_position(rows);
    }
    let out = writer.map(TableWriter::finish).transpose()?;
    bar.finish_and_clear();
    reader.late_notes().iter().for_each(note);
    unexpected_values.notes(&model.encoder).iter().chain(&unmatched.notes(&model.target)).for_each(note);
    out.map_or(Ok(()), PredictOutput::finish)?;
    let Some(output) = &arguments.output else { return Ok(String::new().into()) };
    let threshold = arguments.threshold.or(model.probability_threshold());
    if arguments.json {
        let positives = threshold.map(|_| positives);
        return Ok(pretty_json(&PredictSummary {
            model: arguments.model.display().to_string(),
            output: output.display().to_string(),
            rows,
            positives,
            threshold,
            score: &model.score,
        })
        .into());
    }
    let above = threshold.map_or(String::new(), |threshold| format!(", {positives} above the threshold {threshold}"));
    let is_weighted = model.plan.as_ref().is_some_and(|plan| plan.temporal.is_some());
    let above = if is_weighted { format!("{above} ({})", model.decision.words()) } else { above };
    let rows = count_text(rows, "row");
    Ok(format!("{rows} predicted{above}; predictions written to {}\n", output.display()).into())
}

/// The output of `scorewise predict --json`.
#[derive(Serialize)]
struct PredictSummary<'a> {
    model: String,
    output: String,
    rows: u64,
    /// Number of rows predicted positive; `None` with more than two classes.
    positives: Option<u64>,
    threshold: Option<f64>,
    score: &'a str,
}

/// Options for reading the table that the model predicts: the column types and the markers of missing values of the training table. The
/// user's options take precedence.
pub fn model_reading(model: &Model, arguments: &ReadArguments) -> Result<Reading, Failure> {
    let user = crate::train::read_options(arguments)?;
    let mut reading = Reading {
        delimiter: None,
        decimal_comma: None,
        month_first: None,
        columns: None,
        only: None,
        ..model.reading.clone()
    };
    for (name, kind) in model.encoder.columns() {
        if let Some(kind) = kind {
            reading.kinds.insert(name.to_owned(), kind);
        }
    }
    // Classes are matched by name, so the target column is read as strings: it may contain values that were not in the training table.
    // A target column that is also an input keeps its column type.
    let is_input = model.encoder.columns().iter().any(|(name, _)| *name == model.target.column);
    if matches!(model.target.rule, LabelRule::Classes(_)) && !is_input {
        reading.kinds.insert(model.target.column.clone(), ColumnKind::Category);
    }
    if let Some(weight) = model.plan.as_ref().and_then(|plan| plan.weight.clone()) {
        reading.kinds.insert(weight, ColumnKind::Number);
    }
    reading.kinds.extend(user.kinds);
    reading.missing.extend(user.missing);
    reading.delimiter = user.delimiter;
    reading.decimal_comma = user.decimal_comma;
    reading.month_first = user.month_first;
    // If the user named the columns of the training file because it has no header, the table to predict is assumed to have no header either, and the
    // same names are used. In Parquet and Arrow files, these names replace the names in the file.
    reading.columns = user.columns.or(model.reading.columns.clone());
    Ok(reading)
}

/// The columns of the output table.
struct OutputColumns<'a> {
    model: &'a Model,
    /// Columns copied from the input table: name in the input, name in the output, column type.
    copied: Vec<(String, String, ColumnKind)>,
    /// Whether the output has a column with the true classes.
    has_truth: bool,
    /// The name of the column of sample weights, if the model was trained with such a column and the table has it too.
    weight: Option<String>,
}

impl<'a> OutputColumns<'a> {
    /// Chooses the columns of the output. Returns an error if the table lacks a column that the model needs or that `--with` names.
    fn new(model: &'a Model, reader: &Reader, arguments: &PredictArguments) -> Result<Self, Failure> {
        let kinds: HashMap<&str, ColumnKind> =
            reader.fields().iter().map(|field| (field.name.as_str(), field.kind)).collect();
        let place = Location::file(&arguments.table);
        let missing: Vec<&str> =
            model.encoder.columns().iter().map(|(name, _)| *name).filter(|name| !kinds.contains_key(name)).collect();
        let available: Vec<&str> = reader.fields().iter().map(|field| field.name.as_str()).collect();
        if !missing.is_empty() {
            let (problem, hint) = missing_columns(&missing, &available);
            let pronoun = if missing.len() == 1 { "it" } else { "them" };
            return Err(Error::data(place, format!("{problem}; the model needs {pronoun}"), hint).into());
        }
        if let Some(name) = arguments.with.iter().find(|name| !kinds.contains_key(name.as_str())) {
            let (problem, hint) = missing_columns(&[name], &available);
            return Err(Error::setting("with", format!("`{}` {problem}", arguments.table), hint).into());
        }
        let mut has_truth = kinds.contains_key(model.target.column.as_str());
        let mut order_columns = [&model.encoder.order.group, &model.encoder.order.time].into_iter().flatten();
        if let (true, true, Some(name)) =
            (has_truth, model.target.lead > 0, order_columns.find(|name| !kinds.contains_key(name.as_str())))
        {
            // With a lead, the true class of a row is in a later row, which cannot be found if a column that orders the rows is missing.
            has_truth = false;
            note(format!(
                "the column `truth` is not written, because the table lacks the column `{name}`, which gives the order of the rows"
            ));
        }
        let weight = model.plan.as_ref().and_then(|plan| plan.weight.clone());
        let mut columns = OutputColumns {
            model,
            copied: Vec::new(),
            has_truth,
            weight: weight.filter(|name| kinds.contains_key(name.as_str())),
        };
        let output = columns.empty_table();
        let output_names: HashSet<&str> = output.columns.iter().map(|column| column.name.as_str()).collect();
        for name in &arguments.with {
            let mut output_name = name.clone();
            if output_names.contains(name.as_str()) {
                output_name = format!("{name} (table)");
                note(format!(
                    "the column `{name}` of the table is written as `{output_name}`, because predictions have a column `{name}` of their own"
                ));
            }
            columns.copied.push((name.clone(), output_name, kinds[name.as_str()]));
        }
        Ok(columns)
    }

    /// The true classes of the rows; `None` if the output has no column with the true classes.
    fn true_classes(&self, table: &Table, unmatched: &mut Unmatched) -> Result<Option<Vec<u32>>, Failure> {
        if !self.has_truth {
            return Ok(None);
        }
        let mut order = self.model.encoder.order.clone();
        // Without a lead, each row contains its own true class, so the order of the rows does not matter and its columns may be absent.
        if self.model.target.lead == 0 {
            order = Default::default();
        }
        let (labels, new_unmatched) = self.model.target.known_labels(table, &Neighbours::new(table, &order)?)?;
        unmatched.add(new_unmatched);
        Ok(Some(labels.classes))
    }

    /// The output table for a chunk of the input table.
    fn output_table(&self, predicted: &PredictedRows, table: &Table) -> Table {
        let mut columns = predicted.columns(self.model);
        let mut add = |name: &str, values: Values| columns.push(Column { name: name.into(), values });
        let of_table = |name: &str, kind: ColumnKind| match table.column(name) {
            Some(column) => column.values.clone(),
            None => Values::empty(kind),
        };
        self.weight.iter().for_each(|name| add(WEIGHT, of_table(name, ColumnKind::Number)));
        self.copied.iter().for_each(|(name, output_name, kind)| add(output_name, of_table(name, *kind)));
        Table { file: table.file.clone(), columns, ..Table::default() }
    }

    /// A table with the columns of the output and no rows.
    fn empty_table(&self) -> Table {
        let truth = self.has_truth.then(Vec::new);
        self.output_table(&PredictedRows { truth, ..PredictedRows::default() }, &Table::default())
    }
}

/// The place to which predictions are written: standard output, or a file that gets its final name only when it is complete.
enum PredictOutput {
    File(Box<AtomicFile>),
    Standard(io::BufWriter<io::Stdout>),
}

impl PredictOutput {
    /// Opens the file, or standard output if `path` is `None`.
    fn create(path: Option<&PathBuf>, mut outputs: Outputs) -> Result<Self, Failure> {
        Ok(match path {
            Some(path) => PredictOutput::File(Box::new(outputs.create(path, OutputKind::Predictions)?)),
            None => PredictOutput::Standard(io::BufWriter::new(io::stdout())),
        })
    }

    /// Gives a complete file its final name; does nothing for standard output.
    fn finish(self) -> Result<(), Failure> {
        match self {
            PredictOutput::File(file) => Ok(file.finish()?),
            PredictOutput::Standard(_) => Ok(()),
        }
    }
}

/// Returns an error of the same kind as `error`, with a message that says that standard output cannot be written.
fn standard_output_error(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("standard output: cannot be written: {error}"))
}

impl Write for PredictOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            PredictOutput::File(file) => file.write(bytes),
            PredictOutput::Standard(out) => out.write(bytes).map_err(|error| standard_output_error(&error)),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            PredictOutput::File(file) => file.flush(),
            PredictOutput::Standard(out) => out.flush().map_err(|error| standard_output_error(&error)),
        }
    }
}
