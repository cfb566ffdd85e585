//! Options of the bootstrap, shared by all commands that compute intervals.

use scorewise::sweep::{BlockLength, Bootstrap, MAX_REPLICATES, Resampling};
use scorewise_report::evaluation::{MAX_EXACT_ROWS, THRESHOLD_RUNS};
use scorewise_table::dependence::Resample;

/// Options of the bootstrap.
#[derive(clap::Args, Clone, Debug)]
pub struct BootstrapOptions {
    /// Number of bootstrap replicates
    #[arg(long, default_value_t = 1000, value_parser = parse_replicates, value_name = "NUMBER")]
    pub replicates: u32,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub seed: u64,
    /// Which rows depend on each other, and are therefore resampled together: `rows` if all rows are independent; `blocks` if rows follow each other in
    /// time, in blocks whose length is estimated from the rows or given as in `blocks:48`; `group:COLUMN` if rows with the same value of a column belong
    /// together [default: rows]
    #[arg(long, value_name = "rows|blocks[:LENGTH]|group:COLUMN")]
    pub resample: Option<Resample>,
    /// The same as `--resample blocks:ROWS`
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), value_name = "ROWS", conflicts_with = "resample")]
    pub block: Option<u32>,
}

impl BootstrapOptions {
    /// The bootstrap with these options. `groups` is the number of the group of each row, which the option `--resample group:COLUMN` needs.
    pub fn bootstrap<'a>(&self, groups: Option<&'a [u32]>) -> Bootstrap<'a> {
        let resampling = match (&self.resample, self.block, groups) {
            (Some(Resample::Group(_)), _, Some(groups)) => Resampling::Groups(groups),
            (Some(Resample::Blocks(None)), ..) => Resampling::Blocks(BlockLength::Auto),
            (Some(Resample::Blocks(Some(rows))), ..) => Resampling::Blocks(BlockLength::Rows(*rows)),
            (_, Some(rows), _) => Resampling::Blocks(BlockLength::Rows(rows as usize)),
            _ => Resampling::Poisson,
        };
        Bootstrap { resampling, replicates: self.replicates as usize, seed: self.seed }
    }

    /// What the user wants to be resampled; `None` if the user did not say.
    pub fn resample(&self) -> Option<Resample> {
        self.resample.clone().or(self.block.map(|rows| Resample::Blocks(Some(rows as usize))))
    }

    /// The column of the groups that are resampled; `None` unless groups are resampled.
    pub fn group_column(&self) -> Option<&str> {
        match &self.resample {
            Some(Resample::Group(column)) => Some(column),
            _ => None,
        }
    }
}

/// Parses a number of replicates.
pub fn parse_replicates(text: &str) -> Result<u32, String> {
    match text.trim().parse::<u32>() {
        Ok(0) => Err("at least 1 replicate is needed; 1000 is common".into()),
        Ok(number) if number as usize <= MAX_REPLICATES => Ok(number),
        _ => Err(format!("give an integer from 1 to {MAX_REPLICATES}; 1000 is common")),
    }
}

/// Prints a note if there are more than `MAX_EXACT_ROWS` rows. The bootstrap then forms groups of rows with similar predictions and tries only the
/// thresholds between the groups, so its interval is approximate.
pub fn note_approximate_interval(rows: usize) {
    if rows > MAX_EXACT_ROWS {
        crate::outcome::note(format!(
            "{rows} rows: the best threshold is exact, but its bootstrap interval is approximate, because replicates try only about {THRESHOLD_RUNS} thresholds"
        ));
    }
}
