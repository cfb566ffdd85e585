//! Draws the README's picture from numbers of this crate: scores over the threshold, the prior under them, the best interval.
//!
//!     cargo run --release -p scorewise --example picture > docs/threshold.svg

use scorewise::sweep::{Bootstrap, CurvePoint, Resampling, sweep};
use scorewise::{Prior, Probabilities, Rows, Score};

const WIDTH: f64 = 820.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 52.0;

fn x(threshold: f64) -> f64 {
    LEFT + threshold * (WIDTH - LEFT - RIGHT)
}

fn y(value: f64) -> f64 {
    HEIGHT - BOTTOM - value * (HEIGHT - TOP - BOTTOM)
}

fn main() -> Result<(), scorewise::Error> {
    // A forecast with skill of an event that happens one time in twenty.
    let uniform = Prior::uniform();
    let mut random = uniform.sample(4);
    let mut next = move || random.next().unwrap_or(0.5);
    let labels: Vec<bool> = (0..4000).map(|_| next() < 0.05).collect();
    let probabilities: Vec<f64> = labels
        .iter()
        .map(|label| {
            let noise: f64 = (0..12).map(|_| next()).sum::<f64>() - 6.0;
            1.0 / (1.0 + (-(1.1 * noise + if *label { 1.1 } else { -1.4 })).exp())
        })
        .collect();
    let rows = Rows::new(Probabilities(&probabilities), &labels)?;
    let swept = sweep(&rows)?;
    // Blue, orange, green that all eyes tell apart (Okabe & Ito).
    let shown = [("tss", "#0072b2"), ("f1", "#d55e00"), ("csi", "#009e73")];
    let scores = shown.iter().map(|(name, _)| Score::parse(name)).collect::<Result<Vec<_>, _>>()?;
    let curve = swept.curve(&scores, 600);
    let prior = Prior::cosine(0.5, 0.2)?;

    println!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="Helvetica, Arial, sans-serif" font-size="13" role="img" aria-label="Scores over the threshold, the prior's density under them, best thresholds marked">
<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>
<text x="{LEFT}" y="22" font-size="15" fill="#222222">Every threshold at once: exact curves, the best interval, and the prior that trains for it</text>"##
    );
    for k in 0..=5 {
        let value = f64::from(k) / 5.0;
        let (here, left, right) = (y(value), LEFT, WIDTH - RIGHT);
        println!(
            r##"<line x1="{left}" y1="{here:.1}" x2="{right}" y2="{here:.1}" stroke="#e5e5e5"/><text x="{}" y="{:.1}" text-anchor="end" fill="#555555">{value}</text><text x="{:.1}" y="{}" text-anchor="middle" fill="#555555">{value}</text>"##,
            left - 8.0,
            here + 4.0,
            x(value),
            HEIGHT - BOTTOM + 18.0
        );
    }
    println!(
        r##"<text x="{:.1}" y="{}" text-anchor="middle" fill="#222222">threshold τ</text>"##,
        x(0.5),
        HEIGHT - 10.0
    );
    let top = prior.pdf(0.5);
    let density: Vec<String> = (0..=200)
        .map(|k| f64::from(k) / 200.0)
        .map(|at| format!("{:.1},{:.1}", x(at), y(0.25 * prior.pdf(at) / top)))
        .collect();
    println!(
        r##"<polygon points="{:.1},{:.1} {} {:.1},{:.1}" fill="#bbbbbb" fill-opacity="0.45"/>"##,
        x(0.0),
        y(0.0),
        density.join(" "),
        x(1.0),
        y(0.0)
    );
    println!(r##"<text x="{:.1}" y="{:.1}" fill="#555555">prior {prior}</text>"##, x(0.615), y(0.12));
    let bootstrap = Bootstrap { resampling: Resampling::Stratified, replicates: 400, seed: 1 };
    for ((name, colour), score) in shown.iter().zip(&scores) {
        let step = |point: &CurvePoint| {
            let value = y(score.value(&point.confusion).max(0.0));
            format!("{:.1},{value:.1} {:.1},{value:.1}", x(point.thresholds.0), x(point.thresholds.1))
        };
        let line: Vec<String> = curve.iter().map(step).collect();
        println!(r##"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2"/>"##, line.join(" "));
        let Some(best) = swept.best(score) else { continue };
        if let Some((low, high)) = bootstrap.best(&rows, score, &[])?.threshold.interval(0.95) {
            let here = y(best.value) - 12.0;
            println!(
                r##"<line x1="{:.1}" y1="{here:.1}" x2="{:.1}" y2="{here:.1}" stroke="{colour}" stroke-width="5" stroke-opacity="0.3"/>"##,
                x(low),
                x(high)
            );
        }
        println!(r##"<circle cx="{:.1}" cy="{:.1}" r="4.5" fill="{colour}"/>"##, x(best.threshold), y(best.value));
        let legend = TOP + 24.0 + 44.0 * scores.iter().position(|other| other == score).unwrap_or(0) as f64;
        println!(
            r##"<text x="{}" y="{legend}" fill="{colour}" font-weight="bold">{name}</text><text x="{}" y="{}" fill="#555555">{:.3} at τ* = {:.3}</text>"##,
            WIDTH - RIGHT + 14.0,
            WIDTH - RIGHT + 14.0,
            legend + 17.0,
            best.value,
            best.threshold
        );
    }
    println!(
        r##"<text x="{}" y="{}" fill="#777777" font-size="11">bars: 95 % of τ*</text>"##,
        WIDTH - RIGHT + 14.0,
        TOP + 158.0
    );
    println!("</svg>");
    Ok(())
}
