//! The page of a paper: claims beside measurements, then every part with its figures and its table.

use std::fmt::Write;

use crosstie_study::paper::{Agreement, Check, Finding, Grid, Parameter};
use crosstie_study::{Figure, ResultSet, Row};

use super::table::{head, table, text_cell};
use super::{document, fact, figure, figures};
use crate::comparison::{self, Apart};
use crate::escape::{escape, one_line, paragraph, prose};
use crate::number;

/// A paper that has been reproduced.
#[derive(Debug)]
pub struct PaperReport<'a> {
    /// The title of the paper.
    pub title: &'a str,
    /// Who published it, and where.
    pub citation: &'a str,
    /// Whether its experiments were run in small.
    pub quick: bool,
    /// The version of Crosstie that measured.
    pub version: &'a str,
    /// The command that does it again.
    pub rerun: &'a str,
    /// Its claims beside what was measured.
    pub findings: &'a [Finding],
    /// What the experiments take from it.
    pub parameters: &'a [Parameter],
    /// What a reproduction must show, and where it does.
    pub checks: &'a [Check],
    /// Its figures that no part draws, each from rows made for it.
    pub drawings: &'a [(Figure, Vec<Row>)],
    /// Its tables, whose cells are claims.
    pub grids: &'a [Grid],
    /// Its experiments.
    pub parts: &'a [PaperPart],
}

/// An experiment of a paper.
#[derive(Debug)]
pub struct PaperPart {
    /// Its name, and that of its folder beside the page.
    pub name: String,
    /// What it is about.
    pub title: String,
    /// What came out; `None` if it has not been run.
    pub results: Option<ResultSet>,
}

/// The page as one HTML document.
pub fn paper_page(paper: &PaperReport<'_>) -> String {
    let title = escape(&one_line(paper.title));
    let mut body = String::new();
    header(&mut body, &title, paper);
    differences(&mut body, paper.findings);
    for grid in paper.grids {
        self::grid(&mut body, grid, paper.findings);
    }
    outcomes(&mut body, paper.findings);
    apart(&mut body, paper.findings);
    drawings(&mut body, paper.drawings);
    parts(&mut body, paper.parts);
    parameters(&mut body, paper.parameters);
    checks(&mut body, paper.checks, paper.findings);
    let _ = writeln!(
        body,
        "<section id=\"rerun\">\n<h2>How to rerun</h2>\n<p>With Crosstie {}:</p>\n\
         <pre><code>{}</code></pre>\n\
         <p>The same seed gives the same numbers on any machine and any number of threads.</p>\n\
         </section>",
        escape(&one_line(paper.version)),
        escape(paper.rerun)
    );
    document(&title, paper.version, &body)
}

fn header(html: &mut String, title: &str, paper: &PaperReport<'_>) {
    let _ = writeln!(
        html,
        "<header>\n<h1>{title}</h1>\n<p class=\"citation\">{}</p>\n\
         <p>What the paper publishes beside what was measured here: {}.</p>",
        escape(paper.citation),
        comparison::count(paper.findings)
    );
    if paper.quick {
        html.push_str(
            "<p><strong>The quick form:</strong> smaller clusters, shorter runs, fewer points. It \
             shows shapes; numbers to rely on need a run without <code>--quick</code>.</p>\n",
        );
    }
    html.push_str("<dl class=\"facts\">\n");
    for agreement in Agreement::ALL {
        let counted = paper.findings.iter().filter(|f| f.claim.counts());
        let count = counted.filter(|f| f.agreement() == agreement).count();
        fact(html, agreement.words(), &number::measured(count as f64), agreement.word());
    }
    let run = paper.parts.iter().filter(|part| part.results.is_some()).count();
    fact(html, "parts run", &format!("{run} of {}", paper.parts.len()), "");
    fact(html, "version", paper.version, "");
    html.push_str("</dl>\n</header>\n");
}

