//! The machine of a rank: it is told wishes and the lines of a launcher, and says lines.
//!
//! One wish at a time, one request at a time: some launchers take what comes in one piece for one
//! request.

use std::collections::BTreeSet;
use std::{mem, vec};

use super::line::{Line, is_word, shown};
use super::pieces::{self, Collection, LEAST_ROOM, LONGEST};
use super::{MOST_RANKS, StartError};

/// No line is longer, with its end: Slurm reads no more of a request, whatever it says of values.
const LONGEST_LINE: usize = 1024;

/// The longest name.
const LONGEST_NAME: usize = 32;

/// The longest key that is made of a name: its head, the name, a rank and a piece.
const LONGEST_KEY: usize = 9 + LONGEST_NAME + 6 + 6;

/// The most of a message that is sent before everything ends.
const LONGEST_MESSAGE: usize = 200;

/// The conversation of a rank with its launcher.
#[derive(Debug)]
pub(super) struct Client {
    rank: usize,
    size: usize,
    /// What the launcher calls the place where values are kept.
    space: String,
    /// How long a value may be.
    room: usize,
    /// Names that have been put.
    used: BTreeSet<String>,
    state: State,
    outbox: Option<String>,
}

/// What has become of a wish.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is done.
    Done,
    /// These bytes were asked for.
    Bytes(Vec<u8>),
}

/// What an answer is awaited for.
#[derive(Debug)]
enum State {
    /// For nothing.
    Idle,
    /// That the launcher knows us.
    Introduced,
    /// Who we are, in three lines.
    Numbered { rank: Option<usize>, size: Option<usize> },
    /// That it speaks our protocol.
    Greeted,
    /// How long values may be.
    Measured,
    /// What it calls the place for them.
    Named,
    /// That a piece of a value is kept.
    Putting { name: String, piece: usize, rest: vec::IntoIter<String> },
    /// That all ranks have come to the fence.
    Fencing,
    /// A piece of a value.
    Getting { rank: usize, name: String, piece: usize, collection: Collection },
    /// That we may leave.
    Leaving,
    /// For nothing any more: something went wrong when this was to be done.
    Stuck(String),
}

impl State {
    /// What is being done, after "cannot".
    fn doing(&self) -> String {
        match self {
            State::Idle => "go on".to_owned(),
            State::Introduced
            | State::Numbered { .. }
            | State::Greeted
            | State::Measured
            | State::Named => "join the job".to_owned(),
            State::Putting { name, .. } => format!("put `{name}`"),
            State::Fencing => "wait for all ranks at a fence".to_owned(),
            State::Getting { rank, name, .. } => format!("get `{name}` of rank {rank}"),
            State::Leaving => "leave the job".to_owned(),
            State::Stuck(doing) => doing.clone(),
        }
    }
}

impl Client {
    /// A rank that knows who it is, and one that will be told.
    pub fn new(identity: Option<(usize, usize)>) -> Client {
        let (rank, size) = identity.unwrap_or((0, 1));
        Client {
            rank,
            size,
            space: String::new(),
            room: LEAST_ROOM,
            used: BTreeSet::new(),
            state: State::Idle,
            outbox: None,
        }
    }

    pub fn rank(&self) -> usize {
        self.rank
    }

    pub fn size(&self) -> usize {
        self.size
    }

    /// What is being done, after "cannot".
    pub fn doing(&self) -> String {
        self.state.doing()
    }

    /// The next line for the launcher, with its end.
    pub fn next_line(&mut self) -> Option<String> {
        self.outbox.take()
    }

    /// Wishes to join: the launcher knows us by the socket, or by a number.
    pub fn join(&mut self, id: Option<u32>) -> Result<(), StartError> {
        match id {
            Some(id) => self.begin(State::Introduced, format!("cmd=initack pmiid={id}\n")),
            None => self.begin(State::Greeted, GREETING.to_owned()),
        }
    }

    /// Wishes that all ranks can get some bytes of this one under a name.
    pub fn put(&mut self, name: &str, bytes: &[u8]) -> Result<(), StartError> {
        check(name)?;
        if bytes.len() > LONGEST {
            return Err(StartError::Long { name: name.to_owned(), length: bytes.len() });
        }
        if self.used.contains(name) {
            return Err(StartError::Again { name: name.to_owned() });
        }
        let mut rest = pieces::cut(bytes, self.room).into_iter();
        let first = rest.next().unwrap_or_default();
        let line = self.put_line(name, 0, &first);
        self.begin(State::Putting { name: name.to_owned(), piece: 0, rest }, line)?;
        self.used.insert(name.to_owned());
        Ok(())
    }

