//! A cluster with rails: what a price depends on besides the parameters of a packet.
//!
//! ```
//! use crosstie_model::{Cluster, Parameters, Rail};
//! use crosstie_protocol::PolicyKind;
//!
//! let alike = [Parameters::default(); 2];
//! let cluster = Cluster { policy: PolicyKind::Pull {}, ..Cluster::of_rails(alike) };
//! assert_eq!(cluster.rails[1], Rail { parameters: alike[1], port: 1 });
//! ```

use crate::Parameters;
use crosstie_collective::Overhead;
use crosstie_protocol::message::MessageSpec;
use crosstie_protocol::{Pacing, PolicyKind};
use crosstie_units::{Cost, Rate, Time};

/// The rails of a cluster, and how its ranks use them.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// The rails, at least one.
    pub rails: Vec<Rail>,
    /// By which rule messages take them.
    pub policy: PolicyKind,
    /// How ranks exchange messages; `None`: a message goes to its rails as it is.
    pub messages: Option<Messages>,
    /// What processors take for a message; `None`: no time besides that for packets.
    pub processors: Option<Processors>,
    /// How packets are acknowledged; `None`: they are not, as where nothing is sent again.
    pub acknowledgements: Option<Acknowledgements>,
    /// True if a rank waits until a message has left its node before the next one goes, in the
    /// policies whose NICs send one stripe at a time.
    pub blocking: bool,
}

/// One rail.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rail {
    /// What a packet takes on it.
    pub parameters: Parameters,
    /// The port of its NIC. Rails of one port share its link.
    pub port: u16,
}

/// How ranks exchange messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Messages {
    /// The protocol: the eager limit, FINs, order and credit.
    pub spec: MessageSpec,
    /// Bytes of a header or a control message (RTS, CTS, FIN), beside those of an eager message.
    pub header: u64,
}

/// What processors take for a message \[LogGOPS\].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Processors {
    /// o, O and S.
    pub overhead: Overhead,
    /// The rate of a link, 1 / G: a processor takes no fewer bytes than that off it.
    pub rate: Rate,
}

/// How a receiver acknowledges packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acknowledgements {
    /// It acknowledges one packet in this many at once.
    pub every: u32,
    /// And the first packet after a pause that is longer than this.
    pub after: Time,
}

impl Cluster {
    /// Rails with a port each, which messages take in turn.
    pub fn of_rails(rails: impl IntoIterator<Item = Parameters>) -> Cluster {
        let rail = |(port, parameters)| Rail { parameters, port };
        Cluster {
            rails: (0..).zip(rails).map(rail).collect(),
            policy: PolicyKind::default(),
            messages: None,
            processors: None,
            acknowledgements: None,
            blocking: false,
        }
    }

    /// The parameters of the first rail.
    ///
    /// # Panics
    /// If there is no rail.
    pub fn first(&self) -> &Parameters {
        &self.rails[0].parameters
    }

    /// Returns true if it is no more than the parameters of one rail: messages go as they are.
    pub fn is_plain(&self) -> bool {
        self.rails.len() == 1 && self.messages.is_none() && self.processors.is_none()
    }

    /// The keys of a machine whose effect a price only estimates. Without them it is what frames
    /// take where none waits for others.
    pub fn estimated(&self) -> Vec<&'static str> {
        let several = self.rails.len() > 1;
        let Parameters { send, receive, pickup, .. } = *self.first();
        let commodity = [send, receive, pickup].into_iter().any(|cost| cost != Cost::default());
        let keys = [
            ("channel", self.acknowledgements.is_some()),
            ("policy", several),
            ("node.overhead", self.processors.is_some()),
            ("node.commodity", commodity && (several || self.messages.is_some())),
        ];
        keys.into_iter().filter(|&(_, is_so)| is_so).map(|(key, _)| key).collect()
    }

    /// A rail by its number. Operations may name rails that there are not: those are as the first.
    pub(crate) fn rail(&self, number: u16) -> Rail {
        let first = Rail { port: number, ..self.rails[0] };
        self.rails.get(usize::from(number)).copied().unwrap_or(first)
    }

    /// Returns true if a message waits until the one before has left its node.
    pub(crate) fn waits_to_leave(&self) -> bool {
        self.blocking && self.policy.pacing() == Pacing::Transfers
    }

    /// The same with these changes to the parameters of every rail.
    pub(crate) fn map(&self, change: impl Fn(&Parameters) -> Parameters) -> Cluster {
        let rail = |rail: &Rail| Rail { parameters: change(&rail.parameters), ..*rail };
        Cluster { rails: self.rails.iter().map(rail).collect(), ..self.clone() }
    }
}

impl From<Parameters> for Cluster {
    fn from(parameters: Parameters) -> Cluster {
        Cluster::of_rails([parameters])
    }
}
