//! What a box is made of: hosts, rails, and what happens to them.

mod names;
mod occurrence;

use std::net::Ipv4Addr;

use crosstie_units::{Bytes, Capacity, Misfit, Rate, Recurrence, Seed, Time, range};
use serde::Deserialize;

pub use names::{Hosts, Named};
pub use occurrence::{Change, Occurrence};

/// The most hosts of a box.
pub const MOST_HOSTS: u32 = 250;

/// The most rails of a box.
pub const MOST_RAILS: u32 = 16;

/// A box as a file describes it. What was read and [checked](Spec::check) is sound.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Spec {
    /// What it is called.
    #[serde(default)]
    pub title: Option<String>,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// The number from which all randomness follows.
    #[serde(default, deserialize_with = "range::own_seed")]
    pub seed: Option<Seed>,
    /// The hosts.
    #[serde(default)]
    pub hosts: Hosts,
    /// The rails.
    #[serde(rename = "rail", deserialize_with = "range::tables")]
    pub rails: Vec<Rail>,
    /// What happens to them.
    #[serde(default, rename = "event", deserialize_with = "range::tables")]
    pub events: Vec<Event>,
}

/// A network that joins hosts: two by a cable, or all of them by a switch.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rail {
    /// The name of its devices; `None`: `rail0`, `rail1` and so on.
    pub name: Option<String>,
    /// What it carries in each direction, Ethernet headers included; `None`: as much as the
    /// machine can.
    #[serde(deserialize_with = "limits::some_rate")]
    pub rate: Option<Rate>,
    /// What waits in front of a NIC at most.
    pub queue: Option<Capacity>,
    /// The most that a frame carries.
    #[serde(deserialize_with = "limits::mtu")]
    pub mtu: Bytes,
    /// Whether devices take segments of many frames at once, as NICs do; `None`: unless frames are
    /// counted.
    pub offloads: Option<bool>,
    /// Whether what a device takes at once passes at once, too, instead of frame by frame.
    pub whole: bool,
    /// What it is made of; `None`: a cable between two hosts, a switch between more.
    pub shape: Option<Shape>,
}

impl Default for Rail {
    fn default() -> Rail {
        let mtu = Bytes::new(1500);
        Rail { name: None, rate: None, queue: None, mtu, offloads: None, whole: false, shape: None }
    }
}

/// What a rail is made of.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Shape {
    /// A cable between two hosts.
    Cable {
        /// The two; `None`: all that there are.
        #[serde(default)]
        between: Option<[Named; 2]>,
    },
    /// A switch that joins all hosts.
    Switch {
        /// What waits at an output at most; `None`: as much as in front of a NIC.
        #[serde(default)]
        buffer: Option<Capacity>,
    },
}

/// Something that happens to a rail, or to one host's port of it, once or again and again.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Event {
    /// When it happens, first.
    #[serde(deserialize_with = "limits::moment")]
    pub at: Time,
    /// The rail.
    pub rail: Named,
    /// The host whose port it is; `None`: all of the rail.
    #[serde(default)]
    pub host: Option<Named>,
    /// The rate that it has then.
    #[serde(default, deserialize_with = "limits::some_rate")]
    pub rate: Option<Rate>,
    /// Whether it goes down.
    #[serde(default)]
    pub down: bool,
    /// Whether it comes up again.
    #[serde(default)]
    pub up: bool,
    /// How long it lasts; `None`: for good.
    #[serde(default, rename = "for", deserialize_with = "limits::some_duration")]
    pub lasts: Option<Time>,
    /// From one time to the next.
    #[serde(default, deserialize_with = "limits::some_duration")]
    pub every: Option<Time>,
    /// How often.
    #[serde(default = "once", deserialize_with = "limits::times")]
    pub times: u32,
    /// Whether the times between are random, and `every` is their mean.
    #[serde(default)]
    pub random: bool,
}

fn once() -> u32 {
    1
}

impl Event {
    fn recurrence(&self) -> Recurrence {
        let &Event { at, lasts, every, times, random, .. } = self;
        Recurrence { at, lasts, every, times, random }
    }
}

mod limits {
    use crosstie_units::{Bytes, Rate, Time, quantities, wholes};
    use serde::Deserializer;

    const fn per_second(bytes: u64) -> Rate {
        Rate::from_bytes_per_second(bytes)
    }

    wholes! { times: u32 = 1..=100_000; }

