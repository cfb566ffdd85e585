//! Options that weight the errors of a time series by their timing, for `score`, `tune` and `compare`.

use scorewise::sweep::{BlockLength, Bootstrap, Resampling};
use scorewise::temporal::Weighting;
use scorewise_report::evaluation::{SeriesOptions, TimingSummary};
use scorewise_train::Error;

use crate::outcome::Failure;
use crate::predictions::ClassPredictions;
use crate::resampling::BootstrapOptions;

/// Options that weight the errors of a time series by their timing.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct TemporalOptions {
    /// Weight errors by their timing: a false alarm shortly before an event, or a missed event shortly after an alarm, counts less than a full error.
    /// The rows must be in the order of time. `value`: only the nearest event or alarm lowers the weight of an error, and an error far from all
    /// events or alarms counts twice; `maximum`: like `value`, but no error counts twice; `sum`: all nearby events or alarms lower the weight. The
    /// numbers, as in `sum:0.5,0.25`, are subtracted from the weight of an error one row, two rows … away from an event or alarm
    #[arg(long, value_name = "value|sum|maximum[:NUMBERS]", value_parser = parse_weighting)]
    pub temporal: Option<Weighting>,
    /// Column that tells several time series apart, such as the station; the rows of each series must be together, in the order of time
    #[arg(long, value_name = "COLUMN", requires = "temporal")]
    pub series: Option<String>,
}

/// Parses a weighting of errors. An error message does not begin with the name of the option, because the command line adds the name.
fn parse_weighting(text: &str) -> Result<Weighting, String> {
    text.parse().map_err(|error: scorewise::Error| match error {
        scorewise::Error::Setting { what: "temporal", reason } => reason,
        error => error.to_string(),
    })
}

impl TemporalOptions {
    /// The column of groups to read with the table, named by `--series` or by `--resample`; an error if the two options name different columns.
    pub fn group_column<'a>(&'a self, resampling: &'a BootstrapOptions) -> Result<Option<&'a str>, Failure> {
        match (self.series.as_deref(), resampling.group_column()) {
            (Some(series), Some(group)) if series != group => {
                let problem = format!(
                    "names the column `{series}`, but the groups that are resampled are in the column `{group}`"
                );
                Err(Error::setting("series", problem, "use one column for both").into())
            }
            (series, group) => Ok(series.or(group)),
        }
    }

    /// The bootstrap with these options. If errors are weighted by their timing, neighbouring rows depend on each other, so blocks of rows are
    /// resampled unless the user chose otherwise.
    pub fn bootstrap<'a>(&self, resampling: &BootstrapOptions, groups: Option<&'a [u32]>) -> Bootstrap<'a> {
        let bootstrap = resampling.bootstrap(groups);
        let is_default = resampling.resample.is_none() && resampling.block.is_none();
        match self.temporal.is_some() && is_default {
            true => Bootstrap { resampling: Resampling::Blocks(BlockLength::Auto), ..bootstrap },
            false => bootstrap,
        }
    }

    /// The options for weighting errors by their timing; `None` if every error counts 1. `groups` contains the number of the group of each row. With
    /// `--series`, each group is one time series.
    pub fn series<'a>(&'a self, groups: Option<&'a [u32]>) -> Option<SeriesOptions<'a>> {
        let weighting = self.temporal.as_ref()?;
        Some(SeriesOptions { weighting, sequences: groups.filter(|_| self.series.is_some()) })
    }

    /// Returns an error if errors are weighted by their timing, but the table has more than two classes.
    pub fn refuse_classes(&self, predictions: &ClassPredictions) -> Result<(), Failure> {
        if self.temporal.is_none() {
            return Ok(());
        }
        let (file, classes) = (&predictions.file, predictions.classes.len());
        let problem = format!("applies to two classes, but {file} has {classes} classes");
        Err(Error::setting("temporal", problem, "evaluate one class against all others with `--positive`").into())
    }

    /// Returns an error if `--temporal` (errors weighted by their timing) and the given option are both used; they cannot be combined. `is_used` says
    /// whether the user has given the option.
    pub fn refuse(&self, option: &'static str, is_used: bool) -> Result<(), Failure> {
        match self.temporal.is_some() && is_used {
            true => Err(Error::setting(option, "cannot be combined with `--temporal`", "leave out one of them").into()),
            false => Ok(()),
        }
    }
}

/// The weighting as text for the terminal; empty if every error counts 1.
pub fn timing_text(timing: Option<&TimingSummary>) -> String {
    timing.map_or(String::new(), |TimingSummary { weighting, sequences }| match sequences {
        1 => format!("weighted by their distance in time from events and alarms, {weighting}"),
        many => format!("weighted by their distance in time from events and alarms, {weighting}, {many} series"),
    })
}
