//! `scorewise score --counts` and `scorewise compare --counts`: tables whose rows are confusion matrices.

use std::collections::{HashMap, HashSet};

use scorewise::sweep::Bootstrap;
use scorewise::{Confusion, Score};
use scorewise_report::document::{Document, SeriesTimes};
use scorewise_report::evaluation::{
    CountGroup, CountRows, CountScores, CountSummary, ForecastComparison, NamedEstimate, count_series, counts_data,
};
use scorewise_table::counts::{CountTable, TimeSteps, read_counts};
use scorewise_table::groups::Groups;
use scorewise_table::names::{self, quoted};
use scorewise_table::setting::Setting;
use scorewise_table::table::{ColumnKind, Source, Table};
use scorewise_train::{Error, Location};

use crate::compare::comparison_text;
use crate::formatting::{
    aligned_table, confusion_table, count_text, format_number, format_optional, key_value_lines, pretty_json,
};
use crate::outcome::{Failure, Outcome, note};
use crate::report_output::ReportArguments;
use crate::report_output::provenance::provenance;
use crate::resampling::BootstrapOptions;
use crate::score::parse_scores;
use crate::scores::direction_text;

/// Options of `score` and `compare` for tables of counts, whose rows are confusion matrices.
#[derive(clap::Args, Clone, Debug)]
pub struct CountOptions {
    /// The rows of the table are confusion matrices, for example of a day, a station or a model run, in columns called tn, fp, fn, tp; hits, misses,
    /// false_alarms, correct_negatives; or FY_OY, FY_ON, FN_OY, FN_ON. The scores are those of the summed matrix. --resample draws rows of the table,
    /// blocks of consecutive rows, or groups of rows
    #[arg(long, help_heading = COUNTS, conflicts_with_all = ["label", "positive", "weight", "probability", "threshold"])]
    pub counts: bool,
    /// Columns of true negatives, false positives, false negatives and true positives, in this order [default: found by their names]
    #[arg(long, value_name = "TN,FP,FN,TP", value_parser = parse_cells, requires = "counts", help_heading = COUNTS)]
    pub cells: Option<CellColumns>,
    /// Column of times, by which rows are ordered; with --resample blocks, rows of the same time stay together [default: the order of the table]
    #[arg(long, value_name = "COLUMN", requires = "counts", help_heading = COUNTS)]
    pub time: Option<String>,
}

/// Heading, in the help, of the options for tables of counts.
pub const COUNTS: &str = "Tables of counts";

/// The columns of counts that the user named, in the order tn, fp, fn, tp.
#[derive(Clone, Debug)]
pub struct CellColumns(pub [String; 4]);

/// Parses the names of four columns, separated by commas.
fn parse_cells(text: &str) -> Result<CellColumns, String> {
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    let names: Result<[String; 4], _> = names.try_into();
    match names {
        Ok(names) if names.iter().collect::<HashSet<_>>().len() == 4 => Ok(CellColumns(names)),
        _ => Err("name four different columns, in the order tn, fp, fn, tp".into()),
    }
}

/// The arguments of `scorewise score --counts`.
pub struct CountScoreRequest<'a> {
    pub file: &'a str,
    pub options: &'a CountOptions,
    /// The column that separates groups, each of which gets its own scores.
    pub by: Option<&'a str>,
    /// The scores as the user wrote them; empty for all.
    pub scores: &'a [String],
    pub resampling: &'a BootstrapOptions,
    pub report: &'a ReportArguments,
    pub json: bool,
}

/// Computes the scores of a table of counts.
pub fn score(request: &CountScoreRequest<'_>) -> Result<Outcome, Failure> {
    let CountScoreRequest { file, options, by, resampling, report, .. } = *request;
    let scores = parse_scores(request.scores)?;
    let others: Vec<&str> = by.into_iter().chain(options.time.as_deref()).chain(resampling.group_column()).collect();
    let table = read(file, options, Some(&others))?;
    let (rows, times) = count_rows(&table, options, resampling)?;
    let by = match by {
        Some(column) => Some((column, Groups::new(names::column(&table.table, "by", column)?))),
        None => None,
    };
    let bootstrap = resampling.bootstrap(rows.groups.as_deref());
    let report_files = report.open(&[file.as_ref()])?;
    let summary = CountSummary::new(&rows, by.as_ref().map(|(column, groups)| (*column, groups)), &scores, &bootstrap)?;
    report.write(report_files, || {
        let score = if request.scores.is_empty() { Score::parse("tss")? } else { scores[0].clone() };
        let provenance = provenance(Some(bootstrap.seed), vec![counts_data(&table.table.file, &table.matrices)]);
        let series = Some(count_series(&rows, times, &score, &bootstrap)?);
        Ok(Document { series, ..Document::new(provenance, summary.clone().into()) })
    })?;
    note_about_counts(&table, &rows, &bootstrap);
    if request.json {
        return Ok(pretty_json(&summary).into());
    }
    Ok(if request.scores.is_empty() || summary.groups.is_empty() {
        blocks_text(&summary, &scores)
    } else {
        groups_text(&summary, &scores)
    }
    .into())
}

