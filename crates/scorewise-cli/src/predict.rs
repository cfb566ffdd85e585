//! `scorewise predict`: probabilities and labels for the rows of a table of any length, a piece at a time.

use std::io::{self, Write};
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use scorewise_train::encode::Stream;
use scorewise_train::model::{Model, Predictor, SafeFile};
use scorewise_train::table::{Reader, Reading, Source, Table, Values};
use scorewise_train::target::Labels;
use scorewise_train::{Error, Place};
use serde_json::json;

use crate::outcome::{Failure, Outcome, note};
use crate::table::pretty;
use crate::train::Reading as ReadingArguments;

/// What `scorewise predict` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise predict model.scorewise new.csv -o predictions.csv\n  \
    zcat new.csv.gz | scorewise predict model.scorewise - | head\n  \
    scorewise predict model.scorewise new.csv --with id,time -o predictions.csv\n\n\
    Columns written: probability (one for each class where there are more than two), label (1 above the model's threshold, else 0; \
    the class where there are more), truth (where the table holds the target), and those of --with.")]
pub struct Arguments {
    /// A model that `scorewise train` wrote
    model: PathBuf,
    /// A file (.csv, .tsv, .csv.gz, .parquet, .arrow; - for standard input) or a built-in table
    table: String,
    /// Where the predictions go; standard output by default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Columns of the table to write beside the predictions
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    with: Vec<String>,
    /// Another threshold than the model's
    #[arg(long, value_parser = crate::score::threshold)]
    threshold: Option<f64>,
    #[command(flatten)]
    reading: ReadingArguments,
    /// Threads; all cores by default
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// A summary as one JSON document on standard output; needs -o
    #[arg(long, requires = "output")]
    json: bool,
}

/// Predicts every row.
pub fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let mut model = Model::load(&arguments.model)?;
    if let Some(threshold) = arguments.threshold {
        if model.decision.threshold().is_none() {
            let problem = format!("the model has {} classes", model.classes.len());
            return Err(Error::setting("--threshold", problem, "a threshold is for two classes").into());
        }
        model.decision =
            scorewise_train::model::Decision::at(threshold, scorewise_train::model::Chosen::Given, "given");
    }
    let threads = crate::train::threads(arguments.threads)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| predict(&model, arguments))
}

fn predict(model: &Model, arguments: &Arguments) -> Result<Outcome, Failure> {
    let source = Source::parse(&arguments.table);
    let mut reader = Reader::open(&source, &reading(model, arguments)?)?;
    let columns = Columns::new(model, &reader, arguments)?;
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template("{spinner} {human_pos} rows, {per_sec}, {elapsed}")?);
    let mut out = Output::create(arguments.output.as_ref())?;
    let mut writer = csv::WriterBuilder::new().from_writer(&mut out);
    writer.write_record(columns.heading(model))?;
    let (mut stream, predictor) = (Stream::new(&model.encoder), Predictor::new(model));
    let (mut rows, mut positives) = (0u64, 0u64);
    // A reader that has seen enough (`| head`) ends the work; it is no fault.
    let is_over =
        |fault: &csv::Error| matches!(fault.kind(), csv::ErrorKind::Io(io) if io.kind() == io::ErrorKind::BrokenPipe);
    'pieces: for table in &mut reader {
        let table = table?;
        let encoded = stream.encode(&table)?;
        let probabilities = predictor.probabilities(&encoded.matrix, |row| table.place(row))?;
        let labels = predictor.labels(&probabilities);
        let truth = columns.truth(model, &table)?;
        let lines = columns.lines(model, &table, &probabilities, &labels, truth.as_deref());
        for line in lines {
            match writer.write_byte_record(&line) {
                Err(fault) if is_over(&fault) => break 'pieces,
                written => written?,
            }
        }
        rows += table.rows() as u64;
        positives += labels.iter().filter(|label| **label == 1).count() as u64;
        bar.set_position(rows);
    }
    match writer.flush() {
        Err(fault) if fault.kind() != io::ErrorKind::BrokenPipe => return Err(fault.into()),
        _ => drop(writer),
    }
    bar.finish_and_clear();
    reader.late_notes().iter().for_each(note);
    stream.surprises().notes(&model.encoder).iter().for_each(note);
    out.finish()?;
    let Some(output) = &arguments.output else { return Ok(String::new().into()) };
    let threshold = model.decision.threshold();
    if arguments.json {
        let positives = threshold.map(|_| positives);
        return Ok(pretty(&json!({
            "model": arguments.model.display().to_string(),
            "output": output.display().to_string(),
            "rows": rows,
            "positives": positives,
            "threshold": threshold,
            "score": model.score,
        }))
        .into());
    }
    let above = threshold.map_or(String::new(), |threshold| format!(", {positives} above the threshold {threshold}"));
    Ok(format!("{rows} rows predicted{above}; written to {}\n", output.display()).into())
}

