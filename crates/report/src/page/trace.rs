//! The page of what the rails of a box carried.

use std::fmt::Write;

use crosstie_study::trace::{EndSummary, TraceFolder};

use super::table::{head, number_cell, text_cell};
use super::{document, fact, framed};
use crate::carried::{self, happened};
use crate::escape::{escape, one_line, paragraph};
use crate::figure::Drawing;
use crate::number;

/// More lines than that are left to the files.
const MOST_LINES: usize = 1000;

/// The page as one HTML document; the figures are drawn already.
pub fn trace_page(trace: &TraceFolder, figures: &[Drawing]) -> String {
    let title = trace.spec.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    let title = escape(&one_line(title.unwrap_or("Untitled box")));
    let mut body = String::new();
    header(&mut body, &title, trace);
    body.push_str("<section id=\"figures\" aria-label=\"Figures\">\n<div class=\"figures\">\n");
    for drawing in figures {
        framed(&mut body, &drawing.name, &drawing.svg);
    }
    body.push_str("</div>\n</section>\n");
    table(&mut body, trace);
    events(&mut body, trace);
    rerun(&mut body, trace);
    document(&title, &trace.meta.crosstie, &body)
}

fn header(html: &mut String, title: &str, trace: &TraceFolder) {
    let _ = writeln!(html, "<header>\n<h1>{title}</h1>");
    let description = trace.spec.description.as_deref().unwrap_or("");
    for text in description.split("\n\n").filter(|text| !text.trim().is_empty()) {
        let _ = writeln!(html, "<p>{}</p>", paragraph(text.trim()));
    }
    let seconds = number::measured(trace.summary.seconds);
    if trace.meta.seconds.is_none() {
        let _ = writeln!(
            html,
            "<p><strong>The recording has no end:</strong> the run is still going on, or it was \
             broken off, or its folder could not be written any more. What is here reaches to \
             {seconds} s.</p>"
        );
    }
    html.push_str("<dl class=\"facts\">\n");
    fact(html, "hosts", &number::measured(trace.spec.hosts.count() as f64), "");
    fact(html, "rails", &number::measured(trace.spec.rails.len() as f64), "");
    fact(html, "time", &format!("{seconds} s"), "");
    let (planned, passed) = (trace.spec.occurrences().len(), trace.happenings.len());
    if planned.max(passed) > 0 {
        let passed = number::measured(passed as f64);
        let planned = number::measured(planned as f64);
        let events = if passed == planned { passed } else { format!("{passed} of {planned}") };
        fact(html, "events", &events, "");
    }
    fact(html, "version", &trace.meta.crosstie, "");
    html.push_str("</dl>\n</header>\n");
}

fn table(html: &mut String, trace: &TraceFolder) {
    let ends: Vec<&EndSummary> = trace.summary.ends.iter().take(MOST_LINES).collect();
    let columns = carried::columns(&trace.summary, &ends);
    html.push_str(
        "<section id=\"results\">\n<h2>What each rail carried</h2>\n<p class=\"hint\">Click a head to \
         sort; point at it for what it means.</p>\n",
    );
    left_out(html, trace.summary.ends.len(), "ends", "rails.csv");
    html.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Result table\">\n\
         <table class=\"results\">\n<thead><tr>",
    );
    let class = |column: &carried::Column| match column.cells.iter().any(|(_, x)| x.is_some()) {
        true => "number",
        false => "",
    };
    for column in &columns {
        head(html, class(column), column.head, column.unit, column.meaning);
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for line in 0..ends.len() {
        html.push_str("<tr>");
        for column in &columns {
            match &column.cells[line] {
                (text, Some(value)) => number_cell(html, "number", *value, text),
                (text, None) => text_cell(html, "", text),
            }
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n</div>\n</section>\n");
}

fn events(html: &mut String, trace: &TraceFolder) {
    if trace.happenings.is_empty() {
        return;
    }
    html.push_str("<section id=\"events\">\n<h2>What happened to the rails</h2>\n");
    left_out(html, trace.happenings.len(), "events", "events.csv");
    html.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Events\">\n\
         <table class=\"results\">\n<thead><tr>",
    );
    head(html, "number", "time", "s", "when it was to happen, since the programs began");
    head(html, "number", "late", "ms", "by how much it was late");
    head(html, "", "rail", "", "the rail");
    head(html, "", "what", "", "what happened; of one host's port, with the host");
    html.push_str("</tr></thead>\n<tbody>\n");
    for happening in trace.happenings.iter().take(MOST_LINES) {
        html.push_str("<tr>");
        number_cell(html, "number", happening.time, &number::chosen(happening.time));
        let late = happening.late * 1e3;
        number_cell(html, "number", late, &number::measured(late));
        text_cell(html, "", &happening.rail);
        text_cell(html, "", &happened(happening, false));
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n</div>\n</section>\n");
}

/// Says that a table is longer than what is shown of it.
fn left_out(html: &mut String, count: usize, what: &str, file: &str) {
    if count > MOST_LINES {
        let (shown, count) = (number::measured(MOST_LINES as f64), number::measured(count as f64));
        let _ = writeln!(
            html,
            "<p class=\"hint\">The first {shown} of {count} {what}. All are in {file}.</p>"
        );
    }
}

fn rerun(html: &mut String, trace: &TraceFolder) {
    let program: Vec<String> = trace.meta.program.iter().map(|word| quoted(word)).collect();
    let _ = writeln!(
        html,
        "<section id=\"rerun\">\n<h2>How to rerun</h2>\n\
         <p>In the folder of this trace, with Crosstie {}:</p>\n\
         <pre><code>crosstie box box.toml --trace ../again -- {}</code></pre>\n\
         <p>What was carried every 100 ms is in <code>rails.csv</code>, what happened in \
         <code>events.csv</code>, and what their columns mean in <code>trace.json</code>.</p>\n\
         <h2>The box</h2>\n<pre><code>{}</code></pre>\n</section>",
        escape(&one_line(&trace.meta.crosstie)),
        escape(&one_line(&program.join(" "))),
        escape(&trace.box_file)
    );
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./,:=+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
