//! Reads the cost of every pair of a true and a predicted class from a file, for `train --costs`.

use scorewise::multiclass::{CostMatrix, MultiScore};
use scorewise_table::names::{quoted, quoted_list};
use scorewise_table::table::{ColumnKind, Reader, Reading, Source, Table, Values};
use scorewise_train::plan::TrainingScore;
use scorewise_train::{Error, Location};

use crate::outcome::Failure;

/// The costs in a file. The first column contains the true class of each row, and every other column has the name of a predicted class.
#[derive(Debug)]
pub struct CostFile {
    file: String,
    /// The names of the predicted classes, in the order of the columns.
    predicted: Vec<String>,
    /// For each row, the name of the true class and the cost of each predicted class.
    rows: Vec<(String, Vec<f64>)>,
}

impl CostFile {
    /// Reads and checks a file.
    pub fn read(path: &str) -> Result<Self, Failure> {
        let source = Source::parse(path);
        let mut reader = Reader::open_with(&source, &Reading::default(), &|names, reading: &mut Reading| {
            let kinds = names.iter().enumerate().map(|(at, name)| {
                let kind = if at == 0 { ColumnKind::Category } else { ColumnKind::Number };
                ((*name).to_owned(), kind)
            });
            reading.kinds.extend(kinds);
            Ok(())
        })?;
        Ok(CostFile::of_table(&reader.whole()?)?)
    }

    /// Takes the costs from a table and checks them.
    fn of_table(table: &Table) -> Result<Self, Error> {
        const HINT: &str = "write a header with the names of the predicted classes, and one row for each true class: its name and its costs";
        let error = |problem: String| Error::data(Location::file(&table.file), problem, HINT);
        let [truth, columns @ ..] = table.columns.as_slice() else {
            return Err(error("has no columns".into()));
        };
        let predicted: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        if predicted.len() < 2 {
            return Err(error(format!("has costs for {} predicted classes; at least two are needed", predicted.len())));
        }
        let mut rows: Vec<(String, Vec<f64>)> = Vec::new();
        for row in 0..table.rows() {
            let name = truth.values.text(row);
            let place = || table.place(row).column(&truth.name);
            if truth.values.is_missing(row) {
                return Err(Error::data(place(), "the name of the true class is missing", HINT));
            }
            if !predicted.contains(&name) {
                let problem = format!("{} is not one of the predicted classes in the header", quoted(&name));
                return Err(Error::data(
                    place(),
                    problem,
                    "name the same classes in the header and in the first column",
                ));
            }
            if rows.iter().any(|(other, _)| *other == name) {
                let problem = format!("{} has two rows of costs", quoted(&name));
                return Err(Error::data(place(), problem, "keep one of them"));
            }
            let mut costs = Vec::new();
            for column in columns {
                let place = table.place(row).column(&column.name);
                let hint = "costs must be finite numbers; 0 for a correct prediction is usual";
                match &column.values {
                    Values::Number(values) if values[row].is_finite() => costs.push(values[row]),
                    Values::Number(values) if !values[row].is_nan() => {
                        return Err(Error::data(place, format!("`{}` is not a finite cost", values[row]), hint));
                    }
                    Values::Number(_) => return Err(Error::data(place, "the cost is missing", hint)),
                    _ => return Err(Error::data(place, "a cost must be a number", hint)),
                }
            }
            rows.push((name, costs));
        }
        if let Some(name) = predicted.iter().find(|name| rows.iter().all(|(truth, _)| truth != *name)) {
            return Err(error(format!("has no row with the costs of the true class {}", quoted(name))));
        }
        Ok(CostFile { file: table.file.clone(), predicted, rows })
    }

    /// The score to train for: the mean cost. `classes` are the classes of the target; with two classes, the second is the positive one.
    pub fn score(&self, classes: &[String]) -> Result<TrainingScore, Failure> {
        let error = |problem: String| {
            let names: Vec<&str> = classes.iter().map(String::as_str).collect();
            let hint = format!("the classes of the target are {}", quoted_list(&names));
            Failure::from(Error::data(Location::file(&self.file), problem, hint))
        };
        if let Some(name) = classes.iter().find(|name| !self.predicted.contains(name)) {
            return Err(error(format!("has no costs for the class {}", quoted(name))));
        }
        if let Some(name) = self.predicted.iter().find(|name| !classes.contains(name)) {
            return Err(error(format!("has costs for {}, which is not a class of the target", quoted(name))));
        }
        let cost = |truth: &String, predicted: &String| {
            let column = self.predicted.iter().position(|name| name == predicted)?;
            let (_, costs) = self.rows.iter().find(|(name, _)| name == truth)?;
            costs.get(column).copied()
        };
        let row = |truth: &String| classes.iter().map(|predicted| cost(truth, predicted)).collect::<Option<Vec<f64>>>();
        let Some(costs) = classes.iter().map(row).collect::<Option<Vec<_>>>() else {
            return Err(error("does not have a cost for every pair of classes".into()));
        };
        let text = match costs.as_slice() {
            [negative, positive] => {
                format!("cost(tn={}, fp={}, fn={}, tp={})", negative[0], negative[1], positive[0], positive[1])
            }
            _ => MultiScore::Costs(CostMatrix::new(&costs).map_err(scorewise::Error::from)?).to_string(),
        };
        Ok(text.parse()?)
    }
}
