//! What applications do, as machines without IO.
//!
//! Work is *open-loop* or *closed-loop*. Open-loop [`traffic`] starts messages whether or not the
//! network keeps up. A closed-loop [`Application`] is a machine: told what was received and
//! completed, it says what to send, receive and compute next, and what to write down. [`Ping`] and
//! [`Stream`] are the two that every network is measured with first; a [`Player`] plays any
//! schedule, and a [`Program`] is work that is written as code, such as the microbenchmarks of
//! [`probe`]. A driver plays them on a simulated cluster or on a real one.

mod application;
mod flits;
mod note;
mod ping;
mod player;
pub mod probe;
mod program;
mod stream;
pub mod traffic;
mod workload;

pub use application::{Action, Application, Input, Request};
pub use crosstie_collective::player::Turn;
pub use crosstie_collective::{Op, Rank, Step, Tag};
pub use flits::Flits;
pub use note::Note;
pub use ping::{Ping, PingSpec};
pub use player::{Player, injection};
pub use program::Program;
pub use stream::{ANSWER, Stream, StreamSpec};
pub use workload::Workload;
