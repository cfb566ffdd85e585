//! Arguments of `scorewise train`.

use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

use scorewise_table::output::OutputKind;
use scorewise_table::split::Split;
use scorewise_table::table::Source;
use scorewise_train::backend::Device;
use scorewise_train::plan::TrainingOptions;

use crate::outcome::note;
use crate::report_output::ReportArguments;
use crate::resampling::parse_replicates;
use scorewise_table::dependence::Resample;

/// Arguments of `scorewise train`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise train adult                                              the built-in census data\n  \
    scorewise train flares.csv --target flare --score tss              classes in a column\n  \
    scorewise train smog.csv --target \"pm2.5 > 400\" --lead 1 --lags 3   forecast one row ahead\n  \
    scorewise train air.csv --target \"CO(GT) >= 5\" --missing -200       missing values as -200\n  \
    scorewise train triage.csv --target class --costs costs.csv         a cost for every pair of true and predicted class\n  \
    scorewise train flares.csv --target flare --folds 5 --repeats 2    cross-validation")]
pub struct TrainArguments {
    /// Table to train on: a file (.csv, .tsv, .csv.gz, .parquet, .arrow; - for standard input) or a built-in table: adult, pollution
    pub table: String,

    /// Target to predict: a column, or a condition such as "pm2.5 > 400"
    #[arg(long, value_name = "COLUMN|CONDITION", help_heading = "Target")]
    pub target: Option<String>,
    /// Class that counts as positive [default: the rarer of two classes]
    #[arg(long, value_name = "VALUE", help_heading = "Target", allow_hyphen_values = true)]
    pub positive: Option<String>,
    /// Predict the target this many rows ahead
    #[arg(long, value_name = "ROWS", help_heading = "Target")]
    pub lead: Option<usize>,

    /// File with the cost of each predicted class (columns, named in the header) for each true class (rows, named in the first column). The model is
    /// trained for the mean cost and, with more than two classes, predicts the class with the lowest expected cost
    #[arg(long, value_name = "FILE", help_heading = "Target", conflicts_with = "score")]
    pub costs: Option<String>,

    #[command(flatten)]
    pub reading: ReadArguments,

    /// Columns not to use as inputs
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Columns")]
    pub drop: Vec<String>,
    /// Columns of ordered categories: size=small<medium<large, or only the name for alphabetical order
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub ordinal: Vec<String>,
    /// Columns to use even though they have a single value, or a different value in every row
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Columns")]
    pub keep: Vec<String>,
    /// Use the values of this many previous rows as further inputs
    #[arg(long, value_name = "ROWS", default_value_t = 0, help_heading = "Columns")]
    pub lags: usize,
    /// Columns to use with lags [default: all inputs]
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Columns", requires = "lags")]
    pub lag_columns: Vec<String>,
    /// Column that separates several time series, such as a station; lags, leads and the windows of --temporal stay within one series [default: the column of --split group:COLUMN]
    #[arg(long, visible_alias = "series", value_name = "COLUMN", help_heading = "Columns")]
    pub group: Option<String>,
    /// Column of sample weights
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub weight: Option<String>,

    /// How to split the rows: random (stratified by class), time (the last rows are the test rows), or group:COLUMN
    #[arg(long, value_name = "random|time|group:COLUMN", value_parser = Split::parse, help_heading = "Rows")]
    pub split: Option<Split>,
    /// Share of test rows, which training never uses, or a separate table of test rows; 0 for no test rows
    #[arg(long, value_name = "SHARE|TABLE", help_heading = "Rows")]
    pub test: Option<TestRows>,
    /// Cross-validate: divide the rows into K folds and repeat the whole training K times, each time with another fold as the test rows
    #[arg(long, value_name = "K", help_heading = "Rows")]
    pub folds: Option<usize>,
    /// Repeat the cross-validation N times with other folds
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Rows", requires = "folds")]
    pub repeats: usize,

    #[command(flatten)]
    pub options: TrainingOptions,

    /// Number of threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub threads: Option<usize>,
    /// The hardware on which networks are trained
    #[arg(long, value_enum, default_value_t = Device::Cpu, help_heading = "Training")]
    pub device: Device,

