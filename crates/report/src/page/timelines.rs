//! Who sent what when, of the points that are small enough to be seen.

use std::fmt::Write;

use crosstie_study::{Row, SideTable, TimelineRow};

use super::framed;
use crate::figure::{MOST_LINES, MOST_RANKS, Timelines, timelines};
use crate::number;

/// Writes the section with the time lines; nothing when none were recorded.
pub(super) fn section(html: &mut String, rows: &[Row], lines: &[TimelineRow]) {
    if lines.is_empty() {
        return;
    }
    let found = timelines(rows, lines);
    html.push_str("<section id=\"timelines\">\n<h2>Time lines</h2>\n");
    if let Some(said) = left_out(&found) {
        let _ = writeln!(html, "<p class=\"hint\">{said}</p>");
    }
    html.push_str("<div class=\"timelines\">\n");
    for timeline in &found.drawn {
        framed(html, &timeline.name(), &timeline.svg);
    }
    html.push_str("</div>\n</section>\n");
}

/// How many points are not drawn, and why.
fn left_out(found: &Timelines) -> Option<String> {
    let large = (found.large > 0).then(|| {
        let lines = number::measured(MOST_LINES as f64);
        format!(
            "{} with more than {MOST_RANKS} ranks, or more than {lines} messages and computations",
            number::count(found.large, "point")
        )
    });
    let further = (found.further > 0).then(|| {
        format!("{} after the first {}", number::count(found.further, "point"), found.drawn.len())
    });
    let reasons: Vec<String> = large.into_iter().chain(further).collect();
    let file = SideTable::Timeline.file();
    (!reasons.is_empty())
        .then(|| format!("Not drawn: {}. All of them are in {file}.", reasons.join("; ")))
}
