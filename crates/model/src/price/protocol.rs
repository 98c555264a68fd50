//! The protocol between ranks: the messengers of `crosstie-protocol`, which simulated and real
//! ranks have too. They say what is sent eagerly and what by rendezvous, and match messages with
//! receives.

use super::engine::Engine;
use super::letter::{Content, Letter};
use super::log::{Cause, NONE};
use crate::cluster::Messages;
use crosstie_collective::{Rank, Step, Tag};
use crosstie_protocol::message::{
    Action, Body, Context, Envelope, Input, MessageSpec, Messenger, RequestId, Tag as Mark,
};
use crosstie_protocol::{Machine, RailSet, RankId};
use std::collections::VecDeque;

/// The messengers of all ranks.
pub(super) struct Protocol {
    messages: Messages,
    messengers: Vec<Messenger>,
    /// Sends of each rank that are under way, and those that wait because that is enough.
    going: Vec<u32>,
    held: Vec<VecDeque<usize>>,
    /// Envelopes posted so far.
    posted: usize,
}

impl Protocol {
    /// Idle messengers.
    pub fn new(messages: Messages, ranks: u32) -> Protocol {
        // No rank is given up on paper.
        let spec = MessageSpec { probe: None, ..messages.spec };
        Protocol {
            messages,
            messengers: (0..ranks).map(|rank| Messenger::new(spec, RankId(rank))).collect(),
            going: vec![0; ranks as usize],
            held: vec![VecDeque::new(); ranks as usize],
            posted: 0,
        }
    }
}

impl Engine<'_> {
    fn between(&mut self) -> &mut Protocol {
        self.protocol.as_mut().expect("ranks have a protocol")
    }

    /// A send of the schedule begins, unless as many are under way as may be.
    pub fn ask_to_send(&mut self, place: usize, most: u32) {
        let rank = self.rank_of(place);
        let protocol = self.between();
        if protocol.going[rank.0 as usize] >= most {
            protocol.held[rank.0 as usize].push_back(place);
            return;
        }
        protocol.going[rank.0 as usize] += 1;
        let Step::Send { to, tag, bytes } = self.schedule.all()[place].step else { return };
        let request = RequestId(place as u64);
        let (to, tag, bytes) = (RankId(to.0), Mark(tag.0), u64::from(bytes));
        let (context, synchronous) = (Context::default(), false);
        let input = Input::Send { request, context, to, tag, bytes, synchronous };
        self.tell_messenger(rank, input, Cause::Operation(place as u32));
    }

    /// A receive of the schedule is posted.
    pub fn ask_to_receive(&mut self, place: usize, from: Option<Rank>, tag: Option<Tag>) {
        let rank = self.rank_of(place);
        let (request, context, room) = (RequestId(place as u64), Context::default(), u64::MAX);
        let (from, tag) = (from.map(|from| RankId(from.0)), tag.map(|tag| Mark(tag.0)));
        let input = Input::Receive { request, context, from, tag, room };
        self.tell_messenger(rank, input, Cause::Operation(place as u32));
    }

    /// A message has been handed to its rails.
    pub fn handed_over(&mut self, number: u32, rails: RailSet) {
        let Content::Envelope { post, .. } = self.letters[number as usize].content else { return };
        let from = self.log.messages[number as usize].from;
        let input = Input::HandedOver { post, rails };
        self.tell_messenger(from, input, Cause::HandedOver(number));
    }

    /// A rank opens what it has received.
    pub fn opened(&mut self, number: u32, to: Rank, from: Rank, envelope: Envelope, payload: u64) {
        let input = Input::Arrived { from: RankId(from.0), envelope, bytes: payload };
        self.tell_messenger(to, input, Cause::Received(number));
    }

    /// The sender of a message knows that it is there.
    pub fn landed(&mut self, number: u32) {
        let Content::Envelope { post, .. } = self.letters[number as usize].content else { return };
        let from = self.log.messages[number as usize].from;
        self.tell_messenger(from, Input::Landed { post }, Cause::Received(number));
    }

    /// Tells a messenger what has happened, and does what it then wants.
    fn tell_messenger(&mut self, rank: Rank, input: Input, cause: Cause) {
        let now = self.now;
        self.between().messengers[rank.0 as usize].handle(now, input);
        let by = if let Cause::Received(number) = cause { number } else { NONE };
        loop {
            let messenger = &mut self.between().messengers[rank.0 as usize];
            let Some(action) = messenger.poll_action(now) else { return };
            match action {
                Action::Post { post, to, envelope, bytes, of, rail, whole } => {
                    let send = of.map_or(NONE, |of| of.0 as u32);
                    let content = Content::Envelope { send, post, envelope, payload: bytes };
                    let protocol = self.between();
                    let header = match envelope.body {
                        Body::Data { .. } => 0,
                        _ => protocol.messages.header,
                    };
                    protocol.posted += 1;
                    let (order, length) = (protocol.posted, (header + bytes).max(1));
                    let nic = rail.map(|rail| rail.0 as u16);
                    let letter =
                        Letter { nic, whole, ..Letter::new(content, length as u32, order) };
                    let number = self.compose(cause, (rank, Rank(to.0)), letter);
                    if send != NONE {
                        self.log.ops[send as usize].message = number;
                    }
                    self.post(number);
                }
                Action::Sent { request } => {
                    let place = request.0 as usize;
                    let number = self.log.ops[place].message;
                    // An eager message is still to be written.
                    match by == NONE && self.takes_processors() {
                        true => self.letters[number as usize].completes = true,
                        false => self.done(place, by),
                    }
                    let protocol = self.between();
                    protocol.going[rank.0 as usize] -= 1;
                    if let Some(next) = protocol.held[rank.0 as usize].pop_front() {
                        self.ask_to_send(next, u32::MAX);
                    }
                }
                Action::Received { request, .. } => self.done(request.0 as usize, by),
                Action::Place { .. } => {}
                Action::Failed { .. } | Action::Left { .. } => {
                    unreachable!("on paper every rank can be reached, and none leaves")
                }
            }
        }
    }

    fn takes_processors(&self) -> bool {
        self.cluster.processors.is_some()
    }
}
