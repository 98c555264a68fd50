//! Dynamic: both NICs are reserved before data flow [coll, algorithms 4 to 6].
//!
//! A PE asks all free NICs at once. Each asks the NIC of the receiver on its rail, and when all
//! have answered (or its time is over) the PE sends on those that were granted and gives back what
//! it does not need. Without any grant it tries again.
//!
//! PEs that wait for a free NIC stand in line. A NIC that becomes free, for whatever reason, is
//! given to the first in line together with all others that are free; a PE whose attempt has
//! failed goes to the end. So a retry never comes sooner than an answer from the network.
//!
//! Where the node outlives its rails, an agreement ends with the way on which it was made: each
//! side dissolves it for itself, and what one of them still says of it later is known to be late,
//! because it comes from nobody that the NIC deals with. What was under way goes again without
//! any agreement. As long as there is one, its words are repeated now and then, since only who is
//! spoken to is seen to be dead.

use std::collections::VecDeque;

use crosstie_units::Time;

use super::Policy;
use super::attempt::{Attempt, Timeout};
use crate::nic::{Claim, Nic, Reply, State, Stimulus, Tally};
use crate::{
    Control, Dispatch, NodeId, NodeSpec, Parcel, Patience, PeId, RailId, RailSet, StripingRatio,
    Turn, split,
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
    /// What each NIC has said last to make an agreement: its request and its grant. Kept where the
    /// node outlives its rails.
    words: Vec<[Option<Word>; 2]>,
    /// When they are repeated.
    reminder: Option<Time>,
    tally: Tally,
}

/// Something that was said to another node.
#[derive(Debug, Clone, Copy)]
struct Word {
    to: NodeId,
    packet: Control,
    serial: u64,
}

/// How often words are repeated before who does not hear them is given up.
const REMINDERS: u64 = 8;

fn next_reminder(now: Time, patience: Patience) -> Time {
    now + Time::from_ps(patience.give_up.ps() / REMINDERS)
}

