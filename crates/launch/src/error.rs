//! Why a job cannot be joined, or why its ranks cannot find each other.

use std::io;
use std::time::Duration;

use super::MOST_RANKS;
use super::line::shown;
use super::pieces::LONGEST;

/// What went wrong between a rank and its launcher.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A variable of the environment says something that it cannot.
    #[error("found {variable}={found} in the environment, expected {expected}")]
    Variable {
        /// Its name.
        variable: &'static str,
        /// What it says.
        found: String,
        /// What it may say.
        expected: String,
    },
    /// A variable is missing beside another one.
    #[error(
        "found {beside} in the environment, but not {variable}\nhelp: launchers set both; pass on both, or none"
    )]
    Missing {
        /// The one that is missing.
        variable: &'static str,
        /// The one that is there.
        beside: &'static str,
    },
    /// A launcher has started several processes, and tells them nothing that is understood here:
    /// each would take itself for a job of its own.
    #[error(
        "found {variable}={found} in the environment, but nothing that tells how to reach the other processes\n\
         help: start them by {by}, or take {variable} out of the environment"
    )]
    Mute {
        /// The variable that tells of them.
        variable: &'static str,
        /// What it says.
        found: String,
        /// How they are to be started.
        by: &'static str,
    },
    /// The socket that the launcher should have opened is not open.
    #[error(
        "descriptor {number} of PMI_FD is no open socket: {cause}\n\
         help: something between the launcher and this program has closed it; start the program by the launcher itself"
    )]
    NotOpen {
        /// Its number.
        number: i32,
        /// What the kernel says.
        cause: io::Error,
    },
    /// The launcher cannot be reached where it should be.
    #[error("cannot reach the launcher at {address} (PMI_PORT): {cause}")]
    Unreachable {
        /// Where it should be.
        address: String,
        /// What the kernel says.
        cause: io::Error,
    },
    /// The connection broke.
    #[error("cannot {doing}: the connection to the launcher broke: {cause}")]
    Broken {
        /// What was to be done.
        doing: String,
        /// What the kernel says.
        cause: io::Error,
    },
    /// The launcher has closed the connection.
    #[error("cannot {doing}: the launcher has closed the connection")]
    Gone {
        /// What was to be done.
        doing: String,
    },
    /// The launcher does not answer.
    #[error(
        "cannot {doing}: no answer from the launcher for {} s\n\
         help: a rank that has ended or hangs keeps the others waiting; CROSSTIE_TIMEOUT sets for how long",
        waited.as_secs_f64()
    )]
    Silent {
        /// What was to be done.
        doing: String,
        /// For how long it was waited for.
        waited: Duration,
    },
    /// The launcher says what it should not.
    #[error("cannot {doing}: the launcher said `{found}`, expected {expected}")]
    Nonsense {
        /// What was to be done.
        doing: String,
        /// What it said, as it can be shown.
        found: String,
        /// What it should have said.
        expected: String,
    },
    /// The launcher refuses.
    #[error("cannot {doing}: the launcher refuses: {reason}")]
    Refused {
        /// What was to be done.
        doing: String,
        /// Its reason, as it can be shown.
        reason: String,
    },
    /// A rank has put nothing under a name, as far as the launcher knows.
    #[error(
        "rank {rank} has put no `{name}` that the launcher knows of: {reason}\n\
         help: it has to be put before a fence of all ranks, and asked for behind it"
    )]
    Unknown {
        /// The rank.
        rank: usize,
        /// The name.
        name: String,
        /// What the launcher says, as it can be shown.
        reason: String,
    },
    /// The launcher has too little room for names or values.
    #[error(
        "the launcher takes keys of {keys} and values of {values} characters, which is too little"
    )]
    Cramped {
        /// For keys.
        keys: usize,
        /// For values.
        values: usize,
    },
    /// Earlier trouble has left the conversation where nobody can take it up.
    #[error(
        "cannot {doing}: the conversation with the launcher ended in the middle of a request to {before}"
    )]
    Stuck {
        /// What was to be done.
        doing: String,
        /// What was to be done before.
        before: String,
    },
    /// A name that cannot be one.
    #[error("found the name `{name}`, expected 1 to 32 letters of A-Z, a-z, 0-9, `_` and `-`")]
    Name {
        /// The name, as it can be shown.
        name: String,
    },
    /// A name that has been used.
    #[error(
        "`{name}` has been put already; some launchers keep the first value and some the last, so use another name"
    )]
    Again {
        /// The name.
        name: String,
    },
    /// More bytes than one name may have.
    #[error(
        "found {length} bytes for `{name}`, expected {LONGEST} at most\nhelp: send them when ranks are connected"
    )]
    Long {
        /// The name.
        name: String,
        /// How many bytes.
        length: usize,
    },
    /// A rank that the job has not.
    #[error("found rank {rank}, expected one below {size}, the number of ranks")]
    Rank {
        /// The rank.
        rank: usize,
        /// The number of ranks.
        size: usize,
    },
    /// A job with too many ranks.
    #[error("found a job of {size} ranks, expected 1 to {MOST_RANKS}")]
    Size {
        /// The number of ranks.
        size: usize,
    },
    /// The secret was given to some ranks and not to others.
    #[error(
        "CROSSTIE_SECRET is set for {having}, but not for {lacking}\n\
         help: set it for all ranks, or for none"
    )]
    Secret {
        /// Who has it.
        having: String,
        /// Who has not.
        lacking: String,
    },
    /// The system has no random numbers.
    #[error("cannot draw a secret: the system has no random numbers: {cause}")]
    Randomness {
        /// What the system says.
        cause: String,
    },
}

impl StartError {
    /// A variable, and what it should say.
    pub(super) fn variable(
        variable: &'static str,
        found: &str,
        expected: impl Into<String>,
    ) -> StartError {
        StartError::Variable { variable, found: shown(found), expected: expected.into() }
    }
}
