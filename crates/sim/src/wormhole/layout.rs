//! How the channels of an engine are numbered.

use crosstie_fabric::{ChannelId, Fabric, HostId};

/// The numbering of channels: those of the fabric rail by rail, then (if buses are shared) three
/// for every host of every rail: its bus for reading, its bus for writing, and its NIC's own
/// intake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    channels: u32,
    hosts: u32,
    rails: u32,
}

/// What a channel of an engine is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A channel of the fabric.
    Fabric(ChannelId),
    /// From the memory of a host over its shared bus to its NIC.
    Read(HostId),
    /// From the NIC of a host over its shared bus to its memory.
    Write(HostId),
    /// From the link of a host into its NIC, for packets that end there.
    Intake(HostId),
}

impl Layout {
    /// The numbering for `rails` copies of a fabric.
    pub fn new(fabric: &Fabric, rails: u32) -> Layout {
        let channels = fabric.channels().len() as u32;
        Layout { channels, hosts: fabric.hosts().len() as u32, rails }
    }

    /// Hosts on one rail.
    pub fn hosts(&self) -> u32 {
        self.hosts
    }

    /// Channels of the fabric on all rails.
    pub(super) fn in_fabric(&self) -> u32 {
        self.rails * self.channels
    }

    /// Hosts on all rails.
    pub(super) fn ends(&self) -> u32 {
        self.rails * self.hosts
    }

    /// The rail of a channel, and which of its channels it is.
    ///
    /// # Panics
    /// If there is no such channel.
    pub fn place(&self, channel: u32) -> (u32, Place) {
        let Some(beyond) = channel.checked_sub(self.in_fabric()) else {
            return (channel / self.channels, Place::Fabric(ChannelId(channel % self.channels)));
        };
        let (kind, end) = (beyond / self.ends(), beyond % self.ends());
        let (rail, host) = (end / self.hosts, HostId(end % self.hosts));
        let part = match kind {
            0 => Place::Read(host),
            1 => Place::Write(host),
            2 => Place::Intake(host),
            _ => panic!("an engine with {} channels has no channel {channel}", self.in_fabric()),
        };
        (rail, part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_of_hosts_follow_those_of_the_fabric() {
        let layout = Layout::new(&crosstie_fabric::single(3).unwrap(), 2);
        assert_eq!(layout.place(5), (0, Place::Fabric(ChannelId(5))));
        assert_eq!(layout.place(6), (1, Place::Fabric(ChannelId(0))));
        assert_eq!(layout.place(12), (0, Place::Read(HostId(0))));
        assert_eq!(layout.place(16), (1, Place::Read(HostId(1))));
        assert_eq!(layout.place(18), (0, Place::Write(HostId(0))));
        assert_eq!(layout.place(29), (1, Place::Intake(HostId(2))));
    }
}
