//! The busiest and the most blocked channels of each point.

use std::fmt::Write;

use crosstie_study::{ChannelRow, Row};

use crate::caption;
use crate::escape::{escape, one_line};
use crate::number;

/// Channels listed per table.
const LISTED: usize = 20;
/// Bars of the histogram.
const BINS: usize = 20;

/// Writes the section with the channels; nothing when none were recorded.
pub(super) fn section(html: &mut String, rows: &[Row], channels: &[ChannelRow]) {
    if channels.is_empty() {
        return;
    }
    let mut channels: Vec<&ChannelRow> = channels.iter().collect();
    channels.sort_by_key(|channel| channel.point);
    html.push_str(
        "<section id=\"channels\">\n<h2>Channels</h2>\n<p class=\"hint\">The small bars show how \
         many channels are idle (left) to always busy (right).</p>\n",
    );
    for channels in channels.chunk_by(|a, b| a.point == b.point) {
        let _ = writeln!(
            html,
            "<details>\n<summary><span>{}</span> {} <small>{}, mean utilisation {}</small>\
             </summary>\n<div class=\"pair\">",
            escape(&caption::point(rows, channels[0].point)),
            histogram(channels),
            number::count(channels.len(), "channel"),
            number::share(mean(channels)),
        );
        ranking(html, "Busiest", channels, |channel| channel.utilisation);
        ranking(html, "Most blocked", channels, |channel| channel.blocked);
        html.push_str("</div>\n</details>\n");
    }
    html.push_str("</section>\n");
}

fn mean(channels: &[&ChannelRow]) -> f64 {
    let finite = || channels.iter().map(|channel| channel.utilisation).filter(|x| x.is_finite());
    finite().sum::<f64>() / finite().count() as f64
}

fn ranking(html: &mut String, title: &str, channels: &[&ChannelRow], by: fn(&ChannelRow) -> f64) {
    let mut ranked = channels.to_vec();
    // Values that are not numbers stand last; the stable sort keeps equals in channel order.
    let key = |channel: &ChannelRow| Some(by(channel)).filter(|x| x.is_finite()).unwrap_or(-1.0);
    ranked.sort_by(|a, b| key(b).total_cmp(&key(a)));
    let several_rails = channels.iter().any(|channel| channel.rail > 0);
    let _ = write!(html, "<table><caption>{title}</caption>\n<thead><tr>");
    let numbers = ["utilisation", "blocked", "waiting"];
    for head in ["from", "to", "kind"].iter().chain(several_rails.then_some(&"rail")) {
        let _ = write!(html, "<th scope=\"col\">{head}</th>");
    }
    for head in numbers {
        let _ = write!(html, "<th scope=\"col\" class=\"number\">{head}</th>");
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for channel in ranked.into_iter().take(LISTED) {
        html.push_str("<tr>");
        for text in [&channel.from, &channel.to, &channel.kind] {
            let _ = write!(html, "<td>{}</td>", escape(&one_line(text)));
        }
        if several_rails {
            let _ = write!(html, "<td>{}</td>", channel.rail);
        }
        for share in [channel.utilisation, channel.blocked, channel.waiting] {
            let _ = write!(html, "<td class=\"number\">{}</td>", number::share(share));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table>\n");
}

/// A small bar chart of the channels' utilisation.
fn histogram(channels: &[&ChannelRow]) -> String {
    let mut counts = [0usize; BINS];
    for channel in channels.iter().filter(|channel| channel.utilisation.is_finite()) {
        let bin = (channel.utilisation.clamp(0.0, 1.0) * BINS as f64) as usize;
        counts[bin.min(BINS - 1)] += 1;
    }
    let most = counts.into_iter().max().unwrap_or(0).max(1);
    let mut svg = format!(
        "<svg class=\"histogram\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"22\" \
         role=\"img\" aria-label=\"histogram of utilisation\">",
        BINS * 6
    );
    for (i, &count) in counts.iter().enumerate() {
        // One channel is one pixel at least: the busiest channel is the one people look for.
        let height = match count {
            0 => 0.5,
            _ => (20.0 * count as f64 / most as f64).max(2.0),
        };
        let _ = write!(
            svg,
            "<rect x=\"{}\" y=\"{:.1}\" width=\"5\" height=\"{height:.1}\"/>",
            i * 6,
            21.0 - height
        );
    }
    svg.push_str("</svg>");
    svg
}
