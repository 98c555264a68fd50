//! Links, addresses, neighbours and queues of one network namespace, by netlink.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use netlink_packet_core::{
    DefaultNla, NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST,
    NetlinkHeader, NetlinkMessage, NetlinkPayload, NlaBuffer, NlasIterator,
};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{
    InfoBridge, InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourFlags, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcOption};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use nix::sys::socket::{MsgFlags, recv, send};

use super::shaper::Shaper;

/// A hardware address.
pub(super) type Mac = [u8; 6];

/// A device to be made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Device<'a> {
    pub name: &'a str,
    pub index: u32,
    pub mac: Mac,
    pub mtu: u32,
    /// Whether it takes segments of many frames.
    pub offloads: bool,
}

/// What passed a device, and what waits in front of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counters {
    pub bytes: u64,
    pub frames: u64,
    pub drops: u64,
    pub queue: u64,
}

/// How far a device is with coming up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LinkState {
    /// It is up, and so is the other end.
    pub carrier: bool,
    /// Everybody has been told, which is a little later: until then, what is sent may be lost.
    pub told: bool,
}

/// The network namespace of a host or of the switches: a netlink socket that was opened there,
/// which may be used from anywhere.
#[derive(Debug)]
pub(super) struct Netlink {
    socket: OwnedFd,
    namespace: OwnedFd,
    sequence: u32,
}

const ROOT: TcHandle = TcHandle { major: 0xffff, minor: 0xffff };
const BUCKET: TcHandle = TcHandle { major: 1, minor: 0 };
const CLASS: TcHandle = TcHandle { major: 1, minor: 1 };
const QUEUE: TcHandle = TcHandle { major: 2, minor: 0 };

/// `TCA_KIND`, `TCA_OPTIONS` and `TCA_STATS2` of the kernel, and in the latter `TCA_STATS_BASIC`
/// and `TCA_STATS_QUEUE`.
const KIND: u16 = 1;
const OPTIONS: u16 = 2;
const STATISTICS: u16 = 7;
const BASIC: u16 = 1;
const QUEUED: u16 = 3;

/// What comes before the attributes of a message about queues, and of one about links.
const TC_HEADER: usize = 20;
const LINK_HEADER: usize = 16;

/// `IF_OPER_UP` of the kernel.
const OPERATIONAL: u8 = 6;

impl Netlink {
    /// A socket, and the namespace that it was opened in.
    pub fn new(socket: OwnedFd, namespace: OwnedFd) -> Netlink {
        Netlink { socket, namespace, sequence: 0 }
    }

