//! A box as its maker sees it.

use std::ffi::CString;
use std::fmt::Write;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crosstie_units::{Bytes, Capacity, Rate};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::BoxError;
use super::keeper::{self, Plan, Resident, news};
use super::netlink::{Counters, Device, LinkState, Mac, Netlink};
use super::passing;
use super::permission;
use super::program::{self, Command, Program};
use super::shaper::Shaper;
use crate::{Change, End, MOST_RAILS, Occurrence, Spec};

/// A cluster of hosts and rails, as long as it is not dropped.
#[derive(Debug)]
pub struct Cluster {
    spec: Spec,
    keeper: Pid,
    /// The keeper ends when this is closed.
    line: Option<OwnedFd>,
    folder: OwnedFd,
    /// Where the switches are.
    switches: Mutex<Netlink>,
    hosts: Vec<Mutex<Netlink>>,
}

/// How a box is made, where it matters.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The beginning of a command line that runs a program on another host, called as `ssh` would
    /// be; hosts have it as `ssh` and `rsh`.
    pub remote_shell: Option<String>,
    /// Whether programs are those of root in the box, and may change links and capture frames.
    pub root: bool,
}

/// A host's number of the loopback device.
const LOOPBACK: u32 = 1;

/// The number of the device of a rail on a host. The two ends of a cable have different ones: where
/// they are alike the kernel takes up to a second to tell everybody that a link is up.
fn nic(rail: usize, host: usize) -> u32 {
    10 + rail as u32 + MOST_RAILS * host as u32
}

/// The number of the bridge of a rail, where the switches are.
fn bridge(rail: usize) -> u32 {
    10 + rail as u32
}

/// The number of the port of a rail that leads to a host, where the switches are.
fn port(rail: usize, host: usize) -> u32 {
    10_000 + 256 * rail as u32 + host as u32
}

/// The hardware address of a host on a rail.
fn mac(rail: usize, host: usize) -> Mac {
    [0x02, 0x0c, 0x05, rail as u8, 0, host as u8 + 1]
}

/// The hardware address of a device of a switch, which no frame carries.
fn port_mac(rail: usize, port: usize) -> Mac {
    [0x02, 0x0c, 0x06, rail as u8, 0, port as u8]
}

/// Every rail is a network of this many hosts and more.
const PREFIX: u8 = 16;

/// A header of Ethernet, which rates and queues count.
const HEADER: u64 = 14;

impl Cluster {
    /// Makes a box.
    pub fn start(spec: &Spec) -> Result<Cluster, BoxError> {
        Cluster::with(spec, &Options::default())
    }

    /// Makes a box in a certain way.
    pub fn with(spec: &Spec, options: &Options) -> Result<Cluster, BoxError> {
        spec.check().map_err(|misfit| BoxError::new("make this box", misfit))?;
        let cluster = Cluster::of_hosts(spec, options)?;
        cluster.join()?;
        Ok(cluster)
    }

    /// Makes the hosts of a box, without rails.
    pub(super) fn of_hosts(spec: &Spec, options: &Options) -> Result<Cluster, BoxError> {
        let plan = plan(spec, options);
        let (keeper, line) = keeper::start(&plan)
            .map_err(|error| BoxError::new("start a process for the box", error))?;
        let mut nursery = Nursery { keeper, line: Some(line) };
        let (switches, folder, hosts) = nursery.raise(plan.hosts.len(), options.root)?;
        let line = nursery.line.take();
        let hosts = hosts.into_iter().map(Mutex::new).collect();
        let switches = Mutex::new(switches);
        Ok(Cluster { spec: spec.clone(), keeper, line, folder, switches, hosts })
    }

    /// Makes the rails.
    fn join(&self) -> Result<(), BoxError> {
        for (number, host) in self.hosts.iter().enumerate() {
            let name = &self.spec.hosts.names()[number];
            let up = locked(host).set_up(LOOPBACK, true);
            up.map_err(|error| {
                BoxError::new(format!("bring up the loopback device of {name}"), error)
            })?;
        }
        for rail in 0..self.spec.rails.len() {
            self.add_rail(rail)?;
        }
        self.settle()
    }

    /// Waits until all devices are up.
    fn settle(&self) -> Result<(), BoxError> {
        for rail in 0..self.spec.rails.len() {
            for host in self.spec.members(rail) {
                self.wait_until(rail, host, |state| state.carrier && state.told)?;
            }
        }
        Ok(())
    }

