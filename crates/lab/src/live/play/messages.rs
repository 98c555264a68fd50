//! Applications on the messages of a [`Comm`].

use std::time::{Duration, Instant};

use crosstie_units::Time;
use crosstie_wire::comm::Requests;
use crosstie_wire::{Comm, CommError};
use crosstie_work::{Application, Rank, Request, Step};

use super::super::RankError;
use super::{Driver, Played, play};

/// Does what an application has this rank do. What messages carry has no meaning.
pub fn on_messages(comm: &Comm, application: &mut dyn Application) -> Result<Played, RankError> {
    let mut driver = Messages {
        begin: Instant::now(),
        requests: comm.requests(),
        computing: Vec::new(),
        spare: Vec::new(),
    };
    play(&mut driver, Rank(comm.rank() as u32), application)
}

struct Messages<'a> {
    begin: Instant,
    requests: Requests<'a, Request>,
    /// Computations, and when they end.
    computing: Vec<(Request, Time)>,
    /// Memory for messages, used again and again as in every benchmark.
    spare: Vec<Vec<u8>>,
}

impl Messages<'_> {
    fn memory(&mut self, bytes: usize) -> Vec<u8> {
        let fits = self.spare.iter().position(|spare| spare.len() >= bytes);
        fits.map_or_else(|| vec![0x5a; bytes], |at| self.spare.swap_remove(at))
    }
}

impl Driver for Messages<'_> {
    fn now(&self) -> Time {
        self.begin.elapsed().into()
    }

    fn begin(&mut self, request: Request, step: Step) -> Result<(), RankError> {
        match step {
            Step::Get { .. } => return Err(CommError::Get.into()),
            Step::Cast { .. } => return Err(CommError::Cast.into()),
            Step::Compute { time } => self.computing.push((request, self.now() + time)),
            Step::Send { to, tag, bytes } => {
                let bytes = bytes as usize;
                let memory = self.memory(bytes);
                self.requests.send(request, to.0 as usize, tag.0, memory, bytes)?;
            }
            Step::Receive { from, tag, bytes } => {
                let bytes = bytes as usize;
                let memory = self.memory(bytes);
                let (from, tag) = (from.map(|from| from.0 as usize), tag.map(|tag| tag.0));
                self.requests.recv(request, from, tag, memory, bytes)?;
            }
        }
        Ok(())
    }

    fn next_done(&mut self, until: Option<Time>) -> Result<Option<Request>, RankError> {
        loop {
            let soonest = self.computing.iter().map(|&(_, end)| end).min();
            if let Some(end) = soonest
                && end <= self.now()
                && let Some(at) = self.computing.iter().position(|computing| computing.1 == end)
            {
                return Ok(Some(self.computing.remove(at).0));
            }
            let end = soonest.into_iter().chain(until).min();
            let deadline = end.map(|end| self.begin + Duration::from(end));
            if let Some(done) = self.requests.wait_any(deadline)? {
                self.spare.push(done.memory);
                return Ok(Some(done.token));
            }
            if end.is_none() || until.is_some_and(|until| until <= self.now()) {
                return Ok(None);
            }
        }
    }
}
