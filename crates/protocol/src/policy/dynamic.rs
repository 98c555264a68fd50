//! Dynamic: both NICs are reserved before data flow [coll, algorithms 4 to 6].
//!
//! A PE asks all free NICs at once. Each asks the NIC of the receiver on its rail, and when all have
//! answered (or its time is over) the PE sends on those that were granted and gives back what it
//! does not need. Without any grant it tries again.
//!
//! PEs that wait for a free NIC stand in line. A NIC that becomes free, for whatever reason, is
//! given to the first in line together with all others that are free; a PE whose attempt has
//! failed goes to the end. So a retry never comes sooner than an answer from the network.

use std::collections::VecDeque;

use crosstie_units::Time;

use super::Policy;
use super::attempt::{Attempt, Timeout};
use crate::nic::{Claim, Nic, Reply, State, Stimulus, Tally};
use crate::{
    Control, Dispatch, NodeId, NodeSpec, Parcel, PeId, RailId, RailSet, StripingRatio, Turn, split,
};

/// The PE processes and the NIC processes of a node.
#[derive(Debug)]
pub struct Dynamic {
    ratio: StripingRatio,
    /// Messages of fewer bytes go without reservation: 0 unless hybrid.
    pub(super) threshold: u64,
    nics: Vec<Nic>,
    /// The attempt under way of each PE.
    attempts: Vec<Option<Attempt>>,
    timeouts: Vec<Timeout>,
    /// Attempts begun.
    begun: u64,
    pub(super) turn: Turn,
    waiting: VecDeque<PeId>,
    tally: Tally,
}

impl Dynamic {
    /// The policy of one node. The ratio says how many of the granted rails a message takes, the
    /// time-out how long a PE waits for answers before it makes do with those it has (`None`: as long
    /// as it takes); it doubles each time there are none.
    pub fn new(spec: &NodeSpec, ratio: StripingRatio, timeout: Option<Time>) -> Dynamic {
        Dynamic {
            ratio,
            threshold: 0,
            nics: vec![Nic::new(spec.id); spec.rails as usize],
            attempts: vec![None; spec.pes as usize],
            timeouts: vec![Timeout::new(timeout); spec.pes as usize],
            begun: 0,
            turn: Turn::default(),
            waiting: VecDeque::new(),
            tally: Tally::default(),
        }
    }

    pub(super) fn is_free(&self) -> RailSet {
        let rails = (0..).map(RailId).zip(&self.nics);
        rails.filter(|(_, nic)| nic.state() == State::Free).map(|(rail, _)| rail).collect()
    }

    /// Tells a NIC something, sends what it sends, and gives back its reply to a PE.
    fn tell(
        &mut self,
        rail: RailId,
        stimulus: Stimulus,
        dispatch: &mut Dispatch,
    ) -> Option<(Option<Claim>, Reply)> {
        let reaction = self.nics[rail.0 as usize].handle(stimulus);
        self.tally.add(reaction.state, reaction.event);
        if let Some((to, packet)) = reaction.remote {
            dispatch.control(rail, to, packet);
        }
        reaction.local
    }

    /// Sends what is short and puts the PE in line for the first message that is not, or for which
    /// no rail is up.
    fn line_up(&mut self, pe: PeId, dispatch: &mut Dispatch) {
        while let Some(head) = dispatch.head(pe) {
            let bytes = head.bytes;
            if bytes >= self.threshold || !self.send_short(pe, bytes, dispatch) {
                self.waiting.push_back(pe);
                return;
            }
        }
    }

    /// Lets the first PE in line ask all free NICs.
    fn begin(&mut self, dispatch: &mut Dispatch) {
        let free = self.is_free().and(dispatch.up());
        if free.is_empty() {
            return;
        }
        let Some(pe) = self.waiting.pop_front() else { return };
        let to = dispatch.head(pe).expect("a PE in line has a message").to;
        self.begun += 1;
        let claim = Claim { pe, attempt: self.begun };
        for rail in free.iter() {
            self.tell(rail, Stimulus::Request { to, claim }, dispatch);
        }
        self.attempts[pe.0 as usize] = Some(Attempt {
            number: self.begun,
            pending: free,
            granted: RailSet::EMPTY,
            deadline: self.timeouts[pe.0 as usize].deadline(dispatch.now()),
        });
    }

