//! One collective operation of one rank, from its begin to its end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crosstie_collective::{Access, Instruction, OpId, Progress, Run, When};
use crosstie_protocol::message::Class;

use super::header::{self, GREETING, HEADER, Header, SHORT};
use super::memory::{Combine, Memory};
use super::script::Script;
use super::{Contradiction, PlayKey, Underway, What};
use crate::comm::{Comm, CommError};
use crate::lent::{Lent, LentMut};
use crate::rank::{Failure, Status};

/// A collective operation in flight.
pub(super) struct Machine {
    header: Header,
    script: Arc<Script>,
    progress: Progress,
    memory: Memory,
    combine: Option<Combine<'static>>,
    /// Messages that are not in their place yet, and where their blocks begin.
    apart: BTreeMap<OpId, (Vec<u8>, usize)>,
    /// Messages to several ranks that are not sent to all of them.
    several: BTreeMap<OpId, u32>,
    /// Ranks that have been sent a header alone, and ranks that are to send one.
    greeted: BTreeSet<u32>,
    greets: BTreeSet<u32>,
    /// Sends and receives that are not done.
    under_way: usize,
}

// SAFETY: a `Comm` with a machine in flight is borrowed by the caller that lends the memory, so it
// stays on its thread; memory and combination are touched by that thread alone.
#[allow(unsafe_code)]
unsafe impl Send for Machine {}

impl Machine {
    pub fn new(
        header: Header,
        script: Arc<Script>,
        memory: Memory,
        combine: Option<Combine<'static>>,
    ) -> Machine {
        Machine {
            header,
            progress: script.progress.clone(),
            script,
            memory,
            combine,
            apart: BTreeMap::new(),
            several: BTreeMap::new(),
            greeted: BTreeSet::new(),
            greets: BTreeSet::new(),
            under_way: 0,
        }
    }

    /// The part of its number that is in tags.
    pub fn round(&self) -> u32 {
        header::round(self.header.number)
    }

    /// Returns true if it receives messages with this tag from this rank.
    pub fn expects(&self, from: u32, tag: u32) -> bool {
        let Script { program, receives, .. } = &*self.script;
        let is_long = |op: OpId| {
            matches!(program.instruction(op), Instruction::Receive { from: other, .. } if other.0 == from)
                && self.memory.length(program.blocks(op)) > SHORT
        };
        match tag {
            GREETING => program.ops().any(is_long),
            tag => receives.binary_search(&(from, tag)).is_ok(),
        }
    }

    /// How the sender of a message that it does not expect contradicts it.
    pub fn contradicted(&self, message: &[u8]) -> Contradiction {
        match self.header.contradiction(message, message.len(), 0) {
            Some(contradiction @ (Contradiction::Call(_) | Contradiction::Stale)) => contradiction,
            _ => Contradiction::Unexpected { bytes: message.len() },
        }
    }

    /// Starts all that may start. Returns true if all is done.
    pub fn advance(&mut self, comm: &Comm, play: PlayKey) -> Result<bool, CommError> {
        let script = Arc::clone(&self.script);
        while let Some(op) = self.progress.next_ready() {
            for need in script.program.needs(op) {
                if need.when == When::Done {
                    self.settle(need.op);
                }
            }
            self.progress.started(op);
            let blocks = script.program.blocks(op);
            match script.program.instruction(op) {
                Instruction::Send { to, tag } => {
                    self.send(comm, play, op, (to.0, tag.0), blocks)?;
                }
                // Real networks do not fork packets.
                Instruction::Signal { first, last, tag } => {
                    self.several.insert(op, last.0 - first.0 + 1);
                    for to in first.0..=last.0 {
                        self.send(comm, play, op, (to, tag.0), blocks)?;
                    }
                }
                Instruction::Receive { from, tag } => {
                    self.receive(comm, play, op, (from.0, tag.0), blocks)?;
                }
                Instruction::Join | Instruction::Combine => self.progress.done(op),
            }
        }
        let finished = self.progress.is_finished() && self.under_way == 0;
        if finished {
            let left: Vec<OpId> = self.apart.keys().copied().collect();
            left.into_iter().for_each(|op| self.settle(op));
            self.memory.finish();
        }
        Ok(finished)
    }

    #[allow(unsafe_code)] // Lends memory until the message has been sent or taken back.
    fn send(
        &mut self,
        comm: &Comm,
        play: PlayKey,
        op: OpId,
        (to, tag): (u32, u32),
        blocks: &[Run],
    ) -> Result<(), CommError> {
        let bytes = self.memory.length(blocks);
        let mut message = Vec::new();
        let whole = if bytes > SHORT { self.memory.whole(blocks) } else { None };
        if bytes > SHORT && self.greeted.insert(to) {
            let greeting = self.header.write().to_vec();
            self.send_lent(comm, play, (to, GREETING), What::Greeting, greeting, None)?;
        }
        if whole.is_none() {
            message.reserve_exact(bytes + HEADER);
            if bytes <= SHORT {
                message.extend_from_slice(&self.header.write());
            }
            self.memory.collect(blocks, &mut message);
        }
        // SAFETY: the schedule writes no block while it is sent, and the memory is lent until all
        // is done or taken back.
        let lent = whole.map(|whole| unsafe { whole.lend() });
        if self.send_lent(comm, play, (to, tag), What::Send(op), message, lent)? {
            self.sent(op);
        }
        Ok(())
    }

