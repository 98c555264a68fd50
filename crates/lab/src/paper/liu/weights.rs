//! Measures of the weights of section 6.3, told by the packets on each rail.

use super::Answer;
use super::design::{ADAPTIVE, Design, WEIGHTED};
use crate::paper::Evidence;
use crosstie_study::paper::{Claim, Measured, Missing};

const PART: &str = "weights";

/// Measures a claim; nothing if it is not about weights.
pub(super) fn measure(claim: &Claim, e: &Evidence) -> Option<Answer> {
    let found = match claim.id.as_str() {
        "adapt.weights.static" => first_over_second(e, WEIGHTED, "false"),
        "adapt.weights.initial" => first_over_second(e, ADAPTIVE, "false"),
        "adapt.weights.bidir.optimum" => first_over_second(e, ADAPTIVE, "true"),
        _ => return None,
    };
    Some(found.map(Measured::exact))
}

/// Packets that the first host sends on the first rail, for each that it sends on the second.
fn first_over_second(e: &Evidence, design: Design, both_ways: &str) -> Result<f64, Missing> {
    let settings = [design, &[("work.stream.both-ways", both_ways)]].concat();
    let channels = e.channels(PART, &settings)?;
    let sent = |rail: u32| {
        let injection = channels.iter().find(|channel| channel.rail == rail && channel.from == "0");
        injection.map(|channel| channel.flits as f64)
    };
    let ratio = sent(0).zip(sent(1)).map(|(first, second)| first / second);
    ratio.ok_or_else(|| Missing(format!("{PART} kept no channel out of the first host")))
}
