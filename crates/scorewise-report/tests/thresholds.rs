//! Draws the figure of the best thresholds and reads the data back from the picture.
#![allow(clippy::unwrap_used)] // a panic is how a test fails

use crate::picture_reader::{AxisReader, Tag, decode_png, tags};
use scorewise::Prior;
use scorewise_report::{Error, Picture, ThresholdPanel, figure_thresholds};

/// Colour of the priors.
const BLUE: &str = "#0072B2";
/// Colour of the histograms and of the means.
const VERMILLION: &str = "#D55E00";

/// A panel with this title, this prior (as a user would write it) and these best thresholds.
fn panel(title: &str, prior: &str, thresholds: &[f64]) -> ThresholdPanel {
    ThresholdPanel { title: title.into(), prior: prior.parse().unwrap(), thresholds: thresholds.into() }
}

/// Draws a figure with one panel.
fn single_panel(prior: &str, thresholds: &[f64]) -> Picture {
    figure_thresholds(&[panel("A title", prior, thresholds)]).unwrap()
}

/// Tolerance of x: positions are rounded to tenths of a pixel and the x axis is about 250 pixels long, so x is off by less than 1/1000.
const TOLERANCE: f64 = 1e-3;

/// Fails unless two numbers differ by at most `tolerance`.
fn assert_close(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance, "the value is {got}, not {expected}");
}

/// Lower end, upper end and height of the bars, from left to right. The symbol in the legend, which lies below the axis, is left out.
fn bars(tags: &[Tag], reader: &AxisReader) -> Vec<(f64, f64, f64)> {
    let mut bars: Vec<_> = tags
        .iter()
        .filter(|tag| tag.name == "rect" && tag.has_attribute("fill", VERMILLION))
        .map(|tag| {
            let (left, top) = (tag.number("x"), tag.number("y"));
            let (low, height) = reader.to_axis_coordinates((left, top));
            let (high, bottom) = reader.to_axis_coordinates((left + tag.number("width"), top + tag.number("height")));
            (low, high, height, bottom)
        })
        .filter(|(_, _, height, _)| *height > 0.0)
        .inspect(|(_, _, height, bottom)| assert_close(*bottom, 0.0, 0.01 * height))
        .map(|(low, high, height, _)| (low, high, height))
        .collect();
    bars.sort_by(|a, b| a.0.total_cmp(&b.0));
    bars
}

/// Lines that consist of two points, have the colour of the data and lie above the x axis; positions are in axis coordinates.
fn two_point_lines(tags: &[Tag], reader: &AxisReader) -> Vec<[(f64, f64); 2]> {
    tags.iter()
        .filter(|tag| tag.name == "polyline" && tag.has_attribute("stroke", VERMILLION))
        .filter_map(|tag| <[(f64, f64); 2]>::try_from(tag.points()).ok())
        .map(|ends| ends.map(|position| reader.to_axis_coordinates(position)))
        .filter(|ends| ends.iter().all(|(_, y)| *y > -0.01))
        .collect()
}

/// The x coordinates of the vertical lines among these lines.
fn vertical_lines(two_point_lines: &[[(f64, f64); 2]]) -> Vec<f64> {
    let is_vertical = |ends: &&[(f64, f64); 2]| ends[0].0 == ends[1].0;
    two_point_lines.iter().filter(is_vertical).map(|ends| ends[0].0).collect()
}

