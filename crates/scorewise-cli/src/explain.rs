//! `scorewise explain`: how much each column helps the score of a model, and how its predictions depend on the most important columns.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use scorewise_report::document::{DataSource, Document};
use scorewise_report::evaluation::{
    ColumnImportance, ExplainOptions, ExplainedRows, Explanation, MAX_PERMUTATIONS, explain,
};
use scorewise_table::output::{AtomicFile, OutputKind, Outputs};
use scorewise_table::table::{Category, Column, Reader, Source, Table, TableFormat, TableWriter, Values};
use scorewise_train::Note;
use scorewise_train::model::{Fingerprint, Model};

use crate::formatting::{aligned_table, count_text, format_number, format_optional, key_value_lines, pretty_json};
use crate::outcome::{Failure, Outcome, note, with_options};
use crate::predict::model_reading;
use crate::report_output::provenance::provenance;
use crate::report_output::{OVERWRITE, ReportArguments};
use crate::train::{ReadArguments, thread_count};

/// Arguments of `scorewise explain`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise explain model.scorewise new.csv                        importance of every column for the model's score\n  \
    scorewise explain model.scorewise new.csv --report explain.html  with figures of importance and partial dependence\n  \
    scorewise explain model.scorewise new.csv --csv importance.csv\n\n\
    The importance of a column is the score of the model, at its own threshold, minus the mean score after the values of the column were \
    shuffled among the rows, so a column above 0 helps the score. If lower values of the score are better, the sign is reversed. Columns with \
    the same information share their importance. Use rows that the model was not trained on.")]
pub struct ExplainArguments {
    /// Model file written by `scorewise train`
    model: PathBuf,
    /// Table with the target column: a file (.csv, .tsv, .csv.gz, .parquet, .arrow; - for standard input) or a built-in table
    table: String,
    /// Number of times that each column is shuffled
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = parse_permutation_count)]
    permutations: usize,
    /// Use at most this many rows, drawn at random
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000, value_parser = parse_row_count)]
    rows: usize,
    /// Seed of the random numbers
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// CSV file to write, with the importance of the columns
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    reading: ReadArguments,
    #[command(flatten)]
    report: ReportArguments,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Parses the value of `--permutations`: how many times each column is shuffled.
fn parse_permutation_count(text: &str) -> Result<usize, String> {
    match text.trim().parse::<usize>() {
        Ok(number) if (1..=MAX_PERMUTATIONS).contains(&number) => Ok(number),
        _ => Err(format!("give an integer from 1 to {MAX_PERMUTATIONS}; 10 is common")),
    }
}

/// Parses the value of `--rows`: the greatest number of rows that are used.
fn parse_row_count(text: &str) -> Result<usize, String> {
    match text.trim().parse::<usize>() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("give an integer, 1 or above; 10000 is common".into()),
    }
}

/// Explains a model on the rows of a table.
pub fn run(arguments: &ExplainArguments) -> Result<Outcome, Failure> {
    let model = Model::load(&arguments.model)?;
    let source = Source::parse(&arguments.table);
    // Output files are opened before the work is done, so that a path that cannot be written is reported at once.
    let outputs = Outputs::new().reads_file(&arguments.model).reads(&source);
    let mut outputs = outputs.overwrites(OVERWRITE, arguments.report.overwrite);
    let csv = arguments.csv.as_ref().map(|path| outputs.create(path, OutputKind::Importance)).transpose()?;
    let report_files = arguments.report.open_with(outputs)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(thread_count(arguments.threads)?).build()?;
    let (explanation, data, notes) = pool.install(|| explain_table(&model, &source, arguments))?;
    if explanation.value.is_none() {
        let score = &explanation.score;
        note(format!("{}: {score} is undefined on these rows, so no column has an importance", arguments.table));
    }
    if let Some(file) = csv {
        write_csv(file, &explanation)?;
    }
    arguments.report.write(report_files, || {
        let provenance = provenance(Some(arguments.seed), vec![data]);
        Ok(Document { notes, ..Document::new(provenance, explanation.clone().into()) })
    })?;
    Ok(if arguments.json { pretty_json(&explanation) } else { explanation_text(&explanation) }.into())
}

