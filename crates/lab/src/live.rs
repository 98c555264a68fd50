//! Real ranks: the program that this is, started again on the hosts of a box, on this machine or on
//! others.
//!
//! Whoever wants ranks opens a [`Place`] and gives it an [`Assignment`] with a [`Company`]: how
//! many ranks there are, and on which hosts. Every rank is the same executable with the verb
//! `rank`, which does nothing but call [`rank`]. That reads the assignment from the environment,
//! does its part, and [reports](report): rank 0 gathers what all ranks have found, and writes it
//! where [`Place::run`] reads it. Nothing is written to a disk, so nothing is left behind.
//!
//! Where a launcher has started this program as the ranks of a job ([`Standing`]), these are the
//! ranks: rank 0 [leads](Lead), and hands assignments to the others.
//!
//! | file | is |
//! |---|---|
//! | `place` | where ranks run, from their start to what they have found |
//! | `boxed`, `here`, `hydra` | the three kinds of places |
//! | `joined` | the fourth: the job of a launcher that has started all ranks already |
//! | `listening` | what ranks print, within bounds |
//! | `assignment` | what ranks are told to do: a further part is one more arm |
//! | `rank` | a rank from its assignment to its report |
//! | `work` | the part that plays the work of a point |
//! | `play` | how applications are driven on real messages and on raw frames |
//! | `competitor` | somebody else on a rail meanwhile |
//! | `record` | who did what when |
//! | `raw` | the part that plays a microbenchmark on raw endpoints |
//! | `machine` | what a rank finds out about its host |
//! | `load` | what else that did meanwhile |
//! | `plan` | which place and which ranks a point asks for |
//! | `error` | why ranks have found nothing |

mod assignment;
#[cfg(target_os = "linux")]
mod boxed;
mod competitor;
mod error;
#[cfg(unix)]
mod here;
mod hydra;
mod joined;
mod listening;
mod load;
mod machine;
mod place;
mod plan;
mod play;
mod rank;
mod raw;
mod record;
mod work;

pub use assignment::Assignment;
pub use error::{LiveError, RankError};
pub use joined::{Follower, Lead, Standing};
pub use load::disturbance;
pub use place::{Company, Place, why_no_box};
pub use rank::{rank, report};
pub use raw::RawPart;
pub use work::WorkPart;

pub(crate) use load::busy;
pub(crate) use machine::rows as host_rows;
pub(crate) use plan::{Plan, Site};
pub(crate) use raw::RawFound;
pub(crate) use record::{Record, What};
pub(crate) use work::Found;