/// The table is read as that of the training was: kinds of columns, missing markers. What is typed here comes first.
fn reading(model: &Model, arguments: &Arguments) -> Result<Reading, Failure> {
    let typed = crate::train::reading(&arguments.reading)?;
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
    reading.kinds.extend(typed.kinds);
    reading.missing.extend(typed.missing);
    reading.delimiter = typed.delimiter;
    reading.decimal_comma = typed.decimal_comma;
    reading.month_first = typed.month_first;
    // A file without a header is one again, unless it is a table of another kind, which has its names inside.
    reading.columns = typed.columns.or(model.reading.columns.clone());
    Ok(reading)
}

/// What is written beside probability and label.
struct Columns {
    with: Vec<String>,
    has_truth: bool,
}

impl Columns {
    fn new(model: &Model, reader: &Reader, arguments: &Arguments) -> Result<Self, Failure> {
        let names: Vec<&str> = reader.fields().iter().map(|field| field.name.as_str()).collect();
        let place = || Place::file(&arguments.table);
        let missing = |name: &&&str| !names.contains(name);
        let needed: Vec<&str> = model.encoder.columns().iter().map(|(name, _)| *name).collect();
        let lacking: Vec<&&str> = needed.iter().filter(missing).collect();
        if !lacking.is_empty() {
            let listed = |names: &[&&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let (is, them) = if lacking.len() == 1 { ("column", "it") } else { ("columns", "them") };
            let problem = format!("has no {is} {}, and the model needs {them}", listed(&lacking));
            let close = lacking.iter().filter_map(|name| {
                let near = scorewise_train::table::nearest(name, names.iter().copied())?;
                Some(format!("`{near}` for `{name}`"))
            });
            let close: Vec<String> = close.collect();
            let hint = if close.is_empty() {
                format!("the table has {}", listed(&names.iter().take(20).collect::<Vec<_>>()))
            } else {
                format!("there is {}; rename it if it is the same", close.join(", "))
            };
            return Err(Error::data(place(), problem, hint).into());
        }
        if let Some(name) = arguments.with.iter().find(|name| !names.contains(&name.as_str())) {
            return Err(Error::data(place(), format!("has no column `{name}`, which --with names"), "").into());
        }
        // With a lead the truth of a row is a row that has not been read yet.
        let has_truth = model.target.lead == 0 && names.contains(&model.target.column.as_str());
        Ok(Columns { with: arguments.with.clone(), has_truth })
    }

    fn heading(&self, model: &Model) -> Vec<String> {
        let mut heading: Vec<String> = match model.decision.threshold() {
            Some(_) => vec!["probability".into()],
            None => model.classes.iter().map(|class| format!("probability of {class}")).collect(),
        };
        heading.push("label".into());
        if self.has_truth {
            heading.push("truth".into());
        }
        heading.extend(self.with.iter().cloned());
        heading
    }

    /// The classes of the rows, where the table tells; a class that the model does not know is not a fault here.
    fn truth(&self, model: &Model, table: &Table) -> Result<Option<Vec<u32>>, Failure> {
        if !self.has_truth {
            return Ok(None);
        }
        let neighbours = scorewise_train::groups::Neighbours::new(table, None)?;
        Ok(model.target.labels(table, &neighbours).ok().map(|(labels, _)| labels.classes))
    }

    fn lines(
        &self,
        model: &Model,
        table: &Table,
        probabilities: &[f64],
        labels: &[u32],
        truth: Option<&[u32]>,
    ) -> Vec<csv::ByteRecord> {
        use rayon::prelude::*;
        let outputs = probabilities.len() / labels.len().max(1);
        let with: Vec<&Values> =
            self.with.iter().filter_map(|name| table.column(name)).map(|column| &column.values).collect();
        let class = |label: u32| match model.decision.threshold() {
            Some(_) => label.to_string(),
            None => model.classes.get(label as usize).cloned().unwrap_or_default(),
        };
        let line = |row: usize| {
            let mut line = csv::ByteRecord::new();
            for probability in &probabilities[row * outputs..(row + 1) * outputs] {
                line.push_field(probability.to_string().as_bytes());
            }
            line.push_field(class(labels[row]).as_bytes());
            if self.has_truth {
                let truth = truth.map(|truth| truth[row]).filter(|truth| *truth != Labels::MISSING);
                line.push_field(truth.map_or(String::new(), class).as_bytes());
            }
            with.iter().for_each(|values| line.push_field(values.text(row).as_bytes()));
            line
        };
        (0..labels.len()).into_par_iter().map(line).collect()
    }
}

/// A file that appears when it is whole, or standard output.
enum Output {
    File(Box<SafeFile>),
    Standard(io::BufWriter<io::Stdout>),
}

impl Output {
    fn create(path: Option<&PathBuf>) -> Result<Self, Failure> {
        Ok(match path {
            Some(path) => Output::File(Box::new(SafeFile::create(path)?)),
            None => Output::Standard(io::BufWriter::new(io::stdout())),
        })
    }

    fn finish(self) -> Result<(), Failure> {
        match self {
            Output::File(file) => Ok(file.finish()?),
            Output::Standard(_) => Ok(()),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::File(file) => file.write(bytes),
            Output::Standard(out) => out.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::File(file) => file.flush(),
            Output::Standard(out) => out.flush(),
        }
    }
}