/// Reads a table of counts. `others` are the columns to read besides those of the counts; `None` for all.
fn read(file: &str, options: &CountOptions, others: Option<&[&str]>) -> Result<CountTable, Error> {
    read_counts(&Source::parse(file), options.cells.as_ref().map(|cells| &cells.0), others)
}

/// The rows of a table of counts, with their groups and their order in time; and the column of times, if the user named one.
fn count_rows(
    table: &CountTable,
    options: &CountOptions,
    resampling: &BootstrapOptions,
) -> Result<(CountRows, Option<SeriesTimes>), Error> {
    let groups = match resampling.group_column() {
        Some(column) => Some(Groups::new(names::column(&table.table, "resample", column)?).codes),
        None => None,
    };
    let mut rows = CountRows { matrices: table.matrices.clone(), groups, steps: None };
    let mut times = None;
    if let Some(column) = &options.time {
        let TimeSteps { of_rows, ends: [first, last] } = TimeSteps::new(&table.table, column)?;
        rows.steps = Some(of_rows);
        times = Some(SeriesTimes { column: column.clone(), first, last });
    }
    Ok((rows, times))
}

/// Prints a note if all counts are 0, or if there are only counts of one row or one group, so that the intervals are very long.
fn note_about_counts(table: &CountTable, rows: &CountRows, bootstrap: &Bootstrap<'_>) {
    let file = &table.table.file;
    let present = || (0..rows.matrices.len()).filter(|row| rows.matrices[*row].total() > 0.0);
    let units = match (&rows.groups, bootstrap.resampling) {
        (Some(groups), _) => present().map(|row| groups[row]).collect::<HashSet<_>>().len(),
        _ => present().count(),
    };
    match (units, &rows.groups) {
        (0, _) => note(format!("{file}: all counts are 0, so no score is defined")),
        (1, None) => {
            note(format!("{file}: a single row does not show how much rows differ, so the intervals are very long"));
        }
        (1, Some(_)) => {
            note(format!(
                "{file}: a single group does not show how much groups differ, so the intervals are very long"
            ));
        }
        _ => {}
    }
}

/// All scores as text: first those of all rows together, then those of each group of rows.
fn blocks_text(summary: &CountSummary, scores: &[Score]) -> String {
    let mut text = match summary.groups.is_empty() {
        true => String::new(),
        false => String::from("all rows\n"),
    };
    text += &block_text(&summary.all, scores);
    for CountGroup { group, result } in &summary.groups {
        text += &format!(
            "\n{} = {}\n{}",
            summary.by.as_deref().unwrap_or_default(),
            group.as_deref().unwrap_or("(no value)"),
            block_text(result, scores)
        );
    }
    text
}

/// The scores of a sum of confusion matrices as text.
fn block_text(result: &CountScores, scores: &[Score]) -> String {
    let row = |(estimate, score): (&NamedEstimate, &Score)| {
        let mut cells = vec![estimate.name.clone()];
        cells.extend(estimate_texts(estimate));
        cells.push(direction_text(score));
        cells
    };
    let rows: Vec<Vec<String>> = result.scores.iter().zip(scores).map(row).collect();
    let base_rate = match result.forecasts > 0.0 {
        true => format_number(result.positives / result.forecasts),
        false => String::new(),
    };
    let head = key_value_lines(&[
        ("rows", result.rows.to_string()),
        ("forecasts", format_number(result.forecasts)),
        ("positives", format_number(result.positives)),
        ("base rate", base_rate),
        ("intervals", format!("by resampling {}", result.resampled)),
    ]);
    let table = aligned_table(&["score", "value", "low", "high", "best"], &rows);
    format!("{head}\n{}\n{table}", confusion_table(&result.confusion))
}

