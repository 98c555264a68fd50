//! Rails of queues in this process: a provider, addresses and a driver, with nothing of sockets.
//!
//! The driver shows what others may do: it keeps buffers until a later call, has no file to wait
//! on, and its addresses are words.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use crosstie_wire::rail::{Capabilities, Device, Driver, Provider, Rail, RailError, Train};

/// All queues, by address.
#[derive(Default)]
pub struct Hall {
    queues: Mutex<BTreeMap<String, VecDeque<Vec<u8>>>>,
    /// How many addresses there were, and buffers that drivers kept.
    count: AtomicUsize,
    kept: AtomicUsize,
}

impl Hall {
    pub fn new() -> Arc<Hall> {
        Arc::default()
    }

    /// How many buffers drivers kept beyond the call that gave them.
    pub fn kept(&self) -> usize {
        self.kept.load(Relaxed)
    }
}

/// How rails are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    Sound,
    /// One of this number of datagrams is lost.
    Loses {
        one_in: usize,
    },
    /// Addresses lead nowhere, or are longer than they may be.
    Misleads,
    Babbles,
}

/// Finds two devices, `left` and `right`.
pub struct Queues {
    hall: Arc<Hall>,
    behaviour: Behaviour,
}

impl Queues {
    pub fn new(hall: &Arc<Hall>, behaviour: Behaviour) -> Queues {
        Queues { hall: Arc::clone(hall), behaviour }
    }
}

impl Provider for Queues {
    fn name(&self) -> &'static str {
        "queues"
    }

    fn devices(&self) -> Result<Vec<Device>, RailError> {
        let device = |name: &str| Device {
            name: name.to_owned(),
            station: format!("queue {name}"),
            network: format!("the {name} side"),
            routed: false,
            longest: 4000,
        };
        Ok(["left", "right"].map(device).to_vec())
    }

    fn open(&self, device: &Device, _crowded: bool) -> Result<Box<dyn Rail>, RailError> {
        let number = self.hall.count.fetch_add(1, Relaxed);
        let address = format!("number {number}");
        self.hall.queues.lock().unwrap().insert(address.clone(), VecDeque::new());
        Ok(Box::new(Queue {
            name: device.name.clone(),
            longest: device.longest,
            hall: Arc::clone(&self.hall),
            behaviour: self.behaviour,
            address,
            peers: Vec::new(),
            under_way: VecDeque::new(),
            spare: Vec::new(),
            sent: 0,
        }))
    }
}

/// The most bytes of an address.
const ADDRESS: usize = 20;

/// The most buffers that are under way.
const ROOM: usize = 4;

/// One rank's end of a rail.
struct Queue {
    name: String,
    longest: usize,
    hall: Arc<Hall>,
    behaviour: Behaviour,
    address: String,
    peers: Vec<Option<String>>,
    /// What was taken: the buffer, and where in it the trains are.
    under_way: VecDeque<(Vec<u8>, Vec<Train>)>,
    /// Buffers that it has done with.
    spare: Vec<Vec<u8>>,
    /// Datagrams that have left.
    sent: usize,
}

impl Driver for Queue {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        let reliable = !matches!(self.behaviour, Behaviour::Loses { .. });
        let (completions, ordered, address) = (true, true, ADDRESS);
        Capabilities { completions, ordered, reliable, address, ..Capabilities::default() }
    }

    fn address(&self) -> io::Result<Vec<u8>> {
        let address = match self.behaviour {
            Behaviour::Misleads => "number none",
            Behaviour::Babbles => "a number that is longer than any",
            _ => &self.address,
        };
        Ok(address.as_bytes().to_vec())
    }

    fn connect(&mut self, peers: &[Option<&[u8]>]) -> Result<(), RailError> {
        let queues = self.hall.queues.lock().unwrap();
        let read = |(rank, peer): (usize, &Option<&[u8]>)| {
            let Some(bytes) = peer else { return Ok(None) };
            let text = std::str::from_utf8(bytes).ok();
            let known = text.filter(|text| queues.contains_key(*text)).map(str::to_owned);
            known.map(Some).ok_or(RailError::Address { rail: self.name.clone(), rank })
        };
        self.peers = peers.iter().enumerate().map(read).collect::<Result<_, _>>()?;
        Ok(())
    }
}

impl Rail for Queue {
    fn longest(&self) -> usize {
        self.longest
    }

    fn train(&self) -> (usize, usize) {
        (16, 60_000)
    }

    fn send(&mut self, buffer: &mut Vec<u8>, trains: &[Train]) -> io::Result<usize> {
        if self.under_way.len() == ROOM {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let taken = std::mem::replace(buffer, self.spare.pop().unwrap_or_default());
        // Not all of many.
        let count = trains.len().min(3);
        self.under_way.push_back((taken, trains[..count].to_vec()));
        self.hall.kept.fetch_add(1, Relaxed);
        Ok(count)
    }

    /// What was taken leaves now, one buffer in a call.
    fn completed(&mut self) -> usize {
        let Some((buffer, trains)) = self.under_way.pop_front() else { return 0 };
        let mut queues = self.hall.queues.lock().unwrap();
        for train in &trains {
            let Some(Some(peer)) = self.peers.get(usize::from(train.to)) else { continue };
            for datagram in train.datagrams(&buffer) {
                assert!(datagram.len() <= self.longest);
                self.sent += 1;
                let lost = match self.behaviour {
                    Behaviour::Loses { one_in } => self.sent.is_multiple_of(one_in),
                    _ => false,
                };
                if !lost && let Some(queue) = queues.get_mut(peer) {
                    queue.push_back(datagram.to_vec());
                }
            }
        }
        // A rank that still read it would notice.
        let mut buffer = buffer;
        buffer.fill(0xee);
        self.spare.push(buffer);
        trains.len()
    }

    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        for count in 0..64 {
            let next = self
                .hall
                .queues
                .lock()
                .unwrap()
                .get_mut(&self.address)
                .and_then(VecDeque::pop_front);
            let Some(datagram) = next else { return Ok(count) };
            each(&datagram);
        }
        Ok(64)
    }

    fn waits_on(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        None
    }
}
