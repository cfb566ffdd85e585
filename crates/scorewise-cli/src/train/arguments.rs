//! What `scorewise train` takes.

use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

use scorewise_table::output::OutputKind;
use scorewise_table::split::Split;
use scorewise_table::table::Source;
use scorewise_train::plan::TrainingOptions;

use crate::outcome::note;
use crate::resampling::replicates;
use crate::showing;

/// What `scorewise train` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise train adult                                              the built-in census data\n  \
    scorewise train flares.csv --target flare --score tss              classes in a column\n  \
    scorewise train smog.csv --target \"pm2.5 > 400\" --lead 1 --lags 3   a forecast, one row ahead\n  \
    scorewise train air.csv --target \"CO(GT) >= 5\" --missing -200       odd names and missing markers\n  \
    scorewise train flares.csv --target flare --folds 5 --repeats 2    cross-validation")]
pub struct Arguments {
    /// A file (.csv, .tsv, .csv.gz, .parquet, .arrow; - for standard input) or a built-in table: adult, pollution
    pub table: String,

    /// What to predict: a column, or a condition on one such as "pm2.5 > 400"
    #[arg(long, value_name = "COLUMN|CONDITION", help_heading = "Target")]
    pub target: Option<String>,
    /// The class that counts as positive; by default the rarer of two
    #[arg(long, value_name = "VALUE", help_heading = "Target", allow_hyphen_values = true)]
    pub positive: Option<String>,
    /// Predict the row so many rows ahead
    #[arg(long, value_name = "ROWS", help_heading = "Target")]
    pub lead: Option<usize>,

    #[command(flatten)]
    pub reading: Reading,

    /// Columns to leave out
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Columns")]
    pub drop: Vec<String>,
    /// Texts with an order, read as numbers: size=small<medium<large, or just the name for alphabetical order
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub ordinal: Vec<String>,
    /// Columns to keep that would be left out: one value only, or another one in every row
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Columns")]
    pub keep: Vec<String>,
    /// The last so many rows as further inputs
    #[arg(long, value_name = "ROWS", default_value_t = 0, help_heading = "Columns")]
    pub lags: usize,
    /// Which columns get lags; by default all inputs
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Columns", requires = "lags")]
    pub lag_columns: Vec<String>,
    /// A column that tells series apart, such as a station: lags and leads do not look from one to another [default: that of `--split group:COLUMN`]
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub group: Option<String>,
    /// A column of sample weights
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub weight: Option<String>,

    /// How rows are divided: random (stratified by class), time (the last rows are the test rows), group:COLUMN
    #[arg(long, value_name = "random|time|group:COLUMN", value_parser = Split::parse, help_heading = "Rows")]
    pub split: Option<Split>,
    /// The share of test rows, or a separate test table; 0 for none
    #[arg(long, value_name = "SHARE|TABLE", help_heading = "Rows")]
    pub test: Option<TestRows>,
    /// Cross-validation with K folds, each tested once
    #[arg(long, value_name = "K", help_heading = "Rows")]
    pub folds: Option<usize>,
    /// Repeat the cross-validation N times
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Rows", requires = "folds")]
    pub repeats: usize,

    #[command(flatten)]
    pub options: TrainingOptions,

    /// Number of threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub threads: Option<usize>,

    /// Bootstrap replicates behind each interval
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = replicates, help_heading = "Output")]
    pub replicates: u32,
    /// Where the model goes
    #[arg(short, long, value_name = "FILE", default_value = "model.scorewise", help_heading = "Output")]
    pub output: PathBuf,
    /// The report, one HTML page with a threshold to move (or, named .json, its data for `scorewise report`); none for none
    /// [default: report.html beside the model]
    #[arg(long, value_name = "FILE.html|none", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Every figure of the report as SVG and PNG, into this folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub plots: Option<PathBuf>,
    /// Replace files that are not older outputs of scorewise of the same kind; never a table that is read
    #[arg(long, help_heading = "Output")]
    pub overwrite: bool,
    /// One JSON document on standard output
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

impl Arguments {
    /// Where the result is shown. A report that nobody named takes no other file's place.
    pub fn showing(&self) -> showing::Looking {
        let usual = || self.output.with_file_name("report.html");
        let report = match &self.report {
            Some(path) if path.as_os_str() == "none" => None,
            Some(path) => Some(path.clone()),
            None => Some(usual()).filter(|path| {
                let is_free = OutputKind::Page.may_replace(path);
                if !is_free {
                    note(format!("{} is no report of ours and is left alone; --report names another", path.display()));
                }
                is_free
            }),
        };
        showing::Looking { report, plots: self.plots.clone(), overwrite: self.overwrite }
    }
}

/// How text files are read, where it is not recognised by itself.
#[derive(clap::Args, Clone)]
pub struct Reading {
    /// The mark between cells: comma, semicolon, tab, pipe or a character; recognised by default
    #[arg(long, value_name = "MARK", help_heading = "Reading")]
    pub delimiter: Option<String>,
    /// Numbers are written 3,14; recognised by default
    #[arg(long, help_heading = "Reading")]
    pub decimal_comma: bool,
    /// Names of the columns of a file without a header
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', help_heading = "Reading")]
    pub columns: Option<Vec<String>>,
    /// Dates with the year last are written 01/31/2010; recognised by default
    #[arg(long, help_heading = "Reading")]
    pub month_first: bool,
    /// Further texts that mean a missing value. Empty cells, ?, NA, NaN, NaT, <NA> and #N/A always do; -, ., n/a, null and none do
    /// in columns of numbers, dates and booleans, but are values in columns of text
    #[arg(long, value_name = "TEXT", value_delimiter = ',', allow_hyphen_values = true, help_heading = "Reading")]
    pub missing: Vec<String>,
    /// Columns to read as text although they look like numbers
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Reading")]
    pub categorical: Vec<String>,
    /// Columns to read as numbers although they look like dates (20200131) or codes (02139)
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Reading")]
    pub numeric: Vec<String>,
}

/// Where test rows come from.
#[derive(Clone, Debug, PartialEq)]
pub enum TestRows {
    /// A share of the rows of the table.
    Share(f64),
    /// A table of its own.
    Table(Source),
}

impl FromStr for TestRows {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.parse().map_or_else(|_| TestRows::Table(Source::parse(text)), TestRows::Share))
    }
}
