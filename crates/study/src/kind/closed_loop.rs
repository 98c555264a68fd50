//! The results of closed-loop work: in units of the world outside, microseconds and bytes.

use crate::column::{Column, c, optional};
use crate::row::Status;

/// How a run may end.
pub(super) const STATUSES: &[Status] = &[Status::Completed, Status::Failed];

const TIME_MEAN: Column =
    c("time_mean", "mean time of an iteration", "us", "mean time of an iteration");
const TIME_CI: Column =
    c("time_ci", "± of mean time", "us", "half-width of the confidence interval of time_mean");
const TIME_MIN: Column =
    c("time_min", "shortest iteration", "us", "time of the shortest iteration");
const TIME_P50: Column =
    c("time_p50", "median time of an iteration", "us", "median time of an iteration");
const TIME_P99: Column = c(
    "time_p99",
    "99th percentile of the time of an iteration",
    "us",
    "99th percentile of the time of an iteration",
);
const LATENCY: Column = c("latency", "latency", "us", "half of the mean round trip");
const LATENCY_CYCLES: Column =
    c("latency_cycles", "latency", "cycles", "half of the mean round trip, in cycles of the link");
const BANDWIDTH: Column =
    c("bandwidth", "bandwidth", "MB/s", "payload per time, a MB being 10^6 bytes");
const ITERATIONS: Column =
    c("iterations", "iterations measured", "iterations", "iterations measured");
const OPERATIONS: Column = c(
    "operations",
    "operations of the schedule",
    "operations",
    "sends, receives and computations of an iteration, over all ranks",
);
const WARMUP_ITERATIONS: Column = c(
    "warmup_iterations",
    "iterations of warm-up",
    "iterations",
    "iterations cut off at the start as warm-up",
);
const FINISH_FIRST: Column =
    c("finish_first", "end of the first rank", "us", "when the first rank was done");
const FINISH_LAST: Column =
    c("finish_last", "end of the last rank", "us", "when the last rank was done");

/// What a world knows beside: losses and what channels did about them, and what a price is spent
/// on.
const BESIDE: [Column; 16] = [
    optional(
        "lost",
        "packets lost in the network",
        "packets",
        "packets that switches had no room for",
    ),
    optional(
        "overflowed",
        "packets lost in nodes",
        "packets",
        "packets that nodes had no room for, in rings and pools",
    ),
    optional(
        "deaths",
        "rails taken for dead",
        "times",
        "how often a rail to a node was silent for longer than `nic.patience` allows",
    ),
    optional(
        "sent",
        "data packets sent",
        "packets",
        "data packets sent by channels, again ones included",
    ),
    optional(
        "resent",
        "data packets sent again",
        "packets",
        "data packets that channels sent again",
    ),
    optional(
        "acknowledgements",
        "acknowledgements sent",
        "packets",
        "positive and negative acknowledgements sent by channels on their own",
    ),
    optional(
        "interruption",
        "chance that progress is interrupted",
        "",
        "c [tam, Eq. 4.11]: how likely a Nack follows a Pack, mean over senders",
    ),
    optional(
        "severity",
        "chance that a fast retransmission fails",
        "",
        "1 - a [tam, Eq. 4.12]: how likely a time-out follows a Nack, mean over senders",
    ),
    optional(
        "recovery",
        "chance that a time-out recovers",
        "",
        "f [tam, Eq. 4.13]: how likely a Pack follows a time-out, mean over senders",
    ),
    optional(
        "envelopes",
        "envelopes between ranks",
        "envelopes",
        "envelopes that ranks posted, of those that are opened in order",
    ),
    optional(
        "deferred",
        "envelopes that came too early",
        "envelopes",
        "those of them that had to wait for others before them, which took another rail",
    ),
    optional(
        "busy",
        "share of cores that others had",
        "",
        "part of the cores of real hosts that other programs and machines had meanwhile",
    ),
    optional(
        "host_share",
        "share of processors",
        "",
        "part of the price that processors take to send and receive",
    ),
    optional(
        "gap_share",
        "share of gaps",
        "",
        "part of the price that packets wait for those before them",
    ),
    optional(
        "wire_share",
        "share of the way",
        "",
        "part of the price that packets are on their way",
    ),
    optional(
        "compute_share",
        "share of computing",
        "",
        "part of the price that processors compute",
    ),
];

/// Some columns and those beside them.
const fn with_beside<const N: usize, const ALL: usize>(own: [Column; N]) -> [Column; ALL] {
    assert!(ALL == N + BESIDE.len());
    let mut all = [BESIDE[0]; ALL];
    let mut place = 0;
    while place < ALL {
        all[place] = if place < N { own[place] } else { BESIDE[place - N] };
        place += 1;
    }
    all
}

/// Every column of a ping, in the order of the result files.
pub(super) const PING: &[Column] = &with_beside::<12, 28>([
    TIME_MEAN,
    TIME_CI,
    TIME_MIN,
    TIME_P50,
    TIME_P99,
    LATENCY,
    LATENCY_CYCLES,
    BANDWIDTH,
    ITERATIONS,
    WARMUP_ITERATIONS,
    FINISH_FIRST,
    FINISH_LAST,
]);

/// Every column of a stream: one way there is nothing to halve.
pub(super) const STREAM: &[Column] = &with_beside::<10, 26>([
    TIME_MEAN,
    TIME_CI,
    TIME_MIN,
    TIME_P50,
    TIME_P99,
    BANDWIDTH,
    ITERATIONS,
    WARMUP_ITERATIONS,
    FINISH_FIRST,
    FINISH_LAST,
]);

/// Every column of a schedule.
pub(super) const SCHEDULE: &[Column] = &with_beside::<11, 27>([
    TIME_MEAN,
    TIME_CI,
    TIME_MIN,
    TIME_P50,
    TIME_P99,
    BANDWIDTH,
    OPERATIONS,
    ITERATIONS,
    WARMUP_ITERATIONS,
    FINISH_FIRST,
    FINISH_LAST,
]);

/// The same in a terminal.
pub(super) const SCHEDULE_SHOWN: &[(&str, &str)] = &[
    ("time_mean", "time [us]"),
    ("time_p99", "p99 [us]"),
    ("bandwidth", "MB/s"),
    ("operations", "ops"),
];

/// Columns of a ping in a terminal, and their heads there.
pub(super) const PING_SHOWN: &[(&str, &str)] = &[
    ("time_mean", "time [us]"),
    ("time_p99", "p99 [us]"),
    ("latency", "latency [us]"),
    ("bandwidth", "MB/s"),
];

/// The same of a stream.
pub(super) const STREAM_SHOWN: &[(&str, &str)] =
    &[("time_mean", "time [us]"), ("time_p99", "p99 [us]"), ("bandwidth", "MB/s")];

/// The order in which they are given up for want of room.
pub(super) const GIVEN_UP: &[&str] = &["time_p99"];