/// Reads the table and explains the model on its rows. Also returns where the data come from and the notes about the data.
fn explain_table(
    model: &Model,
    source: &Source,
    arguments: &ExplainArguments,
) -> Result<(Explanation, DataSource, Vec<String>), Failure> {
    let mut reader = Reader::open(source, &model_reading(model, &arguments.reading)?)?;
    reader.notes().iter().for_each(note);
    let table = reader.whole()?;
    reader.late_notes().iter().for_each(note);
    let (rows, mut notes) = ExplainedRows::of_table(model, &table)?;
    if is_training_table(model, &table) {
        let text = "the model was trained on this table, so columns may look more important than they are for new rows";
        notes.push(Note::new(format!("{}: {text}", arguments.table)));
    }
    notes.iter().for_each(note);
    let options = ExplainOptions {
        permutations: arguments.permutations,
        rows: arguments.rows,
        seed: arguments.seed,
        ..ExplainOptions::default()
    };
    // The progress bar appears on standard error, and is hidden if standard error is not a terminal.
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("shuffling columns {bar:30} {percent} %, {eta} left")?;
    bar.set_style(style.progress_chars("━╸ "));
    bar.enable_steady_tick(Duration::from_millis(200));
    let watch = |done: usize, all: usize| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
        ControlFlow::Continue(())
    };
    let explanation = explain(model, &rows, &options, &watch);
    bar.finish_and_clear();
    let explanation = explanation?.ok_or(Failure("stopped before all columns were shuffled".into()))?;
    let fingerprint = Fingerprint::of(&table).hex();
    let data = DataSource { name: arguments.table.clone(), rows: table.rows(), fingerprint };
    Ok((explanation, data, notes.iter().map(with_options).collect()))
}

/// Whether the model was trained on this table, that is, whether the fingerprint of the table is the one in the model file. A fingerprint depends on
/// the types of the columns. Here the target column was read as strings, but training may have read it as numbers or booleans, so the fingerprint is
/// also computed with the target column converted to these types.
fn is_training_table(model: &Model, table: &Table) -> bool {
    if Fingerprint::of(table).hex() == model.fingerprint {
        return true;
    }
    let Some(target) = table.columns.iter().position(|column| column.name == model.target.column) else { return false };
    let Values::Category(Category { codes, levels }) = &table.columns[target].values else { return false };
    let numbers: Option<Vec<f64>> = levels.iter().map(|level| level.parse().ok()).collect();
    let booleans: Option<Vec<bool>> = levels
        .iter()
        .map(|level| match level.to_ascii_lowercase().as_str() {
            "true" | "yes" => Some(true),
            "false" | "no" => Some(false),
            _ => None,
        })
        .collect();
    let value_of = |code: &u32| *code as usize;
    let as_numbers = numbers.map(|numbers| {
        Values::Number(codes.iter().map(|code| numbers.get(value_of(code)).copied().unwrap_or(f64::NAN)).collect())
    });
    let as_booleans = booleans
        .map(|booleans| Values::Boolean(codes.iter().map(|code| booleans.get(value_of(code)).copied()).collect()));
    as_numbers.into_iter().chain(as_booleans).any(|values| {
        let mut other = table.clone();
        other.columns[target].values = values;
        Fingerprint::of(&other).hex() == model.fingerprint
    })
}

/// Writes the importance of the columns as a table; an undefined number is written as an empty cell.
fn write_csv(file: AtomicFile, explanation: &Explanation) -> Result<(), Failure> {
    let numbers = |number: fn(&ColumnImportance) -> Option<f64>| {
        Values::Number(explanation.importance.iter().map(|column| number(column).unwrap_or(f64::NAN)).collect())
    };
    let levels: Vec<String> = explanation.importance.iter().map(|importance| importance.column.clone()).collect();
    let mut columns = vec![
        ("column", Values::Category(Category { codes: (0..levels.len() as u32).collect(), levels })),
        ("value", numbers(|column| column.value)),
        ("low", numbers(|column| column.low)),
        ("high", numbers(|column| column.high)),
    ];
    if explanation.importance.iter().any(|column| column.gain.is_some()) {
        columns.push(("gain", numbers(|column| column.gain)));
    }
    let columns = columns.into_iter().map(|(name, values)| Column { name: name.into(), values }).collect();
    let table = Table { columns, ..Table::default() };
    let mut writer = TableWriter::create(file, TableFormat::Csv, &table, &[], &[])?;
    writer.write(&table)?;
    Ok(writer.finish()?.finish()?)
}

/// Width of the longest bar, in characters.
const BAR_WIDTH: usize = 24;

