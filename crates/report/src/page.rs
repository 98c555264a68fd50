//! One HTML file that says everything: figures, time lines, tables, channels, specification, how to
//! rerun; one for a paper with all its parts; and one for what the rails of a box carried.
//!
//! A file needs no network and no other file. Its policy header forbids both, and every foreign
//! text is escaped, so that a result folder from a stranger can be opened without fear.

mod channels;
mod glossary;
mod paper;
mod ranks;
mod table;
mod tables;
mod timelines;
mod trace;

use std::fmt::Write;

use crosstie_study::{Figure, ResultSet, Row, SideTables, Status};

use crate::escape::{escape, one_line, paragraph};
use crate::figure::{draw, status_words};
use crate::number;
use crate::tabular;

pub use paper::{PaperPart, PaperReport, paper_page};
pub use trace::trace_page;

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");

/// The page as one HTML document; `side` is what there is beside the rows of all points.
pub fn page(results: &ResultSet, side: &SideTables) -> String {
    let title = match results.meta.title.trim() {
        "" => "Untitled experiment".to_owned(),
        title => one_line(title),
    };
    let title = escape(&title);
    let mut body = String::new();
    header(&mut body, &title, results);
    if !results.figures.is_empty() {
        body.push_str("<section id=\"figures\" aria-label=\"Figures\">\n");
        figures(&mut body, results);
        body.push_str("</section>\n");
    }
    timelines::section(&mut body, &results.rows, &side.timeline);
    tables::section(&mut body, &results.tables, &results.rows);
    table::section(&mut body, &results.rows);
    channels::section(&mut body, &results.rows, &side.channels);
    ranks::section(&mut body, &results.rows, &side.ranks);
    rerun(&mut body, results);
    glossary::section(&mut body, &results.rows);
    document(&title, &results.meta.crosstie, &body)
}

/// A whole document round a body; the title is escaped already.
fn document(title: &str, version: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'\"/>\n\
         <meta name=\"generator\" content=\"crosstie {}\"/>\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n\
         <div id=\"tip\" role=\"status\" hidden=\"\"></div>\n<script>\n{SCRIPT}</script>\n</body>\n\
         </html>\n",
        escape(&one_line(version))
    )
}

fn header(html: &mut String, title: &str, results: &ResultSet) {
    let meta = &results.meta;
    let _ = writeln!(html, "<header>\n<h1>{title}</h1>");
    if let Some(citation) = &meta.citation {
        let _ = writeln!(html, "<p class=\"citation\">{}</p>", escape(citation.trim()));
    }
    let description = meta.description.as_deref().unwrap_or("");
    for text in description.split("\n\n").filter(|text| !text.trim().is_empty()) {
        let _ = writeln!(html, "<p>{}</p>", paragraph(text.trim()));
    }
    html.push_str("<dl class=\"facts\">\n");
    let finished = number::measured(results.rows.len() as f64);
    let points = match results.rows.len() == meta.points {
        true => finished,
        false => format!("{finished} of {}", number::measured(meta.points as f64)),
    };
    fact(html, "points", &points, "");
    let best: Vec<Status> =
        tabular::kinds(&results.rows).iter().map(|kind| kind.statuses()[0]).collect();
    for status in Status::ALL {
        let count = results.rows.iter().filter(|row| row.status == status).count();
        if count > 0 || best.contains(&status) {
            fact(html, status_words(status), &number::measured(count as f64), status.word());
        }
    }
    fact(html, "seed", &meta.seed.map_or("swept".to_owned(), |seed| seed.to_string()), "");
    fact(html, "version", &meta.crosstie, "");
    if !meta.revisions.is_empty() {
        let revisions: Vec<&str> = meta.revisions.iter().map(String::as_str).collect();
        fact(html, "revision", &revisions.join(", "), "");
    }
    html.push_str("</dl>\n</header>\n");
}

fn fact(html: &mut String, name: &str, value: &str, class: &str) {
    let value = escape(&one_line(value));
    let _ = writeln!(html, "<div class=\"{class}\"><dt>{name}</dt><dd>{value}</dd></div>");
}

/// All figures of an experiment.
fn figures(html: &mut String, results: &ResultSet) {
    html.push_str("<div class=\"figures\">\n");
    for drawn in &results.figures {
        figure(html, drawn, &results.rows);
    }
    html.push_str("</div>\n");
}

/// One figure of an experiment.
fn figure(html: &mut String, figure: &Figure, rows: &[Row]) {
    framed(html, &figure.name, &draw(figure, rows));
}

/// A drawing with its name, which can be saved.
fn framed(html: &mut String, name: &str, svg: &str) {
    let name = escape(&one_line(name));
    let _ = writeln!(
        html,
        "<figure data-name=\"{name}\">\n{svg}<figcaption>{name} \
         <button type=\"button\" class=\"save\" hidden=\"\">save as SVG</button></figcaption>\n\
         </figure>"
    );
}

fn rerun(html: &mut String, results: &ResultSet) {
    let _ = writeln!(
        html,
        "<section id=\"rerun\">\n<h2>How to rerun</h2>\n\
         <p>In the folder of these results, with Crosstie {}:</p>\n<pre><code>{}</code></pre>\n\
         <p>The same seed gives the same numbers on any machine and any number of threads.</p>\n\
         <details>\n<summary>The study, every default spelled out</summary>\n\
         <pre><code>{}</code></pre>\n</details>\n</section>",
        escape(&one_line(&results.meta.crosstie)),
        escape(&results.meta.rerun),
        escape(&results.study)
    );
}