/// What does not agree, in full and first; what the runs do not resolve can be unfolded.
fn differences(html: &mut String, findings: &[Finding]) {
    let differing = comparison::alike(findings, Agreement::Differs);
    if !differing.is_empty() {
        html.push_str("<section id=\"differences\">\n<h2>What differs</h2>\n");
        groups(html, differing);
        html.push_str("</section>\n");
    }
    let open = comparison::alike(findings, Agreement::NotResolved);
    if !open.is_empty() {
        let count: usize = open.iter().map(|(_, alike)| alike.len()).sum();
        let _ = writeln!(
            html,
            "<section id=\"unresolved\">\n<h2>What these runs cannot tell</h2>\n<details>\n<summary>\
             {}: the interval of the measurement holds values that would agree and values that would \
             not</summary>",
            number::count(count, "claim")
        );
        groups(html, open);
        html.push_str("</details>\n</section>\n");
    }
}

/// Claims in full; those that stand as they do for one reason, with the reason once.
fn groups(html: &mut String, groups: Vec<(Option<&str>, Vec<&Finding>)>) {
    for (remark, alike) in groups {
        html.push_str("<ul>\n");
        for finding in alike {
            let claim = &finding.claim;
            let _ = writeln!(
                html,
                "<li>{} ({}). Published: {}. Measured: {}.</li>",
                prose(&claim.says),
                prose(&claim.source),
                prose(&comparison::published(claim)),
                prose(&comparison::measured(finding))
            );
        }
        html.push_str("</ul>\n");
        if let Some(remark) = remark {
            let _ = writeln!(html, "<p class=\"remark\">{}</p>", prose(remark));
        }
    }
}

