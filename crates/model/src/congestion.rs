//! Many flows into one port: what of its rate is left when its buffer overflows [tam, ch. 4].
//!
//! P senders with windows of W packets send to one receiver through a router that keeps B_L packets
//! and drops what comes when it is full. Times are counted in *slots*: g_r, in which the port
//! delivers a full packet.

mod input;
mod output;
mod probe;
mod setting;

pub use input::{Cycle, Period, input_approximate};
pub use output::{Loss, Trace, TraceError};
pub use probe::Burst;
pub use setting::{Timeouts, largest_window, loses, timeouts};

use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a router keeps packets that must wait [tam, 2.2.3].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// At each port where they come in.
    Input,
    /// At each port where they go out.
    Output,
    /// In one memory for all.
    Shared,
}

impl Architecture {
    /// All there are.
    pub const ALL: [Architecture; 3] =
        [Architecture::Input, Architecture::Output, Architecture::Shared];

    /// Its name, as in files.
    pub fn name(self) -> &'static str {
        match self {
            Architecture::Input => "input",
            Architecture::Output => "output",
            Architecture::Shared => "shared",
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
