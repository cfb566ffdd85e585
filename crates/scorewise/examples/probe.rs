use scorewise::sweep::*;
use scorewise::*;
use std::time::Instant;
fn main() {
    let n = 10_000_000;
    let mut s = 1u64;
    let mut r = || {
        s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (s >> 40) as f32 / 16777216.0
    };
    let y: Vec<bool> = (0..n).map(|_| r() < 0.2).collect();
    let p: Vec<f32> = y
        .iter()
        .map(|y| {
            let x = r();
            if *y { x.sqrt() } else { x * x }
        })
        .collect();
    let rows = Rows::new(Probabilities(&p), &y).unwrap();
    let mut t: Vec<f64> = (0..9)
        .map(|_| {
            let t = Instant::now();
            let s = sweep::sweep(&rows).unwrap();
            let e = t.elapsed().as_secs_f64();
            std::hint::black_box(&s);
            e * 1e3
        })
        .collect();
    t.sort_by(f64::total_cmp);
    println!("sweep {:.1} ms", t[4]);
    let few = Rows::new(Probabilities(&p[..100_000]), &y[..100_000]).unwrap();
    for resampling in [Resampling::Poisson, Resampling::Stratified, Resampling::Blocks(24)] {
        let b = Bootstrap { resampling, replicates: 200, seed: 0 };
        let t = Instant::now();
        b.best(&few, &Score::parse("tss").unwrap(), &[]).unwrap();
        println!("boot {:.2} s per 1000", t.elapsed().as_secs_f64() * 5.0);
    }
}
