//! Rows laid out by two keys, as the experiment asks for it.

use std::fmt::Write;

use crosstie_study::{Row, Sheet, Table};

use crate::caption;
use crate::escape::{escape, one_line};
use crate::figure::{spelling, status_words};
use crate::number;
use crate::sheet::{self, Said};

/// Writes the section with the tables; nothing when none are asked for.
pub(super) fn section(html: &mut String, tables: &[Table], rows: &[Row]) {
    if tables.is_empty() {
        return;
    }
    html.push_str("<section id=\"tables\">\n<h2>Tables</h2>\n");
    for table in tables {
        let name = table.name.as_deref().unwrap_or_default();
        let _ = writeln!(
            html,
            "<div class=\"sheets\" data-name=\"{}\">\n<h3>{}</h3>",
            escape(name),
            escape(&sheet::title(table))
        );
        let sheets = table.sheets(rows);
        if sheets.is_empty() {
            html.push_str("<p>No point has been run yet.</p>\n");
        }
        for sheet in &sheets {
            laid_out(html, table, sheet);
        }
        html.push_str("</div>\n");
    }
    html.push_str("</section>\n");
}

fn laid_out(html: &mut String, table: &Table, sheet: &Sheet<'_>) {
    html.push_str("<div class=\"scroll whole\" tabindex=\"0\" role=\"region\" aria-label=\"Table\">\n<table>\n");
    let heading = sheet::heading(sheet);
    if !heading.is_empty() {
        let _ = writeln!(html, "<caption>{}</caption>", escape(&heading));
    }
    let class = if sheet::is_numbered(sheet) { "number" } else { "" };
    let corner = escape(&one_line(caption::leaf(&table.rows)));
    let _ = write!(html, "<thead><tr><th scope=\"col\" class=\"{class}\">{corner}</th>");
    for head in &sheet.heads {
        let head = escape(&sheet::head(head));
        let _ = write!(html, "<th scope=\"col\" class=\"number\">{head}</th>");
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for line in &sheet.lines {
        let name = escape(&spelling(line.setting));
        let _ = write!(html, "<tr><th scope=\"row\" class=\"{class}\">{name}</th>");
        for cell in &line.cells {
            let said = Said::of(cell.as_ref());
            html.push_str("<td class=\"number\">");
            match (&said.value, said.ended) {
                (None, None) => html.push_str(number::MISSING),
                (value, ended) => {
                    html.push_str(&escape(value.as_deref().unwrap_or_default()));
                    if let Some(status) = ended {
                        let words = status_words(status);
                        let _ = write!(html, " <small class=\"{status}\">{words}</small>");
                    }
                }
            }
            html.push_str("</td>");
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n</div>\n");
}
