//! Work on raw endpoints: a message is a frame, and nothing is sent again.
//!
//! A send is done when the ring has taken its frame; while the ring is full it is tried again and
//! again. A receive is done when a frame is there. Computing is keeping the processor busy: nobody
//! looks at the socket meanwhile, only between computations. What the work calls now is when it was
//! told of something. What it takes to tell it is part of what it measures: about a tenth of a
//! microsecond each time.

use std::collections::VecDeque;
use std::time::Duration;

use crosstie_units::Time;
use crosstie_work::{Application, Rank, Request, Step, Tag};

use super::patience::Patience;
use super::{Endpoint, RawError, Written};
use crate::clock::time;
use crate::play::{self, Played, Player};

/// After how long without anything a frame has been lost that somebody waits for.
const LIMIT: Duration = Duration::from_secs(10);

impl Endpoint {
    /// Does what an application has this rank do, until it says that the rank has finished. What
    /// frames carry has no meaning. A rank that does not take part has finished at once.
    pub fn play(&mut self, application: &mut dyn Application) -> Result<Played, RawError> {
        let ranks = application.ranks();
        let rank = Rank(self.rank.into());
        if !ranks.contains(&rank) {
            return Ok(Played::default());
        }
        let is_beside = |rank: &&Rank| self.beside.get(rank.0 as usize).is_some_and(|&is| is);
        let mut play = Play {
            patience: Patience::new(ranks.iter().filter(is_beside).count()),
            load: vec![0x5a; self.longest],
            endpoint: self,
            sends: VecDeque::new(),
            receives: Vec::new(),
            computing: VecDeque::new(),
        };
        play::play(&mut play, rank, application)
    }
}

struct Send {
    request: Request,
    to: Rank,
    tag: Tag,
    bytes: u32,
}

struct Receive {
    request: Request,
    from: Option<Rank>,
    tag: Option<Tag>,
}

struct Play<'a> {
    endpoint: &'a mut Endpoint,
    sends: VecDeque<Send>,
    receives: Vec<Receive>,
    computing: VecDeque<(Request, Time)>,
    load: Vec<u8>,
    patience: Patience,
}

impl Player for Play<'_> {
    type Error = RawError;

    fn now(&self) -> Time {
        self.endpoint.origin.elapsed()
    }

    fn begin(&mut self, request: Request, step: Step) -> Result<(), RawError> {
        match step {
            Step::Send { to, tag, bytes } => {
                if bytes as usize > self.load.len() {
                    let (found, longest) = (bytes as usize, self.load.len());
                    return Err(RawError::Long { found, longest });
                }
                self.sends.push_back(Send { request, to, tag, bytes });
            }
            Step::Receive { from, tag, .. } => self.receives.push(Receive { request, from, tag }),
            Step::Get { .. } => return Err(RawError::Get),
            Step::Compute { time } => self.computing.push_back((request, time)),
        }
        Ok(())
    }

    fn next_done(&mut self, until: Option<Time>) -> Result<Option<Request>, RawError> {
        self.patience.renew();
        // Since when nothing has come at all, and how much had come then.
        let (mut since, mut came) = (None, self.endpoint.came());
        loop {
            if let Some(request) = self.send()? {
                return Ok(Some(request));
            }
            if let Some(request) = self.receive()? {
                return Ok(Some(request));
            }
            if let Some((request, time)) = self.computing.pop_front() {
                self.compute(time);
                return Ok(Some(request));
            }
            let now = self.now();
            if until.is_some_and(|until| until <= now) {
                return Ok(None);
            }
            if came != self.endpoint.came() {
                (since, came) = (None, self.endpoint.came());
            }
            if until.is_none() && *since.get_or_insert(now) + time(LIMIT) < now {
                return Err(self.stuck());
            }
            // The ring does not tell when it has room, and soon has.
            if self.sends.is_empty() {
                let listens = !self.receives.is_empty();
                self.patience.pass(now, until, listens, &self.endpoint.socket);
            } else {
                self.patience.hurry(now);
            }
        }
    }
}

impl Play<'_> {
    /// Writes the next frame, if there is room.
    fn send(&mut self) -> Result<Option<Request>, RawError> {
        let Some(&Send { request, to, tag, bytes }) = self.sends.front() else { return Ok(None) };
        self.endpoint.bind(to.0 as usize)?;
        match self.endpoint.write_labelled(tag.0, &self.load[..bytes as usize])? {
            Written::RingFull => Ok(None),
            Written::Taken => {
                self.sends.pop_front();
                Ok(Some(request))
            }
        }
    }

    /// Looks for a frame that a receive waits for.
    fn receive(&mut self) -> Result<Option<Request>, RawError> {
        for place in 0..self.receives.len() {
            let Receive { request, from, tag } = self.receives[place];
            let from = from.map(|from| from.0 as usize);
            if self.endpoint.read_of(from, tag.map(|tag| tag.0))?.is_some() {
                self.receives.remove(place);
                return Ok(Some(request));
            }
        }
        Ok(None)
    }

    fn compute(&self, time: Time) {
        let end = self.now() + time;
        while self.now() < end {
            std::hint::spin_loop();
        }
    }

    fn stuck(&self) -> RawError {
        let what = match (self.sends.front(), self.receives.first()) {
            (Some(Send { to, .. }), _) => format!("room in the ring for a frame to rank {}", to.0),
            (None, Some(Receive { from: Some(from), .. })) => format!("a frame of rank {}", from.0),
            (None, Some(_)) => "a frame of any rank".to_owned(),
            (None, None) => "nothing".to_owned(),
        };
        RawError::Stuck { rank: self.endpoint.rank.into(), what, waited: LIMIT }
    }
}
