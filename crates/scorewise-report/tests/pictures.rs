//! Tests of properties that all pictures share.
#![allow(clippy::unwrap_used)] // a panic is how a test fails

use crate::picture_reader::{decode_png, tags};
use scorewise_report::document::RowOutcome;
use scorewise_report::{
    AlarmChart, AlarmPanel, ClassBin, ClassHistograms, CumulativeScore, DecisionCurve, DependenceCurves, Differences,
    EpochValues, ImportanceBar, ImportanceBars, MemberCurves, NamedLine, NamedPrior, Performance, PeriodScores,
    Picture, PrecisionRecall, PriorRow, Reliability, ReliabilityBin, Roc, ScoreByEpoch, ScoreCurves,
    ScoreDistributionFigure, SeriesCurve, ThresholdPanel, TrainingCurves, figure_alarms, figure_classes,
    figure_decision, figure_dependence, figure_difference, figure_importance, figure_performance, figure_periods,
    figure_precision_recall, figure_priors, figure_reliability, figure_roc, figure_score_distribution, figure_scores,
    figure_series, figure_thresholds, figure_training, palette,
};

/// Draws one picture of every type of figure, and returns the pictures with the names of the figures. All lines have these `points`. Most figures
/// also contain the value `number` in their other data.
fn every_figure(points: &[(f64, Option<f64>)], number: f64) -> Vec<(&'static str, Picture)> {
    let prior: scorewise::Prior = "cosine:0.5,0.2".parse().unwrap();
    let title = || "A title <&>".to_string();
    // There are nine lines but only seven line colours, so that dashed lines occur as well.
    let lines: Vec<NamedLine> =
        (0..9).map(|number| NamedLine { name: format!("line {number}"), points: points.into() }).collect();
    let dependence_lines = lines[..2].to_vec();
    let named = NamedPrior { name: "a prior".into(), prior: prior.clone() };
    let bins = vec![
        ClassBin { low: 0.0, high: 0.5, positives: 1.0, negatives: 2.0 },
        ClassBin { low: 0.5, high: number, positives: number, negatives: number },
    ];
    let finite_bin = ReliabilityBin { mean: 0.5, frequency: 0.5, low: number, high: number, weight: 3.0 };
    let bin = ReliabilityBin { mean: number, frequency: number, low: number, high: number, weight: number };
    let epoch = EpochValues { training: number, validation: 0.5, coverage: number };
    let member = MemberCurves { warm_up: vec![epoch; 2], main: vec![epoch], kept: Some(7) };
    vec![
        ("priors", figure_priors(&[PriorRow { title: title(), priors: vec![named; 2] }])),
        (
            "thresholds",
            figure_thresholds(&[ThresholdPanel { title: title(), prior: prior.clone(), thresholds: vec![0.5] }]),
        ),
        (
            "scores",
            figure_scores(ScoreCurves {
                title: title(),
                lines: lines.clone(),
                prior: Some(prior.clone()),
                mark: Some(number),
                interval: Some((number, number)),
                spread: Some((0.2, number)),
                infeasible: vec![(number, 0.3), (0.3, 0.3)],
                is_narrow: false,
            }),
        ),
        (
            "classes",
            figure_classes(ClassHistograms {
                title: title(),
                bins,
                prior: Some(prior),
                mark: Some(number),
                names: ["no".into(), "yes".into()],
            }),
        ),
        (
            "roc",
            figure_roc(Roc {
                title: title(),
                lines: lines.clone(),
                areas: vec![Some(number)],
                mark: Some((number, 0.5)),
            }),
        ),
        (
            "precision and recall",
            figure_precision_recall(PrecisionRecall {
                title: title(),
                lines: lines.clone(),
                base_rate: Some(number),
                mark: Some((0.5, number)),
            }),
        ),
        (
            "performance",
            figure_performance(Performance {
                title: title(),
                lines: lines.clone(),
                mark: Some((0.5, 0.5)),
                whiskers: Some(((number, 0.6), (0.4, number))),
            }),
        ),
        (
            "reliability",
            figure_reliability(Reliability { title: title(), bins: vec![finite_bin, bin], base_rate: number }),
        ),
        (
            "decision",
            figure_decision(DecisionCurve {
                title: title(),
                lines,
                band: vec![(number, (number, number))],
                mark: Some(number),
            }),
        ),
        (
            "training",
            figure_training(&TrainingCurves {
                members: vec![member; 2],
                loss: "a loss".into(),
                score: Some(ScoreByEpoch { name: "a score".into(), values: vec![vec![number], vec![0.5]] }),
            }),
        ),
        (
            "score distribution",
            figure_score_distribution(ScoreDistributionFigure {
                title: title(),
                score: "a score".into(),
                steps: vec![(0.5, 0.5), (number, number)],
                expected_score: number,
                score_of_expectation: 0.5,
            }),
        ),
        (
            "difference",
            figure_difference(Differences {
                title: title(),
                score: "a score".into(),
                values: vec![0.1, number],
                difference: number,
                interval: (0.0, number),
            }),
        ),
        (
            "importance",
            figure_importance(ImportanceBars {
                title: title(),
                score: "a score".into(),
                bars: vec![
                    ImportanceBar { name: "a column".into(), value: 0.1, interval: (number, 0.2) },
                    ImportanceBar { name: "a long name ".repeat(9), value: number, interval: (number, number) },
                ],
            }),
        ),
        (
            "periods",
            figure_periods(PeriodScores {
                title: title(),
                score: "a score".into(),
                periods: vec![(Some(0.5), Some((0.1, number))), (Some(number), None), (None, Some((number, number)))],
                before: Some(number),
                interval_before: Some((number, 0.7)),
                ..PeriodScores::default()
            }),
        ),
        (
            "series",
            figure_series(SeriesCurve {
                title: title(),
                label: "rows".into(),
                score: "a score".into(),
                points: points
                    .iter()
                    .map(|(step, value)| CumulativeScore {
                        step: 1.0 + 10.0 * step,
                        value: *value,
                        interval: value.map(|value| (value - 0.1, number)),
                    })
                    .chain([CumulativeScore { step: 12.0, value: Some(0.5), interval: Some((0.4, number)) }])
                    .collect(),
                steps: vec![Some(number), None, Some(0.5)],
            }),
        ),
        (
            "alarms",
            figure_alarms(AlarmChart {
                panels: vec![
                    AlarmPanel {
                        title: title(),
                        first: 7.0,
                        predictions: vec![0.1, number, 0.9, 1.0, 0.0, 0.2],
                        outcomes: vec![
                            RowOutcome::CorrectRejection,
                            RowOutcome::EarlyAlarm,
                            RowOutcome::Hit,
                            RowOutcome::FalseAlarm,
                            RowOutcome::MissAfterAlarm,
                            RowOutcome::Miss,
                        ],
                    };
                    2
                ],
                label: "rows".into(),
                threshold: number,
            }),
        ),
        (
            "dependence on a number",
            figure_dependence(DependenceCurves {
                title: title(),
                label: "a column".into(),
                levels: Vec::new(),
                lines: dependence_lines.clone(),
            }),
        ),
        (
            "dependence on a category",
            figure_dependence(DependenceCurves {
                title: title(),
                label: "a column".into(),
                levels: (0..points.len()).map(|level| format!("level {level}")).collect(),
                lines: dependence_lines,
            }),
        ),
    ]
    .into_iter()
    .map(|(name, picture)| (name, picture.unwrap()))
    .collect()
}