    /// Waits until the devices of a host's port are as they should be.
    fn wait_until(
        &self,
        rail: usize,
        host: usize,
        right: impl Fn(LinkState) -> bool,
    ) -> Result<(), BoxError> {
        let begin = Instant::now();
        let mut devices = vec![(&self.hosts[host], nic(rail, host))];
        if self.spec.is_switched(rail) {
            devices.push((&self.switches, port(rail, host)));
        }
        let failed = |error: io::Error| BoxError::new("look at the devices of a host", error);
        for (namespace, device) in devices {
            while !right(locked(namespace).state(device).map_err(failed)?) {
                if begin.elapsed() > PATIENCE {
                    let name = self.spec.rail_name(rail);
                    let cause = format!("no carrier within {} s", PATIENCE.as_secs());
                    return Err(BoxError::new(format!("bring up rail {name}"), cause));
                }
                std::thread::sleep(Duration::from_micros(200));
            }
        }
        Ok(())
    }

    fn add_rail(&self, rail: usize) -> Result<(), BoxError> {
        let name = self.spec.rail_name(rail);
        let doing = |what: &'static str| {
            let name = name.clone();
            move |error: io::Error| {
                let help = permission::advice_for_devices(&error);
                BoxError::new(format!("{what} rail {name}"), error).with_help(help)
            }
        };
        let members = self.spec.members(rail);
        // Limits of the file keep it within 16 bits.
        let mtu = self.spec.rails[rail].mtu.get() as u32;
        let offloads = self.spec.rails[rail].offloads();
        let device = |host: usize| {
            let (index, mac) = (nic(rail, host), mac(rail, host));
            Device { name: &name, index, mac, mtu, offloads }
        };
        match (self.spec.is_switched(rail), members.as_slice()) {
            (false, &[one, other]) => {
                let namespace = self.namespace(other).map_err(doing("find the hosts of"))?;
                locked(&self.hosts[one])
                    .add_cable(device(one), device(other), namespace.as_fd())
                    .map_err(doing("make the cable of"))?;
            }
            _ => {
                let mut switches = locked(&self.switches);
                let bridge_name = format!("switch{rail}");
                let (index, mac) = (bridge(rail), port_mac(rail, 0));
                let made = Device { name: &bridge_name, index, mac, mtu, offloads };
                switches.add_bridge(made).map_err(doing("make the switch of"))?;
                for &host in &members {
                    let port_name = format!("port{rail}-{host}");
                    let (index, mac) = (port(rail, host), port_mac(rail, host + 1));
                    let made = Device { name: &port_name, index, mac, mtu, offloads };
                    let namespace = self.namespace(host).map_err(doing("find the hosts of"))?;
                    switches
                        .add_cable(made, device(host), namespace.as_fd())
                        .and_then(|()| {
                            switches.add_port(bridge(rail), index, self::mac(rail, host))
                        })
                        .and_then(|()| switches.set_up(index, true))
                        .map_err(doing("make the ports of"))?;
                }
            }
        }
        for &host in &members {
            self.connect(rail, host).map_err(doing("bring up the devices of"))?;
            let mut netlink = locked(&self.hosts[host]);
            netlink
                .add_address(nic(rail, host), self.spec.address(rail, host), PREFIX)
                .map_err(doing("give addresses to"))?;
        }
        if let Some(rate) = self.spec.rails[rail].rate {
            for &host in &members {
                self.shape(rail, host, rate, Netlink::shape).map_err(doing("shape"))?;
            }
        }
        Ok(())
    }

    /// The network namespace of a host.
    fn namespace(&self, host: usize) -> io::Result<OwnedFd> {
        locked(&self.hosts[host]).namespace().try_clone_to_owned()
    }

    /// Brings up the device of a host, and tells it who is there.
    fn connect(&self, rail: usize, host: usize) -> io::Result<()> {
        let mut netlink = locked(&self.hosts[host]);
        netlink.set_up(nic(rail, host), true)?;
        for other in self.spec.members(rail).into_iter().filter(|other| *other != host) {
            netlink.add_neighbour(
                nic(rail, host),
                self.spec.address(rail, other),
                mac(rail, other),
            )?;
        }
        Ok(())
    }

    /// Shapes the port of a host, at both ends where it leads to a switch.
    fn shape(
        &self,
        rail: usize,
        host: usize,
        rate: Rate,
        apply: impl Fn(&mut Netlink, u32, &Shaper) -> io::Result<()>,
    ) -> io::Result<()> {
        let said = &self.spec.rails[rail];
        let frame = Bytes::new(said.mtu.get() + HEADER);
        let shaper = |queue: Capacity| Shaper { rate, queue, frame, whole: said.whole };
        apply(&mut locked(&self.hosts[host]), nic(rail, host), &shaper(said.queue()))?;
        match self.spec.is_switched(rail) {
            true => apply(&mut locked(&self.switches), port(rail, host), &shaper(said.buffer())),
            false => Ok(()),
        }
    }

    /// Makes something happen to a rail. What comes up carries frames when this returns, if its
    /// other end is up as well.
    pub fn apply(&self, occurrence: &Occurrence) -> Result<(), BoxError> {
        let Occurrence { rail, host, change, .. } = *occurrence;
        let members = self.spec.members(rail);
        let hosts = host.map_or_else(|| members.clone(), |host| vec![host]);
        for &host in &hosts {
            let done = match change {
                Change::Rate(rate) => self.shape(rail, host, rate, Netlink::reshape),
                Change::Down => self.set_up(rail, host, false),
                Change::Up => self.set_up(rail, host, true),
            };
            done.map_err(|error| {
                let name = self.spec.rail_name(rail);
                BoxError::new(format!("set rail {name} of host {host} to {change}"), error)
            })?;
        }
        if change == Change::Up {
            // The other end of a cable comes up with this one.
            for host in if self.spec.is_switched(rail) { hosts } else { members } {
                self.wait_until(rail, host, |state| state.told || !state.carrier)?;
            }
        }
        Ok(())
    }

    /// Gives the device of a host its address, or takes it away: a device without an address is no
    /// rail of any rank.
    pub fn set_address(&self, rail: usize, host: usize, there: bool) -> Result<(), BoxError> {
        let (device, address) = (nic(rail, host), self.spec.address(rail, host));
        let done = match there {
            true => {
                let added = locked(&self.hosts[host]).add_address(device, address, PREFIX);
                // With its last address a device loses its neighbours.
                added.and_then(|()| self.connect(rail, host))
            }
            false => locked(&self.hosts[host]).remove_address(device, address, PREFIX),
        };
        done.map_err(|error| {
            let name = self.spec.rail_name(rail);
            BoxError::new(format!("change the address of rail {name} of host {host}"), error)
        })
    }

    /// Brings a port up or down: at the switch where there is one, so that the host has no carrier,
    /// else at the host.
    fn set_up(&self, rail: usize, host: usize, up: bool) -> io::Result<()> {
        match (self.spec.is_switched(rail), up) {
            (true, up) => locked(&self.switches).set_up(port(rail, host), up),
            (false, true) => self.connect(rail, host),
            (false, false) => locked(&self.hosts[host]).set_up(nic(rail, host), false),
        }
    }

    /// What every end of every rail has carried so far.
    pub(super) fn counters(&self) -> io::Result<Vec<Count>> {
        let mut all = Vec::new();
        let rates = || self.spec.rails.iter().map(|rail| rail.rate.is_some());
        // A list takes the kernel most of the time of a look, so nobody asks for one in vain.
        let (buckets, links) = (rates().any(|shaped| shaped), rates().any(|shaped| !shaped));
        let look = |netlink: &Mutex<Netlink>| Carried::by(&mut locked(netlink), buckets, links);
        let switched = (0..self.spec.rails.len()).any(|rail| self.spec.is_switched(rail));
        let switches = if switched { Some(look(&self.switches)?) } else { None };
        let hosts = self.hosts.iter().map(look).collect::<io::Result<Vec<Carried>>>()?;
        for rail in 0..self.spec.rails.len() {
            let shaped = self.spec.rails[rail].rate.is_some();
            for host in self.spec.members(rail) {
                let counted = |end: End, carried: &Carried, device: u32| {
                    let counters = carried.of(device, shaped);
                    Count { rail, host, end, counters, read: carried.read }
                };
                all.push(counted(End::Nic, &hosts[host], nic(rail, host)));
                if let Some(switches) = switches.as_ref().filter(|_| self.spec.is_switched(rail)) {
                    all.push(counted(End::Switch, switches, port(rail, host)));
                }
            }
        }
        Ok(all)
    }

    /// Starts a program on a host, by its number.
    pub fn spawn(&self, host: usize, command: &Command) -> Result<Program, BoxError> {
        let folder = PathBuf::from(format!("/proc/self/fd/{}", self.folder.as_raw_fd()));
        Program::start(&folder, &self.spec.hosts.names()[host], command)
    }

    /// What it was made from.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Whether it still stands: not if somebody has killed its processes.
    pub fn stands(&self) -> bool {
        matches!(waitpid(self.keeper, Some(WaitPidFlag::WNOHANG)), Ok(WaitStatus::StillAlive))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.line.take());
        bury(self.keeper);
    }
}