/// A table as the paper has it, each cell published, measured and their ratio.
fn grid(html: &mut String, grid: &Grid, findings: &[Finding]) {
    let line = |text: &str| escape(&one_line(text));
    let title = line(&grid.title);
    let _ = write!(
        html,
        "<section class=\"grid\">\n<h2>{title}</h2>\n<div class=\"scroll whole\" tabindex=\"0\" \
         role=\"region\" aria-label=\"{title}\">\n<table>\n<thead>\n<tr><th colspan=\"{}\"></th>",
        grid.heads.len()
    );
    for column in &grid.columns {
        let _ = write!(html, "<th class=\"cell\" colspan=\"3\">{}</th>", line(column));
    }
    html.push_str("</tr>\n<tr>");
    for head in &grid.heads {
        let _ = write!(html, "<th>{}</th>", line(head));
    }
    for _ in &grid.columns {
        html.push_str("<th class=\"number cell\">published</th><th class=\"number\">measured</th>");
        html.push_str("<th class=\"number\">ratio</th>");
    }
    html.push_str("</tr>\n</thead>\n<tbody>\n");
    for row in &grid.rows {
        html.push_str("<tr>");
        for name in &row.names {
            let _ = write!(html, "<td>{}</td>", line(name));
        }
        for id in &row.cells {
            let found = findings.iter().find(|finding| finding.claim.id == *id);
            let [published, measured, ratio] = match found {
                Some(found) => [
                    comparison::published(&found.claim),
                    comparison::measured(found),
                    comparison::ratio(found),
                ],
                None => [number::MISSING, "", ""].map(str::to_owned),
            };
            let agreement = found.map_or("", |found| found.agreement().word());
            let _ = write!(
                html,
                "<td class=\"number cell\">{}</td><td class=\"number status {agreement}\"><span>{}\
                 </span></td><td class=\"number\">{}</td>",
                line(&published),
                line(&measured),
                line(&ratio)
            );
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n</div>\n</section>\n");
}

/// Figures that no part draws.
fn drawings(html: &mut String, drawings: &[(Figure, Vec<Row>)]) {
    if drawings.is_empty() {
        return;
    }
    html.push_str("<section class=\"part\">\n<h2>Further figures</h2>\n<div class=\"figures\">\n");
    for (drawing, rows) in drawings {
        figure(html, drawing, rows);
    }
    html.push_str("</div>\n</section>\n");
}

/// What counts in totals.
fn outcomes(html: &mut String, findings: &[Finding]) {
    html.push_str(
        "<section id=\"claims\">\n<h2>Published and measured</h2>\n<p class=\"hint\">Stated: legible \
         in the paper. Inferred: it follows from something stated. Unreadable: digits are lost, d \
         stands for one, and only bounds are compared. Click a head to sort.</p>\n",
    );
    let counted: Vec<&Finding> = findings.iter().filter(|f| f.claim.counts()).collect();
    claims(html, &counted, "Claims");
    html.push_str("</section>\n");
}

/// What does not, and why.
fn apart(html: &mut String, findings: &[Finding]) {
    for apart in Apart::ALL {
        let there: Vec<&Finding> = apart.of(findings).collect();
        if there.is_empty() {
            continue;
        }
        let (title, count) = (apart.words(), number::count(there.len(), "claim"));
        let _ = writeln!(
            html,
            "<section id=\"{title}\">\n<h2>Apart from the totals: {title}</h2>\n<p \
             class=\"hint\">{}</p>\n<details>\n<summary>{count}</summary>",
            apart.meaning()
        );
        claims(html, &there, title);
        html.push_str("</details>\n</section>\n");
    }
}

/// A table of claims.
fn claims(html: &mut String, findings: &[&Finding], label: &str) {
    let _ = write!(
        html,
        "<div class=\"scroll whole\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">\n\
         <table class=\"results\">\n<thead><tr>"
    );
    let has_live = findings.iter().any(|finding| finding.live.is_some());
    for (name, meaning) in [
        ("claim", "what the paper says something about, and where"),
        ("published", "what the paper says, how sure that is, and what is accepted as the same"),
        ("measured", "what was measured here"),
        ("ratio", "measured over published"),
        ("agreement", "whether the two agree"),
        (
            "live",
            "what real ranks have measured on real rails, which are slower, and whether it agrees",
        ),
        (
            "remark",
            "the reason or the open question where they do not agree; how the claim was read",
        ),
    ]
    .into_iter()
    .filter(|(name, _)| *name != "live" || has_live)
    {
        head(html, "", name, "", meaning);
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for finding in findings {
        let claim = &finding.claim;
        html.push_str("<tr>");
        let _ = write!(
            html,
            "<td class=\"words\">{}<br/><small>{}, {}</small></td>",
            prose(&claim.says),
            escape(&one_line(&claim.source)),
            escape(&one_line(&claim.id))
        );
        let accepted = comparison::accepted(claim);
        let accepted = accepted.map(|text| format!(", accepted: {}", escape(&text)));
        let _ = write!(
            html,
            "<td class=\"words\">{}<br/><small>{}{}</small></td>",
            prose(&comparison::published(claim)),
            claim.kind.word(),
            accepted.unwrap_or_default()
        );
        text_cell(html, "words", &comparison::measured(finding));
        text_cell(html, "", &comparison::ratio(finding));
        let agreement = finding.agreement();
        text_cell(html, &format!("status {}", agreement.word()), agreement.words());
        if has_live {
            let live = comparison::live(finding).zip(finding.live_agreement());
            let live = live.map(|(text, agreement)| format!("{text}: {agreement}"));
            text_cell(html, "words", &live.unwrap_or_default());
        }
        let fitted = claim.fitted.as_deref().map(|what| format!("fitted to it: {what}"));
        let same = claim.same_as.as_deref().map(|other| format!("the same as {other}"));
        let texts =
            [finding.remark.as_deref(), fitted.as_deref(), same.as_deref(), claim.note.as_deref()];
        let texts: Vec<String> = texts.into_iter().flatten().map(prose).collect();
        let _ = writeln!(html, "<td class=\"note\">{}</td></tr>", texts.join("<br/>"));
    }
    html.push_str("</tbody>\n</table>\n</div>\n");
}

fn parts(html: &mut String, parts: &[PaperPart]) {
    for part in parts {
        let name = escape(&one_line(&part.name));
        let title = escape(&one_line(&part.title));
        let _ = writeln!(html, "<section class=\"part\">\n<h2>{title}</h2>");
        match &part.results {
            None => {
                let _ = writeln!(html, "<p>{name} has not been run to its end.</p>");
            }
            Some(results) => {
                for text in results.meta.description.iter().map(|text| text.trim()) {
                    let _ = writeln!(html, "<p>{}</p>", paragraph(text));
                }
                figures(html, results);
                let _ = writeln!(
                    html,
                    "<details>\n<summary>{} as a table</summary>",
                    number::count(results.rows.len(), "point")
                );
                table(html, &results.rows);
                let _ = writeln!(
                    html,
                    "</details>\n<p class=\"hint\">Everything about this part: \
                     <a href=\"{name}/report.html\">{name}/report.html</a></p>"
                );
            }
        }
        html.push_str("</section>\n");
    }
}

fn parameters(html: &mut String, parameters: &[Parameter]) {
    if parameters.is_empty() {
        return;
    }
    html.push_str(
        "<section id=\"parameters\">\n<h2>Machine and workload</h2>\n<p class=\"hint\">What the \
         paper gives, and what the experiments use.</p>\n<div class=\"scroll\" tabindex=\"0\" \
         role=\"region\" aria-label=\"Parameters\">\n<table class=\"results\">\n<thead><tr>",
    );
    for (name, meaning) in [
        ("parameter", "what it is"),
        ("source", "where the paper gives it"),
        ("kind", "how sure it is what the paper gives"),
        ("published", "what the paper gives; d is a lost digit"),
        ("used", "what the experiments use"),
        ("note", "why"),
    ] {
        head(html, "", name, "", meaning);
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for parameter in parameters {
        html.push_str("<tr>");
        text_cell(html, "words", &parameter.says);
        text_cell(html, "", &parameter.source);
        text_cell(html, "", parameter.kind.word());
        text_cell(html, "words", &parameter.published);
        text_cell(html, "words", &parameter.used);
        text_cell(html, "note", parameter.note.as_deref().unwrap_or_default());
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n</div>\n</section>\n");
}

/// What a reproduction must show: claims with how they stand, and tests.
fn checks(html: &mut String, checks: &[Check], findings: &[Finding]) {
    if checks.is_empty() {
        return;
    }
    html.push_str(
        "<section id=\"checks\">\n<h2>What a reproduction must show</h2>\n<p class=\"hint\">Where each \
         item is held: by claims above, and by tests of the program.</p>\n<div class=\"scroll\" \
         tabindex=\"0\" role=\"region\" aria-label=\"Checks\">\n<table class=\"results\">\n<thead><tr>",
    );
    for (name, meaning) in [
        ("item", "its number"),
        ("asks", "what is asked for"),
        ("claims", "claims that tell of it, and how they stand"),
        ("tests", "tests that hold it, by file"),
    ] {
        head(html, "", name, "", meaning);
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for check in checks {
        let stands = |id: &String| {
            let found = findings.iter().find(|finding| finding.claim.id == *id);
            let agreement = found.map_or("not asked", |found| found.agreement().words());
            format!("{id}: {agreement}")
        };
        html.push_str("<tr>");
        text_cell(html, "", check.id.strip_prefix("check.").unwrap_or(&check.id));
        text_cell(html, "words", &check.asks);
        text_cell(html, "words", &check.claims.iter().map(stands).collect::<Vec<_>>().join("; "));
        text_cell(html, "words", &check.tests.join("; "));
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n</div>\n</section>\n");
}
