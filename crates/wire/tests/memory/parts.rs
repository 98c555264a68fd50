//! Peers: this executable, run again with a part to play.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

use crosstie_wire::memory::{Memory, machine};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::{endings, sleeping};

/// The variable that says which part is to be played, and with whom.
pub const PART: &str = "CROSSTIE_MEMORY_PART";

/// The arguments with which this executable plays a part.
pub const ARGUMENTS: [&str; 5] =
    ["--exact", "parts::player", "--nocapture", "--quiet", "--test-threads=1"];

/// A peer in a process of its own. It ends with us.
pub struct Peer {
    pub process: Child,
    /// What the harness of tests says at the end would otherwise be said to nobody, which is an
    /// error.
    _output: BufReader<ChildStdout>,
}

impl Peer {
    /// Waits until it has played its part to the end.
    pub fn end(mut self) {
        assert!(self.process.wait().unwrap().success());
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Rank 0 of two, and the process that is rank 1 and plays a part with an argument.
pub fn pair(part: &str, argument: u64) -> (Memory, Peer) {
    let mut memory = Memory::create(0, 2).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(ARGUMENTS)
        .env(PART, format!("{part} {argument} {}", memory.name()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let name = output.by_ref().lines().map(Result::unwrap).find_map(|line| said(&line));
    memory.connect(1, &name.expect("the peer says its name")).unwrap();
    memory.unlink();
    // The peer waits for the end of this, to take its own name away.
    drop(child.stdin.take());
    (memory, Peer { process: child, _output: output })
}

/// What a player says in a line, apart from what the harness of tests says.
pub fn said(line: &str) -> Option<String> {
    line.split_once("=> ").map(|(_, said)| said.to_owned())
}

/// Sleeps until the bell rings. Nobody sleeps for so long unless a ring was lost.
pub fn sleep(memory: &Memory) {
    let mut list = [PollFd::new(memory.bell().fd(), PollFlags::POLLIN)];
    let woken = loop {
        match poll(&mut list, PollTimeout::from(60_000u16)) {
            Err(nix::errno::Errno::EINTR) => {}
            woken => break woken.unwrap(),
        }
    };
    assert_eq!(woken, 1, "a minute of sleep: a ring was lost");
}

/// Plays the part that the environment asks for; nothing where it asks for none.
#[test]
fn player() {
    let Ok(part) = std::env::var(PART) else { return };
    let words: Vec<&str> = part.split_whitespace().collect();
    if words[0] == "machine" {
        println!("\n=> {}", machine());
        return;
    }
    let mut memory = Memory::create(1, 2).unwrap();
    memory.connect(0, words[2]).unwrap();
    println!("\n=> {}", memory.name());
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    memory.unlink();
    let argument = words[1].parse().unwrap();
    match words[0] {
        "handshakes" => sleeping::handshakes(memory, argument),
        "flood" => sleeping::flood(memory, argument),
        "wait" => endings::wait(memory),
        "offer" => endings::offer(memory, argument as usize),
        other => panic!("there is no part {other}"),
    }
}
