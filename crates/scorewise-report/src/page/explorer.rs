//! The interactive part of a page: a threshold slider, and the confusion matrix and scores at the threshold of the slider.

use std::fmt::Write as _;

use scorewise::{Direction, Score};

use super::html::escape_html;
use super::sections::picture_html;
use crate::document::{COMMON_SCORES, ForecastEvaluation};
use crate::error::Result;
use crate::figures::{ReportFigure, conditions_met, forecast_scores_figure};
use crate::number::{format_number, format_optional, format_rounded};

/// The section with the threshold slider; empty when `forecast.points` does not contain the decision threshold.
pub(super) fn slider_section_html(forecast: &ForecastEvaluation, figures: &[ReportFigure]) -> Result<String> {
    let Some(chosen_index) = forecast.points.iter().position(|point| point.threshold == forecast.threshold) else {
        return Ok(String::new());
    };
    let point = &forecast.points[chosen_index];
    let scores = forecast.scores();
    let point_index = |threshold: f64| forecast.points.iter().position(|point| point.threshold == threshold);
    let mut body = String::from(
        "<p class=\"screen\">Move the slider or click the curve to change the threshold; all numbers below change with it. Arrow keys move the slider one step at a time.</p>\n",
    );
    body += "<div class=\"explorer\">\n<div>\n";
    body += &figure_with_slider(forecast, figures)?;
    let _ = write!(
        body,
        "<div class=\"controls\">\n<label>threshold<input type=\"text\" id=\"typed\" inputmode=\"decimal\" value=\"{}\"></label>\n\
         <span class=\"field\"><span id=\"step-label\">one step</span><span><button type=\"button\" data-step=\"-1\" aria-label=\"one step down\">−</button> \
         <button type=\"button\" data-step=\"1\" aria-label=\"one step up\">+</button></span></span>\n\
         <button type=\"button\" class=\"main\" data-place=\"{chosen_index}\">back to {}</button>\n",
        point.display_threshold(6),
        forecast.display_threshold(),
    );
    if let Some(half) = point_index(0.5).filter(|half| *half != chosen_index) {
        let _ = writeln!(body, "<button type=\"button\" data-place=\"{half}\">0.5</button>");
    }
    let optima: Vec<_> = scores
        .iter()
        .filter_map(|score| {
            let best = forecast.optima.iter().find(|optimum| optimum.score == score.name())?;
            Some((score, best, point_index(best.threshold)?))
        })
        .collect();
    body += "<label>jump to the best threshold of<select id=\"jump\"><option value=\"\">score…</option>\n";
    for (score, best, index) in &optima {
        let _ = writeln!(
            body,
            "<option value=\"{index}\">{}: {} at {}</option>",
            escape_html(score.name()),
            format_rounded(best.value),
            forecast.points[*index].display_threshold(3)
        );
    }
    body += "</select></label>\n<label>show another curve<select id=\"more\"><option value=\"\">none</option>\n";
    for score in scores.iter().filter(|score| can_be_plotted(score)) {
        let _ = writeln!(body, "<option>{}</option>", escape_html(score.name()));
    }
    body += "</select></label>\n</div>\n</div>\n<div>\n";
    let _ = writeln!(
        body,
        "<p class=\"now\">At threshold <output id=\"now\" for=\"threshold\" data-exact=\"{}\">{}</output> \
         <span class=\"faint\">(same results from <span id=\"same\">{}</span>)</span></p>",
        forecast.threshold,
        point.display_threshold(6),
        point.display_range(),
    );
    if !forecast.conditions.is_empty() {
        let message = if conditions_met(forecast)?[chosen_index] {
            "The conditions are met."
        } else {
            "A condition is not met at this threshold."
        };
        let _ = writeln!(body, "<p class=\"conditions\" id=\"feasible\" aria-live=\"polite\">{message}</p>");
    }
    body += &confusion_table(forecast, point.cells);
    let score_value = |name: &str| {
        let value = Score::parse(name).ok().and_then(|score| score.checked(&point.confusion()));
        format!("<b data-score=\"{name}\">{}</b>", format_optional(value))
    };
    let _ = write!(
        body,
        "<p>Alarms per event: {}. Share of events missed: {}. Share of alarms that are false: {}.</p>\n</div>\n</div>\n",
        score_value("frequency_bias"),
        score_value("miss_rate"),
        score_value("far"),
    );
    let common = 1 + scores.iter().skip(1).filter(|score| COMMON_SCORES.contains(&score.name())).count();
    let _ = writeln!(body, "<p>{}</p>", note_on_best_thresholds(forecast));
    body += &score_table(forecast, &scores[..common], "Common scores", true);
    let rest = score_table(forecast, &scores[common..], "All other scores", false);
    let _ =
        write!(body, "<details><summary>All other scores ({})</summary>\n{rest}</details>\n", scores.len() - common);
    body += "<div class=\"controls\"><button type=\"button\" id=\"save-csv\">download the table of thresholds as CSV</button>\
             <span class=\"toast\" id=\"status\" role=\"status\"></span></div>\n";
    Ok(super::html::section("explore", "Move the threshold", &body))
}