/// The explanation as text for the terminal.
fn explanation_text(explanation: &Explanation) -> String {
    let Explanation { score, threshold, rows, available_rows, importance, .. } = explanation;
    let drawn =
        if available_rows > rows { format!(" drawn from {available_rows} with a known class") } else { String::new() };
    let head = key_value_lines(&[
        ("score", format!("{score}, {} on these rows", format_optional(explanation.value))),
        ("threshold", threshold.map_or("one decision rule for all classes".into(), format_number)),
        ("rows", format!("{rows}{drawn}")),
        ("shuffled", format!("each column {}", count_text(explanation.permutations as u64, "time"))),
    ]);
    let greatest = importance.iter().filter_map(|column| column.value).fold(0.0, f64::max);
    let end = |end: Option<f64>| end.map_or(String::new(), format_number);
    let has_gain = importance.iter().any(|column| column.gain.is_some());
    let row = |ColumnImportance { column, value, low, high, gain }: &ColumnImportance| {
        let bar = value.map_or(String::new(), |value| bar_text(value / greatest));
        let mut cells = vec![column.clone(), format_optional(*value), end(*low), end(*high)];
        cells.extend(has_gain.then(|| end(*gain)));
        cells.push(bar);
        cells
    };
    let rows: Vec<Vec<String>> = importance.iter().map(row).collect();
    let mut heads = vec!["column", "importance", "low", "high"];
    heads.extend(has_gain.then_some("gain"));
    heads.push("");
    let table = aligned_table(&heads, &rows);
    let gain = if has_gain {
        "Gain: how much the splits on the column decrease the training loss, as a share of the decrease by all splits of the trees.\n"
    } else {
        ""
    };
    format!(
        "{head}\n{table}\nImportance: how much worse {score} gets when the column's values are shuffled among the rows; low and high are a 95 % interval.\n{gain}"
    )
}

/// A horizontal bar of block characters. `share` is its length as a fraction of the longest bar; the text is empty if `share` is not above 0.
fn bar_text(share: f64) -> String {
    /// Block characters that fill none, one eighth, ..., seven eighths of the width of a character.
    const PARTIAL_BLOCKS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    // If no column has an importance above 0, the share is NaN or minus infinity. Both give an empty bar, because `as usize` turns NaN into 0.
    let eighths = (share.clamp(0.0, 1.0) * (8 * BAR_WIDTH) as f64).round() as usize;
    "█".repeat(eighths / 8) + PARTIAL_BLOCKS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_a_bar_is_proportional_to_the_importance_and_useless_columns_have_no_bar() {
        assert_eq!(bar_text(1.0), "█".repeat(BAR_WIDTH));
        assert_eq!(bar_text(0.5 + 0.5 / BAR_WIDTH as f64), "█".repeat(BAR_WIDTH / 2) + "▌");
        assert_eq!([bar_text(-0.3), bar_text(f64::NAN), bar_text(0.0)], ["", "", ""]);
    }

    #[test]
    fn the_table_of_importance_is_aligned_and_says_undefined_where_a_number_is_undefined() {
        let column = |name: &str, value: Option<f64>| ColumnImportance {
            column: name.into(),
            value,
            low: value.map(|value| value - 0.125),
            high: value.map(|value| value + 0.125),
            gain: None,
        };
        let explanation = Explanation {
            score: "f1".into(),
            threshold: Some(0.375),
            rows: 40,
            available_rows: 60,
            value: Some(0.75),
            permutations: 1,
            importance: vec![column("größe", Some(0.5)), column("a", Some(-0.25)), column("b", None)],
            ..Explanation::default()
        };
        let expected = "score      f1, 0.75 on these rows\n\
                        threshold  0.375\n\
                        rows       40 drawn from 60 with a known class\n\
                        shuffled   each column 1 time\n\n\
                        COLUMN  IMPORTANCE  LOW     HIGH\n\
                        größe   0.5         0.375   0.625   ████████████████████████\n\
                        a       -0.25       -0.375  -0.125\n\
                        b       undefined\n\n\
                        Importance: how much worse f1 gets when the column's values are shuffled among the rows; low and high are a 95 % interval.\n";
        assert_eq!(explanation_text(&explanation), expected);
        let mut with_gain = explanation;
        with_gain.importance.iter_mut().zip([0.75, 0.25, 0.0]).for_each(|(column, gain)| column.gain = Some(gain));
        let text = explanation_text(&with_gain);
        let lines: Vec<&str> = text.lines().skip(5).take(3).collect();
        let expected = [
            "COLUMN  IMPORTANCE  LOW     HIGH    GAIN",
            "größe   0.5         0.375   0.625   0.75  ████████████████████████",
            "a       -0.25       -0.375  -0.125  0.25",
        ];
        assert_eq!(lines, expected);
        assert!(text.contains("\nGain: how much the splits on the column"));
    }
}
