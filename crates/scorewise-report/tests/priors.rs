//! Draws the figure of the priors and reads the lines back from the picture.
#![allow(clippy::unwrap_used)] // a panic is how a test fails

use crate::picture_reader::{AxisReader, Tag, decode_png, tags};
use scorewise::Prior;
use scorewise_report::{Error, NamedPrior, PriorRow, figure_priors};

/// A row of the figure with these priors, which are given as a user would write them.
fn prior_row(title: &str, priors: &[&str]) -> PriorRow {
    let named = |text: &&str| NamedPrior { name: format!("prior {text}"), prior: text.parse().unwrap() };
    PriorRow { title: title.into(), priors: priors.iter().map(named).collect() }
}

/// The longest line of a colour that starts between these x positions, as points in drawing units.
fn longest_line(tags: &[Tag], colour: &str, from: f64, to: f64) -> Vec<(f64, f64)> {
    tags.iter()
        .filter(|tag| tag.name == "polyline" && tag.has_attribute("stroke", colour))
        .map(Tag::points)
        .filter(|points| (from..to).contains(&points[0].0))
        .max_by_key(Vec::len)
        .unwrap()
}

/// The x position of the border between the two panels of a row, in drawing units.
const MIDDLE_X: f64 = 4200.0;
/// The x position of the right border of the picture, in drawing units.
const RIGHT_X: f64 = 8400.0;

#[test]
fn density_is_on_the_left_and_distribution_function_on_the_right() {
    for text in ["cosine:0.5,0.2", "beta:2,5", "normal:0.5,0.1"] {
        let prior: Prior = text.parse().unwrap();
        let tags = tags(&figure_priors(&[prior_row("A row", &[text])]).unwrap().svg().unwrap());
        for (from, to, is_density) in [(0.0, MIDDLE_X, true), (MIDDLE_X, RIGHT_X, false)] {
            let reader = AxisReader::for_x_range(&tags, from, to);
            let points = longest_line(&tags, "#0072B2", from, to);
            assert!(points.len() > 10);
            for position in &points {
                let (x, y) = reader.to_axis_coordinates(*position);
                if is_density {
                    // The derivative of each of the three densities is less than 40, and x is off by up to 0.0002, so the density is
                    // off by less than 0.01.
                    assert!((y - prior.pdf(x)).abs() < 0.05, "{text}: f({x}) = {y}");
                } else {
                    assert!((y - prior.cdf(x)).abs() < 0.005, "{text}: F({x}) = {y}");
                }
            }
            let (first, last) =
                (reader.to_axis_coordinates(points[0]), reader.to_axis_coordinates(points[points.len() - 1]));
            assert!(first.0.abs() < 1e-3 && (last.0 - 1.0).abs() < 1e-3);
        }
    }
}

#[test]
fn density_and_cdf_of_the_uniform_prior_are_straight_lines() {
    let tags = tags(&figure_priors(&[prior_row("Uniform", &["uniform"])]).unwrap().svg().unwrap());
    for (from, to, expected) in
        [(0.0, MIDDLE_X, [(0.0, 1.0), (1.0, 1.0)]), (MIDDLE_X, RIGHT_X, [(0.0, 0.0), (1.0, 1.0)])]
    {
        let reader = AxisReader::for_x_range(&tags, from, to);
        let points = longest_line(&tags, "#0072B2", from, to);
        assert_eq!(points.len(), 2);
        for (position, expected) in points.into_iter().zip(expected) {
            let (x, y) = reader.to_axis_coordinates(position);
            assert!((x - expected.0).abs() < 1e-3 && (y - expected.1).abs() < 2e-3, "{x} {y}");
        }
    }
}

#[test]
fn several_priors_get_a_legend_below_their_axes_and_a_single_prior_gets_none() {
    let names = |priors: &[&str]| {
        let tags = tags(&figure_priors(&[prior_row("A row", priors)]).unwrap().svg().unwrap());
        let axes = tags.iter().filter(|tag| tag.text == "threshold τ").map(|tag| tag.number("y")).fold(0.0, f64::max);
        let keys: Vec<f64> =
            tags.iter().filter(|tag| tag.text.starts_with("prior ")).map(|tag| tag.number("y")).collect();
        assert!(keys.iter().all(|y| *y > axes + 100.0));
        keys.len()
    };
    assert_eq!(names(&["uniform"]), 0);
    assert_eq!(names(&["uniform", "cosine:0.5,0.2"]), 2);
    // There are fewer than sixteen line colours, and the names of sixteen priors do not fit into one row of the legend.
    assert_eq!(names(&["uniform"; 16]), 16);
}

#[test]
fn rows_are_stacked_and_the_png_is_twice_as_large_as_the_svg() {
    let rows = [prior_row("Uniform", &["uniform"]), prior_row("Raised cosine: μ = 0.5, δ = 0.2", &["cosine:0.5,0.2"])];
    let (one, two) = (figure_priors(&rows[..1]).unwrap(), figure_priors(&rows).unwrap());
    let height = |svg: &str| tags(svg)[0].number("height");
    assert!(height(&two.svg().unwrap()) > 1.9 * height(&one.svg().unwrap()));
    let png = decode_png(&two.png().unwrap());
    assert_eq!((f64::from(png.width), f64::from(png.height)), (2.0 * 840.0, 2.0 * height(&two.svg().unwrap())));
    assert!(png.dark_pixels(0..png.width, 0..png.height) > 2000, "titles and tick labels are drawn");
}

#[test]
fn priors_with_extreme_parameters_can_be_drawn() {
    let limits = [
        "beta:0.01,0.01",
        "beta:1000,1000",
        "cosine:0.5,1e-9",
        "normal:0,0.001",
        "kumaraswamy:0.01,1000",
        "uniform:0.2,0.6",
    ];
    for text in limits {
        let picture = figure_priors(&[prior_row("A row", &[text])]).unwrap();
        assert!(!picture.svg().unwrap().contains("NaN") && !picture.svg().unwrap().contains("2147483647"), "{text}");
    }
}

#[test]
fn invalid_input_is_an_error_that_names_the_panel() {
    assert_eq!(figure_priors(&[]).unwrap_err(), Error::Empty);
    let error = figure_priors(&[prior_row("Uniform", &[])]).unwrap_err();
    assert_eq!(error.to_string(), "panel `Uniform` has no prior; give at least one");
}
