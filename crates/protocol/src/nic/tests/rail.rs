//! A few NICs on one rail, moved by hand in lock-step.

use std::collections::BTreeMap;

use crate::livelock::Priority;
use crate::nic::{Claim, Nic, Reading, Reply, State, Stimulus, cell};
use crate::{Control, NodeId, PeId};

/// Who decides a contest.
pub(super) type Judge = fn(&Nic, Priority) -> bool;

pub(super) const CLAIM: Claim = Claim { pe: PeId(0), attempt: 1 };

/// NICs by node, and the packets between them.
pub(super) struct Rail {
    pub nics: BTreeMap<u32, Nic>,
    /// Packets under way: from, to, what.
    pub flight: Vec<(u32, u32, Control)>,
    /// All packets ever sent, in words such as "0>1 CTS".
    pub sent: Vec<String>,
    /// Replies to local processes, in words such as "0 lCTS".
    pub replies: Vec<String>,
    judge: Judge,
}

fn word(packet: Control) -> String {
    match packet {
        Control::Rts(priority) => format!("RTS({})", priority.counter),
        other => format!("{other:?}").to_uppercase(),
    }
}

impl Rail {
    pub fn new(counters: &[(u32, i64)], judge: Judge) -> Rail {
        let nic = |&(node, counter)| (node, Nic { counter, ..Nic::new(NodeId(node)) });
        let nics = counters.iter().map(nic).collect();
        Rail { nics, flight: Vec::new(), sent: Vec::new(), replies: Vec::new(), judge }
    }

    pub fn request(&mut self, from: u32, to: u32) {
        self.tell(from, Stimulus::Request { to: NodeId(to), claim: CLAIM });
    }

    pub fn tell(&mut self, node: u32, stimulus: Stimulus) {
        let nic = self.nics.get_mut(&node).expect("the node exists");
        let reaction = nic.handle_as(stimulus, Reading { cell, local_wins: self.judge });
        assert!(!cell(reaction.state, reaction.event).mark.is_violation(), "{reaction:?}");
        if let Some((NodeId(to), packet)) = reaction.remote {
            self.sent.push(format!("{node}>{to} {}", word(packet)));
            self.flight.push((node, to, packet));
        }
        if let Some((_, reply)) = reaction.local {
            let reply = if reply == Reply::Granted { "lCTS" } else { "lNACK" };
            self.replies.push(format!("{node} {reply}"));
        }
    }

    /// Delivers every packet that is under way now, but none that this sends.
    pub fn round(&mut self) {
        for (from, to, packet) in std::mem::take(&mut self.flight) {
            self.tell(to, Stimulus::Packet { from: NodeId(from), packet });
        }
    }

    pub fn states(&self) -> Vec<State> {
        self.nics.values().map(Nic::state).collect()
    }

    pub fn counters(&self) -> Vec<i64> {
        self.nics.values().map(Nic::counter).collect()
    }

    /// Takes what has been sent since the last time.
    pub fn news(&mut self) -> Vec<String> {
        std::mem::take(&mut self.sent)
    }
}
