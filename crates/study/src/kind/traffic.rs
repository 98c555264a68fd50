//! The results of open-loop traffic: in cycles and flits.

use crate::column::{Column, c};
use crate::row::Status;

/// How a run may end.
pub(super) const STATUSES: &[Status] =
    &[Status::Converged, Status::NotConverged, Status::Saturated, Status::Deadlocked];

/// Columns in a terminal, and their heads there.
pub(super) const SHOWN: &[(&str, &str)] = &[
    ("offered", "offered"),
    ("accepted", "accepted"),
    ("latency_mean", "latency"),
    ("latency_p99", "p99"),
    ("saturation", "saturation"),
];

/// The order in which they are given up for want of room.
pub(super) const GIVEN_UP: &[&str] = &["offered", "latency_p99"];

/// Every column, in the order of the result files.
pub(super) const COLUMNS: &[Column] = &[
    c("offered", "offered load", "flits/cycle/host", "load offered by the sources"),
    c("accepted", "accepted load", "flits/cycle/host", "load delivered to the destinations"),
    c(
        "accepted_ci",
        "± of accepted load",
        "flits/cycle/host",
        "half-width of the confidence interval of accepted",
    ),
    c("latency_mean", "mean latency", "cycles", "mean latency, generation to last flit delivered"),
    c(
        "latency_ci",
        "± of mean latency",
        "cycles",
        "half-width of the confidence interval of latency_mean",
    ),
    c("latency_p50", "median latency", "cycles", "median latency"),
    c("latency_p99", "99th percentile of latency", "cycles", "99th percentile of latency"),
    c("latency_p999", "99.9th percentile of latency", "cycles", "99.9th percentile of latency"),
    c("latency_max", "largest latency", "cycles", "largest latency seen"),
    c(
        "network_mean",
        "mean latency in the network",
        "cycles",
        "mean latency without the wait at the source",
    ),
    c("hops_mean", "switches crossed", "switches", "mean number of switches crossed"),
    c("packets", "packets measured", "packets", "packets measured"),
    c("warmup", "warm-up", "cycles", "simulated time cut off as warm-up"),
    c("cycles", "time measured", "cycles", "simulated time measured"),
    c(
        "utilisation_mean",
        "mean utilisation of channels",
        "",
        "mean share of time a switch-to-switch channel carries flits",
    ),
    c(
        "utilisation_max",
        "utilisation of the busiest channel",
        "",
        "share of time the busiest switch-to-switch channel carries flits",
    ),
    c(
        "blocked_mean",
        "mean share of time blocked",
        "",
        "mean share of time a channel has flits but no credit to send them",
    ),
    c(
        "blocked_max",
        "share of time blocked, worst channel",
        "",
        "share of time the most blocked channel has flits but no credit",
    ),
    c(
        "minimal_share",
        "share of minimal routes",
        "",
        "share of pairs of hosts whose route is as short as can be",
    ),
    c(
        "stops_mean",
        "mean stops",
        "stops/route",
        "mean number of stops on a route, over all pairs of hosts",
    ),
    c(
        "pool_peak",
        "fullest pool",
        "flits",
        "most flits that in-transit packets have filled of one pool",
    ),
    c(
        "saturation",
        "saturation load",
        "flits/cycle/host",
        "least load that is not carried, if it is known to the precision asked for",
    ),
    c(
        "saturation_low",
        "largest load carried",
        "flits/cycle/host",
        "largest load found to be carried",
    ),
    c(
        "saturation_high",
        "smallest load not carried",
        "flits/cycle/host",
        "smallest load found not to be carried",
    ),
];
