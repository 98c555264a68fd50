//! Devices, what finds and opens them, and which of them are used.

use std::fmt;
use std::sync::Arc;

use super::offer::Offer;
use super::udp::UdpProvider;
use super::{Rail, RailError};

/// The most devices that a rank uses as rails.
pub const MOST: usize = 16;

/// A device of a host through which others may be reached. All ranks are told of it. Its texts have
/// no control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Where it is in its network, also for users: no two machines of a network have the same.
    pub station: String,
    /// The network that it is in: ranks with devices in the same one reach each other.
    pub network: String,
    /// True if routers may join its network with others.
    pub routed: bool,
    /// The most bytes of a datagram.
    pub longest: usize,
}

/// Finds the devices of one kind, and opens them.
pub trait Provider: Send + Sync {
    /// The kind, in a word.
    fn name(&self) -> &'static str;

    /// The devices of this host. One that is down belongs to them: it may come up at any time.
    fn devices(&self) -> Result<Vec<Device>, RailError>;

    /// Which of all are used if the user names none: those that lead to other machines.
    fn usual(&self, all: &[Device]) -> Vec<Device> {
        all.to_vec()
    }

    /// One that joins the ranks of this machine, for where none leads further.
    fn local(&self, _all: &[Device]) -> Option<Device> {
        None
    }

    /// Returns true if a user may call a device so, besides by its name.
    fn is_called(&self, device: &Device, name: &str) -> bool {
        device.station == name
    }

    /// Opens a device for datagrams of up to [`longest`](Device::longest) bytes, which may be fewer
    /// than were found. `crowded`: this rank uses others in the same network, too.
    fn open(&self, device: &Device, crowded: bool) -> Result<Box<dyn Rail>, RailError>;
}

/// All providers of rails. There is UDP unless others are put in its place.
#[derive(Clone)]
pub struct Providers(Vec<Arc<dyn Provider>>);

impl Providers {
    /// These.
    pub fn new(all: Vec<Arc<dyn Provider>>) -> Providers {
        Providers(all)
    }

    /// The one for a kind of devices.
    fn of(&self, kind: &str) -> Option<&dyn Provider> {
        self.0.iter().find(|provider| provider.name() == kind).map(|provider| &**provider)
    }

    /// Returns the devices that are used: those that are named, with commas between, in this order;
    /// all that lead to other machines if none is named; if there are none, one that joins the
    /// ranks of this machine.
    pub(crate) fn choose(&self, named: Option<&str>) -> Result<Vec<Offer>, RailError> {
        let (chosen, missing) = self.present(named)?;
        missing.into_iter().next().map_or(Ok(chosen), Err)
    }

    /// The same without those that are named and not there, and why these are not. That none is
    /// there is an error.
    pub(crate) fn present(
        &self,
        named: Option<&str>,
    ) -> Result<(Vec<Offer>, Vec<RailError>), RailError> {
        let found = self.0.iter().map(|provider| Ok((&**provider, provider.devices()?)));
        let found: Vec<Found<'_>> = found.collect::<Result<_, RailError>>()?;
        let mut missing = Vec::new();
        let chosen = match named.map(str::trim).filter(|named| !named.is_empty()) {
            Some(named) => {
                let mut there = Vec::new();
                for name in named.split(',') {
                    match find(&found, name.trim()) {
                        Ok(offer) => there.push(offer),
                        Err(error) => missing.push(error),
                    }
                }
                if there.is_empty() && !missing.is_empty() {
                    return Err(missing.swap_remove(0));
                }
                there
            }
            None => {
                let usual = found.iter().flat_map(|(provider, all)| {
                    provider.usual(all).into_iter().map(|device| Offer::of(*provider, device))
                });
                usual.take(MOST).collect::<Vec<Offer>>()
            }
        };
        match chosen.len() {
            0 => {
                let mut local = found.iter().filter_map(|(provider, all)| {
                    provider.local(all).map(|device| Offer::of(*provider, device))
                });
                Ok((local.next().into_iter().collect(), missing))
            }
            found if found > MOST => Err(RailError::TooMany { found }),
            _ => Ok((chosen, missing)),
        }
    }

    /// Opens a device out of all that this rank uses, for datagrams of up to `longest` bytes.
    ///
    /// # Panics
    /// If it was not chosen among those of these providers.
    pub(crate) fn open(
        &self,
        which: usize,
        used: &[Offer],
        longest: usize,
    ) -> Result<Box<dyn Rail>, RailError> {
        let offer = &used[which];
        let provider = self.of(&offer.provider).expect("it has found the device");
        let device = Device { longest, ..offer.device.clone() };
        provider.open(&device, offer.is_crowded(used))
    }
}

/// What a provider has found.
type Found<'a> = (&'a dyn Provider, Vec<Device>);

/// All devices with their providers.
fn all<'a>(found: &'a [Found<'a>]) -> impl Iterator<Item = (&'a dyn Provider, &'a Device)> {
    found.iter().flat_map(|(provider, all)| all.iter().map(|device| (*provider, device)))
}

/// The device that is called so: by name or otherwise.
fn find(found: &[Found<'_>], name: &str) -> Result<Offer, RailError> {
    let called = all(found).find(|(_, device)| device.name == name);
    let called =
        called.or_else(|| all(found).find(|(provider, device)| provider.is_called(device, name)));
    let offer = called.map(|(provider, device)| Offer::of(provider, device.clone()));
    offer.ok_or_else(|| {
        let known = names(all(found).map(|(_, device)| device));
        RailError::Unknown { name: name.to_owned(), known }
    })
}

/// Devices as users know them.
pub(super) fn names<'a>(devices: impl Iterator<Item = &'a Device>) -> String {
    let names: Vec<String> =
        devices.map(|device| format!("{} ({})", device.name, device.station)).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

impl Default for Providers {
    fn default() -> Providers {
        Providers(vec![Arc::new(UdpProvider)])
    }
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|provider| provider.name())).finish()
    }
}

/// Providers of the same kinds are the same.
impl PartialEq for Providers {
    fn eq(&self, other: &Providers) -> bool {
        let kinds = |providers: &Providers| -> Vec<&str> {
            providers.0.iter().map(|provider| provider.name()).collect()
        };
        kinds(self) == kinds(other)
    }
}