    /// The namespace.
    pub fn namespace(&self) -> BorrowedFd<'_> {
        self.namespace.as_fd()
    }

    /// Makes a veth pair: one end here, the other in another namespace.
    pub fn add_cable(
        &mut self,
        here: Device<'_>,
        there: Device<'_>,
        namespace: BorrowedFd<'_>,
    ) -> io::Result<()> {
        let mut far = described(there);
        far.attributes.push(LinkAttribute::NetNsFd(namespace.as_raw_fd()));
        let mut link = described(here);
        link.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(far))),
        ]));
        self.request(RouteNetlinkMessage::NewLink(link), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Makes a bridge, and turns it on.
    pub fn add_bridge(&mut self, bridge: Device<'_>) -> io::Result<()> {
        let mut link = described(bridge);
        link.header.flags = LinkFlags::Up;
        link.header.change_mask = LinkFlags::Up;
        // One that looks into multicast takes part in it, and sends frames of its own.
        let deaf = vec![InfoBridge::MulticastSnooping(false)];
        link.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Bridge),
            LinkInfo::Data(InfoData::Bridge(deaf)),
        ]));
        self.request(RouteNetlinkMessage::NewLink(link), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Makes a device a port of a bridge, behind which a hardware address is found.
    pub fn add_port(&mut self, bridge: u32, device: u32, mac: Mac) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = device;
        link.attributes.push(LinkAttribute::Controller(bridge));
        self.request(RouteNetlinkMessage::SetLink(link), 0)?;
        let mut entry = NeighbourMessage::default();
        entry.header.family = AddressFamily::Bridge;
        entry.header.ifindex = device;
        entry.header.state = NeighbourState::Noarp;
        entry.header.flags = NeighbourFlags::Controller;
        entry.attributes.push(NeighbourAttribute::LinkLayerAddress(mac.to_vec()));
        self.request(RouteNetlinkMessage::NewNeighbour(entry), NLM_F_CREATE | NLM_F_REPLACE)
    }

    /// Turns a device on or off.
    pub fn set_up(&mut self, device: u32, up: bool) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = device;
        link.header.flags = if up { LinkFlags::Up } else { LinkFlags::empty() };
        link.header.change_mask = LinkFlags::Up;
        self.request(RouteNetlinkMessage::SetLink(link), 0)
    }

    /// Gives a device an address, and by it a route to its network.
    pub fn add_address(&mut self, device: u32, address: Ipv4Addr, prefix: u8) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = prefix;
        message.header.index = device;
        let mask = u32::MAX.checked_shr(u32::from(prefix)).unwrap_or(0);
        message.attributes = vec![
            AddressAttribute::Local(IpAddr::V4(address)),
            AddressAttribute::Address(IpAddr::V4(address)),
            AddressAttribute::Broadcast(Ipv4Addr::from(u32::from(address) | mask)),
        ];
        self.request(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Takes an address from a device.
    pub fn remove_address(&mut self, device: u32, address: Ipv4Addr, prefix: u8) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = prefix;
        message.header.index = device;
        message.attributes = vec![AddressAttribute::Local(IpAddr::V4(address))];
        self.request(RouteNetlinkMessage::DelAddress(message), 0)
    }

    /// Says for good which hardware address an address has, so that nobody has to ask.
    pub fn add_neighbour(&mut self, device: u32, address: Ipv4Addr, mac: Mac) -> io::Result<()> {
        let mut entry = NeighbourMessage::default();
        entry.header.family = AddressFamily::Inet;
        entry.header.ifindex = device;
        entry.header.state = NeighbourState::Permanent;
        entry.attributes = vec![
            NeighbourAttribute::Destination(NeighbourAddress::Inet(address)),
            NeighbourAttribute::LinkLayerAddress(mac.to_vec()),
        ];
        self.request(RouteNetlinkMessage::NewNeighbour(entry), NLM_F_CREATE | NLM_F_REPLACE)
    }

    /// Puts a bucket and its queue in front of a device.
    pub fn shape(&mut self, device: u32, shaper: &Shaper) -> io::Result<()> {
        self.reshape(device, shaper)?;
        let mut queue = queueing(device, QUEUE, CLASS);
        queue.attributes.push(TcAttribute::Kind(shaper.queue_kind().into()));
        let limit = shaper.limit().to_ne_bytes().to_vec();
        queue.attributes.push(TcAttribute::Other(DefaultNla::new(OPTIONS, limit)));
        let message = RouteNetlinkMessage::NewQueueDiscipline(queue);
        self.request(message, NLM_F_CREATE | NLM_F_REPLACE)
    }

    /// Changes the bucket in front of a device.
    pub fn reshape(&mut self, device: u32, shaper: &Shaper) -> io::Result<()> {
        let mut bucket = queueing(device, BUCKET, ROOT);
        bucket.attributes.push(TcAttribute::Kind("tbf".into()));
        let options = shaper.attributes().into_iter();
        let options = options.map(|(kind, value)| TcOption::Other(DefaultNla::new(kind, value)));
        bucket.attributes.push(TcAttribute::Options(options.collect()));
        let message = RouteNetlinkMessage::NewQueueDiscipline(bucket);
        self.request(message, NLM_F_CREATE | NLM_F_REPLACE)
    }

    /// What passed the buckets of all shaped devices, by index.
    pub fn buckets(&mut self) -> io::Result<Vec<(u32, Counters)>> {
        let mut found = Vec::new();
        let asked = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default());
        self.dump(asked, |body| {
            if let Some(bucket) = bucket(body) {
                found.push(bucket);
            }
        })?;
        Ok(found)
    }

    /// What was sent by all devices, by index.
    pub fn links(&mut self) -> io::Result<Vec<(u32, Counters)>> {
        let mut found = Vec::new();
        let asked = RouteNetlinkMessage::GetLink(LinkMessage::default());
        self.dump(asked, |body| {
            if let Some(link) = link(body) {
                found.push(link);
            }
        })?;
        Ok(found)
    }

    /// Whether a device has a carrier, and whether the kernel has told programs and bridges so.
    pub fn state(&mut self, device: u32) -> io::Result<LinkState> {
        let mut state = LinkState::default();
        let mut asked = LinkMessage::default();
        asked.header.index = device;
        self.ask(RouteNetlinkMessage::GetLink(asked), NLM_F_REQUEST | NLM_F_ACK)?;
        self.answers(|body| {
            for part in attributes(body.get(LINK_HEADER..).unwrap_or_default()) {
                match part.kind() {
                    libc::IFLA_CARRIER => state.carrier = part.value().first() == Some(&1),
                    libc::IFLA_OPERSTATE => state.told = part.value().first() == Some(&OPERATIONAL),
                    _ => {}
                }
            }
        })?;
        Ok(state)
    }

    /// Asks for a change and waits until it is done.
    fn request(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.ask(message, NLM_F_REQUEST | NLM_F_ACK | flags)?;
        self.answers(|_| {})
    }

    /// Asks for a list, and shows the body of every item.
    fn dump(&mut self, message: RouteNetlinkMessage, show: impl FnMut(&[u8])) -> io::Result<()> {
        self.ask(message, NLM_F_REQUEST | NLM_F_DUMP)?;
        self.answers(show)
    }

    fn ask(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut header = NetlinkHeader::default();
        header.flags = flags;
        header.sequence_number = self.sequence;
        let mut packet = NetlinkMessage::new(header, NetlinkPayload::from(message));
        packet.finalize();
        let mut bytes = vec![0; packet.buffer_len()];
        packet.serialize(&mut bytes);
        send(self.socket.as_raw_fd(), &bytes, MsgFlags::empty())?;
        Ok(())
    }

    /// Reads answers up to the last.
    fn answers(&mut self, mut show: impl FnMut(&[u8])) -> io::Result<()> {
        let mut bytes = vec![0u8; 1 << 16];
        loop {
            let length = match recv(self.socket.as_raw_fd(), &mut bytes, MsgFlags::empty()) {
                Err(nix::errno::Errno::EINTR) => continue,
                length => length?,
            };
            let mut rest = &bytes[..length];
            while let Some((kind, sequence, body, after)) = next(rest) {
                rest = after;
                if sequence != self.sequence {
                    continue;
                }
                match i32::from(kind) {
                    libc::NLMSG_ERROR => {
                        let code = body.first_chunk().map_or(0, |code| i32::from_ne_bytes(*code));
                        return match code {
                            0 => Ok(()),
                            code => Err(io::Error::from_raw_os_error(-code)),
                        };
                    }
                    libc::NLMSG_DONE => return Ok(()),
                    _ => show(body),
                }
            }
        }
    }
}