#[test]
fn bar_heights_match_a_hand_calculation() {
    // The standard deviation is above 0.4, so the bars are 0.1 wide: 0 and 0.05 are in the first bar, 0.1 in the second, 0.95 and 1 in the last.
    let picture = single_panel("uniform", &[0.0, 0.05, 0.1, 0.95, 1.0]);
    let tags = tags(&picture.svg().unwrap());
    let reader = AxisReader::for_x_range(&tags, 0.0, 1e9);
    let bars = bars(&tags, &reader);
    let expected = [(0.0, 0.1, 2.0 / 5.0 / 0.1), (0.1, 0.2, 1.0 / 5.0 / 0.1), (0.9, 1.0, 2.0 / 5.0 / 0.1)];
    assert_eq!(bars.len(), expected.len());
    for (bar, expected) in bars.iter().zip(expected) {
        assert_close(bar.0, expected.0, TOLERANCE);
        assert_close(bar.1, expected.1, TOLERANCE);
        assert_close(bar.2, expected.2, 0.01);
    }
    let area: f64 = bars.iter().map(|(low, high, height)| (high - low) * height).sum();
    assert_close(area, 1.0, 0.01);
}

#[test]
fn mean_and_deviation_are_drawn_at_their_values_and_printed() {
    let thresholds = [0.4, 0.5, 0.5, 0.6];
    let (mean, deviation) = (0.5, (0.02f64 / 3.0).sqrt());
    let picture = single_panel("cosine:0.5,0.2", &thresholds);
    let tags = tags(&picture.svg().unwrap());
    let reader = AxisReader::for_x_range(&tags, 0.0, 1e9);
    let two_point_lines = two_point_lines(&tags, &reader);

    let mut verticals = vertical_lines(&two_point_lines);
    verticals.sort_by(f64::total_cmp);
    assert_eq!(
        verticals.len(),
        3,
        "there are three vertical lines: the two caps of the error bar, and the mean between them"
    );
    assert_close(verticals[0], mean - deviation, TOLERANCE);
    assert_close(verticals[1], mean, TOLERANCE);
    assert_close(verticals[2], mean + deviation, TOLERANCE);
    let line = two_point_lines.iter().find(|ends| ends[0].0 == ends[1].0 && ends[0].1.abs() < 0.02).unwrap();
    assert_close(line[0].0, mean, TOLERANCE);

    let whisker = two_point_lines.iter().find(|ends| ends[0].1 == ends[1].1).unwrap();
    assert_close(whisker[0].0, mean - deviation, TOLERANCE);
    assert_close(whisker[1].0, mean + deviation, TOLERANCE);
    let highest = bars(&tags, &reader).into_iter().map(|(_, _, height)| height).fold(5.0, f64::max);
    assert!(whisker[0].1 > highest, "the error bar is above the bars and the prior");
    assert!(tags.iter().any(|tag| tag.text == "mean 0.50, standard deviation 0.08"));
}

#[test]
fn the_dashed_line_is_the_density_of_the_prior() {
    let prior = Prior::cosine(0.5, 0.2).unwrap();
    let tags = tags(&single_panel("cosine:0.5,0.2", &[0.5, 0.6]).svg().unwrap());
    let reader = AxisReader::for_x_range(&tags, 0.0, 1e9);
    let dashes: Vec<Vec<(f64, f64)>> = tags
        .iter()
        .filter(|tag| tag.name == "polyline" && tag.has_attribute("stroke", BLUE))
        .map(|tag| tag.points().into_iter().map(|position| reader.to_axis_coordinates(position)).collect())
        .filter(|dash: &Vec<(f64, f64)>| dash[0].1 > -0.5) // the symbol of the legend lies far below
        .collect();
    assert!(dashes.len() > 20, "{} dashes", dashes.len());
    let mut highest = 0.0f64;
    for (x, y) in dashes.into_iter().flatten() {
        // The derivative of the density is at most π/(2δ²) ≈ 39.3 with δ = 0.2, and x is off by up to 0.0005. So the density is off by at most 0.02.
        assert_close(y, prior.pdf(x), 0.1);
        highest = highest.max(y);
    }
    assert_close(highest, 1.0 / 0.2, 0.05);
}

#[test]
fn a_panel_without_a_successful_training_run_says_so() {
    let picture = single_panel("cosine:0.5,0.1", &[]);
    let tags = tags(&picture.svg().unwrap());
    assert!(tags.iter().any(|tag| tag.text == "no training run succeeded"));
    let reader = AxisReader::for_x_range(&tags, 0.0, 1e9);
    assert!(bars(&tags, &reader).is_empty() && two_point_lines(&tags, &reader).is_empty());
}