/// One picture of every type of figure, drawn from ordinary data. One value is undefined, so that the lines are interrupted.
fn typical_figures() -> Vec<(&'static str, Picture)> {
    every_figure(&[(0.0, Some(0.2)), (0.4, Some(0.9)), (0.6, None), (0.7, Some(0.4)), (1.0, Some(0.1))], 0.75)
}

#[test]
fn svg_can_be_embedded_in_a_page() {
    for (name, picture) in typical_figures() {
        let (svg, (width, height)) = (picture.svg().unwrap(), picture.size());
        let root = format!(
            "<svg width=\"{width}\" height=\"{height}\" stroke-linejoin=\"round\" viewBox=\"0 0 {}0 {}0\" xmlns=",
            width, height
        );
        assert!(svg.starts_with(&root), "{name}: {}", &svg[..100]);
        assert!(!svg.contains(" id=") && !svg.contains("<?xml") && !svg.contains("<style"), "{name}");
        assert!(svg.contains("A title &lt;&amp;&gt;") || name == "training", "{name}");
    }
}

#[test]
fn all_colours_are_from_the_palette_and_all_text_has_the_text_colour() {
    let colours = palette();
    let ink = &colours.iter().find(|(name, _)| *name == "ink").unwrap().1;
    for (name, picture) in typical_figures() {
        for tag in tags(&picture.svg().unwrap()) {
            for paint in ["fill", "stroke"] {
                let Some(colour) = tag.attributes.get(paint) else { continue };
                assert!(colour == "none" || colours.iter().any(|(_, known)| known == colour), "{name}: {colour}");
                assert!(tag.name != "text" || colour == ink, "{name}: {}", tag.text);
            }
        }
    }
}

