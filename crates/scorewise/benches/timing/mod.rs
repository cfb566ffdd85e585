//! Times several pieces of code in rounds, each of which runs every piece once. The medians and quartiles over the rounds are reported,
//! because they are robust against noise.

use std::time::Instant;

/// A piece of code that is timed in a benchmark, with its name.
pub struct Candidate<'a> {
    pub name: &'a str,
    pub run: Box<dyn FnMut() + 'a>,
}

/// The median and the quartiles of the times of one candidate, in seconds.
pub struct Timing {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

/// Measures the run time of each candidate in `rounds` rounds, after one warm-up round; every round runs all candidates in turn.
pub fn measure(rounds: usize, candidates: &mut [Candidate<'_>]) -> Vec<Timing> {
    let mut seconds = vec![Vec::new(); candidates.len()];
    for round in 0..=rounds {
        for (candidate, seconds) in candidates.iter_mut().zip(&mut seconds) {
            let start = Instant::now();
            (candidate.run)();
            if round > 0 {
                seconds.push(start.elapsed().as_secs_f64());
            }
        }
    }
    seconds
        .into_iter()
        .map(|mut seconds| {
            seconds.sort_unstable_by(f64::total_cmp);
            let at = |share: f64| seconds[((seconds.len() - 1) as f64 * share).round() as usize];
            Timing { median: at(0.5), low: at(0.25), high: at(0.75) }
        })
        .collect()
}

/// Prints one line per candidate with its times, aligned in columns.
pub fn print_timings(candidates: &[Candidate<'_>], timings: &[Timing]) {
    for (candidate, timing) in candidates.iter().zip(timings) {
        println!(
            "  {:<44} {:>9.2} ms   (quartiles {:.2} to {:.2})",
            candidate.name,
            1e3 * timing.median,
            1e3 * timing.low,
            1e3 * timing.high
        );
    }
}

/// Prints a measured value, the limit required for it, and whether the requirement is met.
pub fn print_requirement(what: &str, reached: f64, limit: f64, unit: &str) {
    let verdict = if reached <= limit { "met" } else { "NOT MET" };
    println!("  requirement: {what}: {reached:.2}{unit} (at most {limit}{unit}) {verdict}");
}

/// A reproducible random number generator.
pub struct Random(pub u64);

impl Random {
    /// A uniform random number in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An approximately standard normal random number: the sum of twelve uniform random numbers, minus 6.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}