/// How long devices may take to come up, and a keeper to end before it is killed.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits for a keeper that has been told to end.
fn bury(keeper: Pid) {
    let begin = Instant::now();
    let mut nap = Duration::from_micros(200);
    loop {
        match waitpid(keeper, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) | Err(nix::errno::Errno::EINTR) => {}
            _ => return,
        }
        if begin.elapsed() > PATIENCE {
            let _ = kill(keeper, Signal::SIGKILL);
        }
        std::thread::sleep(nap);
        nap = (nap * 2).min(Duration::from_millis(10));
    }
}

/// A keeper whose box is not whole yet.
struct Nursery {
    keeper: Pid,
    line: Option<OwnedFd>,
}

impl Drop for Nursery {
    fn drop(&mut self) {
        if let Some(line) = self.line.take() {
            drop(line);
            bury(self.keeper);
        }
    }
}

impl Nursery {
    /// Helps a keeper until all its hosts stand.
    fn raise(
        &self,
        hosts: usize,
        root: bool,
    ) -> Result<(Netlink, OwnedFd, Vec<Netlink>), BoxError> {
        let line = self.line.as_ref().expect("a keeper has its line until its box is whole");
        let lost = || BoxError::new("make the box", "its process has ended");
        let failed = |error: io::Error| {
            let help = permission::advice_for_files(&error, hosts);
            BoxError::new("make the box", error).with_help(help)
        };
        let mut kept = None;
        let mut found: Vec<Option<Netlink>> = (0..hosts).map(|_| None).collect();
        while kept.is_none() || found.iter().any(Option::is_none) {
            let message = passing::receive(line.as_fd()).map_err(failed)?.ok_or_else(lost)?;
            let (&kind, rest) = message.bytes.split_first().ok_or_else(lost)?;
            let mut files = message.files.into_iter();
            match kind {
                news::ENTERED => {
                    map_users(self.keeper, root).map_err(|error| {
                        let help = permission::advice(&error);
                        BoxError::new("map users into the box", error).with_help(help)
                    })?;
                    passing::send(line.as_fd(), b"m", &[]).map_err(failed)?;
                }
                news::KEPT => {
                    let netlink = netlink(&mut files).ok_or_else(lost)?;
                    kept = Some((netlink, files.next().ok_or_else(lost)?));
                }
                news::HOST => {
                    let number = rest.first_chunk().map(|number| u32::from_ne_bytes(*number));
                    let place = number.and_then(|number| found.get_mut(number as usize));
                    *place.ok_or_else(lost)? = Some(netlink(&mut files).ok_or_else(lost)?);
                }
                _ => {
                    let (code, doing) = rest.split_first_chunk().ok_or_else(lost)?;
                    let error = io::Error::from_raw_os_error(i32::from_ne_bytes(*code));
                    let help = permission::advice(&error);
                    let doing = String::from_utf8_lossy(doing);
                    return Err(BoxError::new(doing, error).with_help(help));
                }
            }
        }
        let (switches, folder) = kept.ok_or_else(lost)?;
        Ok((switches, folder, found.into_iter().flatten().collect()))
    }
}