    /// Wishes to go on when all ranks have come here.
    pub fn fence(&mut self) -> Result<(), StartError> {
        self.begin(State::Fencing, "cmd=barrier_in\n".to_owned())
    }

    /// Wishes for the bytes that a rank has put under a name.
    pub fn get(&mut self, rank: usize, name: &str) -> Result<(), StartError> {
        check(name)?;
        if rank >= self.size {
            return Err(StartError::Rank { rank, size: self.size });
        }
        let line = self.get_line(rank, name, 0);
        let collection = Collection::default();
        self.begin(State::Getting { rank, name: name.to_owned(), piece: 0, collection }, line)
    }

    /// Wishes to leave in peace.
    pub fn leave(&mut self) -> Result<(), StartError> {
        self.begin(State::Leaving, "cmd=finalize\n".to_owned())
    }

    /// The line that ends all ranks. It has no answer, and can be said at any time.
    pub fn abort_line(code: i32, message: &str) -> String {
        let letter = |c: char| match c {
            c if c.is_whitespace() => '_',
            '=' => ':',
            c if c.is_ascii_graphic() => c,
            _ => '?',
        };
        let message: String = message.trim().chars().take(LONGEST_MESSAGE).map(letter).collect();
        match message.is_empty() {
            true => format!("cmd=abort exitcode={code}\n"),
            false => format!("cmd=abort exitcode={code} message={message}\n"),
        }
    }

    /// Is told a line of the launcher, without its end. What has become of the wish, if that is
    /// known now.
    pub fn hear(&mut self, text: &str) -> Result<Option<Outcome>, StartError> {
        let doing = self.state.doing();
        // Whatever goes wrong below, nobody knows then what the next line would mean.
        let state = mem::replace(&mut self.state, State::Stuck(doing.clone()));
        let answer = Answer { doing: &doing, text };
        let (next, line) = match state {
            State::Introduced => {
                answer.expect("initack")?;
                self.state = State::Numbered { rank: None, size: None };
                return Ok(None);
            }
            State::Numbered { rank, size } => return self.numbered(&answer, rank, size),
            State::Greeted => {
                let line = answer.expect("response_to_init")?;
                if line.get("pmi_version") != Some("1") {
                    return Err(answer.nonsense("`pmi_version=1`"));
                }
                (State::Measured, "cmd=get_maxes\n".to_owned())
            }
            State::Measured => {
                let line = answer.expect("maxes")?;
                // Whoever counts so counts the end of the text too.
                let number = |name| line.number::<usize>(name).and_then(|n| n.checked_sub(1));
                let (Some(keys), Some(values)) = (number("keylen_max"), number("vallen_max"))
                else {
                    return Err(answer.nonsense("`keylen_max` and `vallen_max`, numbers above 0"));
                };
                if keys < LONGEST_KEY || values < LEAST_ROOM {
                    return Err(StartError::Cramped { keys, values });
                }
                self.room = values;
                (State::Named, "cmd=get_my_kvsname\n".to_owned())
            }
            State::Named => {
                let line = answer.expect("my_kvsname")?;
                let name = line.get("kvsname").filter(|name| is_word(name));
                let name = name.ok_or_else(|| answer.nonsense("`kvsname` and a word"))?;
                let around = put(name, &"k".repeat(LONGEST_KEY), "").len();
                let room = LONGEST_LINE.checked_sub(around).filter(|room| *room >= LEAST_ROOM);
                let room = room.ok_or_else(|| answer.nonsense("a shorter `kvsname`"))?;
                self.room = self.room.min(room);
                self.space = name.to_owned();
                return self.done();
            }
            State::Putting { name, piece, mut rest } => {
                answer.expect("put_result")?;
                let Some(value) = rest.next() else { return self.done() };
                let line = self.put_line(&name, piece + 1, &value);
                (State::Putting { name, piece: piece + 1, rest }, line)
            }
            State::Fencing => {
                answer.expect("barrier_out")?;
                return self.done();
            }
            State::Getting { rank, name, piece, mut collection } => {
                let line = match answer.expect("get_result") {
                    Err(StartError::Refused { reason, .. }) if piece == 0 => {
                        // The conversation goes on: the launcher just knows of no such value.
                        self.state = State::Idle;
                        return Err(StartError::Unknown { rank, name, reason });
                    }
                    answer => answer?,
                };
                if !line.get("value").is_some_and(|value| collection.take(value)) {
                    return Err(answer.nonsense("a value that a rank of Crosstie has put"));
                }
                if let Some(bytes) = collection.whole() {
                    self.state = State::Idle;
                    return Ok(Some(Outcome::Bytes(bytes)));
                }
                let line = self.get_line(rank, &name, piece + 1);
                (State::Getting { rank, name, piece: piece + 1, collection }, line)
            }
            State::Leaving => {
                answer.expect("finalize_ack")?;
                return self.done();
            }
            State::Idle | State::Stuck(_) => return Err(answer.nonsense("nothing")),
        };
        self.state = next;
        self.outbox = Some(line);
        Ok(None)
    }