/// The figure of the scores with the threshold slider below it. If all plotted scores are undefined, only the slider is shown.
fn figure_with_slider(forecast: &ForecastEvaluation, figures: &[ReportFigure]) -> Result<String> {
    let slider = |margins: &str| {
        format!(
            "<div class=\"track screen\" style=\"{margins}\"><input type=\"range\" id=\"threshold\" min=\"0\" max=\"1\" step=\"any\" \
             value=\"{}\" aria-label=\"threshold\"></div>\n",
            forecast.threshold
        )
    };
    let Some(wide) = figures.iter().find(|figure| figure.name == "scores") else { return Ok(slider("")) };
    let narrow = forecast_scores_figure(forecast, true)?;
    // These margins align the slider with the x axis of the figure. The style sheet reduces them by half the width of the handle of the slider.
    let margins = |figure: &ReportFigure, name: &str| {
        let total_width = f64::from(figure.picture.size().0);
        figure.picture.frames().first().map_or(String::new(), |frame| {
            let (left, right) = (frame.left / total_width, 1.0 - (frame.left + frame.width) / total_width);
            format!("--{name}left:{:.3}%;--{name}right:{:.3}%;", 100.0 * left, 100.0 * right)
        })
    };
    Ok(format!(
        "<figure class=\"wide\" id=\"figure-scores\">{}\n{}\n{}<figcaption><b>{}.</b> {}</figcaption></figure>\n",
        picture_html(wide, " touch on-wide")?,
        picture_html(&narrow, " touch on-narrow")?,
        slider(&(margins(wide, "") + &margins(&narrow, "narrow-"))),
        escape_html(&wide.title),
        escape_html(&wide.caption),
    ))
}

/// A note on the table of best thresholds. It says on which rows these thresholds were found, and how the user may use them.
fn note_on_best_thresholds(forecast: &ForecastEvaluation) -> String {
    let conditions = if forecast.conditions.is_empty() { "" } else { ", among thresholds that meet the conditions" };
    match forecast.source.as_str() {
        "these rows" => {
            format!("Best thresholds are found on these rows{conditions}. Expect slightly worse scores on new rows.")
        }
        source => format!(
            "The threshold was chosen on {}. The best thresholds in the table are found on the evaluated rows{conditions}; use them for information, not to choose a threshold.",
            escape_html(source)
        ),
    }
}

/// Whether the range of a score lies in [−1, 1], so that its curve fits into the figure. A formula without a known range is assumed to fit.
fn can_be_plotted(score: &Score) -> bool {
    score.row().is_none_or(|row| row.range.0 >= -1.0 && row.range.1 <= 1.0)
}

