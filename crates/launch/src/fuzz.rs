//! What fuzzers call: plain functions of bytes that panic where something does not hold. The
//! programs around them are in the folder `fuzz` of the repository, with seeds; a test runs all
//! seeds, and what is made of them by chance, on every system.
//!
//! | target | bytes are |
//! |---|---|
//! | [`environment`] | what a launcher has left in the environment |
//! | [`client`], [`server`] | what a launcher says to a rank, and ranks to a launcher |

mod decisions;
#[cfg(test)]
mod tests;

pub use decisions::Decisions;

use std::ffi::OsString;

use super::client::{Client, Outcome};
use super::environment::{Environment, Place};
use super::inbox::Inbox;
use super::server::Server;

/// An environment, a variable in each line: a name, `=` and a value.
pub fn environment(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let find = |name: &str| {
        let mut variables = text.lines().filter_map(|line| line.split_once('='));
        variables.find(|(other, _)| *other == name).map(|(_, value)| value.to_owned())
    };
    match Environment::read(|name| find(name).map(OsString::from)) {
        Ok(Environment { place, patience, .. }) => {
            assert!(!patience.is_zero());
            if let Place::Open { number, rank, size } = place {
                assert!(number >= 0 && rank < size && size <= super::MOST_RANKS);
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A rank that joins, puts, waits at a fence, gets and leaves; the bytes are what its launcher
/// says. The first of them chooses whether it knows who it is.
pub fn client(bytes: &[u8]) {
    let mut decisions = Decisions::new(bytes);
    let id = (decisions.byte() % 2 == 1).then_some(3);
    let mut client = Client::new(if id.is_some() { None } else { Some((1, 4)) });
    let mut wishes: Vec<fn(&mut Client) -> bool> = vec![
        |client| client.leave().is_ok(),
        |client| client.get(3, "card").is_ok(),
        |client| client.get(0, "card").is_ok(),
        |client| client.fence().is_ok(),
        |client| client.put("card", &[0x5a; 300]).is_ok(),
    ];
    assert!(client.join(id).is_ok());
    let mut inbox = Inbox::default();
    loop {
        let some = decisions.bytes(97);
        if some.is_empty() {
            break;
        }
        inbox.add(some);
        while let Some(line) = inbox.next() {
            let Ok(line) = line else { return };
            let line = line.to_owned();
            match client.hear(&line) {
                // The job cannot be used any more, and says so.
                Err(error) => {
                    assert!(!error.to_string().is_empty() && error.to_string().len() < 2000);
                    return;
                }
                Ok(None) => {}
                Ok(Some(outcome)) => {
                    if let Outcome::Bytes(bytes) = outcome {
                        assert!(bytes.len() <= super::LONGEST);
                    }
                    assert!(client.rank() < client.size() && client.size() <= super::MOST_RANKS);
                    let Some(wish) = wishes.pop() else { return };
                    if !wish(&mut client) {
                        return;
                    }
                }
            }
            if let Some(line) = client.next_line() {
                assert!(line.ends_with('\n') && line.len() <= 1024, "launchers read such lines");
            }
        }
    }
}

/// The most that waits for a rank: it is not heard any more then.
const MOST_UNREAD: usize = (1 << 20) + (1 << 13);

/// Four ranks talk to a launcher: a byte says who, and whether it reads its answers first; another
/// how much it says; bytes follow.
pub fn server(bytes: &[u8]) {
    let mut decisions = Decisions::new(bytes);
    let mut server = Server::named(4, "store");
    while !decisions.is_empty() {
        let choice = decisions.byte();
        // The last one is none of them.
        let rank = usize::from(choice % 5);
        match choice / 5 % 8 {
            0 => server.closed(rank),
            1..4 => server.said(rank, usize::from(choice)),
            _ => {}
        }
        let count = decisions.one_of(120);
        server.hear(rank, decisions.bytes(count));
        for rank in 0..5 {
            assert!(server.to_say(rank).len() <= MOST_UNREAD);
        }
        while server.next_event().is_some() {}
    }
}
