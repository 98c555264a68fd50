//! Many senders to one receiver through a switch with a small buffer: a window that fits loses
//! nothing, one that does not loses and recovers [tam, 4.1].

use crosstie_box::{End, Trace};
use crosstie_model::Architecture;
use crosstie_model::congestion::{largest_window, loses, timeouts};
use crosstie_protocol::ChannelKind;
use crosstie_protocol::channel::Acknowledge;
use crosstie_units::Time;
use crosstie_wire::{Comm, CommError, Options};

use crate::parts::{content, say};
use crate::stage::{live, well};

const SENDERS: u32 = 8;
const BUFFER: u32 = 95;
/// A message that is one packet, and one frame.
const BYTES: usize = 1300;
/// Messages that a sender has under way at once: more than any window.
const BATCH: u64 = 64;

/// A part: all others send so many messages to rank 0 with a window of so many packets; it checks
/// them, and each sender says how many packets it has sent again.
pub fn part(messages: u64, window: u32) -> Result<(), CommError> {
    // In 122 us the port delivers a full frame.
    let slot = Time::from_ns(122_000);
    let [_, longest] = timeouts(Architecture::Output, SENDERS, BUFFER).times(slot);
    let (timeout, acknowledge) = (Some(longest), Acknowledge::default());
    let channel = ChannelKind::GoBackN { window, timeout, acknowledge };
    let comm = Comm::with(Options { channel, ..Options::default() })?;
    comm.barrier()?;
    if comm.rank() == 0 {
        let mut room = vec![0; BYTES];
        let mut next = vec![0; comm.size()];
        for _ in 0..messages * (comm.size() as u64 - 1) {
            let from = comm.recv(None, 0, &mut room)?.source;
            assert_eq!(room, content(from, 0, next[from], BYTES), "of rank {from}");
            next[from] += 1;
        }
        assert!(next[1..].iter().all(|&count| count == messages), "{next:?}");
    } else {
        for first in (0..messages).step_by(BATCH as usize) {
            let batch: Vec<Vec<u8>> =
                (first..first + BATCH).map(|n| content(comm.rank(), 0, n, BYTES)).collect();
            comm.scope(|scope| {
                for message in &batch {
                    scope.send(0, 0, message)?;
                }
                Ok(())
            })?;
        }
    }
    comm.barrier()?;
    let again: u64 = comm.statistics().iter().map(|rail| rail.retransmissions).sum();
    say(format!("rank {} sent {again} again", comm.rank()));
    comm.finish()
}

/// Frames that the switch dropped on their way to host 0, and packets that senders sent again, with
/// this window.
fn lost(window: u32, messages: u64) -> Option<(u64, u64)> {
    let cluster = live(&format!(
        "hosts = {}\n[[rail]]\nrate = '100 Mbit/s'\nshape.switch.buffer = '{BUFFER} frames'",
        SENDERS + 1
    ))?;
    let mut trace = Trace::new(&cluster).unwrap();
    let hosts: Vec<usize> = (0..=SENDERS as usize).collect();
    let lines = well(&cluster, &hosts, &format!("many-to-one {messages} {window}"), &[]);
    let number = |line: &String| line.split(' ').nth(3).unwrap().parse::<u64>().unwrap();
    let (mut drops, mut frames) = (0, 0);
    for sample in trace.look(std::time::Duration::ZERO).unwrap() {
        match (sample.host.as_str(), sample.end) {
            ("host0", End::Switch) => (drops, frames) = (sample.drops, sample.frames),
            _ => assert_eq!(sample.drops, 0, "{sample:?}"),
        }
    }
    assert!(frames >= messages * u64::from(SENDERS), "{frames} frames");
    Some((drops, lines.iter().map(number).sum()))
}

/// Whether it comes to pass in one of a few runs. Where ranks have to wait for a core for long,
/// packets are sent again that are not lost; so they are where the kernel takes a queue from one
/// core to another and two frames overtake each other. Then more wait than windows hold.
fn holds(window: u32, what: impl Fn(u64, u64) -> bool) {
    let mut seen = Vec::new();
    for _ in 0..6 {
        let Some((drops, again)) = lost(window, 10 * BATCH) else { return };
        if what(drops, again) {
            return;
        }
        seen.push((drops, again));
    }
    panic!("window {window}, dropped and sent again: {seen:?}");
}

#[test]
fn the_window_of_the_model_loses_nothing() {
    let window = largest_window(Architecture::Output, SENDERS, BUFFER);
    assert_eq!(window, 11);
    holds(window, |drops, again| (drops, again) == (0, 0));
}

#[test]
fn a_larger_window_loses_and_all_is_sent_again() {
    let window = 24;
    assert!(loses(Architecture::Output, window, SENDERS, BUFFER));
    let Some((drops, again)) = lost(window, 10 * BATCH) else { return };
    assert!(drops > 0, "8 windows of 24 do not fit into 95");
    // What is lost is sent again, and with go-back-N what came behind it as well.
    assert!(again >= drops, "{again} sent again, {drops} dropped");
}