    /// A NIC has answered the claim of a PE.
    fn answer(
        &mut self,
        rail: RailId,
        claim: Option<Claim>,
        reply: Reply,
        dispatch: &mut Dispatch,
    ) {
        let current = claim.and_then(|Claim { pe, attempt }| {
            let under_way = self.attempts[pe.0 as usize].as_mut()?;
            (under_way.number == attempt).then_some((pe, under_way))
        });
        match (current, reply) {
            (Some((pe, attempt)), reply) => {
                attempt.pending.remove(rail);
                if reply == Reply::Granted {
                    attempt.granted.insert(rail);
                }
                if attempt.pending.is_empty() {
                    self.conclude(pe, dispatch);
                }
            }
            // Too late: the PE has stopped waiting for it.
            (None, Reply::Granted) => {
                self.tell(rail, Stimulus::Abort, dispatch);
            }
            (None, Reply::Refused) => {}
        }
    }

    /// An attempt is over: sends the message on granted NICs, if there are any.
    fn conclude(&mut self, pe: PeId, dispatch: &mut Dispatch) {
        let attempt = self.attempts[pe.0 as usize].take().expect("the attempt is under way");
        let granted = attempt.granted.and(dispatch.up());
        let &head = dispatch.head(pe).expect("the PE has asked for a message");
        let (bytes, most) = (head.bytes, self.ratio.of_message(granted.len(), &head));
        let selected = self.turn.take(granted, most);
        for rail in attempt.granted.without(selected).iter() {
            self.tell(rail, Stimulus::Abort, dispatch);
        }
        if selected.is_empty() {
            self.waiting.push_back(pe);
            return;
        }
        dispatch.send(pe, split(bytes, selected), true);
        self.timeouts[pe.0 as usize].restore();
        self.line_up(pe, dispatch);
    }
}

impl Policy for Dynamic {
    fn ready(&mut self, pe: PeId, dispatch: &mut Dispatch) {
        self.line_up(pe, dispatch);
        self.begin(dispatch);
    }

    fn control(&mut self, rail: RailId, from: NodeId, packet: Control, dispatch: &mut Dispatch) {
        let stimulus = Stimulus::Packet { from, packet };
        if let Some((claim, reply)) = self.tell(rail, stimulus, dispatch) {
            self.answer(rail, claim, reply, dispatch);
        }
        self.begin(dispatch);
    }

    fn arrived(&mut self, parcel: &Parcel, dispatch: &mut Dispatch) {
        if parcel.reserved {
            self.tell(parcel.stripe.rail, Stimulus::Delivered, dispatch);
            self.begin(dispatch);
        }
    }

    fn switched(&mut self, rail: RailId, up: bool, dispatch: &mut Dispatch) {
        if up {
            // Some may have something short, which had to wait for a rail.
            let waiting = std::mem::take(&mut self.waiting);
            waiting.into_iter().for_each(|pe| self.line_up(pe, dispatch));
        } else {
            // What is late or does not come is not waited for.
            for pe in dispatch.pes() {
                if let Some(attempt) = &mut self.attempts[pe.0 as usize]
                    && attempt.pending.contains(rail)
                {
                    attempt.pending.remove(rail);
                    if attempt.pending.is_empty() {
                        self.conclude(pe, dispatch);
                    }
                }
            }
        }
        self.begin(dispatch);
    }

    fn timeout(&mut self, dispatch: &mut Dispatch) {
        let now = dispatch.now();
        for pe in 0..self.attempts.len() {
            let over = |attempt: &Attempt| attempt.deadline.is_some_and(|end| end <= now);
            if let Some(attempt) = self.attempts[pe].filter(over) {
                if attempt.granted.is_empty() {
                    self.timeouts[pe].double();
                }
                self.conclude(PeId(pe as u32), dispatch);
            }
        }
        self.begin(dispatch);
    }

    fn deadline(&self) -> Option<Time> {
        self.attempts.iter().flatten().filter_map(|attempt| attempt.deadline).min()
    }

    fn free(&self, _dispatch: &Dispatch) -> Option<RailSet> {
        Some(self.is_free())
    }

    fn nics(&self) -> &[Nic] {
        &self.nics
    }

    fn tally(&self) -> Option<&Tally> {
        Some(&self.tally)
    }
}