/// One table as text for each score. The table has one line for all rows together and one line for each group of rows.
fn groups_text(summary: &CountSummary, scores: &[Score]) -> String {
    let by = summary.by.as_deref().unwrap_or_default();
    let table = |at: usize, score: &Score| {
        let line = |name: &str, result: &CountScores| {
            let counts = [result.rows.to_string(), format_number(result.forecasts), format_number(result.positives)];
            let mut cells = vec![name.to_string()];
            cells.extend(counts);
            cells.extend(estimate_texts(&result.scores[at]));
            cells
        };
        let mut lines = vec![line("(all)", &summary.all)];
        lines.extend(
            summary.groups.iter().map(|group| line(group.group.as_deref().unwrap_or("(no value)"), &group.result)),
        );
        aligned_table(&[by, "rows", "forecasts", "positives", score.name(), "low", "high"], &lines)
    };
    let tables: Vec<String> = scores.iter().enumerate().map(|(at, score)| table(at, score)).collect();
    format!("{}\nIntervals by resampling {}.\n", tables.join("\n"), summary.all.resampled)
}

/// The value of a score and the two ends of its interval as texts; the text of an unknown end is empty.
fn estimate_texts(NamedEstimate { estimate, .. }: &NamedEstimate) -> [String; 3] {
    let end = |end: Option<f64>| end.map_or(String::new(), format_number);
    [format_optional(estimate.value), end(estimate.low), end(estimate.high)]
}

/// The arguments of `scorewise compare --counts`.
pub struct CountComparisonRequest<'a> {
    pub files: [&'a str; 2],
    pub options: &'a CountOptions,
    /// The columns by which rows of both tables are paired; empty to pair them in their order.
    pub on: &'a [String],
    pub score: &'a Score,
    pub resampling: &'a BootstrapOptions,
    pub report: &'a ReportArguments,
    pub json: bool,
}

/// Compares two tables of counts.
pub fn compare(request: &CountComparisonRequest<'_>) -> Result<Outcome, Failure> {
    let CountComparisonRequest { files, options, on, score, resampling, report, .. } = *request;
    let mut others: Vec<&str> = on.iter().map(String::as_str).collect();
    others.extend(options.time.as_deref().into_iter().chain(resampling.group_column()));
    let others_of_first = (!on.is_empty()).then_some(others.as_slice());
    let first = read(files[0], options, others_of_first)?;
    let keys: Vec<&str> = on.iter().map(String::as_str).collect();
    let second = read(files[1], options, (!on.is_empty()).then_some(keys.as_slice()))?;
    let (first, second) = match on {
        [] => {
            check_same_order(&first, &second)?;
            (first, second)
        }
        columns => pairs(&first, &second, columns)?,
    };
    note_different_events(&first, &second);
    let (rows, _) = count_rows(&first, options, resampling)?;
    let rows_of_second = CountRows { matrices: second.matrices.clone(), ..rows.clone() };
    let bootstrap = resampling.bootstrap(rows.groups.as_deref());
    let report_files = report.open(&files.map(AsRef::as_ref))?;
    let names = files.map(str::to_owned);
    let comparison = ForecastComparison::of_counts(names, [&rows, &rows_of_second], score, &bootstrap)?;
    let summary = comparison.summary();
    report.write(report_files, || {
        let data = [&first, &second].map(|table| counts_data(&table.table.file, &table.matrices));
        let provenance = provenance(Some(bootstrap.seed), data.to_vec());
        let page = Some(comparison.page());
        Ok(Document { comparison: page, ..Document::new(provenance, summary.clone().into()) })
    })?;
    note_about_counts(&first, &rows, &bootstrap);
    Ok(if request.json { pretty_json(&summary) } else { comparison_text(&comparison) }.into())
}

