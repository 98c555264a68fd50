//! When the ranks of closed-loop work were done.

use std::fmt::Write;

use crosstie_study::{RankRow, Row};

use crate::caption;
use crate::escape::escape;
use crate::number;

/// A point with more ranks is not listed: its file is the place to look.
const LISTED: usize = 32;

/// Writes the section with the ranks; nothing when none were recorded.
pub(super) fn section(html: &mut String, rows: &[Row], ranks: &[RankRow]) {
    if ranks.is_empty() {
        return;
    }
    let mut ranks: Vec<&RankRow> = ranks.iter().collect();
    ranks.sort_by_key(|rank| rank.point);
    html.push_str("<section id=\"ranks\">\n<h2>Ranks</h2>\n");
    for ranks in ranks.chunk_by(|a, b| a.point == b.point) {
        let last = ranks.iter().map(|rank| rank.finish).fold(f64::NEG_INFINITY, f64::max);
        let _ = writeln!(
            html,
            "<details>\n<summary><span>{}</span> <small>{}, the last done at {} us</small>\
             </summary>",
            escape(&caption::point(rows, ranks[0].point)),
            number::count(ranks.len(), "rank"),
            number::measured(last),
        );
        if ranks.len() > LISTED {
            html.push_str("<p class=\"hint\">All of them are in ranks.csv.</p>\n");
        } else {
            table(html, ranks);
        }
        html.push_str("</details>\n");
    }
    html.push_str("</section>\n");
}

fn table(html: &mut String, ranks: &[&RankRow]) {
    html.push_str(
        "<table><thead><tr><th scope=\"col\" class=\"number\">rank</th>\
         <th scope=\"col\" class=\"number\">done at <small>us</small></th></tr></thead>\n<tbody>\n",
    );
    for rank in ranks {
        let _ = writeln!(
            html,
            "<tr><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
            rank.rank,
            number::measured(rank.finish)
        );
    }
    html.push_str("</tbody></table>\n");
}
