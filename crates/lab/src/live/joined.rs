//! The job of a launcher that has started this program several times: rank 0 leads, the others do
//! what it tells them.
//!
//! All ranks of a place are in one job then, point after point: what started a process for each
//! rank elsewhere is a word here that the launcher carries. Whoever fails ends the job, since
//! nobody knows where the others are.

use crosstie_launch::Job;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::place::{Company, Stop};
use super::{Assignment, LiveError, RankError};

/// How often it is looked whether ranks should end.
const LOOK: Duration = Duration::from_millis(20);

/// For as long ranks wait for their leader, who may have much else to do: a launcher that has lost
/// it ends them.
const FOR_EVER: Duration = Duration::from_secs(100_000_000);

/// What a process is in the job of a launcher.
#[derive(Debug)]
pub enum Standing {
    /// Nobody has started it together with others.
    Alone,
    /// It is rank 0.
    Leads(Lead),
    /// It is another.
    Follows(Follower),
}

/// The ranks of a job, in the hands of rank 0. They are told to end when it is dropped.
#[derive(Debug)]
pub struct Lead {
    size: usize,
    hosts: usize,
    /// `None` after something has failed.
    job: Mutex<Option<Job>>,
}

/// A rank that does what rank 0 tells it.
#[derive(Debug)]
pub struct Follower {
    job: Job,
}

/// What rank 0 tells.
#[derive(Serialize, Deserialize)]
enum Word {
    Play { limit: Duration, assignment: Assignment },
    End,
}

impl Standing {
    /// Finds out, and joins the job if there is one.
    ///
    /// # Errors
    /// If the launcher does not answer as it should.
    pub fn find() -> Result<Standing, RankError> {
        if !Job::is_told_of()? {
            return Ok(Standing::Alone);
        }
        let mut job = Job::join()?;
        if job.size() == 1 {
            job.finish()?;
            return Ok(Standing::Alone);
        }
        let machines = job.exchange(crosstie_wire::memory::machine().as_bytes())?;
        let (rank, size) = (job.rank(), job.size());
        job.set_patience(FOR_EVER);
        Ok(match rank {
            0 => {
                let hosts = machines.iter().collect::<BTreeSet<_>>().len();
                Standing::Leads(Lead { size, hosts, job: Mutex::new(Some(job)) })
            }
            _ => Standing::Follows(Follower { job }),
        })
    }
}

impl Lead {
    /// How many ranks there are, this one too.
    pub fn size(&self) -> usize {
        self.size
    }

    /// On how many hosts they are.
    pub fn hosts(&self) -> usize {
        self.hosts
    }

    /// Whether there are so many ranks.
    pub(crate) fn has(&self, ranks: usize) -> Result<(), LiveError> {
        if ranks <= self.size {
            return Ok(());
        }
        let problem = format!(
            "found a launcher's job of {} ranks, expected {ranks} or more, which take part",
            self.size
        );
        Err(LiveError::place(problem, "have the launcher start more, or ask for fewer"))
    }

    /// Has all ranks do something; what they report, or why they were stopped.
    pub(super) fn run(
        &self,
        company: &Company<'_>,
        assignment: &Assignment,
    ) -> Result<Result<Vec<u8>, Stop>, LiveError> {
        self.has(company.hosts.len())?;
        let over = |problem: &dyn ToString| {
            LiveError::place(problem.to_string(), "mend it, and have the launcher start it again")
        };
        let job = self.job.lock().unwrap_or_else(PoisonError::into_inner).take();
        let job = job.ok_or_else(|| over(&"the launcher's job has failed before"))?;
        let word = Word::Play { limit: company.limit, assignment: assignment.clone() };
        let (done, played) = mpsc::channel();
        let begin = Instant::now();
        // On a thread of its own, which is left to itself if it takes too long: then all ends.
        std::thread::spawn(move || {
            let _ = done.send(tell(job, &word).and_then(|job| word.play(job)));
        });
        loop {
            match played.recv_timeout(LOOK) {
                Ok(Ok((job, found))) => {
                    *self.job.lock().unwrap_or_else(PoisonError::into_inner) = Some(job);
                    return Ok(Ok(found.unwrap_or_default()));
                }
                Ok(Err(error)) => return Err(over(&format!("rank 0: {error}"))),
                Err(RecvTimeoutError::Disconnected) => return Err(over(&"rank 0 went wrong")),
                Err(RecvTimeoutError::Timeout) => {}
            }
            match company.stop(begin) {
                Some(Stop::Late) => {
                    let late = LiveError::Late { after: company.limit, said: String::new() };
                    return Err(over(&late));
                }
                Some(stop) => return Ok(Err(stop)),
                None => {}
            }
        }
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        let job = self.job.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // Who cannot be told is ended by the launcher.
        if let Some(Ok(job)) = job.map(|job| tell(job, &Word::End)) {
            let _ = job.finish();
        }
    }
}

impl Follower {
    /// Does what rank 0 tells until that is all.
    ///
    /// # Errors
    /// If this rank cannot do its part. Rank 0 may know why, and should speak first.
    pub fn serve(self) -> Result<(), RankError> {
        let mut job = self.job;
        loop {
            let told = job.broadcast(&[])?;
            let word: Word =
                serde_json::from_slice(&told).map_err(|error| RankError::Odd(error.to_string()))?;
            if matches!(word, Word::End) {
                return Ok(job.finish()?);
            }
            job = word.play(job)?.0;
        }
    }
}

/// Tells all ranks.
fn tell(mut job: Job, word: &Word) -> Result<Job, RankError> {
    let text = serde_json::to_vec(word).map_err(|error| RankError::Report(error.to_string()))?;
    job.broadcast(&text)?;
    Ok(job)
}

impl Word {
    /// Does what it says; all reports, of rank 0.
    fn play(&self, mut job: Job) -> Result<(Job, Option<Vec<u8>>), RankError> {
        let Word::Play { limit, assignment } = self else { return Ok((job, None)) };
        job.set_patience(*limit);
        let (mut job, found) = assignment.play(job)?;
        job.set_patience(FOR_EVER);
        Ok((job, found))
    }
}