    quantities! {
        rate: Rate = "a rate", per_second(1_000)..=per_second(100_000_000_000);
        mtu: Bytes = "a size", Bytes::new(576)..=Bytes::new(65_535);
        moment: Time = "a time", Time::ZERO..=Time::from_ns(1_000_000_000_000_000);
        duration: Time = "a time", Time::from_ns(1_000_000)..=Time::from_ns(1_000_000_000_000_000);
    }

    pub(super) fn some_rate<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Rate>, D::Error> {
        rate(from).map(Some)
    }

    pub(super) fn some_duration<'de, D>(from: D) -> Result<Option<Time>, D::Error>
    where
        D: Deserializer<'de>,
    {
        duration(from).map(Some)
    }
}

/// What waits in front of a NIC unless a file says otherwise: a thousand full frames.
const QUEUE: Capacity = Capacity::Bytes(Bytes::new(1_514_000));

impl Rail {
    /// What waits in front of a NIC at most.
    pub fn queue(&self) -> Capacity {
        self.queue.unwrap_or(QUEUE)
    }

    /// What waits at an output of its switch at most.
    pub fn buffer(&self) -> Capacity {
        match &self.shape {
            Some(Shape::Switch { buffer: Some(buffer) }) => *buffer,
            _ => self.queue(),
        }
    }

    /// Whether devices take many frames at once. Where frames are counted they do not, because what
    /// they take at once would count as one.
    pub fn offloads(&self) -> bool {
        self.offloads.unwrap_or(!self.counts_frames())
    }

    fn counts_frames(&self) -> bool {
        [self.queue(), self.buffer()].iter().any(|limit| matches!(limit, Capacity::Frames(_)))
    }
}

impl Spec {
    /// The name of the devices of a rail.
    pub fn rail_name(&self, rail: usize) -> String {
        self.rails[rail].name.clone().unwrap_or_else(|| format!("rail{rail}"))
    }

    /// The names of all rails.
    pub fn rail_names(&self) -> Vec<String> {
        (0..self.rails.len()).map(|rail| self.rail_name(rail)).collect()
    }

    /// Whether a rail has a switch.
    pub fn is_switched(&self, rail: usize) -> bool {
        match self.rails[rail].shape {
            Some(Shape::Switch { .. }) => true,
            Some(Shape::Cable { .. }) => false,
            None => self.hosts.count() != 2,
        }
    }

    /// The hosts that a rail joins, in order.
    pub fn members(&self, rail: usize) -> Vec<usize> {
        match &self.rails[rail].shape {
            Some(Shape::Cable { between: Some(ends) }) => {
                let mut ends: Vec<usize> =
                    ends.iter().filter_map(|end| end.find(self.hosts.names())).collect();
                ends.sort_unstable();
                ends
            }
            _ => (0..self.hosts.count()).collect(),
        }
    }

    /// The address of a host on a rail. Each rail is a network of its own, `10.rail.0.0/16`.
    pub fn address(&self, rail: usize, host: usize) -> Ipv4Addr {
        // Both are below 256.
        Ipv4Addr::new(10, rail as u8, 0, host as u8 + 1)
    }

    /// Everything that happens, in order of time.
    pub fn occurrences(&self) -> Vec<Occurrence> {
        occurrence::all(self)
    }

    /// Whether the parts fit together; a misfit is told at its key.
    pub fn check(&self) -> Result<(), Misfit> {
        self.hosts.check()?;
        if self.rails.is_empty() || self.rails.len() > MOST_RAILS as usize {
            let found = format!("found {}, expected 1 to {MOST_RAILS}", self.rails.len());
            return Err(Misfit::new("rail", "the wrong number of rails", found)
                .help("a rail is a table headed `[[rail]]`"));
        }
        for (number, rail) in self.rails.iter().enumerate() {
            self.check_rail(number, rail)
                .map_err(|misfit| misfit.under(&format!("rail.{number}")))?;
        }
        for (number, event) in self.events.iter().enumerate() {
            self.check_event(event).map_err(|misfit| misfit.under(&format!("event.{number}")))?;
        }
        Ok(())
    }