/// The confusion matrix as an HTML table, whose numbers the script of the page replaces when the slider moves.
fn confusion_table(forecast: &ForecastEvaluation, cells: [f64; 4]) -> String {
    let [negative, positive] = &forecast.classes;
    let cell = |class: &str, name: &str, count: f64, label: &str| {
        format!("<td class=\"{class}\"><b data-cell=\"{name}\">{}</b><small>{label}</small></td>", format_number(count))
    };
    format!(
        "<table class=\"matrix\"><caption>Confusion matrix</caption>\n<thead><tr><td></td><th scope=\"col\">forecast no</th><th scope=\"col\">forecast yes</th></tr></thead>\n\
         <tbody><tr><th scope=\"row\">{}</th>{}{}</tr>\n<tr><th scope=\"row\">{}</th>{}{}</tr></tbody></table>\n",
        escape_html(negative),
        cell("right", "tn", cells[0], "correct rejections (tn)"),
        cell("wrong", "fp", cells[1], "false alarms (fp)"),
        escape_html(positive),
        cell("wrong", "fn", cells[2], "missed events (fn)"),
        cell("right", "tp", cells[3], "hits (tp)"),
    )
}

/// A table of scores: the value at the threshold that the slider selects, the 95 % interval at the decision threshold, the best value and the best
/// threshold.
fn score_table(forecast: &ForecastEvaluation, scores: &[Score], caption: &str, has_main_score: bool) -> String {
    let Some(point) = forecast.point() else { return String::new() };
    // If only one score has an interval, the top of the page already shows it.
    let has_intervals = scores.iter().filter(|score| interval_of_score(forecast, score).is_some()).count() > 1;
    let heading = if has_intervals {
        format!("<th scope=\"col\">95 % interval at {}</th>", forecast.display_threshold())
    } else {
        String::new()
    };
    let mut text = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table><caption>{caption}</caption>\n\
         <thead><tr><th scope=\"col\">score</th><th scope=\"col\">now</th>{heading}<th scope=\"col\">better is</th><th scope=\"col\">best on these rows</th><th scope=\"col\">at threshold</th></tr></thead>\n<tbody>\n"
    );
    for (number, score) in scores.iter().enumerate() {
        let best = forecast.optima.iter().find(|optimum| optimum.score == score.name());
        let best_index =
            best.and_then(|best| forecast.points.iter().position(|point| point.threshold == best.threshold));
        let class = if has_main_score && number == 0 { " class=\"lead-score\"" } else { "" };
        let name = escape_html(score.name());
        let better = match score.direction() {
            Direction::Higher => "higher".to_string(),
            Direction::Lower => "lower".into(),
            Direction::Toward(ideal) => format!("near {}", format_number(ideal)),
        };
        let _ = write!(
            text,
            "<tr{class}><th scope=\"row\">{name}</th><td data-score=\"{name}\">{}</td>",
            format_optional(score.checked(&point.confusion()))
        );
        if has_intervals {
            let ends = interval_of_score(forecast, score)
                .map_or(String::new(), |(low, high)| format!("{} to {}", format_number(low), format_number(high)));
            let _ = write!(text, "<td>{ends}</td>");
        }
        let _ =
            write!(text, "<td>{better}</td><td>{}</td>", best.map_or(String::new(), |best| format_number(best.value)));
        match (best, best_index) {
            (Some(_), Some(best_index)) => {
                let _ = writeln!(
                    text,
                    "<td><button type=\"button\" data-place=\"{best_index}\" aria-label=\"go to the best threshold of {name}\">{}</button></td></tr>",
                    forecast.points[best_index].display_threshold(6)
                );
            }
            _ => text += "<td></td></tr>\n",
        }
    }
    text + "</tbody></table></div>\n"
}

/// The 95 % interval of a score at the decision threshold; `None` if it is not known.
fn interval_of_score(forecast: &ForecastEvaluation, score: &Score) -> Option<(f64, f64)> {
    let found = forecast.intervals.iter().find(|interval| interval.score == score.name())?;
    Some((found.low, found.high))
}