#[test]
fn a_single_training_run_has_a_mean_and_no_error_bar() {
    let tags = tags(&single_panel("cosine:0.3,0.1", &[0.31]).svg().unwrap());
    let reader = AxisReader::for_x_range(&tags, 0.0, 1e9);
    assert!(tags.iter().any(|tag| tag.text == "mean 0.31, one training run"));
    let two_point_lines = two_point_lines(&tags, &reader);
    assert_eq!(two_point_lines.len(), 1);
    assert_close(two_point_lines[0][0].0, 0.31, TOLERANCE);
    let bars = bars(&tags, &reader);
    assert_eq!(bars.len(), 1);
    assert_close(bars[0].2, 20.0, 0.1); // area 1 on a bar of width 0.05
}

#[test]
fn equal_thresholds_make_one_bar_of_area_1() {
    for tau in [0.0, 0.1, 0.5, 1.0] {
        let tags = tags(&single_panel("uniform", &[tau; 100]).svg().unwrap());
        let reader = AxisReader::for_x_range(&tags, 0.0, 1e9);
        let bars = bars(&tags, &reader);
        assert_eq!(bars.len(), 1, "{tau}");
        assert!(bars[0].0 - TOLERANCE <= tau && tau <= bars[0].1 + TOLERANCE, "{tau}");
        assert_close((bars[0].1 - bars[0].0) * bars[0].2, 1.0, 0.02);
        assert!(tags.iter().any(|tag| tag.text == format!("mean {tau:.2}, standard deviation 0.00")));
    }
}

#[test]
fn an_error_bar_that_extends_beyond_the_axis_is_clipped_and_has_no_caps() {
    let tags = tags(&single_panel("uniform", &[0.0, 0.0, 1.0, 1.0]).svg().unwrap()); // 0.5 ± 0.58
    let reader = AxisReader::for_x_range(&tags, 0.0, 1e9);
    let two_point_lines = two_point_lines(&tags, &reader);
    assert_eq!(
        vertical_lines(&two_point_lines).len(),
        1,
        "the only vertical line is at the mean, because the error bar has no caps"
    );
    let whisker = two_point_lines.iter().find(|ends| ends[0].1 == ends[1].1).unwrap();
    assert_close(whisker[0].0, 0.0, TOLERANCE);
    assert_close(whisker[1].0, 1.0, TOLERANCE);
}

/// Ten panels with the priors of Figure 2 of Marchetti et al. (2022).
fn ten_panels() -> Vec<ThresholdPanel> {
    let mut panels = vec![panel("Uniform", "uniform", &[0.1, 0.5, 0.9])];
    for mu in [0.3, 0.5, 0.7] {
        for delta in [0.1, 0.2, 0.3] {
            let title = format!("Raised cosine: μ = {mu}, δ = {delta}");
            panels.push(panel(&title, &format!("cosine:{mu},{delta}"), &[mu - 0.05, mu, mu + 0.1]));
        }
    }
    panels
}

#[test]
fn ten_panels_have_titles_axes_and_labels_inside_the_picture() {
    let picture = figure_thresholds(&ten_panels()).unwrap();
    let tags = tags(&picture.svg().unwrap());
    let count = |text: &str| tags.iter().filter(|tag| tag.text == text).count();
    for title in ten_panels().iter().map(|panel| &panel.title) {
        assert_eq!(count(title), 1, "{title}");
    }
    assert_eq!(count("threshold τ"), 10);
    assert_eq!(count("density"), 10);
    assert_eq!(tags.iter().filter(|tag| tag.text.starts_with("mean 0.")).count(), 10);

    let (wide, high) = (10.0 * tags[0].number("width"), 10.0 * tags[0].number("height"));
    assert_eq!(tags[0].attributes["viewBox"], format!("0 0 {wide} {high}"));
    for tag in &tags {
        let positions = match &*tag.name {
            "polyline" => tag.points(),
            "rect" => vec![
                (tag.number("x"), tag.number("y")),
                (tag.number("x") + tag.number("width"), tag.number("y") + tag.number("height")),
            ],
            "text" => vec![(tag.number("x"), tag.number("y"))],
            _ => vec![],
        };
        assert!(positions.iter().all(|(x, y)| (0.0..=wide).contains(x) && (0.0..=high).contains(y)), "{positions:?}");
    }
    let sizes = tags.iter().filter(|tag| tag.name == "text").map(|tag| tag.number("font-size") / 10.0);
    assert!(sizes.fold(f64::INFINITY, f64::min) >= 11.0);
}

