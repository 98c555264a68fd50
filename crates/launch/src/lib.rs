//! Launching: how the ranks of a job are started, and how they find each other.
//!
//! A rank calls [`Job::join`]. Whoever started it has left a hint in its environment:
//! `mpiexec.hydra`, `srun --mpi=pmi2` and [`Launcher`] do, in the same way. Through the launcher
//! ranks tell each other a few bytes ([`Job::exchange`]), such as addresses, and a secret
//! ([`Job::secret`]). A process that nobody launched is a job of one rank.
//!
//! ```no_run
//! # fn main() -> Result<(), crosstie_launch::StartError> {
//! use crosstie_launch::Job;
//! let mut job = Job::join()?;
//! let greetings = job.exchange(format!("I am {}", job.rank()).as_bytes())?;
//! assert_eq!(greetings.len(), job.size());
//! job.finish()
//! # }
//! ```
//!
//! The protocol is PMI-1: lines of text such as `cmd=put kvsname=job key=a value=1`, one request
//! and one answer at a time. Both sides are machines without IO, [`Server`] and the client below
//! [`Job`]; they are told bytes and lines, and say some. What comes from the other side is not
//! trusted: lines and tables are bounded, and whoever talks nonsense is told so or left.
//!
//! | launcher | what it leaves in the environment |
//! |---|---|
//! | `crosstie launch`, `mpiexec.hydra` | `PMI_FD`, an open socket, with `PMI_RANK` and `PMI_SIZE` |
//! | `srun --mpi=pmi2` | the same. Its plug-in is named for PMI-2, but takes the protocol from the first line of a rank, and speaks PMI-1 to those that ask for it |
//! | `mpiexec.hydra -pmi-port` | `PMI_PORT`, where to connect to, and `PMI_ID` |
//!
//! `CROSSTIE_TIMEOUT` (`60 s` unless set) is how long a rank waits for any answer; at a fence, for
//! the slowest rank.
//!
//! | file | is |
//! |---|---|
//! | `job` | a job as one of its ranks sees it |
//! | `client` | the machine below it: wishes become requests, answers are checked |
//! | `environment` | what the launcher has left in the environment |
//! | `link` | the connection to the launcher, with deadlines |
//! | `secret` | what only the ranks of a job know |
//! | `server` | the machine that answers ranks, with the key-value store |
//! | `serve` | sockets for it |
//! | `launcher` | a program that is to be started as several ranks, found and checked |
//! | `group` | the process group: ranks that run, until all have ended |
//! | `supervisor` | the process between a launcher and its ranks, with which all of them end |
//! | `process` | what becomes of a process between `fork` and `exec`; boxes use it too |
//! | `descendants` | processes below a process, and their end |
//! | `ending` | how ranks end |
//! | `line`, `inbox` | a line of the protocol; lines out of bytes |
//! | `pieces`, `base64` | bytes of any length as values of the protocol |
//! | `error` | why a job cannot be joined |

mod base64;
mod client;
#[cfg(target_os = "linux")]
mod descendants;
#[cfg(unix)]
mod ending;
mod environment;
mod error;
#[cfg(any(test, feature = "fuzz"))]
#[doc(hidden)]
pub mod fuzz;
#[cfg(unix)]
mod group;
mod inbox;
mod job;
#[cfg(unix)]
mod launcher;
mod line;
mod link;
mod pieces;
#[cfg(unix)]
pub mod process;
mod secret;
#[cfg(unix)]
mod serve;
mod server;
#[cfg(unix)]
mod supervisor;

#[cfg(target_os = "linux")]
pub use descendants::kill_with_descendants;
#[cfg(unix)]
pub use ending::Ending;
pub use error::StartError;
#[cfg(unix)]
pub use group::{Ender, Failure, Outcome, ProcessGroup, RankEnd};
pub use job::{Aborter, Job};
#[cfg(unix)]
pub use launcher::{LaunchError, Launcher};
pub use pieces::LONGEST;
pub use secret::Secret;
#[cfg(unix)]
pub use serve::Served;
pub use server::{Event, Server};

/// The most ranks of a job.
pub const MOST_RANKS: usize = 1 << 16;
