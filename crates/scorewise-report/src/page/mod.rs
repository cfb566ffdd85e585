//! PAGE: a result as one HTML file that needs nothing else: no network, no server, no other file.
//!
//! Everything on it is computed here. The script of the page looks numbers up in a table that stands in the page; it computes no score.
//! Figures are the SVGs of [`figures`], coloured anew by the page's style where the reader prefers a dark one.
//!
//! | file | what it does |
//! |---|---|
//! | `html` | words into HTML |
//! | `headline` | which threshold, what it costs, how sure that is |
//! | `lookup` | the table behind the threshold |
//! | `explorer` | the threshold to move, and what moves with it |
//! | `many` | a model of more than two classes |
//! | `sections` | figures, training, theory, comparison, tables, provenance |

mod html;
mod headline;
mod lookup;
mod explorer;
mod many;
mod sections;

use html::{data, escaped};

use crate::document::Document;
use crate::drawn::figures;
use crate::error::Result;
use crate::palette::palette;

/// By this a report is known as ours.
pub const GENERATOR: &str = "<meta name=\"generator\" content=\"scorewise";

/// The page of a result.
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
        body += &explorer::explorer(forecast, &figures)?;
    }
    let many = many::section_of(document);
    body += many.as_deref().unwrap_or_default();
    body += &sections::comparison(document);
    body += &sections::reproduction(document, &figures)?;
    body += &sections::figures(document, &figures)?;
    body += &sections::folds(document);
    body += &sections::training(document, &figures)?;
    body += &sections::theory(document, &figures)?;
    if many.is_none() {
        body += &sections::plain(document);
    }
    body += &sections::provenance(document);
    let mut scripts = data("result", &serde_json::to_string_pretty(&document.result).unwrap_or_default());
    if let Some(forecast) = &document.forecast {
        scripts += &data("table", &serde_json::to_string(&lookup::table(forecast)?).unwrap_or_default());
    }
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n\
         {GENERATOR} {version}\">\n<title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{style}{colours}</style>\n<noscript><style>.screen, .controls {{ display: none !important; }}</style></noscript>\n</head>\n\
         <body>\n<a class=\"skip\" href=\"#main\">To the content</a>\n<header>\n<p class=\"kind\">{kind}</p>\n<h1>{heading}</h1>\n{lead}</header>\n\
         <main id=\"main\">\n{body}</main>\n<footer><p>Made by scorewise {version}. Intervals hold the middle 95 % of the values in rows drawn anew; those of the reliability diagram are Wilson\u{2019}s. \
         This page needs no network: it can be mailed and kept.</p></footer>\n{scripts}<script>\n{script}</script>\n</body>\n</html>\n",
        version = escaped(&document.scorewise),
        title = escaped(&headline.title),
        heading = escaped(&headline.heading),
        lead = headline.lead,
        kind = escaped(&headline.kind),
        style = include_str!("page.css"),
        colours = colours(),
        script = include_str!("page.js"),
    ))
}

/// The colours of the pictures, by name: attributes of an SVG yield to a style, so a dark page has its own.
fn colours() -> String {
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