/// Returns an error if the tables have different numbers of rows, or if a column has the same values in different orders in the two tables.
/// Columns of numbers are not compared. A value that does not occur in the first table, such as the name of the second system, is accepted.
fn check_same_order(first: &CountTable, second: &CountTable) -> Result<(), Error> {
    let (rows, others) = (first.matrices.len(), second.matrices.len());
    if rows != others {
        let problem = format!("has {}, but {} has {rows}", count_text(others as u64, "row"), first.table.file);
        let hint = format!("name the columns that identify a row in both tables: `{}`", Setting("on").to("COLUMN"));
        return Err(Error::data(Location::file(&second.table.file), problem, hint));
    }
    for column in &first.table.columns {
        let Some(other) = second.table.column(&column.name) else { continue };
        if column.values.kind() == ColumnKind::Number || other.values.kind() != column.values.kind() {
            continue;
        }
        let Some(row) = (0..rows).find(|row| column.values.text(*row) != other.values.text(*row)) else { continue };
        let text = other.values.text(row);
        if (0..rows).any(|row| column.values.text(row) == text) {
            let here = quoted(&text);
            let problem =
                format!("{here}, but {} has {} in this row", first.table.file, quoted(&column.values.text(row)));
            let hint = format!("pair the rows by the columns that identify them: `{}`", Setting("on").to(&column.name));
            return Err(Error::data(second.table.place(row).column(&column.name), problem, hint));
        }
    }
    Ok(())
}

/// Pairs each row of the first table with the row of the second table that has the same values in these columns. Returns the paired rows of both
/// tables, in the order of the first table.
fn pairs(first: &CountTable, second: &CountTable, columns: &[String]) -> Result<(CountTable, CountTable), Error> {
    let rows_by_key = [rows_by_values(&first.table, columns)?, rows_by_values(&second.table, columns)?];
    let [of_first, of_second] = &rows_by_key;
    let mut selected: Vec<(usize, usize)> =
        of_first.iter().filter_map(|(key, row)| Some((*row, *of_second.get(key)?))).collect();
    selected.sort_unstable();
    if selected.is_empty() {
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let problem = format!("no row has the same {} as a row of {}", columns.join(", "), first.table.file);
        let hint = "both tables must have the same values in these columns";
        return Err(Error::data(Location::file(&second.table.file), problem, hint));
    }
    for (table, all) in [(first, of_first.len()), (second, of_second.len())] {
        if all > selected.len() {
            let rows = count_text((all - selected.len()) as u64, "row");
            note(format!(
                "{}: {rows} ignored, because the other table has no row with the same values",
                table.table.file
            ));
        }
    }
    let select = |table: &CountTable, rows: Vec<usize>| CountTable {
        matrices: rows.iter().map(|row| table.matrices[*row]).collect(),
        cells: table.cells.clone(),
        table: table.table.select_rows(&rows),
    };
    let (rows, others) = selected.into_iter().unzip();
    Ok((select(first, rows), select(second, others)))
}

/// Maps each combination of values in these columns to its row; an error if two rows have the same combination.
fn rows_by_values(table: &Table, columns: &[String]) -> Result<HashMap<Vec<String>, usize>, Error> {
    let mut found = Vec::new();
    for name in columns {
        found.push(names::column(table, "on", name)?);
    }
    let mut rows = HashMap::new();
    for row in 0..table.rows() {
        let key: Vec<String> = found.iter().map(|column| column.values.text(row)).collect();
        if let Some(earlier) = rows.insert(key.clone(), row) {
            let earlier = table.place(earlier);
            let place = match earlier.line {
                Some(line) => format!("line {line}"),
                None => format!("row {}", earlier.row.unwrap_or_default()),
            };
            let values: Vec<String> = key.iter().map(|value| quoted(value)).collect();
            let problem = format!("the values {} occur in {place} already", values.join(", "));
            let hint = format!(
                "name further columns, so that each row is identified: `{}`",
                Setting("on").to("COLUMN,COLUMN")
            );
            return Err(Error::data(table.place(row), problem, hint));
        }
    }
    Ok(rows)
}

/// Prints a note if two paired rows have different numbers of events or non-events, which shows that the two systems were verified with different
/// cases.
fn note_different_events(first: &CountTable, second: &CountTable) {
    let differ = |(one, other): &(&Confusion, &Confusion)| {
        let (one, other) = (one.counts(), other.counts());
        let is_close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
        !(is_close(one.positives, other.positives) && is_close(one.negatives, other.negatives))
    };
    let rows = first.matrices.iter().zip(&second.matrices).filter(differ).count();
    if rows > 0 {
        note(format!(
            "{} of {} have different numbers of events or non-events in {} and in {}, so the two systems were verified with different cases",
            rows,
            count_text(first.matrices.len() as u64, "row"),
            second.table.file,
            first.table.file
        ));
    }
}
