//! Applications on raw endpoints: a message is a frame, and nothing is sent again.
//!
//! A send is done when the ring has taken its frame; while the ring is full it is tried again and
//! again. A receive is done when a frame is there. Computing is keeping the processor busy: nobody
//! looks at the socket meanwhile, only between computations. What the work calls now is when it was
//! told of something. What it takes to tell it is part of what it measures: about a tenth of a
//! microsecond each time.

use std::collections::VecDeque;
use std::time::Duration;

use crosstie_units::Time;
use crosstie_wire::raw::{Endpoint, RawError, Written};
use crosstie_work::{Application, Rank, Request, Step, Tag};

use super::super::RankError;
use super::patience::Patience;
use super::{Driver, Played, play};

/// After how long without anything a frame has been lost that somebody waits for.
const LIMIT: Duration = Duration::from_secs(10);

/// Does what an application has this rank do. What frames carry has no meaning. A rank that does
/// not take part has finished at once.
pub fn on_frames(
    endpoint: &mut Endpoint,
    application: &mut dyn Application,
) -> Result<Played, RankError> {
    let ranks = application.ranks();
    let rank = Rank(endpoint.rank() as u32);
    if !ranks.contains(&rank) {
        return Ok(Played::default());
    }
    let beside = ranks.iter().filter(|rank| endpoint.is_beside(rank.0 as usize)).count();
    let mut driver = Frames {
        patience: Patience::new(beside),
        load: vec![0x5a; endpoint.longest()],
        endpoint,
        sends: VecDeque::new(),
        receives: Vec::new(),
        computing: VecDeque::new(),
    };
    play(&mut driver, rank, application)
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

struct Frames<'a> {
    endpoint: &'a mut Endpoint,
    sends: VecDeque<Send>,
    receives: Vec<Receive>,
    computing: VecDeque<(Request, Time)>,
    load: Vec<u8>,
    patience: Patience,
}

impl Driver for Frames<'_> {
    fn now(&self) -> Time {
        self.endpoint.now()
    }

    fn begin(&mut self, request: Request, step: Step) -> Result<(), RankError> {
        match step {
            Step::Send { to, tag, bytes } => {
                if bytes as usize > self.load.len() {
                    let (found, longest) = (bytes as usize, self.load.len());
                    return Err(RawError::Long { found, longest }.into());
                }
                self.sends.push_back(Send { request, to, tag, bytes });
            }
            Step::Receive { from, tag, .. } => self.receives.push(Receive { request, from, tag }),
            Step::Get { .. } => return Err(RankError::NoGet),
            Step::Cast { .. } => return Err(RankError::NoCast),
            Step::Compute { time } => self.computing.push_back((request, time)),
        }
        Ok(())
    }

    fn next_done(&mut self, until: Option<Time>) -> Result<Option<Request>, RankError> {
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
            if until.is_none() && *since.get_or_insert(now) + LIMIT.into() < now {
                return Err(self.stuck());
            }
            // The ring does not tell when it has room, and soon has.
            if self.sends.is_empty() {
                let listens = !self.receives.is_empty();
                self.patience.pass(now, until, listens, self.endpoint);
            } else {
                self.patience.hurry(now);
            }
        }
    }
}

impl Frames<'_> {
    /// Writes the next frame, if there is room.
    fn send(&mut self) -> Result<Option<Request>, RankError> {
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
    fn receive(&mut self) -> Result<Option<Request>, RankError> {
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

    fn stuck(&self) -> RankError {
        let what = match (self.sends.front(), self.receives.first()) {
            (Some(Send { to, .. }), _) => format!("room in the ring for a frame to rank {}", to.0),
            (None, Some(Receive { from: Some(from), .. })) => format!("a frame of rank {}", from.0),
            (None, Some(_)) => "a frame of any rank".to_owned(),
            (None, None) => "nothing".to_owned(),
        };
        RankError::Stuck { rank: self.endpoint.rank(), what, waited: LIMIT }
    }
}
