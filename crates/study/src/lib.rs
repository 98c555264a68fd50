//! What to run and what came out: experiment files, and the rows they produce.
//!
//! An experiment is a TOML file. [`Study::load`] checks all of it and expands its sweeps into
//! [`Point`]s, each with a [`Spec`] that is typed and complete; a mistake anywhere is a
//! [`Diagnostic`] with its place in the file. The keys are described in `experiments/README.md`.
//!
//! Results are [`Row`]s, one per point. A [`Store`] writes them to a folder as points finish, and a
//! [`ResultSet`] reads the folder again. This crate knows nothing of the simulator between the two.
//! What a paper claims about such results is read by [`paper`]. A file that describes hosts and
//! rails to be made on this machine is read by [`box_file`]; what its rails carried is kept by
//! [`trace`].
//!
//! ```
//! let study = crosstie_study::Study::parse("example", r#"
//!     title = "Two routings on a tree of 64 hosts"
//!     seed = 1
//!     fabric.tree = {k = 4, n = 3}
//!     traffic.size.fixed.size = "64 B"
//!     [sweep.product]
//!     routing = ["tree-adaptive", "tree-deterministic"]
//!     traffic.load = [0.1, 0.2, 0.3]
//! "#).unwrap();
//! assert_eq!(study.points().len(), 6);
//!
//! let mistake = crosstie_study::Study::parse("example", "tittle = 'x'").unwrap_err();
//! assert!(mistake.to_string().contains("did you mean `title`?"));
//! ```

pub mod argument;
pub mod box_file;
mod column;
mod diagnostic;
mod document;
mod earlier;
mod figure;
mod fingerprint;
mod kind;
mod nearest;
pub mod paper;
mod point;
mod results;
mod row;
mod source;
mod spec;
mod study;
mod sweep;
mod table;
pub mod trace;

pub use column::{Column, column, columns};
pub use diagnostic::Diagnostic;
pub use figure::Figure;
pub use fingerprint::Fingerprint;
pub use kind::WorkKind;
pub use nearest::nearest;
pub use point::Point;
pub use results::{
    BufferRow, ChannelRow, ColumnMeaning, HostRow, Meta, RankRow, ResultSet, ResultsError,
    Revision, SideTable, SideTables, Store, TimelineRow,
};
pub use row::{Row, Setting, Status, UnknownStatus};
pub use spec::{
    Arrival, Bus, Capacity, ChannelKind, Circuit, Cluster, Commodity, Competitor, Destination,
    Elan, ElanMemory, ElanPacket, ElanPci, ElanTlb, ElanTports, EvenBus, Fabric, Flow, Forwarding,
    Frame, FrameSwitch, Goal, GoalFile, HandOver, Ideal, InTransit, Irregular, Link, LinkEvent,
    Live, Measure, Memory, Message, Model, Nic, Node, NodeBus, Operation, Overhead, Packet, Pairs,
    Patience, Ping, Placement, PolicyKind, ProfileKind, Rail, Rails, Read, RoutingKind, Saturation,
    ScheduleSpec, Size, Spec, Stream, Switch, TrafficSpec, Tree, Uplink, Work, World,
};
pub use study::Study;
pub use table::{Cell, Head, Line, Sheet, Table};
