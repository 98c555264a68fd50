//! Chapter 4: what is lost when many send to one.

mod figures;
mod formulas;
mod tables;
mod trends;
mod uplinks;

use super::super::{Evidence, Reading, Remark};
use super::Answer;
use super::flow::Flow;
use crosstie_study::paper::{Claim, Measured, Truth};

pub(super) use figures::drawings;
pub(super) use tables::grids;

pub(super) fn measure(claim: &Claim, evidence: &Evidence) -> Reading {
    formulas::measure(&claim.id)
        .map(Ok)
        .or_else(|| tables::measure(claim, evidence))
        .or_else(|| trends::measure(claim, evidence))
        .or_else(|| uplinks::measure(&claim.id, evidence))
}

/// Real ranks tell of the output-buffered switch: when it loses packets, and Table 4.1.
pub(super) fn tells_live(id: &str) -> bool {
    let words: Vec<&str> = id.split('.').collect();
    match words[..] {
        ["ch4", "shape", "overflow", "output"] => true,
        ["ch4", "shape", "output", what] => matches!(what, "w" | "p" | "simple" | "own"),
        ["t4", "1", .., "measured"] => true,
        _ => false,
    }
}

/// Frames that the switches keep: of the IBM 8275-416 and of the Cisco 2980G at an output, of the
/// IBM 8275-326 at an input.
const IBM416: u32 = 95;
const CISCO: u32 = 128;
const IBM326: u32 = 43;
/// At the input of an uplink of the IBM 8275-326.
const UPLINK: u32 = 45;

/// The settings of Table 4.1.
const SENDERS: [u32; 3] = [7, 11, 15];
const WINDOWS: [u32; 3] = [18, 24, 36];
const TIMEOUTS: [u32; 2] = [400, 1600];

/// The rows of Table 4.1, in its order.
fn table_4_1() -> Vec<(u32, u32, u32)> {
    let mut rows = Vec::new();
    for slots in TIMEOUTS {
        for senders in SENDERS {
            rows.extend(WINDOWS.map(|window| (senders, window, slots)));
        }
    }
    rows
}

/// A number after a letter or a word: 18 of `w18`.
fn after(word: &str, prefix: &str) -> Option<u32> {
    word.strip_prefix(prefix)?.parse().ok()
}

