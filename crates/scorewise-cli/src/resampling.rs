//! How sure a result is: the options of the bootstrap, the same for every command that has one.

use scorewise::sweep::{Bootstrap, MAX_REPLICATES, Resampling};
use scorewise_report::evaluation::{EXACT_ROWS, RUNS};

/// The options of the bootstrap.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct Options {
    /// How often the rows are drawn anew
    #[arg(long, default_value_t = 1000, value_parser = replicates, value_name = "NUMBER")]
    pub replicates: u32,
    /// Where the randomness starts
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub seed: u64,
    /// Rows drawn together, for time series, whose rows are not independent: longer than their memory
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), value_name = "ROWS")]
    pub block: Option<u32>,
}

impl Options {
    /// The bootstrap that they describe.
    pub fn bootstrap(&self) -> Bootstrap {
        let resampling = self.block.map_or(Resampling::Poisson, |rows| Resampling::Blocks(rows as usize));
        Bootstrap { resampling, replicates: self.replicates as usize, seed: self.seed }
    }
}

/// A number of replicates as it is given on the command line.
pub fn replicates(text: &str) -> Result<u32, String> {
    match text.trim().parse::<u32>() {
        Ok(0) => Err("an interval needs replicates; 1000 are usual".into()),
        Ok(number) if number as usize <= MAX_REPLICATES => Ok(number),
        _ => Err(format!("give a whole number from 1 to {MAX_REPLICATES}; 1000 are usual")),
    }
}

/// Says that replicates look only between runs of rows, where there are so many.
pub fn note_runs(rows: usize) {
    if rows > EXACT_ROWS {
        crate::outcome::note(format!(
            "{rows} rows: the best threshold is exact; for its interval, replicates look between {RUNS} runs of neighbouring rows"
        ));
    }
}