    /// Which rows depend on each other, and are therefore resampled together: `rows` if all rows are independent; `blocks` if rows follow each other in
    /// time, in blocks whose length is estimated from the rows or given as in `blocks:48`; `group:COLUMN` if rows with the same value of a column belong
    /// together [default: as `--split` says; `blocks` with `--lead` or `--lags`]
    #[arg(long, value_name = "rows|blocks[:LENGTH]|group:COLUMN", help_heading = "Output")]
    pub resample: Option<Resample>,
    /// Number of bootstrap replicates for intervals
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = parse_replicates, help_heading = "Output")]
    pub replicates: u32,
    /// Model file to write
    #[arg(short, long, value_name = "FILE", default_value = "model.scorewise", help_heading = "Output")]
    pub output: PathBuf,
    /// HTML report to write, with a movable threshold; a file that ends in .json gets the data for `scorewise report`; `none` writes no report
    /// [default: report.html in the folder of the model]
    #[arg(long, value_name = "FILE.html|none", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Table of predictions to write: with cross-fitting all rows that are not test rows, each predicted by the members that were not trained on it;
    /// otherwise the validation rows. Use it to `score`, `tune` or `compare` the model without test rows
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub out_of_fold: Option<PathBuf>,
    /// Folder for the figures of the report as SVG and PNG
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub plots: Option<PathBuf>,
    /// Replace existing files whatever they contain; without this option, a file is replaced only by an output of its kind, such as a
    /// report by a report. Input tables are never replaced
    #[arg(long, help_heading = "Output")]
    pub overwrite: bool,
    /// Print the result as JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

impl TrainArguments {
    /// The report and figures to write. Without `--report`, the default report never replaces a file that is not a scorewise report.
    pub fn report_arguments(&self) -> ReportArguments {
        let default_path = || self.output.with_file_name("report.html");
        let report = match &self.report {
            Some(path) if path.as_os_str() == "none" => None,
            Some(path) => Some(path.clone()),
            None => Some(default_path()).filter(|path| {
                let may_replace = OutputKind::Page.may_replace(path);
                if !may_replace {
                    note(format!(
                        "{} is not a scorewise report, so no report is written; name another file with --report",
                        path.display()
                    ));
                }
                may_replace
            }),
        };
        ReportArguments { report, plots: self.plots.clone(), overwrite: self.overwrite }
    }
}

/// Options that say how to read a text file where automatic detection is not enough.
#[derive(clap::Args, Clone)]
pub struct ReadArguments {
    /// Delimiter: comma, semicolon, tab, pipe or a single character [default: detected]
    #[arg(long, value_name = "DELIMITER", help_heading = "Reading")]
    pub delimiter: Option<String>,
    /// Numbers have a decimal comma, as in 3,14 [default: detected]
    #[arg(long, help_heading = "Reading")]
    pub decimal_comma: bool,
    /// Column names, for a file without a header
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', help_heading = "Reading")]
    pub columns: Option<Vec<String>>,
    /// Dates have the month first, as in 01/31/2010 [default: detected]
    #[arg(long, help_heading = "Reading")]
    pub month_first: bool,
    /// Further strings that mean a missing value. Empty cells, ?, NA, NaN, NaT, <NA> and #N/A are always missing; -, ., n/a, null and none are
    /// missing in columns of numbers, dates and booleans, but ordinary values in columns of text
    #[arg(long, value_name = "TEXT", value_delimiter = ',', allow_hyphen_values = true, help_heading = "Reading")]
    pub missing: Vec<String>,
    /// Columns to read as categories even though they look like numbers
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Reading")]
    pub categorical: Vec<String>,
    /// Columns to read as numbers even though they look like dates (20200131) or codes (02139)
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Reading")]
    pub numeric: Vec<String>,
}

/// The value of `--test`.
#[derive(Clone, Debug, PartialEq)]
pub enum TestRows {
    /// Fraction of the table's rows to use as test rows.
    Share(f64),
    /// Separate table with the test rows.
    Table(Source),
}

impl FromStr for TestRows {
    /// There are no errors, because a text that is not a number is taken as the name of a table.
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.parse().map_or_else(|_| TestRows::Table(Source::parse(text)), TestRows::Share))
    }
}
