//! A job as one of its ranks sees it.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::client::{Client, Outcome};
use super::environment::{Environment, Place};
use super::link::{Fault, Link};
use super::{Secret, StartError};

/// A rank's place in its job, and its conversation with the launcher.
///
/// All ranks do the same in the same order: [`Job::fence`], [`Job::exchange`] and [`Job::secret`]
/// wait for all of them. None of them waits for longer than `CROSSTIE_TIMEOUT` for an answer, 60 s
/// unless that is set. After an error that is not the caller's own mistake the conversation cannot
/// be taken up again; [`Job::abort`] still can be tried.
#[derive(Debug)]
pub struct Job {
    client: Client,
    link: Link,
    patience: Duration,
    /// The secret that does not go through the launcher.
    given: Option<Secret>,
    /// The secret, once it is known.
    secret: Option<Secret>,
    /// How often all ranks have exchanged something, which names what they put.
    exchanges: u64,
}

impl Job {
    /// Joins the job that the environment tells of, or one of this rank alone if it tells of none.
    pub fn join() -> Result<Job, StartError> {
        Job::joined_by(|name| std::env::var_os(name))
    }

    /// The same with another environment.
    pub fn joined_by(variable: impl Fn(&str) -> Option<OsString>) -> Result<Job, StartError> {
        let Environment { place, patience, secret } = Environment::read(variable)?;
        let (link, identity, id) = match place {
            Place::Open { number, rank, size } => {
                let link =
                    Link::open(number).map_err(|cause| StartError::NotOpen { number, cause })?;
                (link, Some((rank, size)), None)
            }
            Place::Port { address, id } => {
                let link = Link::connect(&address, patience)
                    .map_err(|cause| StartError::Unreachable { address, cause })?;
                (link, None, Some(id))
            }
            Place::Nowhere => (Link::near(), Some((0, 1)), None),
        };
        let client = Client::new(identity);
        let mut job = Job { client, link, patience, given: secret, secret: None, exchanges: 0 };
        job.client.join(id)?;
        job.converse()?;
        Ok(job)
    }

    /// Whether the environment tells of a job of several ranks, or of one whose size only its
    /// launcher knows.
    pub fn is_told_of() -> Result<bool, StartError> {
        Ok(match Environment::read(|name| std::env::var_os(name))?.place {
            Place::Open { size, .. } => size > 1,
            Place::Port { .. } => true,
            Place::Nowhere => false,
        })
    }

    /// Which rank this is, counted from 0.
    pub fn rank(&self) -> usize {
        self.client.rank()
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.client.size()
    }

    /// How long this rank waits for an answer.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// From now on waits for so long.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Puts some bytes under a name, [`LONGEST`](super::LONGEST) at most, for all ranks to get
    /// behind the next fence. A rank puts each name once: up to 32 letters, digits, `_` and
    /// `-`.
    pub fn put(&mut self, name: &str, bytes: &[u8]) -> Result<(), StartError> {
        self.client.put(name, bytes)?;
        self.converse().map(drop)
    }

    /// Waits until all ranks have come here.
    pub fn fence(&mut self) -> Result<(), StartError> {
        self.client.fence()?;
        self.converse().map(drop)
    }

    /// Gets the bytes that a rank has put under a name before the last fence.
    pub fn get(&mut self, rank: usize, name: &str) -> Result<Vec<u8>, StartError> {
        self.client.get(rank, name)?;
        match self.converse()? {
            Outcome::Bytes(bytes) => Ok(bytes),
            Outcome::Done => Ok(Vec::new()),
        }
    }

    /// Everybody's contribution, by rank.
    pub fn exchange(&mut self, mine: &[u8]) -> Result<Vec<Vec<u8>>, StartError> {
        let name = self.next_name();
        self.put(&name, mine)?;
        self.fence()?;
        // Its own bytes need no way through the launcher.
        let (rank, size) = (self.rank(), self.size());
        let bytes = |other| if other == rank { Ok(mine.to_vec()) } else { self.get(other, &name) };
        (0..size).map(bytes).collect()
    }

    /// What rank 0 has to tell all; the bytes of others count for nothing.
    pub fn broadcast(&mut self, mine: &[u8]) -> Result<Vec<u8>, StartError> {
        let name = self.next_name();
        if self.rank() == 0 {
            self.put(&name, mine)?;
            self.fence()?;
            return Ok(mine.to_vec());
        }
        self.fence()?;
        self.get(0, &name)
    }

    /// The name of what is exchanged next.
    fn next_name(&mut self) -> String {
        let name = format!("exchange-{}", self.exchanges);
        self.exchanges += 1;
        name
    }

    /// How often all ranks have exchanged something, as [`exchange`](Job::exchange) and
    /// [`broadcast`](Job::broadcast) do. All ranks count the same.
    pub fn exchanges(&self) -> u64 {
        self.exchanges
    }