/// The netlink socket and the namespace that came with a message.
fn netlink(files: &mut impl Iterator<Item = OwnedFd>) -> Option<Netlink> {
    Some(Netlink::new(files.next()?, files.next()?))
}

/// Maps users into the namespace of a keeper: everybody to themselves where that is allowed, else
/// the one who makes the box.
fn map_users(keeper: Pid, root: bool) -> io::Result<()> {
    let file = |name: &str| format!("/proc/{keeper}/{name}");
    let (user, group) = (nix::unistd::geteuid(), nix::unistd::getegid());
    if user.is_root() {
        let whole = ["uid_map", "gid_map"].map(|name| {
            let own = fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
            let ranges = own.lines().filter_map(|line| {
                let mut numbers = line.split_whitespace();
                let (first, count) = (numbers.next()?, numbers.nth(1)?);
                Some(format!("{first} {first} {count}\n"))
            });
            (name, ranges.collect::<String>())
        });
        if whole.iter().all(|(name, map)| fs::write(file(name), map).is_ok()) {
            return Ok(());
        }
    }
    // Kernels before this rule have no such file.
    match fs::write(file("setgroups"), "deny") {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let inside = |id: u32| if root { 0 } else { id };
    fs::write(file("uid_map"), format!("{} {user} 1\n", inside(user.as_raw())))?;
    fs::write(file("gid_map"), format!("{} {group} 1\n", inside(group.as_raw())))
}

/// What the keeper needs to know.
fn plan(spec: &Spec, options: &Options) -> Plan {
    let text = |text: String| CString::new(text).unwrap_or_default();
    let names = spec.hosts.names();
    let hosts = names.iter().enumerate().map(|(number, name)| {
        let rails = (0..spec.rails.len()).filter(|rail| spec.members(*rail).contains(&number));
        let rails: Vec<String> = rails.map(|rail| spec.rail_name(rail)).collect();
        let mut variables = vec![
            ("CROSSTIE_HOST".to_owned(), name.clone()),
            ("CROSSTIE_HOSTS".to_owned(), names.join(",")),
            ("CROSSTIE_RAILS".to_owned(), rails.join(",")),
        ];
        if options.remote_shell.is_some() {
            variables.push(("PATH".to_owned(), program::path().to_string_lossy().into_owned()));
        }
        let variables = variables.into_iter().map(|(name, value)| (text(name), text(value)));
        Resident { name: text(name.clone()), variables: variables.collect() }
    });
    let hosts = hosts.collect();
    Plan { hosts, table: table(spec), remote_shell: options.remote_shell.clone() }
}

/// `/etc/hosts`: the name of a host is its address on its first rail, and it has a name on each.
fn table(spec: &Spec) -> String {
    let mut text = String::from("127.0.0.1 localhost\n::1 localhost ip6-localhost\n");
    for (number, name) in spec.hosts.names().iter().enumerate() {
        let rails = (0..spec.rails.len()).filter(|rail| spec.members(*rail).contains(&number));
        for (place, rail) in rails.enumerate() {
            let (address, rail) = (spec.address(rail, number), spec.rail_name(rail));
            let short = if place == 0 { format!("{name} ") } else { String::new() };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{address} {short}{name}-{rail}");
        }
    }
    text
}

/// What one end of a rail has carried so far.
pub(super) struct Count {
    pub rail: usize,
    pub host: usize,
    pub end: End,
    pub counters: Counters,
    /// When they were read.
    pub read: Instant,
}

/// What devices of a namespace have carried.
struct Carried {
    buckets: Vec<(u32, Counters)>,
    links: Vec<(u32, Counters)>,
    /// When it was read. The kernel may have let us wait before, as one may change links at a
    /// time.
    read: Instant,
}

impl Carried {
    /// Asks for what passed buckets, links, or both.
    fn by(netlink: &mut Netlink, buckets: bool, links: bool) -> io::Result<Carried> {
        let mut buckets = if buckets { netlink.buckets()? } else { Vec::new() };
        let mut links = if links { netlink.links()? } else { Vec::new() };
        let read = Instant::now();
        for list in [&mut buckets, &mut links] {
            list.sort_unstable_by_key(|(device, _)| *device);
        }
        Ok(Carried { buckets, links, read })
    }

    fn of(&self, device: u32, shaped: bool) -> Counters {
        let list = if shaped { &self.buckets } else { &self.links };
        let place = list.binary_search_by_key(&device, |(device, _)| *device);
        place.map_or(Counters::default(), |place| list[place].1)
    }
}

/// A lock whose content is whole whatever happened to others.
fn locked(netlink: &Mutex<Netlink>) -> MutexGuard<'_, Netlink> {
    netlink.lock().unwrap_or_else(PoisonError::into_inner)
}
