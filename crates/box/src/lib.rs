//! A cluster in a box: hosts with several NICs, on one Linux machine, out of private namespaces.
//!
//! A [`Spec`] says which hosts there are, which rails join them, and what happens to these in time.
//! [`Cluster::start`] makes them, without root: a network, a mount table, a host name, shared
//! memory and processes of its own for each host; veth pairs, bridges, token buckets and queues by
//! netlink for the rails. [`Cluster::spawn`] runs a program on a host. When the cluster is dropped,
//! or its maker ends in whatever way, all of it is gone.
//!
//! ```no_run
//! # #[cfg(target_os = "linux")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use crosstie_box::{Cluster, Command, Spec};
//! let spec: Spec = toml::from_str("hosts = 2\n[[rail]]\nrate = '1 Gbit/s'")?;
//! let cluster = Cluster::start(&spec)?;
//! let program = cluster.spawn(0, &Command::new(["ping", "-c", "1", "host1"]))?;
//! assert!(program.wait()?.success());
//! # Ok(())
//! # }
//! # #[cfg(not(target_os = "linux"))]
//! # fn main() {}
//! ```
//!
//! | file | is |
//! |---|---|
//! | `spec` | the box as a file describes it, and whether it is sound |
//! | `linux/cluster` | the box as its maker sees it: hosts, rails, changes, counters |
//! | `linux/keeper` | the process that holds the box: namespaces, and the first process of each host |
//! | `linux/host` | the first process of a host: what a host has of its own, and programs on it |
//! | `linux/program` | a program on a host, from outside or from another host |
//! | `linux/ranks` | the ranks of a job on the hosts |
//! | `linux/request` | how a program is asked for |
//! | `linux/passing` | messages with open files |
//! | `linux/netlink`, `linux/shaper` | links, addresses, queues |
//! | `linux/timetable` | events, each at its time |
//! | `linux/trace` | what the rails carry, ten times a second |
//! | `linux/permission` | what this machine allows |
//! | `linux/error` | what could not be made, and what would allow it |

#[cfg(target_os = "linux")]
mod linux;
mod sample;
mod spec;

#[cfg(target_os = "linux")]
pub use linux::{
    Applied, BoxError, Cluster, Command, Ending, Finding, Options, Program, RanksError, Timetable,
    Trace, here, permissions, take_terminal,
};
pub use sample::{End, Happening, Sample};
pub use spec::{
    Change, Event, Hosts, MOST_HOSTS, MOST_RAILS, Named, Occurrence, Rail, Shape, Spec,
};