    fn check_rail(&self, number: usize, rail: &Rail) -> Result<(), Misfit> {
        let name = self.rail_name(number);
        names::check("name", &name, names::LONGEST_DEVICE)?;
        if name == "lo" {
            return Err(Misfit::new("name", "a rail called `lo`", "every host has such a device"));
        }
        if name == "all" || name == "default" {
            let problem =
                "the kernel keeps its settings for all devices, and for new ones, under it";
            return Err(Misfit::new("name", format!("a rail called `{name}`"), problem));
        }
        if self.rail_names()[..number].contains(&name) {
            let found = format!("rail {number} is called `{name}` as one before it");
            return Err(Misfit::new("name", "two rails of one name", found));
        }
        if rail.rate.is_none() && rail.queue.is_some() {
            let problem = "nothing waits on a rail that has no `rate`";
            return Err(Misfit::new("queue", "a queue without a rate", problem)
                .help("add `rate = \"1 Gbit/s\"`, or leave `queue` out"));
        }
        match &rail.shape {
            None | Some(Shape::Switch { buffer: None }) => {}
            Some(Shape::Switch { buffer: Some(_) }) => {
                if rail.rate.is_none() {
                    let problem = "nothing waits on a rail that has no `rate`";
                    return Err(Misfit::new(
                        "shape.switch.buffer",
                        "a buffer without a rate",
                        problem,
                    )
                    .help("add `rate = \"1 Gbit/s\"`, or leave `buffer` out"));
                }
            }
            Some(Shape::Cable { between: None }) => {
                let count = self.hosts.count();
                if count != 2 {
                    let problem = format!("there are {count} hosts, and a cable joins two");
                    return Err(Misfit::new("shape", "a cable between more than two", problem)
                        .help("name the two: `shape.cable.between = [\"host0\", \"host1\"]`, or take `shape = \"switch\"`"));
                }
            }
            Some(Shape::Cable { between: Some([one, other]) }) => {
                let key = "shape.cable.between";
                let one = self.hosts.find(key, one)?;
                if one == self.hosts.find(key, other)? {
                    let problem = "expected two hosts";
                    return Err(Misfit::new(key, "a cable from a host to itself", problem));
                }
            }
        }
        if rail.offloads == Some(true) && rail.counts_frames() {
            let problem = "what a NIC takes at once would count as one frame";
            return Err(Misfit::new("offloads", "offloads where frames are counted", problem)
                .help("leave `offloads` out, or give the queue and the buffer as sizes"));
        }
        if rail.whole && !rail.offloads() {
            let problem = "devices take one frame at a time here";
            return Err(Misfit::new("whole", "segments that pass whole, without offloads", problem)
                .help("leave `whole` out, or give the queue and the buffer as sizes and leave `offloads` out"));
        }
        Ok(())
    }

    fn check_event(&self, event: &Event) -> Result<(), Misfit> {
        let rails = self.rail_names();
        let rail = event.rail.expect("rail", "rail", &rails)?;
        if let Some(host) = &event.host {
            let host = self.hosts.find("host", host)?;
            if !self.members(rail).contains(&host) {
                let problem = format!(
                    "rail `{}` does not lead to host `{}`",
                    rails[rail],
                    self.hosts.names()[host]
                );
                return Err(Misfit::new("host", "a host without such a port", problem));
            }
        }
        let said =
            [event.rate.is_some(), event.down, event.up].iter().filter(|said| **said).count();
        if said != 1 {
            let (title, problem) = match said {
                0 => (
                    "an event without effect",
                    "expected one of `rate`, `down = true` and `up = true`",
                ),
                _ => ("an event with two effects", "expected only one of `rate`, `down` and `up`"),
            };
            return Err(Misfit::new("at", title, problem).help("write two events at the same time"));
        }
        if event.rate.is_some() && self.rails[rail].rate.is_none() {
            let problem =
                format!("rail `{}` has no `rate`, so there is none to change", rails[rail]);
            return Err(Misfit::new("rate", "another rate for a rail without one", problem)
                .help("give the rail a `rate`"));
        }
        if event.up && event.lasts.is_some() {
            let problem = "expected `for` beside `down = true` or `rate`";
            return Err(Misfit::new("for", "up for a while", problem)
                .help("write when it goes down: `down = true`"));
        }
        if event.random && self.seed.is_none() {
            let problem = "chance needs a seed, so that it can be repeated";
            return Err(Misfit::new("random", "random without a seed", problem)
                .help("add `seed = 1` at the top of the file"));
        }
        event.recurrence().check()
    }
}

#[cfg(test)]
mod tests;