/// The first message of many: its kind, its sequence number, its body; and what follows.
fn next(bytes: &[u8]) -> Option<(u16, u32, &[u8], &[u8])> {
    const HEADER: usize = 16;
    let length = u32::from_ne_bytes(*bytes.first_chunk()?) as usize;
    let kind = u16::from_ne_bytes(*bytes.get(4..)?.first_chunk()?);
    let sequence = u32::from_ne_bytes(*bytes.get(8..)?.first_chunk()?);
    let body = bytes.get(HEADER..length)?;
    let after = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some((kind, sequence, body, after))
}

fn described(device: Device<'_>) -> LinkMessage {
    let mut link = LinkMessage::default();
    link.header.index = device.index;
    link.attributes = vec![
        LinkAttribute::IfName(device.name.into()),
        LinkAttribute::Mtu(device.mtu),
        LinkAttribute::Address(device.mac.to_vec()),
    ];
    if !device.offloads {
        // Whatever would be handed over as more than one frame is cut up before.
        link.attributes.push(LinkAttribute::GsoMaxSegs(1));
    }
    link
}

fn queueing(device: u32, handle: TcHandle, parent: TcHandle) -> TcMessage {
    let mut message = TcMessage::default();
    // Indices of ours are small.
    message.header.index = device as i32;
    message.header.handle = handle;
    message.header.parent = parent;
    message
}

/// The attributes of a message or of an attribute.
fn attributes(bytes: &[u8]) -> impl Iterator<Item = NlaBuffer<&[u8]>> {
    NlasIterator::new(bytes).map_while(Result::ok)
}

/// A bucket of ours in what the kernel says about a queue: the device, and what passed.
fn bucket(body: &[u8]) -> Option<(u32, Counters)> {
    let device = u32::from_ne_bytes(*body.get(4..)?.first_chunk()?);
    let rest = body.get(TC_HEADER..)?;
    if !attributes(rest).any(|part| part.kind() == KIND && part.value() == b"tbf\0") {
        return None;
    }
    let statistics = attributes(rest).find(|part| part.kind() == STATISTICS)?;
    let mut counters = Counters::default();
    for part in attributes(statistics.value()) {
        let whole = |at: usize| {
            let bytes = part.value().get(at..).and_then(<[u8]>::first_chunk);
            bytes.map_or(0, |bytes| u64::from(u32::from_ne_bytes(*bytes)))
        };
        match part.kind() {
            // struct gnet_stats_basic: bytes, packets.
            BASIC => {
                counters.bytes = u64::from_ne_bytes(*part.value().first_chunk()?);
                counters.frames = whole(8);
            }
            // struct gnet_stats_queue: length, bytes, drops.
            QUEUED => (counters.queue, counters.drops) = (whole(4), whole(8)),
            _ => {}
        }
    }
    Some((device, counters))
}

/// The device, and what was sent by it, in what the kernel says about a link.
fn link(body: &[u8]) -> Option<(u32, Counters)> {
    let device = u32::from_ne_bytes(*body.get(4..)?.first_chunk()?);
    let all = attributes(body.get(LINK_HEADER..)?)
        .find(|part| part.kind() == libc::IFLA_STATS64)
        .map(|part| part.value().to_vec())?;
    // struct rtnl_link_stats64: frames received and sent, bytes, errors, drops received and sent.
    let whole = |number: usize| {
        let bytes = all.get(8 * number..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
    };
    Some((device, Counters { frames: whole(1), bytes: whole(3), drops: whole(7), queue: 0 }))
}

/// What a process needs to be reached by: its netlink socket, and its network namespace.
pub(super) fn open() -> io::Result<(OwnedFd, OwnedFd)> {
    use nix::sys::socket::{SockFlag, SockProtocol, SockType, socket};
    let socket = socket(
        nix::sys::socket::AddressFamily::Netlink,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::NetlinkRoute,
    )?;
    let namespace = std::fs::File::open("/proc/self/ns/net")?;
    Ok((socket, namespace.into()))
}
