#![allow(missing_docs, clippy::unwrap_used)]
use scorewise_report::*;
struct R(u64);
impl R {
    fn u(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 11) as f64) / (1u64 << 53) as f64
    }
    fn n(&mut self) -> f64 {
        (-2.0 * self.u().ln()).sqrt() * (std::f64::consts::TAU * self.u()).cos()
    }
}
fn rows(seed: u64, skill: f64, base: f64, n: usize) -> Vec<(f64, bool)> {
    let mut r = R(seed);
    (0..n)
        .map(|_| {
            let y = r.u() < base;
            let z = skill * (if y { 1.0 } else { -1.0 }) + 1.3 * r.n() - 0.4;
            (1.0 / (1.0 + (-z).exp()), y)
        })
        .collect()
}
fn cm(rows: &[(f64, bool)], t: f64) -> (f64, f64, f64, f64) {
    let mut c = [0.0; 4];
    for (p, y) in rows {
        c[2 * usize::from(*y) + usize::from(*p > t)] += 1.0;
    }
    (c[0], c[1], c[2], c[3])
}
fn line(name: &str, rows: &[(f64, bool)], f: impl Fn(f64, (f64, f64, f64, f64)) -> (f64, f64)) -> NamedLine {
    let mut ts: Vec<f64> = rows.iter().map(|r| r.0).collect();
    ts.extend([0.0, 1.0]);
    ts.sort_by(f64::total_cmp);
    NamedLine {
        name: name.into(),
        points: ts
            .into_iter()
            .map(|t| {
                let (x, y) = f(t, cm(rows, t));
                (x, Some(y).filter(|y| y.is_finite()))
            })
            .collect(),
    }
}
fn main() {
    std::fs::create_dir_all("/tmp/figures").unwrap();
    let save = |name: &str, p: Picture| {
        std::fs::write(format!("/tmp/figures/{name}.png"), p.png().unwrap()).unwrap();
        let svg = p.svg().unwrap();
        println!("{name} {:?} svg {} bytes", p.size(), svg.len());
        std::fs::write(format!("/tmp/figures/{name}.svg"), svg).unwrap();
    };
    let (a, b) = (rows(1, 1.3, 0.2, 1000), rows(2, 0.7, 0.2, 1000));
    let tss = |t: f64, (tn, fp, fnn, tp): (f64, f64, f64, f64)| (t, tp / (tp + fnn) - fp / (fp + tn));
    let csi = |t: f64, (_, fp, fnn, tp): (f64, f64, f64, f64)| (t, tp / (tp + fnn + fp));
    let pre = |t: f64, (_, fp, _, tp): (f64, f64, f64, f64)| (t, tp / (tp + fp));
    let hss = |t: f64, (tn, fp, fnn, tp): (f64, f64, f64, f64)| {
        (t, 2.0 * (tp * tn - fnn * fp) / ((tp + fnn) * (fnn + tn) + (tp + fp) * (fp + tn)))
    };
    let t = 0.519;
    save(
        "scores",
        figure_scores(ScoreCurves {
            title: "Scores by threshold".into(),
            lines: vec![line("tss", &a, tss), line("csi", &a, csi), line("hss", &a, hss), line("precision", &a, pre)],
            prior: Some("cosine:0.5,0.2".parse().unwrap()),
            mark: Some(t),
            interval: Some((0.512, 0.523)),
            spread: Some((0.41, 0.6)),
            infeasible: vec![(0.0, 0.22), (0.85, 1.0)],
        })
        .unwrap(),
    );
    let bins = |rows: &[(f64, bool)], n: usize| {
        (0..n)
            .map(|k| {
                let (low, high) = (k as f64 / n as f64, (k + 1) as f64 / n as f64);
                let c = |y: bool| rows.iter().filter(|r| r.1 == y && r.0 >= low && r.0 < high).count() as f64;
                ClassBin { low, high, positives: c(true), negatives: c(false) }
            })
            .collect::<Vec<_>>()
    };
    let names = ["no flare".to_string(), "flare".to_string()];
    save(
        "classes",
        figure_classes(Classes {
            title: "Predictions by class".into(),
            bins: bins(&a, 40),
            prior: Some("cosine:0.5,0.2".parse().unwrap()),
            mark: Some(t),
            names: names.clone(),
        })
        .unwrap(),
    );
    let sharp = rows(3, 5.0, 0.2, 1000);
    save(
        "classes-spiky",
        figure_classes(Classes {
            title: "Predictions by class".into(),
            bins: bins(&sharp, 50),
            prior: Some("beta:2,5".parse().unwrap()),
            mark: Some(0.98),
            names,
        })
        .unwrap(),
    );
    let roc = |_: f64, (tn, fp, fnn, tp): (f64, f64, f64, f64)| (fp / (fp + tn), tp / (tp + fnn));
    let at = |rows: &[(f64, bool)]| {
        let (tn, fp, fnn, tp) = cm(rows, t);
        (fp / (fp + tn), tp / (tp + fnn), tp / (tp + fp))
    };
    let (f, r, p) = at(&a);
    save(
        "roc",
        figure_roc(Roc {
            title: "Receiver operating characteristic".into(),
            lines: vec![line("network", &a, roc), line("logistic regression", &b, roc)],
            areas: vec![Some(0.912), None],
            mark: Some((f, r)),
        })
        .unwrap(),
    );
    let pr = |_: f64, (_, fp, fnn, tp): (f64, f64, f64, f64)| (tp / (tp + fnn), tp / (tp + fp));
    save(
        "precision-recall",
        figure_precision_recall(PrecisionRecall {
            title: "Precision and recall".into(),
            lines: vec![line("network", &a, pr), line("logistic regression", &b, pr)],
            base_rate: Some(0.2),
            mark: Some((r, p)),
        })
        .unwrap(),
    );
    let perf = |_: f64, (_, fp, fnn, tp): (f64, f64, f64, f64)| (tp / (tp + fp), tp / (tp + fnn));
    let fl = |mut l: NamedLine| {
        l.points.retain(|p| p.0.is_finite());
        l
    };
    save(
        "performance",
        figure_performance(Performance {
            title: "Performance diagram".into(),
            lines: vec![fl(line("network", &a, perf)), fl(line("logistic regression", &b, perf))],
            mark: Some((p, r)),
            whiskers: Some(((p - 0.06, p + 0.05), (r - 0.04, r + 0.05))),
        })
        .unwrap(),
    );
    let rb = (0..10)
        .filter_map(|k| {
            let (low, high) = (k as f64 / 10.0, (k + 1) as f64 / 10.0);
            let s: Vec<_> = a.iter().filter(|r| r.0 >= low && r.0 < high).collect();
            let n = s.len() as f64;
            if s.is_empty() {
                return None;
            }
            let f = s.iter().filter(|r| r.1).count() as f64 / n;
            let e = 1.96 * (f * (1.0 - f) / n).sqrt();
            Some(ReliabilityBin {
                mean: s.iter().map(|r| r.0).sum::<f64>() / n,
                frequency: f,
                low: (f - e).max(0.0),
                high: (f + e).min(1.0),
                weight: n,
            })
        })
        .collect();
    save(
        "reliability",
        figure_reliability(Reliability { title: "Reliability".into(), bins: rb, base_rate: 0.2 }).unwrap(),
    );
    let nb = |t: f64, (_, fp, _, tp): (f64, f64, f64, f64)| (t, (tp - fp * t / (1.0 - t)) / 1000.0);
    let grid = |f: &dyn Fn(f64) -> f64| {
        (0..100)
            .map(|k| {
                let t = k as f64 / 100.0;
                (t, Some(f(t)))
            })
            .collect::<Vec<_>>()
    };
    save(
        "decision",
        figure_decision(DecisionCurve {
            title: "Decision curve".into(),
            lines: vec![
                line("forecast", &a, nb),
                NamedLine { name: "always yes".into(), points: grid(&|t| 0.2 - 0.8 * t / (1.0 - t)) },
                NamedLine { name: "always no".into(), points: grid(&|_| 0.0) },
            ],
            mark: Some(t),
        })
        .unwrap(),
    );
    let mut r = R(9);
    let members: Vec<MemberCurves> = (0..8)
        .map(|m| {
            let n = 30 + (r.u() * 30.0) as usize;
            let off = 0.05 * r.n();
            let curve = |n: usize, a: f64, r: &mut R| {
                (0..n)
                    .map(|e| {
                        let d = (-(e as f64) / 8.0).exp();
                        EpochValues {
                            training: -0.7 + a * d + off + 0.01 * r.n(),
                            validation: -0.6 + a * d + off + 0.002 * e as f64 + 0.02 * r.n(),
                            coverage: 0.9 - 0.5 * (1.0 - d) + 0.02 * r.n(),
                        }
                    })
                    .collect::<Vec<_>>()
            };
            MemberCurves {
                warm_up: if m < 8 { curve(10, 1.2, &mut r) } else { vec![] },
                main: curve(n, 0.5, &mut r),
                kept: Some(n - 10),
            }
        })
        .collect();
    let score = ScoreByEpoch {
        name: "tss".into(),
        values: members.iter().map(|m| m.main.iter().map(|v| -v.validation + 0.05).collect()).collect(),
    };
    save(
        "training",
        figure_training(TrainingCurves {
            members: members.clone(),
            loss: "1 − tss".into(),
            score: Some(score.clone()),
        })
        .unwrap(),
    );
    let mut one = members[0].clone();
    one.warm_up.clear();
    save(
        "training-one",
        figure_training(TrainingCurves { members: vec![one], loss: "1 − tss".into(), score: Some(score) }).unwrap(),
    );
    save(
        "law",
        figure_law(ScoreLaw {
            title: "tss under a random threshold".into(),
            score: "tss".into(),
            steps: (1..=60)
                .map(|k| {
                    let x = k as f64 / 60.0;
                    (0.4 + 0.25 * x.sqrt(), x * x)
                })
                .collect(),
            expected_score: 0.59,
            score_of_expectation: 0.602,
        })
        .unwrap(),
    );
    let values: Vec<f64> = (0..1000).map(|_| 0.03 + 0.02 * r.n()).collect();
    save(
        "difference",
        figure_difference(Differences {
            title: "Network against logistic regression".into(),
            score: "tss".into(),
            values,
            mean: 0.03,
            interval: (-0.009, 0.069),
        })
        .unwrap(),
    );
}