/// What is to be said of a claim that does not agree.
pub(super) fn remark(id: &str) -> Option<Remark> {
    let words: Vec<&str> = id.split('.').collect();
    Some(match words[..] {
        ["t4", "1", "series", "f"] => Remark::always(
            "whether hosts are in step decides f: with 7 senders, windows of 36 packets and 400 slots it is about 0.2 if hosts \
             do not jitter, and 0.6 if they do, by 1 us or by 80; but in step they carry far too much (part `readings-jitter`). In \
             the thesis f lies between 0.41 and 0.69, and changes less from setting to setting than either",
        ),
        ["t4", "1", .., "f"] => Remark::always(
            "where few packets are lost, a sender waits for its time-out alone, and then finds room: f is larger than published \
             with 7 senders, and falls with more of them. Hosts in step wait together, and f is smaller; but they carry far too \
             much (part `readings-jitter`)",
        ),
        ["t4", "1", "p11", "w18", "to1600", "one_minus_a"] => {
            Remark::unresolved("0.139 +- 0.003 lies at the very end of what is accepted, 0.1397")
        }
        ["t4", "1", .., "c" | "one_minus_a"] => Remark::always(
            "with windows of 36 packets the thesis lies between hosts in step, 1 - a below 0.05, and hosts out of step \
             (part `readings-jitter`). With 7 senders and windows of 18 it is open: jitter up to 80 us, hosts twice as slow or at no \
             cost, a latency of 100 us, cut-through and 85 frames all leave 1 - a between 0.1 and 0.16",
        ),
        ["t4", .., "measured"] if !words.contains(&"uplink") && !words.contains(&"series") => {
            Remark::always(
                "it hangs on whether hosts are in step: those that never jitter carry about 0.1 to 0.3 more (part \
                 `readings-jitter`). Whether the thesis's hosts were in step now and then, it does not say",
            )
        }
        ["t4", "4", "uplink", "p11", "w30", _, "measured"] => Remark::always(
            "open: the thesis's uplink stayed below Eq. 4.10 in all four rows, by 15 % on average, and furthest with this window. \
             What was tried lets these runs carry more, not less: jitter of 80 us, and the uplink port of paper `tam-exchange`",
        ),
        ["ch4", "error", "input"] => Remark::always(
            "open: these runs follow Eq. 4.2, and the thesis's machines carried 13 % less than it says. Nothing that was tried \
             takes more than 5 %: hosts in step, jitter of 80 us, hosts twice as slow, a latency of 100 us, store-and-forward, 37 \
             frames instead of 43",
        ),
        ["ch4", "error", "out2980"] => Remark::always(
            "Eq. 4.10 rests on the chances that are counted, and a tenth of the packets counts few time-outs: with 30000 packets \
             from each sender it is nearer. The thesis does not list the settings of its mean",
        ),
        ["ch4", "error", "series"] => Remark::always(
            "the input-buffered runs follow Eq. 4.2, as the thesis's machines did not (claim `ch4.error.input`): so the order is \
             turned round",
        ),
        ["ch4", "input", "max_measured"] => Remark::always(
            "Eq. 4.2 itself says up to 0.490 for a window of 44, and these runs follow it; the thesis's machines \
             stayed 13 % below it (claim `ch4.error.input`)",
        ),
        ["ch4", "input", "max_both"] => Remark::always(
            "each time-out brings a buffer of 43 packets of every sender through, and one or two that leave while the burst \
             still comes. With the best time-outs, a little less than 2 B_L P slots, that is a little more than half",
        ),
        ["ch4", "shape", "input", "w"] => Remark::either(
            "it falls as Eq. 4.2 says, to 0.0001 for a packet of the window; which packet just finds room scatters it more than \
             that. How much more steeply the thesis's machines fell is only drawn",
        ),
        ["ch4", "shape", "input", "simple"] => Remark::always(
            "senders and time-out decide by far the most, and every number of senders has its own best time-out, as \
             published; the window hardly matters here: whatever of it finds no room is lost, and sent again after \
             the time-out",
        ),
        ["ch4", "shape", "input", "own"] => Remark::always(
            "around its best time-out, which depends on the number of senders, simple go-back-N carries as much as Eq. 4.2 \
             allows or a little more; everywhere else it carries far less",
        ),
        ["ch4", "shape", "output", "overestimate"] => Remark::measured(
            "it does with senders and windows. With the time-out it does not: what Eq. 4.10 makes of the chances counted \
             here is as near with 1600 slots as with 400",
        ),
        ["ch4", "shape", "output", "simple"] => Remark::always(
            "here it carries about half: hosts that jitter by 5 us come out of step after a time-out and share the port. The \
             more they jitter, the less it carries: 0.4 and, with the longer time-out, about 0.2 for 80 us (part \
             `readings-simple`). What the thesis's hosts did is not stated",
        ),
        ["ch4", "shape", "output", "own"] => Remark::always(
            "where a window just overflows the buffer, 11 senders with 12 packets, a fast retransmission meets a buffer that is \
             still full and loses twice as many packets as waiting for the time-out does. With windows of 36 packets and the \
             shorter time-out it is the jitter of 5 us that lets simple go-back-N carry as much: with 20 us and more it carries \
             far less (part `readings-simple`)",
        ),
        ["ch4", "shape", "weights"] => Remark::always(
            "nor does the measured column of Table 4.1: from its least to its largest setting senders take 0.14, the window \
             0.10, and the time-out gives 0.12; per doubling senders take 0.13, the window 0.10, the time-out \
             gives 0.06",
        ),
        ["ch4", "shape", "uplink", "w24"] => Remark::always(
            "that window gains most of which two just fit, and two of 24 do not fit 45 frames. With 47 frames at the uplink and \
             11 senders a window of 24 gains 69 %, and those of 12 and 30 gain 52 and 47 %; from 60 frames on, a window of 30 \
             gains most. So the thesis's port seems to have kept two frames more than it states",
        ),
        ["ch4", "uplink", "down"] | ["ch4", "shape", "uplink", "oneway"] => Remark::always(
            "this port has nothing but its buffer and a gigabit link: ten streams fit, and no window changes that, also \
             beyond. If both directions share a circuit, as in paper `tam-exchange` (720 Mbit/s in, 1040 out, 4 frames at the \
             output), seven streams with windows of 4 come down and no more, and with windows of 36 they lose packets. Its \
             rates follow from these very numbers, so that it would explain them and not foretell them",
        ),
        ["ch4", "uplink", "bidir"] | ["ch4", "shape", "uplink", "bidir"] => Remark::always(
            "it depends on how packets are acknowledged, which the thesis does not say. With Packs that ride on data six \
             to eight pairs fit both ways, fewer in longer runs; beyond that, frames at the head of an input block those \
             behind them. With Packs of their own not even two fit: many short frames for several hosts meet at the input \
             of the uplink, and those at its head block the data behind them. With the port of paper `tam-exchange`, whose \
             directions share a circuit, four pairs fit with either, as published",
        ),
        _ => return None,
    })
}

/// The part of a paper's switch.
fn switch(name: &str) -> Option<(&'static str, u32)> {
    Some(match name {
        "ibm416" => ("output", IBM416),
        "cisco2980" => ("cisco", CISCO),
        "uplink" => ("uplink", UPLINK),
        _ => return None,
    })
}

/// Something that a claim asks for, and the words for it.
type Demand = (Truth, String);

/// A claim that asks for several things: all of them hold, and the words for each.
pub(super) fn demanded(demands: Vec<Demand>) -> Answer {
    let holds = Truth::all(demands.iter().map(|(truth, _)| *truth));
    let words: Vec<String> = demands.into_iter().map(|(_, words)| words).collect();
    Ok(Measured::shape(holds, words.join("; ")))
}

/// The mean of some numbers.
fn average(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// Flows through a full buffer.
fn lossy<'f, 'e>(flows: &'f [Flow<'e>]) -> impl Iterator<Item = &'f Flow<'e>> {
    flows.iter().filter(|flow| flow.lost() > 0.0)
}
