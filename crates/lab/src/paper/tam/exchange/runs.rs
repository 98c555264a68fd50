//! Rows of exchanges: at each setting, what nodes carried over the seeds.

use super::super::flow::{Flow, PAYLOAD, flows};
use crate::paper::Evidence;
use crosstie_study::paper::{Estimate, Missing};

/// An exchange at one setting.
#[derive(Debug, Clone)]
pub(super) struct Run<'e> {
    flow: Flow<'e>,
    /// The algorithm as the part names it.
    pub algorithm: String,
    /// The switch as the part names it; empty if it has one.
    pub switch: String,
    /// What is read otherwise; empty if nothing is.
    pub reading: String,
    /// p.
    pub nodes: u32,
    /// k: full packets to each of the others.
    pub packets: u32,
}

/// The exchanges of a part.
pub(super) fn runs<'e>(e: &'e Evidence, part: &str) -> Result<Vec<Run<'e>>, Missing> {
    let run = |flow: Flow<'e>| {
        let number = |ending: &str| flow.number(ending).map(|number| number as u32);
        let leaves = number("two-level.leaves").zip(number("two-level.hosts-per-leaf"));
        let nodes = number("schedule.ranks").or(leaves.map(|(leaves, here)| leaves * here));
        // Parts that vary another key are of 64 packets.
        let bytes = flow.number("all-to-all.size").unwrap_or(64.0 * PAYLOAD);
        Run {
            algorithm: flow.text("all-to-all.algorithm"),
            switch: flow.text("frame.switch"),
            reading: flow.text("channel"),
            nodes: nodes.unwrap_or(16),
            packets: (bytes / PAYLOAD).round() as u32,
            flow,
        }
    };
    Ok(flows(e, part)?.into_iter().map(run).collect())
}

impl Run<'_> {
    /// What a node sends, in MB/s of payload.
    pub fn bandwidth(&self) -> Estimate {
        self.flow.bandwidth().scaled(1.0 / f64::from(self.nodes))
    }

    /// The time for each packet that a node sends, in us.
    pub fn overhead(&self) -> Estimate {
        Estimate::exact(PAYLOAD).over(self.bandwidth())
    }

    /// The time of the exchange, in us.
    pub fn time(&self) -> Estimate {
        self.overhead().scaled(f64::from(self.packets * (self.nodes - 1)))
    }

    /// Frames lost, over all seeds.
    pub fn lost(&self) -> f64 {
        self.flow.lost()
    }

    /// Acknowledgements of their own for each packet, on average over the seeds.
    pub fn acknowledgements(&self) -> f64 {
        let packets = f64::from(self.packets * self.nodes * (self.nodes - 1));
        self.flow.column("acknowledgements").map_or(0.0, |found| found.value) / packets
    }
}

/// An algorithm on a switch by rising length.
pub(super) fn line<'r, 'e>(
    runs: &'r [Run<'e>],
    algorithm: &str,
    switch: &str,
) -> Result<Vec<&'r Run<'e>>, Missing> {
    let fits = |run: &&Run<'_>| run.algorithm == algorithm && run.switch == switch;
    let mut line: Vec<&Run<'_>> = runs.iter().filter(fits).collect();
    line.sort_by_key(|run| (run.nodes, run.packets));
    match line.is_empty() {
        true => Err(Missing(format!("there is no {algorithm} {switch}"))),
        false => Ok(line),
    }
}

/// Returns the run of a line with k packets to each node.
pub(super) fn at<'r, 'e>(line: &[&'r Run<'e>], packets: u32) -> Result<&'r Run<'e>, Missing> {
    line.iter().copied().find(|run| run.packets == packets).ok_or_else(|| {
        let name = line.first().map_or("the part", |run| run.algorithm.as_str());
        Missing(format!("{name} has no point with {packets} packets to each"))
    })
}

/// The highest bandwidth of a line, without its interval.
pub(super) fn peak(line: &[&Run<'_>]) -> f64 {
    line.iter().map(|run| run.bandwidth().value).fold(0.0, f64::max)
}

/// What is nearly as much as the best.
pub(super) const NEARLY: f64 = 0.9;

/// The longest exchange before the first that carries clearly less than the best one, and the first
/// that does.
pub(super) fn limit(line: &[&Run<'_>]) -> (Option<u32>, Option<u32>) {
    let best = line.iter().position(|run| run.bandwidth().value >= peak(line)).unwrap_or(0);
    let falls = |run: &&&Run<'_>| run.bandwidth().value < NEARLY * peak(line);
    let first = line[best..].iter().find(falls).map(|run| run.packets);
    let last = line.iter().map(|run| run.packets);
    let last = last.filter(|&packets| first.is_none_or(|first| packets < first)).max();
    (last, first)
}
