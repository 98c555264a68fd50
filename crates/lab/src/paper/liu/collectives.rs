//! Measures of Figures 11 to 14: collective operations.

use super::Answer;
use super::comparison::{from, line, margin, ratio, shape, under};
use super::design::{EVEN, LARGE, ONE};
use crate::paper::Evidence;
use crosstie_study::paper::Claim;

/// Measures a claim; nothing if it is about something else.
pub(super) fn measure(claim: &Claim, e: &Evidence) -> Option<Answer> {
    Some(match claim.id.as_str() {
        "fig11.shape" => faster(claim, e, "fig11", "work.broadcast.size"),
        "fig12.shape" => faster(claim, e, "fig12", "work.all-to-all.size"),
        "fig13.shape" => faster(claim, e, "fig13", "work.broadcast.size"),
        "fig14.shape" => faster(claim, e, "fig14", "work.all-to-all.size"),
        _ => return None,
    })
}

fn faster(claim: &Claim, e: &Evidence, part: &str, size: &str) -> Answer {
    let time = |design| line(e, part, design, (size, "time_mean"));
    let ratios = from(&ratio(&time(EVEN)?, &time(ONE)?), LARGE);
    shape(under(&ratios, margin(claim)), "two rails over one, large messages:", &ratios)
}
