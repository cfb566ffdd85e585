//! Functions that create HTML elements.

use std::fmt::Write as _;

use crate::escape_control_characters;

/// Escapes text so that it can stand between HTML tags or in a quoted attribute.
pub(super) fn escape_html(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in escape_control_characters(text).chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

/// Escapes text for HTML and turns words in backticks into code elements.
pub(super) fn prose_to_html(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let part = |(number, part): (usize, &str)| match number % 2 {
        1 => format!("<code>{}</code>", escape_html(part)),
        _ => escape_html(part),
    };
    if text.matches('`').count().is_multiple_of(2) { parts.map(part).collect() } else { escape_html(text) }
}

/// A script element with JSON data, escaped so that it contains no `</script>`, no `<!--` and no control characters.
pub(super) fn json_script(id: &str, json: &str) -> String {
    format!(
        "<script type=\"application/json\" id=\"{id}\">{}</script>\n",
        escape_control_characters(&json.replace('<', "\\u003c"))
    )
}

/// A section with a heading; an empty string when the body is empty.
pub(super) fn section(id: &str, heading: &str, body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-heading\">\n<h2 id=\"{id}-heading\">{}</h2>\n{body}</section>\n",
        escape_html(heading)
    )
}

/// An HTML table that scrolls horizontally when it is too wide. The first cell of each row is the row header.
pub(super) fn table_html(caption: &str, heading: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table><caption>{}</caption>\n<thead><tr>",
        escape_html(&caption.replace('`', "")),
        prose_to_html(caption)
    );
    for name in heading {
        let _ = write!(
            text,
            "{}",
            if name.is_empty() { "<td></td>".into() } else { format!("<th scope=\"col\">{}</th>", escape_html(name)) }
        );
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        text.push_str("<tr>");
        for (at, cell) in row.iter().enumerate() {
            match at {
                0 if !cell.is_empty() => {
                    let _ = write!(text, "<th scope=\"row\">{}</th>", escape_html(cell));
                }
                _ => {
                    let _ = write!(text, "<td>{}</td>", escape_html(cell));
                }
            }
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody></table></div>\n");
    text
}

/// An HTML list of names and values; names with an empty value are left out.
pub(super) fn facts_html(facts: &[(&str, String)]) -> String {
    let mut text = String::from("<dl class=\"facts\">\n");
    for (name, fact) in facts.iter().filter(|(_, fact)| !fact.is_empty()) {
        let _ = writeln!(text, "<div><dt>{}</dt><dd>{}</dd></div>", escape_html(name), escape_html(fact));
    }
    text + "</dl>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_backticks_become_code_elements() {
        assert_eq!(prose_to_html("the `kept` <one>"), "the <code>kept</code> &lt;one&gt;");
        assert_eq!(prose_to_html("a lone ` stays"), "a lone ` stays");
    }

    #[test]
    fn user_text_cannot_inject_markup() {
        assert_eq!(escape_html("<b a='1'>&\"</b>"), "&lt;b a=&#39;1&#39;&gt;&amp;&quot;&lt;/b&gt;");
        assert_eq!(escape_html("\u{1b}<\u{202e}"), "\\u001b&lt;\\u202e");
        assert!(!json_script("x", "{\"file\":\"</script><script>alert(1)\"}")[30..].contains("<script>"));
    }
}
