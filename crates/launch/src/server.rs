//! The machine that answers ranks: it is told the bytes that each of them says, and has bytes to
//! say to each.
//!
//! It has a key-value store (KVS) into which ranks put what all can get, and lets them go on from a
//! fence when all have come. It answers as `mpiexec.hydra` does, so that programs of MPICH run
//! under it too.

use std::collections::{BTreeMap, VecDeque};

use super::MOST_RANKS;
use super::inbox::Inbox;
use super::line::{Line, is_word, shown};

/// What ranks are told of the longest names of stores, keys and values, the ends of texts included.
const LONGEST_NAME: usize = 256;
const LONGEST_KEY: usize = 64;
const LONGEST_VALUE: usize = 1024;

/// How many bytes of keys and values the store may have for each rank.
const ROOM: usize = 1 << 20;

/// How many bytes may wait for a rank that asks without reading.
const MOST_UNREAD: usize = 1 << 20;

/// Answers the ranks of a job. With streams to them, `Server::serve` does all the rest.
#[derive(Debug)]
pub struct Server {
    /// What the store is called.
    name: String,
    /// Which ranks share a host, as MPICH wants to be told.
    mapping: String,
    store: BTreeMap<String, String>,
    /// How many bytes it has.
    held: usize,
    seats: Vec<Seat>,
    /// Who left first: others may have left because of it.
    first_to_leave: Option<usize>,
    events: VecDeque<Event>,
}

/// What there is to know of a rank.
#[derive(Debug, Default)]
struct Seat {
    inbox: Inbox,
    outbox: Vec<u8>,
    /// It waits at the fence.
    waits: bool,
    /// It is not heard any more.
    left: bool,
    /// It is in the middle of a request of several lines.
    in_request: bool,
}

/// What a rank does that concerns more than its conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// It asks for the end of all ranks.
    Aborted {
        /// Which.
        rank: usize,
        /// The exit code that it wants.
        code: i32,
        /// What it says to it, as it can be shown; perhaps nothing.
        message: String,
    },
    /// It does not speak the protocol, and is not heard any more.
    Garbled {
        /// Which.
        rank: usize,
        /// What it said, or how.
        found: String,
    },
}

impl Server {
    /// For so many ranks, all on one host.
    ///
    /// # Panics
    /// Without a rank, or with more than [`MOST_RANKS`].
    pub fn new(size: usize) -> Server {
        // MPICH names things of the job by it, so no two jobs should have the same. Without
        // randomness they might.
        let mut number = [0; 8];
        let _ = getrandom::fill(&mut number);
        Server::named(size, format!("crosstie_{:016x}", u64::from_ne_bytes(number)))
    }

    /// The same with a certain name for the store: a word.
    ///
    /// # Panics
    /// Without a rank, with more than [`MOST_RANKS`], or with a name that is no word of 255 letters
    /// at most.
    pub fn named(size: usize, name: impl Into<String>) -> Server {
        assert!((1..=MOST_RANKS).contains(&size), "a job of {size} ranks");
        let name = name.into();
        assert!(is_word(&name) && name.len() < LONGEST_NAME, "a store called `{name}`");
        let mut seats = Vec::new();
        seats.resize_with(size, Seat::default);
        Server {
            name,
            mapping: format!("(vector,(0,1,{size}))"),
            store: BTreeMap::new(),
            held: 0,
            seats,
            first_to_leave: None,
            events: VecDeque::new(),
        }
    }

    /// With every rank on a host of its own, which programs of MPICH want to know: those on one
    /// host share memory.
    #[must_use]
    pub fn on_hosts_of_their_own(mut self) -> Server {
        self.mapping = format!("(vector,(0,{},1))", self.size());
        self
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.seats.len()
    }

    /// Is told what a rank says. One that is not there any more says nothing.
    pub fn hear(&mut self, rank: usize, bytes: &[u8]) {
        if self.has_left(rank) {
            return;
        }
        // Lines have to be let go before they are answered.
        let mut inbox = std::mem::take(&mut self.seats[rank].inbox);
        inbox.add(bytes);
        while !self.has_left(rank) {
            match inbox.next() {
                None => break,
                Some(Ok(line)) => self.line(rank, line),
                Some(Err(unreadable)) => self.garbled(rank, unreadable.to_string()),
            }
            if self.seats[rank].outbox.len() > MOST_UNREAD {
                self.garbled(rank, "requests whose answers it does not read".to_owned());
            }
        }
        if !self.has_left(rank) {
            self.seats[rank].inbox = inbox;
        }
    }

    /// Is told that a rank is gone.
    pub fn closed(&mut self, rank: usize) {
        if !self.has_left(rank) {
            self.leave(rank);
            self.look_at_the_fence();
        }
    }

    /// Whether a rank is gone, or not heard any more. One that there never was is gone.
    pub fn has_left(&self, rank: usize) -> bool {
        self.seats.get(rank).is_none_or(|seat| seat.left)
    }

    /// What is to be said to a rank.
    pub fn to_say(&self, rank: usize) -> &[u8] {
        self.seats.get(rank).map_or(&[], |seat| &seat.outbox)
    }

    /// Is told that the first bytes of it have been said.
    pub fn said(&mut self, rank: usize, count: usize) {
        if let Some(seat) = self.seats.get_mut(rank) {
            seat.outbox.drain(..count.min(seat.outbox.len()));
        }
    }