#[test]
fn png_is_twice_as_wide_and_twice_as_high_as_the_svg() {
    for (name, picture) in typical_figures() {
        let (bytes, (width, height)) = (picture.png().unwrap(), picture.size());
        assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"), "{name}");
        let png = decode_png(&bytes);
        assert_eq!((png.width, png.height), (2 * width, 2 * height), "{name}");
        assert!(png.dark_pixels(0..png.width, 0..png.height) > 500, "{name}");
    }
}

#[test]
fn plotting_areas_and_text_lie_inside_the_picture() {
    for (name, picture) in typical_figures() {
        let (width, height) = picture.size();
        let (width, height) = (f64::from(width), f64::from(height));
        assert!(!picture.frames().is_empty(), "{name}");
        for frame in picture.frames() {
            assert!(frame.left > 30.0 && frame.left + frame.width < width - 8.0, "{name}: {frame:?}");
            assert!(frame.top > 0.0 && frame.top + frame.height < height - 8.0, "{name}: {frame:?}");
            assert!(frame.width > 200.0 && frame.height > 60.0 && frame.x.0 < frame.x.1 && frame.y.0 < frame.y.1);
        }
        for tag in tags(&picture.svg().unwrap()).iter().filter(|tag| tag.name == "text") {
            let (x, y) = (tag.number("x") / 10.0, tag.number("y") / 10.0);
            assert!((0.0..width).contains(&x) && (5.0..height - 4.0).contains(&y), "{name}: {}", tag.text);
        }
    }
}

#[test]
fn figures_of_extreme_or_non_finite_numbers_can_be_drawn() {
    let single = [(0.5, Some(0.5))];
    let extreme =
        [(f64::NAN, Some(0.5)), (0.1, Some(f64::INFINITY)), (0.5, Some(0.5)), (0.6, Some(-1e300)), (0.7, Some(1e9))];
    for points in [&single[..], &extreme] {
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -3.0, 0.0, 0.5, 1e12] {
            for (name, picture) in every_figure(points, number) {
                let svg = picture.svg().unwrap();
                let invalid = ["NaN,", ",NaN", "2147483647", "2147483648"];
                assert!(
                    invalid.iter().all(|text| !svg.contains(text)),
                    "figure {name} with the value {number} in its data: the SVG contains an invalid coordinate"
                );
                for frame in picture.frames() {
                    let all =
                        [frame.left, frame.top, frame.width, frame.height, frame.x.0, frame.x.1, frame.y.0, frame.y.1];
                    assert!(
                        all.iter().all(|number| number.is_finite()),
                        "figure {name} with the value {number} in its data: the plotting area is not finite: {frame:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_picture_can_be_drawn_on_another_thread() {
    let pictures = typical_figures();
    let (one, again) = (pictures[2].1.svg(), std::thread::spawn(move || pictures[2].1.svg()).join().unwrap());
    assert_eq!(one, again);
}
