//! Measures of the broadcast trees of Figures 2.3 and 2.4.

use super::Answer;
use super::formulas::tree;
use crate::paper::{Drawing, Evidence, drawing};
use crosstie_study::Row;
use crosstie_study::paper::{Measured, Missing};

const PART: &str = "trees";
const PACKETS: &str = "packets of the message";
const TIME: &str = "time, units";
const LINE: &str = "line";

/// Measures a claim; nothing if it is not about trees.
pub(super) fn measure(id: &str, e: &Evidence) -> Option<Answer> {
    let words: Vec<&str> = id.split('.').collect();
    let ["bcast", gap, packets, world] = words[..] else { return None };
    let (gap, packets) = (gap.strip_prefix('g')?, packets.strip_prefix('k')?);
    Some(time(e, gap, packets, world).map(Measured::exact))
}

fn time(e: &Evidence, gap: &str, packets: &str, world: &str) -> Result<f64, Missing> {
    let (gap, size) = (format!("{gap} us"), format!("{packets} B"));
    let settings = [("ideal.gap", &*gap), ("world", world), ("work.broadcast.size", &*size)];
    Ok(e.estimate(PART, &settings, "time_mean")?.value)
}

/// Both figures: the closed form, the schedule on paper, and simulated.
pub(super) fn drawing(e: &Evidence) -> Option<Drawing> {
    let mut rows: Vec<Row> = Vec::new();
    for gap in [2, 1] {
        for packets in [1u32, 2, 3, 4, 5, 10] {
            let mut point = |line: &str, time: f64| {
                let line = format!("g = {gap}, {line}");
                let x = (PACKETS, f64::from(packets));
                rows.push(drawing::point((LINE, &line), x, (TIME, time)));
            };
            let eq = if gap == 2 { "Eq. 2.8" } else { "Eq. 2.9" };
            point(eq, tree(gap, packets.into()).time().seconds() * 1e6);
            let simulated = time(e, &gap.to_string(), &packets.to_string(), "ideal").ok()?;
            point("simulated", simulated);
        }
    }
    let title = "Figures 2.3 and 2.4: broadcast down a binomial tree of 16 nodes".to_owned();
    Some((drawing::plain("fig2-3", title, PACKETS, TIME, LINE), rows))
}