    /// What a rank has done that concerns others.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn line(&mut self, rank: usize, text: &str) {
        // The only request of several lines is to start further ranks.
        if text.starts_with("mcmd=") {
            self.seats[rank].in_request = true;
            return;
        }
        if self.seats[rank].in_request {
            if text.trim() == "endcmd" {
                self.seats[rank].in_request = false;
                self.say(rank, "cmd=spawn_result rc=-1 msg=ranks_cannot_be_added");
            }
            return;
        }
        let Some(line) = Line::parse(text) else {
            return self.garbled(rank, shown(text));
        };
        match line.command {
            "initack" => self.introduce(rank),
            "init" => self.greet(rank, &line),
            "get_maxes" => self.say(
                rank,
                &format!(
                    "cmd=maxes kvsname_max={LONGEST_NAME} keylen_max={LONGEST_KEY} \
                     vallen_max={LONGEST_VALUE}"
                ),
            ),
            "get_appnum" => self.say(rank, "cmd=appnum appnum=0"),
            "get_universe_size" => {
                self.say(rank, &format!("cmd=universe_size size={}", self.size()));
            }
            "get_my_kvsname" => self.say(rank, &format!("cmd=my_kvsname kvsname={}", self.name)),
            "put" => {
                let answer = match self.put(&line) {
                    Ok(()) => "cmd=put_result rc=0 msg=success".to_owned(),
                    Err(reason) => format!("cmd=put_result rc=-1 msg={reason}"),
                };
                self.say(rank, &answer);
            }
            "get" => {
                let answer = match self.get(&line) {
                    Some(value) => format!("cmd=get_result rc=0 msg=success value={value}"),
                    None => "cmd=get_result rc=-1 msg=nothing_under_this_key value=unknown".into(),
                };
                self.say(rank, &answer);
            }
            "barrier_in" => {
                self.seats[rank].waits = true;
                self.look_at_the_fence();
            }
            "finalize" => self.say(rank, "cmd=finalize_ack"),
            "abort" => self.abort(rank, &line),
            // Services that ranks can do without: they are told so.
            "publish_name" => self.say(rank, "cmd=publish_result rc=-1 msg=no_service_of_names"),
            "unpublish_name" => {
                self.say(rank, "cmd=unpublish_result rc=-1 msg=no_service_of_names");
            }
            "lookup_name" => self.say(rank, "cmd=lookup_result rc=-1 msg=no_service_of_names"),
            _ => self.garbled(rank, shown(text)),
        }
    }

    fn introduce(&mut self, rank: usize) {
        let size = self.size();
        for line in
            ["cmd=initack", &format!("cmd=set size={size}"), &format!("cmd=set rank={rank}")]
        {
            self.say(rank, line);
        }
        self.say(rank, "cmd=set debug=0");
    }

    fn greet(&mut self, rank: usize, line: &Line<'_>) {
        let code = if line.get("pmi_version") == Some("1") { 0 } else { -1 };
        let answer = format!("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc={code}");
        self.say(rank, &answer);
    }

    fn put(&mut self, line: &Line<'_>) -> Result<(), &'static str> {
        let word =
            |name, longest| line.get(name).filter(|word| is_word(word) && word.len() < longest);
        let key = word("key", LONGEST_KEY).ok_or("no_key_of_63_letters_at_most")?;
        let value = word("value", LONGEST_VALUE + 1).ok_or("no_value_of_1024_letters_at_most")?;
        if key.starts_with("PMI_") {
            return Err("keys_that_begin_so_are_the_launchers");
        }
        let before = self.store.get(key).map_or(0, |value| key.len() + value.len());
        let held = self.held - before + key.len() + value.len();
        if held > self.size() * ROOM {
            return Err("the_store_is_full");
        }
        self.held = held;
        self.store.insert(key.to_owned(), value.to_owned());
        Ok(())
    }

    fn get(&self, line: &Line<'_>) -> Option<&str> {
        match line.get("key")? {
            "PMI_process_mapping" => Some(&self.mapping),
            key => self.store.get(key).map(String::as_str),
        }
    }

    fn abort(&mut self, rank: usize, line: &Line<'_>) {
        let code = line.number("exitcode").unwrap_or(1);
        let message = shown(line.tail("message").unwrap_or_default());
        self.events.push_back(Event::Aborted { rank, code, message });
        self.leave(rank);
        self.look_at_the_fence();
    }

    fn garbled(&mut self, rank: usize, found: String) {
        self.events.push_back(Event::Garbled { rank, found });
        self.leave(rank);
        self.look_at_the_fence();
    }

    fn leave(&mut self, rank: usize) {
        self.seats[rank] = Seat { left: true, ..Seat::default() };
        self.first_to_leave.get_or_insert(rank);
    }

    /// Lets ranks go on if all have come, or tells those who wait that somebody never will.
    fn look_at_the_fence(&mut self) {
        let answer = match self.first_to_leave {
            Some(rank) => format!("cmd=barrier_out rc=-1 msg=rank_{rank}_has_left"),
            None if self.seats.iter().all(|seat| seat.waits) => "cmd=barrier_out".to_owned(),
            None => return,
        };
        for rank in 0..self.size() {
            if std::mem::take(&mut self.seats[rank].waits) {
                self.say(rank, &answer);
            }
        }
    }

    fn say(&mut self, rank: usize, line: &str) {
        let outbox = &mut self.seats[rank].outbox;
        outbox.extend_from_slice(line.as_bytes());
        outbox.push(b'\n');
    }
}

#[cfg(test)]
mod tests;
