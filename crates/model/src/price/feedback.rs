//! What a global window waits for [tam, 6.1].
//!
//! A packet is outstanding from when its processor begins to send it until its *feedback*:
//!
//! ```text
//! unacknowledged   F = O_s + L + O_r + U_r + L(0)   its acknowledgement is there
//! received         F = O_s + L + O_r + U_r          a packet sent at the same time is received
//! ```
//!
//! An acknowledgement has the latency of an empty packet and takes no processor: it rides on data
//! or is handled on arrival. W_g packets in F is the most that a rank sends, so packets follow each
//! other every max(g, F / W_g). A window limits nothing if W_g g >= F.
//!
//! With `received` that holds for exchanges, in which a rank receives as many as it sends.

use crate::{Cost, Packet, Parameters};
use crosstie_collective::{Counting, Window};
use crosstie_units::Time;

/// From when an acknowledgement leaves its receiver until it is there.
pub(super) fn acknowledgement(parameters: &Parameters, nodes: u32) -> Time {
    parameters.packet_of(0, nodes).latency
}

/// F: how long a full packet is outstanding, if nothing is in the way.
pub fn feedback(parameters: &Parameters, nodes: u32, counts: Counting) -> Time {
    let Packet { send, latency, receive, .. } =
        parameters.packet_of(parameters.packet.get(), nodes);
    let one_way = send + latency + receive;
    match counts {
        Counting::Received => one_way,
        Counting::Unacknowledged => one_way + acknowledgement(parameters, nodes),
    }
}

/// How often full packets of a rank follow each other with a global window: max(g, F / W_g).
pub fn pace(parameters: &Parameters, nodes: u32, window: Window) -> Time {
    let full = parameters.packet_of(parameters.packet.get(), nodes);
    let feedback = feedback(parameters, nodes, window.counts);
    full.gap().max(Time::from_ps(feedback.ps().div_ceil(window.packets.max(1).into())))
}

/// The same rail with NICs that send so much slower that no packet waits for a window.
pub fn paced(parameters: &Parameters, nodes: u32, window: Window) -> Parameters {
    let own = parameters.packet_of(parameters.packet.get(), nodes).send_gap;
    let more = pace(parameters, nodes, window).ps().saturating_sub(own.ps());
    let fixed = parameters.send_gap.fixed + Time::from_ps(more);
    Parameters { send_gap: Cost { fixed, ..parameters.send_gap }, ..*parameters }
}
