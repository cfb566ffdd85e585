//! Rounds that take turns, medians and spread: what a noisy machine allows one to say.

use std::time::Instant;

/// One contestant of a bench.
pub struct Contestant<'a> {
    pub name: &'a str,
    pub work: Box<dyn FnMut() + 'a>,
}

/// Seconds of each contestant: the median and the spread between the quartiles.
pub struct Timing {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

/// Runs the contestants in turn, `rounds` times after one round of warming up.
pub fn race(rounds: usize, contestants: &mut [Contestant<'_>]) -> Vec<Timing> {
    let mut seconds = vec![Vec::new(); contestants.len()];
    for round in 0..=rounds {
        for (contestant, seconds) in contestants.iter_mut().zip(&mut seconds) {
            let start = Instant::now();
            (contestant.work)();
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

/// One line a contestant, aligned.
pub fn print(contestants: &[Contestant<'_>], timings: &[Timing]) {
    for (contestant, timing) in contestants.iter().zip(timings) {
        println!(
            "  {:<44} {:>9.2} ms   (quartiles {:.2} to {:.2})",
            contestant.name,
            1e3 * timing.median,
            1e3 * timing.low,
            1e3 * timing.high
        );
    }
}

/// A bar of the issue: what was reached, what was asked, and whether that holds.
pub fn bar(what: &str, reached: f64, limit: f64, unit: &str) {
    let verdict = if reached <= limit { "holds" } else { "FALLS SHORT" };
    println!("  bar: {what}: {reached:.2}{unit} (at most {limit}{unit}) {verdict}");
}

/// Reproducible numbers between 0 and 1.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A normal number, by the sum of twelve.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}