impl Dynamic {
    /// The policy of one node. The ratio says how many of the granted rails a message takes, the
    /// time-out how long a PE waits for answers before it makes do with those it has (`None`: as
    /// long as it takes); it doubles each time there are none.
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
            words: vec![[None; 2]; spec.rails as usize],
            reminder: None,
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
            let serial = dispatch.control(rail, to, packet);
            let place = match packet {
                Control::Rts(_) => Some(0),
                Control::Cts => Some(1),
                Control::Abort | Control::Ack | Control::Nack => None,
            };
            if let Some((place, patience)) = place.zip(dispatch.patience()) {
                self.words[rail.0 as usize][place] = Some(Word { to, packet, serial });
                self.reminder.get_or_insert(next_reminder(dispatch.now(), patience));
            }
        }
        reaction.local
    }

    /// Repeats the words of agreements that stand, on ways that live.
    fn remind(&mut self, dispatch: &mut Dispatch) {
        let Some(patience) = dispatch.patience() else { return };
        self.reminder = None;
        for (rail, nic) in (0..).map(RailId).zip(&self.nics) {
            let partners = [nic.asks(), nic.granted_to()];
            for (word, partner) in self.words[rail.0 as usize].iter().zip(partners) {
                let Some(Word { to, packet, serial }) = *word else { continue };
                if partner == Some(to) && dispatch.up_to(to).contains(rail) {
                    dispatch.repeat(rail, to, packet, serial);
                }
            }
        }
        if self.is_free() != dispatch.rails() {
            self.reminder = Some(next_reminder(dispatch.now(), patience));
        }
    }

    /// Whether a NIC deals with a node in such a way that this can be meant.
    fn concerns(&self, rail: RailId, from: NodeId, packet: Control) -> bool {
        let nic = &self.nics[rail.0 as usize];
        let asks = nic.asks() == Some(from);
        match packet {
            Control::Rts(_) => true,
            Control::Abort => nic.granted_to() == Some(from),
            Control::Ack => asks && nic.state() == State::Sending,
            Control::Cts | Control::Nack => asks && nic.state() != State::Sending,
        }
    }

    /// Whether a control packet is about an agreement that was dissolved, or that cannot stand. Who
    /// waits for an answer has one.
    fn is_late(
        &self,
        rail: RailId,
        from: NodeId,
        packet: Control,
        dispatch: &mut Dispatch,
    ) -> bool {
        let late = !self.concerns(rail, from, packet);
        match packet {
            // Who has granted us something waits for us.
            Control::Cts if late && self.nics[rail.0 as usize].asks() != Some(from) => {
                dispatch.control(rail, from, Control::Abort);
            }
            // Nothing is agreed on a way that is dead on this side.
            Control::Rts(_) if !dispatch.up_to(from).contains(rail) => {
                dispatch.control(rail, from, Control::Nack);
                return true;
            }
            _ => {}
        }
        late
    }

    /// Puts those in line in line again: what they had to send may wait for a way now, or have
    /// found one.
    fn line_up_again(&mut self, dispatch: &mut Dispatch) {
        let waiting = std::mem::take(&mut self.waiting);
        waiting.into_iter().for_each(|pe| self.line_up(pe, dispatch));
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

    /// Lets the first PE in line ask all free NICs, as far as they have a way to its receiver.
    fn begin(&mut self, dispatch: &mut Dispatch) {
        let free = self.is_free().and(dispatch.up());
        if free.is_empty() {
            return;
        }
        let to = |pe: PeId| dispatch.head(pe).expect("a PE in line has a message").to;
        let goes = |&pe: &PeId| !free.and(dispatch.up_to(to(pe))).is_empty();
        let Some(place) = self.waiting.iter().position(goes) else { return };
        let pe = self.waiting.remove(place).expect("it is in line");
        let to = to(pe);
        let free = free.and(dispatch.up_to(to));
        self.begun += 1;
        let claim = Claim { pe, attempt: self.begun };
        for rail in free.iter() {
            self.tell(rail, Stimulus::Request { to, claim }, dispatch);
        }
        self.attempts[pe.0 as usize] = Some(Attempt {
            number: self.begun,
            to,
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
        let granted = attempt.granted.and(dispatch.up_to(attempt.to));
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
        // Where ways die and come back it is said of everybody.
        if self.attempts[pe.0 as usize].is_none() && !self.waiting.contains(&pe) {
            self.line_up(pe, dispatch);
        }
        self.begin(dispatch);
    }

    fn control(&mut self, rail: RailId, from: NodeId, packet: Control, dispatch: &mut Dispatch) {
        if dispatch.outlives_rails() && self.is_late(rail, from, packet, dispatch) {
            return;
        }
        let stimulus = Stimulus::Packet { from, packet };
        if let Some((claim, reply)) = self.tell(rail, stimulus, dispatch) {
            self.answer(rail, claim, reply, dispatch);
        }
        self.begin(dispatch);
    }

    fn arrived(&mut self, parcel: &Parcel, dispatch: &mut Dispatch) {
        if !parcel.reserved {
            return;
        }
        let (rail, from) = (parcel.stripe.rail, parcel.from);
        let granted = self.nics[rail.0 as usize].granted_to();
        if dispatch.outlives_rails() && granted != Some(from) {
            // The agreement was dissolved here, but perhaps not there.
            dispatch.control(rail, from, Control::Ack);
            return;
        }
        self.tell(rail, Stimulus::Delivered, dispatch);
        self.begin(dispatch);
    }

    fn switched(&mut self, rail: RailId, up: bool, dispatch: &mut Dispatch) {
        if up {
            // Some may have something short, which had to wait for a rail.
            self.line_up_again(dispatch);
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

    fn lives(&mut self, to: NodeId, rail: RailId, lives: bool, dispatch: &mut Dispatch) {
        if !lives {
            let nic = &mut self.nics[rail.0 as usize];
            let granted = nic.state() == State::Sending && nic.asks() == Some(to);
            nic.dissolve(to);
            if granted {
                // Should it hear of it, it need not wait for us.
                dispatch.control(rail, to, Control::Abort);
            }
            for pe in dispatch.pes() {
                let Some(attempt) = &mut self.attempts[pe.0 as usize] else { continue };
                if attempt.to != to {
                    continue;
                }
                attempt.pending.remove(rail);
                attempt.granted.remove(rail);
                if dispatch.head(pe).is_none_or(|head| head.to != to) {
                    // There is no way at all: the message waits apart.
                    let attempt = self.attempts[pe.0 as usize].take().expect("it is under way");
                    for rail in attempt.granted.iter() {
                        self.tell(rail, Stimulus::Abort, dispatch);
                    }
                } else if attempt.pending.is_empty() {
                    self.conclude(pe, dispatch);
                }
            }
        }
        self.line_up_again(dispatch);
        self.begin(dispatch);
    }

    fn forget(&mut self, peer: NodeId, _dispatch: &Dispatch) {
        self.nics.iter_mut().for_each(|nic| nic.dissolve(peer));
        for attempt in &mut self.attempts {
            attempt.take_if(|attempt| attempt.to == peer);
        }
    }

    fn timeout(&mut self, dispatch: &mut Dispatch) {
        let now = dispatch.now();
        if self.reminder.is_some_and(|at| at <= now) {
            self.remind(dispatch);
        }
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
        let attempts = self.attempts.iter().flatten().filter_map(|attempt| attempt.deadline);
        attempts.chain(self.reminder).min()
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
