//! Runs scorewise for the comparison in `bench/peers.py`: reads rows written by Python, executes one command for each line of standard input,
//! and prints the elapsed seconds and a result that Python compares with the other libraries.

use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

use scorewise::sweep::sweep;
use scorewise::{Logits, Probabilities, Rows, Score, ScoreLoss};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder =
        std::env::args().nth(1).ok_or("usage: time_rows FOLDER, where FOLDER was written by bench/peers.py")?;
    let floats = |name: &str| -> std::io::Result<Vec<f32>> {
        let bytes = std::fs::read(Path::new(&folder).join(name))?;
        Ok(bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect())
    };
    let (logits, probabilities) = (floats("logits.f32")?, floats("probabilities.f32")?);
    let labels: Vec<bool> =
        std::fs::read(Path::new(&folder).join("labels.u8"))?.iter().map(|byte| *byte != 0).collect();
    let mut gradient = vec![0f32; logits.len()];
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let start = Instant::now();
        let result = match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["loss", score, prior] => {
                let loss = ScoreLoss::new(Score::parse(score)?, prior.parse()?);
                loss.value_and_gradient(&Rows::new(Logits(&logits), &labels)?, &mut gradient)?
            }
            ["sweep", scores @ ..] => {
                let scores = scores.iter().map(|text| Score::parse(text)).collect::<Result<Vec<_>, _>>()?;
                let sweep = sweep(&Rows::new(Probabilities(&probabilities), &labels)?)?;
                sweep.all_best(&scores).last().and_then(Option::as_ref).map_or(f64::NAN, |best| best.value)
            }
            _ => return Err(format!("unknown command `{line}`: write `loss SCORE PRIOR` or `sweep SCORE …`").into()),
        };
        println!("{} {result}", start.elapsed().as_secs_f64());
        std::io::stdout().flush()?;
    }
    Ok(())
}