    /// Returns true if it is done at once.
    #[allow(unsafe_code)] // As above.
    fn send_lent(
        &mut self,
        comm: &Comm,
        play: PlayKey,
        (to, tag): (u32, u32),
        what: What,
        message: Vec<u8>,
        lent: Option<Lent>,
    ) -> Result<bool, CommError> {
        // SAFETY: the message is kept where it is until it has been sent or taken back.
        let lent = lent.unwrap_or_else(|| unsafe { Lent::new(&message) });
        let tag = self.header.tag(tag);
        let begun = comm.begin_send(Class::Collective, to as usize, tag, lent)?;
        let is_kept = comm.collectives.keep(begun, Underway { play, what, memory: message });
        self.under_way += usize::from(is_kept);
        Ok(!is_kept)
    }

    #[allow(unsafe_code)] // As above.
    fn receive(
        &mut self,
        comm: &Comm,
        play: PlayKey,
        op: OpId,
        (from, tag): (u32, u32),
        blocks: &[Run],
    ) -> Result<(), CommError> {
        let bytes = self.memory.length(blocks);
        if bytes > SHORT && self.greets.insert(from) {
            let memory = vec![Header::ROOM; HEADER];
            self.receive_lent(comm, play, (from, GREETING), What::Greeted, memory, None)?;
        }
        let stores = self.script.program.access(op) == Access::Store;
        let whole = if bytes > SHORT && stores { self.memory.whole(blocks) } else { None };
        let memory = match whole {
            Some(_) => Vec::new(),
            None => vec![Header::ROOM; bytes + if bytes > SHORT { 0 } else { HEADER }],
        };
        // SAFETY: no code reads a block before it has been received, and the memory is lent until
        // all is done or taken back.
        let lent = whole.map(|whole| unsafe { whole.lend_mut() });
        let what = What::Receive { op, in_place: whole.is_some(), bytes };
        self.receive_lent(comm, play, (from, tag), what, memory, lent)
    }

    #[allow(unsafe_code)] // As above.
    fn receive_lent(
        &mut self,
        comm: &Comm,
        play: PlayKey,
        (from, tag): (u32, u32),
        what: What,
        mut memory: Vec<u8>,
        lent: Option<LentMut>,
    ) -> Result<(), CommError> {
        // SAFETY: the memory is kept where it is until the message is there or taken back.
        let lent = lent.unwrap_or_else(|| unsafe { LentMut::new(&mut memory) });
        let tag = Some(self.header.tag(tag));
        let begun = comm.begin_recv(Class::Collective, Some(from as usize), tag, lent)?;
        comm.collectives.keep(begun, Underway { play, what, memory });
        self.under_way += 1;
        Ok(())
    }

    /// A message has been sent.
    fn sent(&mut self, op: OpId) {
        if let Some(left) = self.several.get_mut(&op) {
            *left -= 1;
            if *left > 0 {
                return;
            }
        }
        self.progress.done(op);
    }

    /// A send or a receive is done.
    pub fn completed(
        &mut self,
        Underway { what, memory, .. }: Underway,
        outcome: Result<Status, Failure>,
    ) -> Result<(), CommError> {
        self.under_way -= 1;
        let (from, bytes) = match (what, outcome) {
            (What::Send(op), Ok(_)) => {
                self.sent(op);
                return Ok(());
            }
            (What::Greeting, Ok(_)) => return Ok(()),
            (_, Ok(Status { from, bytes, .. })) => (from, bytes as usize),
            (_, Err(Failure::Truncated { from, bytes, .. })) => (from, bytes as usize),
            (_, Err(failure)) => return Err(failure.into()),
        };
        let rank = usize::from(from);
        let contradicts = |what: Contradiction| Err(CommError::Disagreement { rank, what });
        match what {
            What::Send(_) | What::Greeting => Ok(()),
            What::Greeted => match self.header.contradiction(&memory, bytes, 0) {
                Some(what) => contradicts(what),
                None => Ok(()),
            },
            What::Receive { op, in_place, bytes: expected } => {
                if expected > SHORT {
                    if bytes != expected {
                        let begin = if in_place { self.begin(op) } else { memory };
                        let what = self.header.contradiction(&begin, bytes, expected);
                        return contradicts(
                            what.unwrap_or(Contradiction::Length { found: bytes, expected }),
                        );
                    }
                    if !in_place {
                        self.keep(op, memory, 0);
                    }
                } else {
                    if let Some(what) = self.header.contradiction(&memory, bytes, expected) {
                        return contradicts(what);
                    }
                    self.keep(op, memory, HEADER);
                }
                self.progress.done(op);
                Ok(())
            }
        }
    }

    /// The first bytes of what was received in its place.
    fn begin(&self, op: OpId) -> Vec<u8> {
        let mut message = Vec::new();
        self.memory.collect(self.script.program.blocks(op), &mut message);
        message.truncate(HEADER);
        message
    }

    /// A message has come; its blocks begin at a place in it.
    fn keep(&mut self, op: OpId, message: Vec<u8>, first: usize) {
        self.apart.insert(op, (message, first));
        if self.script.program.access(op) == Access::Store {
            self.settle(op);
        }
    }

    /// Puts what a receive has taken in its place, or combines it with what is there.
    fn settle(&mut self, op: OpId) {
        let Some((message, first)) = self.apart.remove(&op) else { return };
        let Script { program, .. } = &*self.script;
        let Instruction::Receive { from, .. } = program.instruction(op) else {
            unreachable!("nothing else leaves a message");
        };
        let combines = matches!(program.access(op), Access::Add | Access::Merge);
        // What a lower rank has sent goes in front.
        let in_front = from.0 < self.script.rank;
        let combine = self.combine.as_ref().filter(|_| combines);
        let combine = combine.map(|combine| (combine, in_front));
        self.memory.settle(program.blocks(op), &message[first..], combine);
    }
}
