//! Kinds of work, and what the results of each consist of.

mod closed_loop;
mod traffic;

use crate::column::Column;
use crate::results::SideTable;
use crate::row::Status;
use crate::spec::{Spec, Work, World};

/// A kind of work. It owns the columns of its rows, the words for how it ends, and the tables
/// beside the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkKind {
    /// Open-loop traffic.
    Traffic,
    /// A message there and one back.
    Ping,
    /// Many messages back to back, then an answer.
    Stream,
    /// Many pairs that send at once.
    Pairs,
    /// Ranks that read the memory of one.
    Read,
    /// A collective operation.
    Collective,
    /// A schedule from a file.
    Goal,
}

impl WorkKind {
    /// All of them, in the order of result files.
    pub const ALL: [WorkKind; 7] = [
        WorkKind::Traffic,
        WorkKind::Ping,
        WorkKind::Stream,
        WorkKind::Pairs,
        WorkKind::Read,
        WorkKind::Collective,
        WorkKind::Goal,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            WorkKind::Traffic => "traffic",
            WorkKind::Ping => "ping",
            WorkKind::Stream => "stream",
            WorkKind::Pairs => "pairs",
            WorkKind::Read => "read",
            WorkKind::Collective => "collective",
            WorkKind::Goal => "goal",
        }
    }

    /// Every column of its rows, in the order of the result files.
    pub fn columns(self) -> &'static [Column] {
        match self {
            WorkKind::Traffic => traffic::COLUMNS,
            WorkKind::Ping => closed_loop::PING,
            WorkKind::Stream => closed_loop::STREAM,
            WorkKind::Pairs | WorkKind::Read | WorkKind::Collective | WorkKind::Goal => {
                closed_loop::SCHEDULE
            }
        }
    }

    /// How its runs may end, the best end first.
    pub fn statuses(self) -> &'static [Status] {
        match self {
            WorkKind::Traffic => traffic::STATUSES,
            _ => closed_loop::STATUSES,
        }
    }

    /// The columns that a terminal shows, each with its head there.
    pub fn shown(self) -> &'static [(&'static str, &'static str)] {
        match self {
            WorkKind::Traffic => traffic::SHOWN,
            WorkKind::Ping => closed_loop::PING_SHOWN,
            WorkKind::Stream => closed_loop::STREAM_SHOWN,
            WorkKind::Pairs | WorkKind::Read | WorkKind::Collective | WorkKind::Goal => {
                closed_loop::SCHEDULE_SHOWN
            }
        }
    }

    /// Those of them that a terminal gives up for want of room, in this order.
    pub fn given_up(self) -> &'static [&'static str] {
        match self {
            WorkKind::Traffic => traffic::GIVEN_UP,
            _ => closed_loop::GIVEN_UP,
        }
    }

    /// The tables that it may have beside its rows.
    pub fn side_tables(self) -> &'static [SideTable] {
        match self {
            WorkKind::Traffic => &[SideTable::Channels],
            WorkKind::Ping | WorkKind::Stream => {
                &[SideTable::Channels, SideTable::Buffers, SideTable::Hosts, SideTable::Ranks]
            }
            WorkKind::Pairs | WorkKind::Read | WorkKind::Collective | WorkKind::Goal => {
                &SideTable::ALL
            }
        }
    }

    /// The kinds among some, each once, in the order of [`WorkKind::ALL`].
    pub fn among(kinds: impl Iterator<Item = WorkKind> + Clone) -> Vec<WorkKind> {
        WorkKind::ALL.into_iter().filter(|kind| kinds.clone().any(|other| other == *kind)).collect()
    }
}

impl Work {
    /// Which kind of work it is.
    pub fn kind(&self) -> WorkKind {
        match self {
            Work::Traffic(_) => WorkKind::Traffic,
            Work::Ping(_) => WorkKind::Ping,
            Work::Stream(_) => WorkKind::Stream,
            Work::Pairs(_) => WorkKind::Pairs,
            Work::Read(_) => WorkKind::Read,
            Work::Collective(_) => WorkKind::Collective,
            Work::Goal(_) => WorkKind::Goal,
        }
    }
}

impl Spec {
    /// Whether its world may know what only some worlds do: what was lost, and what was done about
    /// it, or what a price is spent on.
    pub(crate) fn knows_more(&self) -> bool {
        let by_world = matches!(self.world, World::Frame | World::Model | World::Live);
        let by_events = !self.events.is_empty() || !self.competitors.is_empty();
        let by_nodes = self.node.commodity.is_some() || self.message.is_some();
        by_world || by_events || by_nodes || !self.channel.is_default()
    }

    /// The tables that a point keeps beside its row.
    pub fn side_tables(&self) -> impl Iterator<Item = SideTable> {
        let wanted = |table: &SideTable| match table {
            SideTable::Channels => self.measure.channels,
            SideTable::Buffers => self.world == World::Frame,
            SideTable::Hosts => self.world == World::Live,
            SideTable::Ranks | SideTable::Timeline => true,
        };
        self.work.kind().side_tables().iter().copied().filter(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::{column, columns};

    #[test]
    fn a_name_means_the_same_to_all_kinds() {
        for kind in WorkKind::ALL {
            for ours in kind.columns() {
                assert_eq!(column(ours.name), Some(ours), "{}", kind.name());
            }
        }
    }

    #[test]
    fn what_a_terminal_shows_is_there() {
        for kind in WorkKind::ALL {
            let shown: Vec<&str> = kind.shown().iter().map(|(column, _)| *column).collect();
            assert!(shown.iter().all(|name| kind.columns().iter().any(|c| c.name == *name)));
            assert!(kind.given_up().iter().all(|name| shown.contains(name)), "{}", kind.name());
        }
    }

    #[test]
    fn several_kinds_have_the_columns_of_all_once() {
        let names = |kinds: &[WorkKind]| -> Vec<&str> {
            columns(kinds).into_iter().map(|column| column.name).collect()
        };
        let [traffic, ping, both] = [
            vec![WorkKind::Traffic],
            vec![WorkKind::Ping],
            vec![WorkKind::Traffic, WorkKind::Ping],
        ]
        .map(|kinds| names(&kinds));
        assert_eq!(both, [traffic, ping.clone()].concat());
        assert_eq!(names(&[WorkKind::Ping, WorkKind::Stream]), ping);
    }
}