#[test]
fn png_has_twice_the_size_of_the_svg_and_the_same_colours() {
    let picture = figure_thresholds(&ten_panels()).unwrap();
    let (svg, png) = (&tags(&picture.svg().unwrap())[0], decode_png(&picture.png().unwrap()));
    assert_eq!(f64::from(png.width), 2.0 * svg.number("width"));
    assert_eq!(f64::from(png.height), 2.0 * svg.number("height"));
    assert_eq!(png.rgb[..3], [255, 255, 255]);
    let pixels_of = |colour: [u8; 3]| png.rgb.chunks_exact(3).filter(|dot| *dot == colour).count();
    assert!(pixels_of([0x00, 0x72, 0xB2]) > 1000, "the lines of the priors are drawn");
    assert!(pixels_of([0xD5, 0x5E, 0x00]) > 1000, "the means are drawn");
}

#[test]
fn png_has_text_without_any_font_installed() {
    let with_title =
        |title: &str| decode_png(&figure_thresholds(&[panel(title, "uniform", &[0.5, 0.6])]).unwrap().png().unwrap());
    let title_pixels = |picture: &crate::picture_reader::DecodedPng| picture.dark_pixels(0..picture.width, 0..64); // only the title is above the axes
    assert_eq!(title_pixels(&with_title("")), 0);
    let (short, long) = (title_pixels(&with_title("μ")), title_pixels(&with_title("μ μ μ μ μ")));
    assert!(short > 20, "{short}");
    assert!(long.abs_diff(5 * short) <= short, "{short} {long}");
    // Every character that the font lacks is drawn as the same box, so a symbol that differs from the box is in the font.
    let missing_glyph = with_title("\u{10FFFF}");
    assert!(title_pixels(&missing_glyph) > 20);
    for symbol in ["μ", "τ", "δ", "±", "−", "×", "≥"] {
        assert!(with_title(symbol).rgb != missing_glyph.rgb, "{symbol}");
    }
}

#[test]
fn special_characters_in_a_title_are_escaped() {
    let picture = figure_thresholds(&[panel("a < b & \"c\"", "uniform", &[0.5])]).unwrap();
    assert!(picture.svg().unwrap().contains("a &lt; b &amp; "));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let (one, other) = (figure_thresholds(&ten_panels()).unwrap(), figure_thresholds(&ten_panels()).unwrap());
    assert_eq!(one.svg(), other.svg());
    assert_eq!(one.png(), other.png());
}

#[test]
fn invalid_input_is_an_error_that_names_the_panel() {
    assert_eq!(figure_thresholds(&[]).unwrap_err(), Error::Empty);
    for bad in [-0.1, 1.5, f64::INFINITY] {
        let error = figure_thresholds(&[panel("Uniform", "uniform", &[0.5, bad])]).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("panel `Uniform`: the threshold at index 1 is {bad}, which does not lie in [0, 1]")
        );
    }
    let error = figure_thresholds(&[panel("Uniform", "uniform", &[f64::NAN])]).unwrap_err();
    assert_eq!(error.to_string(), "panel `Uniform`: the threshold at index 0 is NaN, which does not lie in [0, 1]");
}
