//! What the critical path consists of.

use crosstie_collective::Rank;
use crosstie_units::Time;
use serde::Serialize;
use std::fmt;
use std::ops::Add;

/// What time is spent on, or waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// Processors that send and receive: O_s, O_r, U_r.
    Host,
    /// NICs: g_s, g_r.
    Gap,
    /// The way through the network: L.
    Wire,
    /// Uplinks between switches, where packets wait for others.
    Uplink,
    /// Processors that compute.
    Compute,
    /// The buffer of the router: B_L. It takes no time, but what it cannot keep is lost.
    Buffer,
}

impl Resource {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Resource::Host => "host",
            Resource::Gap => "gap",
            Resource::Wire => "wire",
            Resource::Uplink => "uplink",
            Resource::Compute => "compute",
            Resource::Buffer => "buffer",
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What is done on the critical path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A processor computes.
    Compute,
    /// A processor sends: O_s.
    Send,
    /// A processor receives: O_r + U_r.
    Receive,
    /// Nothing, until a processor is free.
    AwaitHost,
    /// Packets follow each other: g_s or g_r.
    Gap,
    /// Nothing, until a NIC is free.
    AwaitGap,
    /// A packet is on its way: L.
    Wire,
    /// Nothing, until an uplink is free.
    AwaitUplink,
}

impl What {
    /// What it is that takes the time. Waiting counts for what is waited for.
    pub fn resource(self) -> Resource {
        match self {
            What::Compute => Resource::Compute,
            What::Send | What::Receive | What::AwaitHost => Resource::Host,
            What::Gap | What::AwaitGap => Resource::Gap,
            What::Wire => Resource::Wire,
            What::AwaitUplink => Resource::Uplink,
        }
    }
}

/// A stretch of the critical path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Stretch {
    /// Whose processor or NIC it is; of a wire, who sends.
    #[serde(serialize_with = "number")]
    pub rank: Rank,
    /// What is done.
    pub what: What,
    /// When it begins.
    pub from: Time,
    /// When it ends.
    pub to: Time,
}

fn number<S: serde::Serializer>(rank: &Rank, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u32(rank.0)
}

/// What the critical path is spent on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Shares {
    /// Processors that send and receive.
    pub host: Time,
    /// NICs.
    pub gap: Time,
    /// The way through the network.
    pub wire: Time,
    /// Uplinks between switches.
    pub uplink: Time,
    /// Processors that compute.
    pub compute: Time,
}

impl Add for Shares {
    type Output = Shares;

    fn add(self, other: Shares) -> Shares {
        Shares {
            host: self.host + other.host,
            gap: self.gap + other.gap,
            wire: self.wire + other.wire,
            uplink: self.uplink + other.uplink,
            compute: self.compute + other.compute,
        }
    }
}

impl Shares {
    pub(super) fn of(path: &[Stretch]) -> Shares {
        let mut shares = Shares::default();
        for stretch in path {
            let share = match stretch.what.resource() {
                Resource::Gap => &mut shares.gap,
                Resource::Wire => &mut shares.wire,
                Resource::Uplink => &mut shares.uplink,
                Resource::Compute => &mut shares.compute,
                Resource::Host | Resource::Buffer => &mut shares.host,
            };
            *share = *share + (stretch.to - stretch.from);
        }
        shares
    }

    /// The part of the whole that one of them is; none is the buffer's, which takes no time.
    pub fn share(&self, resource: Resource) -> f64 {
        let time = match resource {
            Resource::Host => self.host,
            Resource::Gap => self.gap,
            Resource::Wire => self.wire,
            Resource::Uplink => self.uplink,
            Resource::Compute => self.compute,
            Resource::Buffer => Time::ZERO,
        };
        let whole = self.host + self.gap + self.wire + self.uplink + self.compute;
        time.ps() as f64 / whole.ps().max(1) as f64
    }

    /// The largest of them.
    pub(super) fn most(&self) -> Resource {
        let mut most = (Resource::Host, self.host);
        let others = [
            (Resource::Gap, self.gap),
            (Resource::Wire, self.wire),
            (Resource::Uplink, self.uplink),
            (Resource::Compute, self.compute),
        ];
        for other in others {
            if other.1 > most.1 {
                most = other;
            }
        }
        most.0
    }
}
