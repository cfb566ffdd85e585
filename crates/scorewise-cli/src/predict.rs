//! `scorewise predict`: probabilities and decisions for the rows of a table, with what is known of the truth.
//!
//! Predictions say what is what, so that `score`, `tune`, `compare` and `theory` need no options to judge them, also through a pipe.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use scorewise_table::encode::Surprises;
use scorewise_table::groups::Neighbours;
use scorewise_table::output::{OutputKind, Outputs, SafeFile};
use scorewise_table::table::{
    Category, Column, Kind, Reader, Reading, Source, Table, TableFormat, TableWriter, Values,
};
use scorewise_table::target::{Labels, Rule, Unmatched};
use scorewise_train::model::{Decision, Model, Predictor, ThresholdSource};
use scorewise_train::{Error, Place};
use serde::Serialize;

use crate::outcome::{Failure, Outcome, note};
use crate::predictions::{DECISION, NEGATIVE, POSITIVE, PROBABILITY, PROBABILITY_OF, SCORE, THRESHOLD, TRUTH, WEIGHT};
use crate::table::pretty;
use crate::train::Reading as ReadingArguments;

/// What `scorewise predict` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise predict model.scorewise new.csv -o predictions.csv\n  \
    zcat new.csv.gz | scorewise predict model.scorewise - | scorewise score -\n  \
    scorewise predict model.scorewise new.parquet --with id,time -o predictions.parquet\n\n\
    Columns written for two classes: probability (of the positive class), decision (1 above the threshold, else 0), truth (1 or 0, empty \
    where it is not known; only when the table has the target), threshold, score, negative and positive (the names of the classes), \
    weight (when the model was trained with weights), and those of --with. For more classes: a probability of each class, decision and \
    truth as names of classes, score.")]
pub struct Arguments {
    /// A model that `scorewise train` wrote
    model: PathBuf,
    /// A file (.csv, .tsv, .csv.gz, .parquet, .arrow; - for standard input) or a built-in table
    table: String,
    /// Where the predictions go: a .csv, .tsv, .csv.gz, .parquet or .arrow file; as CSV to standard output by default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace a file that is not an older table of predictions; never the table or the model
    #[arg(long)]
    overwrite: bool,
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
            return Err(Error::setting("threshold", problem, "a threshold is for two classes").into());
        }
        model.decision = Decision::at(threshold, ThresholdSource::Given, "given");
    }
    let threads = crate::train::threads(arguments.threads)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| predict(&model, arguments))
}