    /// The secret of the job, the same for all ranks and for no other job. The first time, all of
    /// them have to ask.
    ///
    /// Rank 0 draws it and the launcher carries it, in the clear: whoever can read what goes
    /// between the launcher and its ranks can read it. Those are root and the user on one
    /// machine, but with `srun` or `mpiexec` also whoever can read the network between hosts.
    /// Where that is not to be trusted, give all ranks the same 32 hexadecimal digits as
    /// `CROSSTIE_SECRET`, in a way that is; then the launcher never sees it.
    pub fn secret(&mut self) -> Result<Secret, StartError> {
        if let Some(secret) = self.secret {
            return Ok(secret);
        }
        let secret = self.agree_on_a_secret()?;
        Ok(*self.secret.insert(secret))
    }

    fn agree_on_a_secret(&mut self) -> Result<Secret, StartError> {
        const NAME: &str = "secret";
        if self.rank() == 0 {
            // With a secret of its own, it puts nothing in place of it, so that the others see
            // whether all have one.
            let drawn = if self.given.is_some() { None } else { Some(Secret::random()?) };
            self.put(NAME, drawn.as_ref().map_or(&[], |secret| secret.bytes()))?;
            self.fence()?;
            return Ok(self.given.or(drawn).expect("one of both"));
        }
        self.fence()?;
        let carried = self.get(0, NAME)?;
        let (rank, zero) = (format!("rank {}", self.rank()), "rank 0".to_owned());
        match (self.given, carried.as_slice()) {
            (Some(secret), []) => Ok(secret),
            (Some(_), _) => Err(StartError::Secret { having: rank, lacking: zero }),
            (None, []) => Err(StartError::Secret { having: zero, lacking: rank }),
            (None, carried) => match carried.try_into() {
                Ok(bytes) => Ok(Secret::from_bytes(bytes)),
                Err(_) => Err(StartError::Nonsense {
                    doing: "learn the secret of the job".to_owned(),
                    found: format!("{} bytes", carried.len()),
                    expected: format!("{}", Secret::LENGTH),
                }),
            },
        }
    }

    /// Leaves the job in peace. A rank that ends without is one that failed to some launchers.
    pub fn finish(mut self) -> Result<(), StartError> {
        self.client.leave()?;
        self.converse().map(drop)
    }

    /// Asks the launcher to end all ranks, this one too, with an exit code. It need not have done
    /// so when this returns: end the process then. A job of one rank has nobody to ask.
    pub fn abort(mut self, code: i32, message: &str) -> Result<(), StartError> {
        let line = Client::abort_line(code, message);
        let said = self.link.say(&line, Instant::now() + self.patience);
        said.map_err(|fault| self.told(fault, "end all ranks".to_owned()))
    }

    /// What ends all ranks from any thread, also while this one waits for others.
    pub fn aborter(&self) -> Result<Aborter, StartError> {
        let link = self.link.second().map_err(|cause| {
            let doing = "prepare to end all ranks".to_owned();
            StartError::Broken { doing, cause }
        })?;
        Ok(Aborter { link: Arc::new(Mutex::new(link)), patience: self.patience })
    }

    /// Lets the client and the launcher talk until a wish is done.
    fn converse(&mut self) -> Result<Outcome, StartError> {
        loop {
            let doing = self.client.doing();
            let deadline = Instant::now() + self.patience;
            let mut talk = || {
                if let Some(line) = self.client.next_line() {
                    self.link.say(&line, deadline)?;
                }
                self.link.hear(deadline)
            };
            let line = talk().map_err(|fault| self.told(fault, doing))?;
            if let Some(outcome) = self.client.hear(&line)? {
                return Ok(outcome);
            }
        }
    }

    fn told(&self, fault: Fault, doing: String) -> StartError {
        match fault {
            Fault::Closed => StartError::Gone { doing },
            Fault::Late => StartError::Silent { doing, waited: self.patience },
            Fault::Io(cause) => StartError::Broken { doing, cause },
            Fault::Unreadable(found) => StartError::Nonsense {
                doing,
                found: found.to_string(),
                expected: "a line of text".to_owned(),
            },
        }
    }
}

/// Ends all ranks of a job, from any thread.
#[derive(Debug, Clone)]
pub struct Aborter {
    /// A connection to the launcher of its own; `None` if there is none.
    link: Arc<Mutex<Option<Link>>>,
    patience: Duration,
}

impl Aborter {
    /// Asks the launcher to end all ranks with an exit code, and ends this process with it. A job
    /// of one rank has no launcher to ask.
    pub fn abort(&self, code: i32, message: &str) -> ! {
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(link) = &mut *link {
            let line = Client::abort_line(code, message);
            // Without a launcher, the others notice that this rank is gone.
            let _ = link.say(&line, Instant::now() + self.patience);
        }
        std::process::exit(code)
    }
}

#[cfg(test)]
mod tests;