    /// Takes one of the lines that say who we are: size, rank, and whether to be talkative, which
    /// is the last.
    fn numbered(
        &mut self,
        answer: &Answer<'_>,
        rank: Option<usize>,
        size: Option<usize>,
    ) -> Result<Option<Outcome>, StartError> {
        let line = answer.expect("set")?;
        let rank = line.number("rank").or(rank);
        let size = line.number("size").or(size);
        if line.get("debug").is_none() {
            self.state = State::Numbered { rank, size };
            return Ok(None);
        }
        let (Some(rank), Some(size)) = (rank, size) else {
            return Err(answer.nonsense("`rank` and `size` before `debug`"));
        };
        if size > MOST_RANKS {
            return Err(StartError::Size { size });
        }
        if rank >= size {
            return Err(StartError::Rank { rank, size });
        }
        (self.rank, self.size) = (rank, size);
        self.state = State::Greeted;
        self.outbox = Some(GREETING.to_owned());
        Ok(None)
    }

    fn begin(&mut self, state: State, line: String) -> Result<(), StartError> {
        match &self.state {
            State::Idle => {
                self.state = state;
                self.outbox = Some(line);
                Ok(())
            }
            before => Err(StartError::Stuck { doing: state.doing(), before: before.doing() }),
        }
    }

    fn done(&mut self) -> Result<Option<Outcome>, StartError> {
        self.state = State::Idle;
        Ok(Some(Outcome::Done))
    }

    fn put_line(&self, name: &str, piece: usize, value: &str) -> String {
        put(&self.space, &key(self.rank, name, piece), value)
    }

    fn get_line(&self, rank: usize, name: &str, piece: usize) -> String {
        format!("cmd=get kvsname={} key={}\n", self.space, key(rank, name, piece))
    }
}

const GREETING: &str = "cmd=init pmi_version=1 pmi_subversion=1\n";

fn put(space: &str, key: &str, value: &str) -> String {
    format!("cmd=put kvsname={space} key={key} value={value}\n")
}

/// The key for a piece of what a rank puts under a name: letters that hydra may also take for the
/// name of a value.
fn key(rank: usize, name: &str, piece: usize) -> String {
    format!("crosstie-{name}-{rank}-{piece}")
}

fn check(name: &str) -> Result<(), StartError> {
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    match !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(letters) {
        true => Ok(()),
        false => Err(StartError::Name { name: shown(name) }),
    }
}

/// A line of the launcher, and what it should answer.
struct Answer<'a> {
    doing: &'a str,
    text: &'a str,
}

impl<'a> Answer<'a> {
    /// The line, if it is the answer that was expected, and says yes.
    fn expect(&self, command: &str) -> Result<Line<'a>, StartError> {
        let line = Line::parse(self.text).filter(|line| line.command == command);
        let line = line.ok_or_else(|| self.nonsense(&format!("`cmd={command}`")))?;
        match line.refusal() {
            None => Ok(line),
            Some(reason) => {
                let reason = shown(reason);
                Err(StartError::Refused { doing: self.doing.to_owned(), reason })
            }
        }
    }

    fn nonsense(&self, expected: &str) -> StartError {
        StartError::Nonsense {
            doing: self.doing.to_owned(),
            found: shown(self.text),
            expected: expected.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
