//! Options of the bootstrap, shared by all commands that compute intervals.

use scorewise::sweep::{Bootstrap, MAX_REPLICATES, Resampling};
use scorewise_report::evaluation::{MAX_EXACT_ROWS, THRESHOLD_RUNS};

/// Options of the bootstrap.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct BootstrapOptions {
    /// Number of bootstrap replicates
    #[arg(long, default_value_t = 1000, value_parser = parse_replicates, value_name = "NUMBER")]
    pub replicates: u32,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub seed: u64,
    /// Block length of the bootstrap for time series; choose a length beyond which rows are no longer correlated
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), value_name = "ROWS")]
    pub block: Option<u32>,
}

impl BootstrapOptions {
    /// The bootstrap with these options.
    pub fn bootstrap(&self) -> Bootstrap {
        let resampling = self.block.map_or(Resampling::Poisson, |rows| Resampling::Blocks(rows as usize));
        Bootstrap { resampling, replicates: self.replicates as usize, seed: self.seed }
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
