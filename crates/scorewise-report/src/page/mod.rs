//! A result as one self-contained HTML file that needs no network, no server and no other file.
//!
//! Every number on the page is computed in Rust. The script of the page looks values up in an embedded table and computes no score. The
//! figures are the SVGs of [`figures`], recoloured by the style sheet in dark mode.
//!
//! | file | what it does |
//! |---|---|
//! | `html` | functions that create HTML elements |
//! | `headline` | the top of the page: threshold, errors, score and uncertainty |
//! | `lookup` | the embedded table of all scores at all thresholds |
//! | `explorer` | the threshold slider, and the numbers at its threshold |
//! | `multiclass` | the page of a model with more than two classes |
//! | `monitor` | the sections for a result of `monitor`, which compares new rows with the training of a model |
//! | `sections` | figures, training, theory, comparison, tables, provenance |

mod html;
mod headline;
mod lookup;
mod explorer;
mod multiclass;
mod monitor;
mod sections;

use html::{escape_html, json_script};

use crate::document::Document;
use crate::error::Result;
use crate::figures::figures;
use crate::palette::palette;

/// The start of the HTML tag by which a file is recognised as a report of scorewise.
pub const GENERATOR_META_TAG: &str = "<meta name=\"generator\" content=\"scorewise";

/// Creates the HTML page of a result.
///
/// ```
/// use scorewise_report::{document::Document, page};
///
/// let result = r#"{"rows": 4, "positives": 2, "threshold": 0.5, "confusion": {"tn": 2, "fp": 0, "fn": 1, "tp": 1},
///                  "scores": {"f1": {"value": 0.6666666666666666, "low": null, "high": null}}}"#;
/// let page = page(&Document::read(result)?)?;
/// assert!(page.starts_with("<!doctype html>") && page.contains("0.666667"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn page(document: &Document) -> Result<String> {
    let figures = figures(document)?;
    let headline = headline::headline(document);
    let mut body = String::new();
    body += &headline.html;
    if let Some(forecast) = &document.forecast {
        body += &explorer::slider_section_html(forecast, &figures)?;
    }
    let multiclass = multiclass::multiclass_section_html(document);
    body += multiclass.as_deref().unwrap_or_default();
    body += &sections::sections_html(document, &figures, multiclass.is_none())?;
    let mut scripts = json_script("result", &serde_json::to_string_pretty(&document.result).unwrap_or_default());
    if let Some(forecast) = &document.forecast {
        scripts += &json_script("table", &serde_json::to_string(&lookup::lookup_table(forecast)?).unwrap_or_default());
    }
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n\
         {GENERATOR_META_TAG} {version}\">\n<title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{style}{colours}</style>\n<noscript><style>.screen, .controls {{ display: none !important; }}</style></noscript>\n</head>\n\
         <body>\n<a class=\"skip\" href=\"#main\">Skip to content</a>\n<header>\n<p class=\"kind\">{kind}</p>\n<h1>{heading}</h1>\n{lead}</header>\n\
         <main id=\"main\">\n{body}</main>\n<footer><p>Made by scorewise {version}. Intervals are the middle 95 % of bootstrap replicates; those of the reliability diagram are Wilson intervals. \
         This page is self-contained and works offline.</p></footer>\n{scripts}<script>\n{script}</script>\n</body>\n</html>\n",
        version = escape_html(&document.scorewise),
        title = escape_html(&headline.title),
        heading = escape_html(&headline.heading),
        lead = headline.lead,
        kind = escape_html(&headline.kind),
        style = include_str!("page.css"),
        colours = colour_rules(),
        script = include_str!("page.js"),
    ))
}

/// CSS rules that replace the colours of the pictures by CSS variables, whose values change in dark mode. This works because CSS rules override
/// the colour attributes of an SVG.
fn colour_rules() -> String {
    let rule = |(name, colour): &(&str, String)| {
        let variable = match *name {
            "paper" => return format!(".picture svg [fill=\"{colour}\"] {{ fill: var(--paper); }}\n"),
            "ink" => "figure-ink",
            other => other,
        };
        format!(
            ".picture svg [fill=\"{colour}\"] {{ fill: var(--{variable}); }}\n.picture svg [stroke=\"{colour}\"] {{ stroke: var(--{variable}); }}\n"
        )
    };
    palette().iter().map(rule).collect()
}
