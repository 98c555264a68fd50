//! What the words of the page mean.

use std::fmt::Write;

use crosstie_study::{Row, Status, columns};

use crate::escape::escape;
use crate::figure::status_words;
use crate::tabular;

/// Writes the section that explains the statuses and the columns that occur.
pub(super) fn section(html: &mut String, rows: &[Row]) {
    html.push_str("<section id=\"glossary\">\n<h2>Glossary</h2>\n<dl class=\"glossary\">\n");
    let kinds = tabular::kinds(rows);
    let ends = |status: &Status| kinds.iter().any(|kind| kind.statuses().contains(status));
    for status in Status::ALL.into_iter().filter(ends) {
        entry(html, status_words(status), "", meaning(status));
    }
    let occurs = |name: &str| rows.iter().any(|row| row.measured(name).is_some());
    for column in columns(&kinds).into_iter().filter(|column| occurs(column.name)) {
        entry(html, column.name, column.unit, column.meaning);
    }
    html.push_str("</dl>\n</section>\n");
}

fn entry(html: &mut String, name: &str, unit: &str, meaning: &str) {
    let unit = if unit.is_empty() { String::new() } else { format!(" <small>{unit}</small>") };
    let _ = writeln!(html, "<dt>{}{unit}</dt><dd>{}</dd>", escape(name), escape(meaning));
}

fn meaning(status: Status) -> &'static str {
    match status {
        Status::Converged => "every mean reached the precision asked for",
        Status::NotConverged => "the run reached its limit before the precision asked for",
        Status::Saturated => "more was offered than the network accepts; latency has no bound",
        Status::Deadlocked => "the network stopped: packets wait for each other in a circle",
        Status::Completed => "all of the work is done",
        Status::Failed => "the work came to no end; the note says why",
    }
}
