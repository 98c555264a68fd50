//! The result table: one row per point, sortable by a click on a column's head. What was set and
//! how it ended come first, so that they are in sight; measured columns scroll; notes come last.

use std::fmt::Write;

use crosstie_study::{Row, Setting, column};

use crate::caption;
use crate::escape::{escape, one_line, prose};
use crate::figure::{spelling, status_words};
use crate::number;
use crate::tabular;

/// Writes the section with the table.
pub(super) fn section(html: &mut String, rows: &[Row]) {
    html.push_str("<section id=\"results\">\n<h2>Results</h2>\n");
    if rows.is_empty() {
        html.push_str("<p>No point has been run yet.</p>\n</section>\n");
        return;
    }
    table(html, rows);
    html.push_str("</section>\n");
}

/// Writes the table alone.
pub(super) fn table(html: &mut String, rows: &[Row]) {
    let keys = tabular::setting_keys(rows);
    let columns = tabular::measured_columns(rows);
    let notes = rows.iter().any(|row| !row.note.is_empty());
    html.push_str(
        "<p class=\"hint\">Values after ± are half-widths of confidence intervals. Click a head to \
         sort; scroll for more columns.</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Result table\">\n<table class=\"results\">\n<thead><tr>",
    );
    head(html, "number point-number", "point", "", "the point's number");
    for key in &keys {
        let is_number = |row: &Row| matches!(row.setting(key), Some(Setting::Number(_)));
        let class = if rows.iter().any(is_number) { "number" } else { "" };
        head(html, class, caption::leaf(key), "", key);
    }
    head(html, "", "status", "", "how the run ended");
    for name in &columns {
        let (unit, meaning) = column(name).map_or(("", ""), |column| (column.unit, column.meaning));
        head(html, "number", name, unit, meaning);
    }
    if notes {
        head(html, "", "note", "", "anything unusual");
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        html.push_str("<tr>");
        number_cell(html, "number point-number", f64::from(row.point), &row.point.to_string());
        for key in &keys {
            match row.setting(key) {
                Some(Setting::Number(x)) => number_cell(html, "number", *x, &number::chosen(*x)),
                Some(text) => text_cell(html, "", &spelling(text)),
                None => text_cell(html, "", number::MISSING),
            }
        }
        text_cell(html, &format!("status {}", row.status), status_words(row.status));
        for name in &columns {
            let value = row.measured(name).unwrap_or(f64::NAN);
            number_cell(html, "number", value, &tabular::value(row, name));
        }
        if notes {
            text_cell(html, "note", &row.note);
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n</div>\n");
}

pub(super) fn head(html: &mut String, class: &str, name: &str, unit: &str, meaning: &str) {
    // A long name may be broken where its words meet.
    let name = escape(&one_line(name)).replace('_', "_<wbr/>");
    let meaning = escape(&one_line(meaning));
    let _ = write!(
        html,
        "<th class=\"{class}\" scope=\"col\" aria-sort=\"none\"><button type=\"button\" title=\"{meaning}\">{name}\
         <small>{unit}</small></button></th>"
    );
}

pub(super) fn number_cell(html: &mut String, class: &str, value: f64, text: &str) {
    let _ = match value.is_finite() {
        true => write!(html, "<td class=\"{class}\" data-value=\"{value}\">{}</td>", escape(text)),
        false => write!(html, "<td class=\"{class}\">{}</td>", escape(text)),
    };
}

pub(super) fn text_cell(html: &mut String, class: &str, text: &str) {
    let text = prose(text);
    let _ = match class {
        "" => write!(html, "<td>{text}</td>"),
        _ => write!(html, "<td class=\"{class}\"><span>{text}</span></td>"),
    };
}
