//! Work on real ranks, played by messages.

use std::time::Instant;

use crosstie_protocol::message::Tag;
use crosstie_units::Time;
use crosstie_work::{Application, Rank, Request, Step};

use super::{Comm, CommError};
use crate::clock::time;
use crate::rank::RequestKey;
use crosstie_protocol::message::Class;
use crate::lent::{Lent, LentMut};
use crate::play::{self, Played, Player};

/// An operation under way.
struct Underway {
    request: Request,
    what: What,
    /// Where it reads or writes; it stays where it is however this is moved.
    memory: Option<Vec<u8>>,
}

enum What {
    Message(RequestKey),
    Computing(Time),
}

/// Memory for messages, used again and again as in every benchmark.
#[derive(Default)]
struct Memory {
    spare: Vec<Vec<u8>>,
}

impl Memory {
    fn take(&mut self, bytes: usize) -> Vec<u8> {
        let fits = self.spare.iter().position(|spare| spare.len() >= bytes);
        fits.map_or_else(|| vec![0x5a; bytes], |at| self.spare.swap_remove(at))
    }

    fn put(&mut self, memory: Option<Vec<u8>>) {
        self.spare.extend(memory);
    }
}

impl Comm {
    /// Does what an application has this rank do, until it says that the rank has finished. What
    /// messages carry has no meaning.
    pub fn play(&self, application: &mut dyn Application) -> Result<Played, CommError> {
        let begin = Instant::now();
        let mut play = Play { comm: self, begin, under_way: Vec::new(), memory: Memory::default() };
        play::play(&mut play, Rank(self.rank as u32), application)
    }
}

struct Play<'a> {
    comm: &'a Comm,
    begin: Instant,
    under_way: Vec<Underway>,
    memory: Memory,
}

impl Player for Play<'_> {
    type Error = CommError;

    fn now(&self) -> Time {
        time(self.begin.elapsed())
    }

    #[allow(unsafe_code)] // Lends memory that is kept until the engine is done with it.
    fn begin(&mut self, request: Request, step: Step) -> Result<(), CommError> {
        let (what, memory) = match step {
            Step::Get { .. } => return Err(CommError::Get),
            Step::Cast { .. } => return Err(CommError::Cast),
            Step::Compute { time } => (What::Computing(self.now() + time), None),
            Step::Send { to, tag, bytes } => {
                let memory = self.memory.take(bytes as usize);
                // SAFETY: `Underway` keeps it where it is until it is done or taken back.
                let lent = unsafe { Lent::new(&memory[..bytes as usize]) };
                let to = to.0 as usize;
                let key = self.comm.begin_send(Class::Application, to, Tag(tag.0), lent)?.key;
                (What::Message(key), Some(memory))
            }
            Step::Receive { from, tag, bytes } => {
                let mut memory = self.memory.take(bytes as usize);
                // SAFETY: as above.
                let lent = unsafe { LentMut::new(&mut memory[..bytes as usize]) };
                let (from, tag) = (from.map(|from| from.0 as usize), tag.map(|tag| Tag(tag.0)));
                let key = self.comm.begin_recv(Class::Application, from, tag, lent)?.key;
                (What::Message(key), Some(memory))
            }
        };
        self.under_way.push(Underway { request, what, memory });
        Ok(())
    }

    fn next_done(&mut self, until: Option<Time>) -> Result<Option<Request>, CommError> {
        let (under_way, begin) = (&self.under_way, self.begin);
        let is_timed = until.is_some()
            || under_way.iter().any(|under_way| matches!(under_way.what, What::Computing(_)));
        let done = self.comm.until(|engine| {
            let now = if is_timed { time(begin.elapsed()) } else { Time::ZERO };
            let is_done = |under_way: &Underway| match under_way.what {
                What::Message(key) => engine.is_done(key),
                What::Computing(end) => end <= now,
            };
            let done = under_way.iter().position(is_done);
            let late = until.is_some_and(|until| until <= now);
            done.map(Some).or(late.then_some(None))
        })?;
        let Some(done) = done else { return Ok(None) };
        if let What::Message(key) = self.under_way[done].what {
            self.comm.finished(key)?;
        }
        let Underway { request, memory, .. } = self.under_way.swap_remove(done);
        self.memory.put(memory);
        Ok(Some(request))
    }
}

impl Drop for Play<'_> {
    /// After an error nothing that was lent is used any more.
    fn drop(&mut self) {
        let keys = self.under_way.iter().filter_map(|under_way| match under_way.what {
            What::Message(key) => Some(key),
            What::Computing(_) => None,
        });
        self.comm.take_back(&keys.collect::<Vec<_>>());
    }
}
