//! From schedule to text.

use crate::{Op, Rank, Schedule, Step, Tag, When};
use std::fmt::{self, Display, Formatter};

/// A schedule that displays itself as text.
#[derive(Debug, Clone, Copy)]
pub struct Written<'a>(&'a Schedule);

/// Writes a schedule, so that it reads back as an equal one.
///
/// Computations are written in whole nanoseconds, rounded up. There is no word for a bound on
/// outstanding sends, nor for some messages that name their rail beside others that do not: those
/// are read as rail 0.
pub fn write(schedule: &Schedule) -> Written<'_> {
    Written(schedule)
}

impl Display for Written<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let schedule = self.0;
        writeln!(f, "num_ranks {}", schedule.ranks())?;
        for rank in (0..schedule.ranks()).map(Rank) {
            let places = schedule.places(rank);
            if places.is_empty() {
                continue;
            }
            writeln!(f, "rank {} {{", rank.0)?;
            // Both labels of a dependency must stand above it: what waits for something that
            // follows says so in the end.
            let late = |op: usize| {
                schedule.needs(places.start + op).iter().any(|need| need.op.0 as usize > op)
            };
            for (op, what) in schedule.ops(rank).iter().enumerate() {
                write!(f, "l{}: ", op + 1)?;
                operation(f, what)?;
                if !late(op) {
                    dependencies(f, schedule, rank, op)?;
                }
            }
            for op in (0..places.len()).filter(|&op| late(op)) {
                dependencies(f, schedule, rank, op)?;
            }
            writeln!(f, "}}")?;
        }
        Ok(())
    }
}

fn operation(f: &mut Formatter<'_>, op: &Op) -> fmt::Result {
    let tag = match op.step {
        Step::Send { to, tag, bytes } => {
            write!(f, "send {bytes}b to {}", to.0)?;
            Some(tag)
        }
        Step::Receive { from, tag, bytes } => {
            write!(f, "recv {bytes}b from ")?;
            match from {
                Some(from) => write!(f, "{}", from.0)?,
                None => write!(f, "-1")?,
            }
            tag
        }
        Step::Get { from, bytes } => {
            write!(f, "get {bytes}b from {}", from.0)?;
            Some(Tag(0))
        }
        Step::Compute { time } => {
            write!(f, "calc {}", time.ps().div_ceil(1000))?;
            Some(Tag(0))
        }
    };
    match tag {
        Some(Tag(0)) => {}
        Some(Tag(tag)) => write!(f, " tag {tag}")?,
        None => write!(f, " tag -1")?,
    }
    if op.cpu > 0 {
        write!(f, " cpu {}", op.cpu)?;
    }
    match (op.nic, op.step) {
        (Some(nic), Step::Send { .. } | Step::Receive { .. } | Step::Get { .. }) => {
            writeln!(f, " nic {nic}")
        }
        _ => writeln!(f),
    }
}

fn dependencies(f: &mut Formatter<'_>, schedule: &Schedule, rank: Rank, op: usize) -> fmt::Result {
    for need in schedule.needs(schedule.places(rank).start + op) {
        let word = match need.when {
            When::Done => "requires",
            When::Started => "irequires",
        };
        writeln!(f, "l{} {word} l{}", op + 1, need.op.0 + 1)?;
    }
    Ok(())
}
