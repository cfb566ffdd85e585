//! What `scorewise train` takes.

use std::path::PathBuf;

use clap::ValueEnum;

use scorewise_table::output::OutputKind;

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

    /// How rows are parted: random (stratified by class), time (the last part is the test), group:COLUMN
    #[arg(long, value_name = "random|time|group:COLUMN", help_heading = "Parts")]
    pub split: Option<String>,
    /// A share of the rows to test on, or a table of its own; 0 for none
    #[arg(long, value_name = "SHARE|TABLE", help_heading = "Parts")]
    pub test: Option<String>,
    /// The share of the remaining rows that training is stopped and the threshold chosen by
    #[arg(long, value_name = "SHARE", help_heading = "Parts")]
    pub validation: Option<f64>,
    /// Cross-validation with so many folds, each tested once
    #[arg(long, value_name = "K", help_heading = "Parts")]
    pub folds: Option<usize>,
    /// Cross-validation so many times over
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Parts", requires = "folds")]
    pub repeats: usize,

    /// The score to train for and to choose the threshold by; `scorewise scores` lists them
    #[arg(long, help_heading = "Loss")]
    pub score: Option<String>,
    /// The prior of the threshold; `scorewise priors` lists them [default: cosine:0.5,0.1; with `--recipe strong` cosine:0.5,0.4]
    #[arg(long, help_heading = "Loss")]
    pub prior: Option<String>,
    /// What is minimised [default: sol]
    #[arg(long, value_enum, help_heading = "Loss")]
    pub loss: Option<LossName>,
    /// How more than two classes are trained [default: simplex]
    #[arg(long, value_enum, help_heading = "Loss")]
    pub multiclass: Option<Multiclass>,
    /// Train with cross-entropy first, move the best threshold to the prior's centre, then go on with the score
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true", help_heading = "Loss")]
    pub warm_start: Option<bool>,
    /// The model's threshold: the best one on the validation rows, the centre of the prior, or a number [default: tuned]
    #[arg(long, value_name = "tuned|centre|NUMBER", help_heading = "Loss")]
    pub threshold: Option<String>,

    /// Settings that go well together: plain (the paper's), or strong (for rare events: cross-entropy first, the prior cosine:0.5,0.4, 6 networks with
    /// validation rows of their own, batches of 128, weight decay 1, and the centre of the prior as the threshold). What is typed beside it counts more
    #[arg(long, value_enum, help_heading = "Training")]
    pub recipe: Option<Recipe>,
    /// Widths of the hidden layers; none for a linear model
    #[arg(long, value_name = "50,20,5|none", default_value = "50,20,5", help_heading = "Training")]
    pub hidden: String,
    /// Rows of a step [default: 64]
    #[arg(long, value_name = "ROWS|full", help_heading = "Training")]
    pub batch: Option<String>,
    /// Adam with decoupled weight decay, or plain descent with momentum
    #[arg(long, value_enum, default_value_t = Optimiser::Adam, help_heading = "Training")]
    pub optimiser: Optimiser,
    /// The learning rate
    #[arg(long, value_name = "RATE", default_value_t = 0.001, help_heading = "Training")]
    pub learning_rate: f32,
    /// By how much of themselves weights shrink in a step of rate 1 [default: 0]
    #[arg(long, value_name = "DECAY", help_heading = "Training")]
    pub weight_decay: Option<f32>,
    /// Epochs at the most
    #[arg(long, default_value_t = 500, help_heading = "Training")]
    pub epochs: usize,
    /// Epochs without a lower validation loss after which training stops
    #[arg(long, value_name = "EPOCHS", default_value_t = 30, help_heading = "Training")]
    pub patience: usize,
    /// The weights that a training leaves: those of the epoch with the lowest validation loss, or those of the last epoch
    #[arg(long, value_enum, default_value_t = Weights::Best, help_heading = "Training")]
    pub keep_weights: Weights,
    /// Follow the paper to the letter: no start inside the prior's support, no new start where one is dead
    #[arg(long, help_heading = "Training")]
    pub no_cure: bool,
    /// Train so many networks, at most 1000, and take the mean of their probabilities [default: 1]
    #[arg(long, value_name = "MEMBERS", help_heading = "Training")]
    pub ensemble: Option<usize>,
    /// Where all randomness starts
    #[arg(long, default_value_t = 0, help_heading = "Training")]
    pub seed: u64,
    /// Threads; all cores by default. The result does not depend on it
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

/// What is minimised.
#[derive(Clone, Copy, ValueEnum, PartialEq, Eq)]
pub enum LossName {
    /// 1 − the score of the expected confusion matrix
    Sol,
    /// 1 − the exact expected score
    Exact,
    /// Cross-entropy
    Ce,
    /// Cross-entropy with classes balanced
    WeightedCe,
}

/// Settings that go well together.
#[derive(Clone, Copy, ValueEnum, PartialEq, Eq)]
pub enum Recipe {
    /// The paper's
    Plain,
    /// For rare events
    Strong,
}

/// How more than two classes are trained.
#[derive(Clone, Copy, ValueEnum, PartialEq, Eq)]
pub enum Multiclass {
    /// One decision among all classes
    Simplex,
    /// Every class against the rest
    OneVersusRest,
}

/// Which weights a training leaves.
#[derive(Clone, Copy, ValueEnum, PartialEq, Eq)]
pub enum Weights {
    /// Those of the epoch with the lowest validation loss
    Best,
    /// Those of the last epoch
    Last,
}

/// What takes the steps.
#[derive(Clone, Copy, ValueEnum, PartialEq, Eq)]
pub enum Optimiser {
    /// Adam with decoupled weight decay
    Adam,
    /// Descent with momentum 0.9
    Sgd,
}