fn predict(model: &Model, arguments: &Arguments) -> Result<Outcome, Failure> {
    let source = Source::parse(&arguments.table);
    let mut reader = Reader::open(&source, &reading(model, arguments)?)?;
    let columns = Columns::new(model, &reader, arguments)?;
    let outputs = Outputs::new().reads_file(&arguments.model).reads(&source);
    let outputs = outputs.overwrites(crate::showing::OVERWRITE, arguments.overwrite);
    let out = Output::create(arguments.output.as_ref(), outputs)?;
    let format = match &arguments.output {
        // A pipe or a device has no ending that could say more.
        Some(path) if path.metadata().is_ok_and(|about| !about.is_file()) => TableFormat::Csv,
        Some(path) => TableFormat::of(path)?,
        None => TableFormat::Csv,
    };
    let empty = columns.predictions(&Predicted::default(), &Table::default());
    // The file is begun with its first rows: a table that cannot be read leaves nothing, on standard output neither.
    let (mut out, mut writer) = (Some(out), None);
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template("{spinner} {human_pos} rows, {per_sec}, {elapsed}")?);
    let predictor = Predictor::new(model);
    let (mut rows, mut positives) = (0u64, 0u64);
    let (mut surprises, mut unmatched) = (Surprises::default(), Unmatched::default());
    // The neighbours of a row may stand anywhere in the file: then all rows are needed before the first can be predicted.
    let has_neighbours = model.encoder.lags() > 0 || columns.has_truth && model.target.lead > 0;
    let mut whole = has_neighbours.then(|| reader.whole());
    while let Some(table) = whole.take().or_else(|| reader.next()) {
        let table = table?;
        let encoded = model.encoder.encode(&table)?;
        let probabilities = predictor.probabilities(&encoded.matrix, |row| table.place(row))?;
        let decisions = predictor.labels(&probabilities);
        let truth = columns.truth(&table, &mut unmatched)?;
        surprises.add(&encoded.surprises);
        rows += table.rows() as u64;
        positives += decisions.iter().filter(|class| **class == 1).count() as u64;
        let predictions = columns.predictions(&Predicted { probabilities, decisions, truth }, &table);
        if let Some(out) = out.take() {
            writer = Some(TableWriter::create(out, format, &empty, &[DECISION, TRUTH], &about(model))?);
        }
        let Some(writer) = &mut writer else { continue };
        match writer.write(&predictions) {
            // A reader that has seen enough (`| head`) ends the work; it is not an error.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(String::new().into()),
            written => written?,
        }
        bar.set_position(rows);
    }
    let out = writer.map(TableWriter::finish).transpose()?;
    bar.finish_and_clear();
    reader.late_notes().iter().for_each(note);
    surprises.notes(&model.encoder).iter().chain(&unmatched.notes(&model.target)).for_each(note);
    out.map_or(Ok(()), Output::finish)?;
    let Some(output) = &arguments.output else { return Ok(String::new().into()) };
    let threshold = model.decision.threshold();
    if arguments.json {
        let positives = threshold.map(|_| positives);
        return Ok(pretty(&PredictSummary {
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
    Ok(format!("{rows} rows predicted{above}; written to {}\n", output.display()).into())
}

/// What Parquet and Arrow files carry beside their columns.
fn about(model: &Model) -> Vec<(&'static str, String)> {
    let about = PredictionsMetadata {
        version: &model.version,
        target: model.target.to_string(),
        classes: &model.classes,
        score: &model.score,
        prior: model.prior.as_deref(),
        loss: &model.loss,
        decision: &model.decision,
    };
    vec![("scorewise", serde_json::to_string(&about).unwrap_or_default())]
}

/// What Parquet and Arrow files carry beside their columns, as JSON.
#[derive(Serialize)]
struct PredictionsMetadata<'a> {
    version: &'a str,
    target: String,
    classes: &'a [String],
    score: &'a str,
    prior: Option<&'a str>,
    loss: &'a str,
    decision: &'a Decision,
}

/// What `--json` prints.
#[derive(Serialize)]
struct PredictSummary<'a> {
    model: String,
    output: String,
    rows: u64,
    /// `None` with more than two classes.
    positives: Option<u64>,
    threshold: Option<f64>,
    score: &'a str,
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
    // Classes are matched by their names, row by row, so their column is read as text: it may hold what no training row held.
    let is_input = model.encoder.columns().iter().any(|(name, _)| *name == model.target.column);
    if matches!(model.target.rule, Rule::Classes(_)) && !is_input {
        reading.kinds.insert(model.target.column.clone(), Kind::Category);
    }
    if let Some(weight) = model.plan.as_ref().and_then(|plan| plan.weight.clone()) {
        reading.kinds.insert(weight, Kind::Number);
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

/// What is known of some rows.
#[derive(Default)]
struct Predicted {
    /// One a row, or one a class and row.
    probabilities: Vec<f64>,
    decisions: Vec<u32>,
    /// The classes that the rows have in truth; `None` when the table has no target.
    truth: Option<Vec<u32>>,
}

/// The columns of the predictions.
struct Columns<'a> {
    model: &'a Model,
    /// Columns of the table that are written too: their names there, here, and what they hold.
    with: Vec<(String, String, Kind)>,
    /// Whether the table has the column of the target.
    has_truth: bool,
    /// The column of sample weights, where the model was trained with one and the table has it.
    weight: Option<String>,
}

impl<'a> Columns<'a> {
    fn new(model: &'a Model, reader: &Reader, arguments: &Arguments) -> Result<Self, Failure> {
        let kinds: HashMap<&str, Kind> =
            reader.fields().iter().map(|field| (field.name.as_str(), field.kind)).collect();
        let place = || Place::file(&arguments.table);
        let lacking: Vec<&str> =
            model.encoder.columns().iter().map(|(name, _)| *name).filter(|name| !kinds.contains_key(name)).collect();
        if !lacking.is_empty() {
            return Err(lacks(place(), &lacking, reader).into());
        }
        if let Some(name) = arguments.with.iter().find(|name| !kinds.contains_key(name.as_str())) {
            return Err(Error::data(place(), format!("has no column `{name}`, which --with names"), "").into());
        }
        let mut has_truth = kinds.contains_key(model.target.column.as_str());
        let order = [&model.encoder.order.group, &model.encoder.order.time].into_iter().flatten();
        if let (true, true, Some(name)) =
            (has_truth, model.target.lead > 0, order.clone().find(|name| !kinds.contains_key(name.as_str())))
        {
            // The truth of a row stands in the rows ahead of it, which only this column tells.
            has_truth = false;
            note(format!("the truth is not written: the table has no column `{name}` to tell which rows lie ahead"));
        }
        let weight = model.plan.as_ref().and_then(|plan| plan.weight.clone());
        let mut columns = Columns {
            model,
            with: Vec::new(),
            has_truth,
            weight: weight.filter(|name| kinds.contains_key(name.as_str())),
        };
        let own = columns.predictions(&Predicted::default(), &Table::default());
        let own: HashSet<&str> = own.columns.iter().map(|column| column.name.as_str()).collect();
        for name in &arguments.with {
            let mut written = name.clone();
            if own.contains(name.as_str()) {
                written = format!("{name} (table)");
                note(format!("the table's column `{name}` is written as `{written}`"));
            }
            columns.with.push((name.clone(), written, kinds[name.as_str()]));
        }
        Ok(columns)
    }

    /// The classes of the rows, where the table tells.
    fn truth(&self, table: &Table, unmatched: &mut Unmatched) -> Result<Option<Vec<u32>>, Failure> {
        if !self.has_truth {
            return Ok(None);
        }
        let mut order = self.model.encoder.order.clone();
        // Without a lead the truth of a row is its own, and the columns that order the rows need not be there.
        if self.model.target.lead == 0 {
            order = Default::default();
        }
        let (labels, further) = self.model.target.truth(table, &Neighbours::new(table, &order)?)?;
        unmatched.add(further);
        Ok(Some(labels.classes))
    }

    /// The predictions of the rows of a table, as a table.
    fn predictions(&self, predicted: &Predicted, table: &Table) -> Table {
        let Predicted { probabilities, decisions, truth } = predicted;
        let (model, rows) = (self.model, decisions.len());
        let mut columns = Vec::new();
        let mut add = |name: &str, values: Values| columns.push(Column { name: name.into(), values });
        let constant = |text: &str| Values::Category(Category { codes: vec![0; rows], levels: vec![text.into()] });
        let truth = self.has_truth.then(|| truth.as_deref().unwrap_or_default());
        match model.decision.threshold() {
            Some(threshold) => {
                let number = |class: &u32| if *class == Labels::MISSING { f64::NAN } else { f64::from(*class) };
                let numbers = |classes: &[u32]| Values::Number(classes.iter().map(number).collect());
                add(PROBABILITY, Values::Number(probabilities.clone()));
                add(DECISION, numbers(decisions));
                truth.into_iter().for_each(|truth| add(TRUTH, numbers(truth)));
                add(THRESHOLD, Values::Number(vec![threshold; rows]));
                add(SCORE, constant(&model.score));
                add(NEGATIVE, constant(&model.classes[0]));
                add(POSITIVE, constant(&model.classes[1]));
            }
            None => {
                let classes = model.classes.len();
                let names =
                    |codes: &[u32]| Values::Category(Category { codes: codes.to_vec(), levels: model.classes.clone() });
                for (at, class) in model.classes.iter().enumerate() {
                    let of_class = probabilities.iter().skip(at).step_by(classes).copied();
                    add(&format!("{PROBABILITY_OF}{class}"), Values::Number(of_class.collect()));
                }
                add(DECISION, names(decisions));
                truth.into_iter().for_each(|truth| add(TRUTH, names(truth)));
                add(SCORE, constant(&model.score));
            }
        }
        let of_table = |name: &str, kind: Kind| match table.column(name) {
            Some(column) => column.values.clone(),
            None => Values::empty(kind),
        };
        self.weight.iter().for_each(|name| add(WEIGHT, of_table(name, Kind::Number)));
        self.with.iter().for_each(|(name, written, kind)| add(written, of_table(name, *kind)));
        Table { file: table.file.clone(), columns, ..Table::default() }
    }
}

/// The error of a table without columns that the model needs.
fn lacks(place: Place, lacking: &[&str], reader: &Reader) -> Error {
    const LISTED: usize = 20;
    let all: Vec<&str> = reader.fields().iter().map(|field| field.name.as_str()).collect();
    let listed = |names: &[&str]| {
        let text =
            names.iter().take(LISTED).map(|name| format!("`{}`", name.escape_debug())).collect::<Vec<_>>().join(", ");
        if names.len() > LISTED { format!("{text} and {} more", names.len() - LISTED) } else { text }
    };
    let (is, them) = if lacking.len() == 1 { ("column", "it") } else { ("columns", "them") };
    let problem = format!("has no {is} {}, and the model needs {them}", listed(lacking));
    let near = lacking.iter().take(LISTED).filter_map(|name| {
        let near = scorewise_table::table::nearest(name, all.iter().copied())?;
        Some(format!("`{near}` for `{name}`"))
    });
    let near: Vec<String> = near.collect();
    let hint = match near.is_empty() {
        true => format!("the table has {}", listed(&all)),
        false => format!("there is {}; rename it if it is the same", near.join(", ")),
    };
    Error::data(place, problem, hint)
}

/// A file that appears when it is whole, or standard output.
enum Output {
    File(Box<SafeFile>),
    Standard(io::BufWriter<io::Stdout>),
}

impl Output {
    fn create(path: Option<&PathBuf>, mut outputs: Outputs) -> Result<Self, Failure> {
        Ok(match path {
            Some(path) => Output::File(Box::new(outputs.create(path, OutputKind::Predictions)?)),
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

/// The same error with the name of where it happened.
fn standard(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("standard output: cannot be written: {error}"))
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::File(file) => file.write(bytes),
            Output::Standard(out) => out.write(bytes).map_err(|error| standard(&error)),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::File(file) => file.flush(),
            Output::Standard(out) => out.flush().map_err(|error| standard(&error)),
        }
    }
}
