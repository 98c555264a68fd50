//! Devices that appear while the job runs.
//!
//! All ranks number the same *slots*: one for each rail, and behind these some for networks in
//! which only one machine had a device at the start. About once a second a rank looks whether a
//! device has come for a slot in which it has none. It opens it, and tells all others the address
//! by [`Body::Address`](crate::datagram::Body::Address) over rails that work, again and again until
//! they answer with theirs. One that had a device there and no use for it opens that now. Both
//! greet each other over the new rail; the way is there when a greeting has been answered.

use crosstie_units::Time;

use crate::datagram::Address;
use crate::rail::offer::Offer;
use crate::rail::{Device, Providers, Rail};

/// How often a rank looks, and repeats what is not answered.
const LOOK: Time = Time::from_ns(1_000_000_000);

/// A rail, or what may become one.
pub(crate) struct Slot {
    /// The kind of its devices, and the network.
    pub network: (String, String),
    /// The most bytes of a datagram: a device that takes fewer is not used.
    pub longest: usize,
    /// The device that this rank uses, and its address.
    pub device: Option<Device>,
    pub address: Option<Address>,
    /// Where others are reached.
    pub peers: Vec<Option<Vec<u8>>>,
}

/// What a rank knows of a slot beside that.
struct Watched {
    slot: Slot,
    /// Others that have not been told where this rank is, or have not answered that.
    untold: Vec<bool>,
    /// Others with an address that have not answered a greeting since one of both appeared.
    ungreeted: Vec<bool>,
}

/// Looks for devices that appear.
pub(crate) struct Lookout {
    rank: u16,
    providers: Providers,
    named: Option<String>,
    /// What this rank had at the start.
    first: Vec<Device>,
    slots: Vec<Watched>,
    next: Time,
}

impl Lookout {
    /// Of a rank that has found these devices at the start.
    pub fn new(
        rank: u16,
        (providers, named): (Providers, Option<String>),
        first: &[Offer],
        slots: Vec<Slot>,
    ) -> Lookout {
        let watched = |slot: Slot| {
            let none = vec![false; slot.peers.len()];
            Watched { slot, untold: none.clone(), ungreeted: none }
        };
        let first = first.iter().map(|offer| offer.device.clone()).collect();
        let slots = slots.into_iter().map(watched).collect();
        Lookout { rank, providers, named, first, slots, next: LOOK }
    }

    /// When it looks next.
    pub fn deadline(&self) -> Time {
        self.next
    }

    /// Looks for devices where there are none. Returns those that it has opened, with the slots.
    pub fn look(&mut self, now: Time) -> Vec<(u8, Box<dyn Rail>)> {
        self.next = now + LOOK;
        let mut opened = Vec::new();
        if self.slots.iter().all(|watched| watched.slot.device.is_some()) {
            return opened;
        }
        // What cannot be listed now may be the next time.
        let Ok((found, _)) = self.providers.present(self.named.as_deref()) else { return opened };
        for number in 0..self.slots.len() {
            let Slot { network: (kind, network), longest, device, peers, .. } =
                &self.slots[number].slot;
            if device.is_some() {
                continue;
            }
            let known = peers.iter().any(Option::is_some);
            let is_used = |device: &Device| {
                let mut used = self.slots.iter().filter_map(|other| other.slot.device.as_ref());
                used.any(|used| (&used.name, &used.station) == (&device.name, &device.station))
            };
            let fits = |offer: &Offer| {
                let device = &offer.device;
                offer.network() == (kind, network)
                    && device.longest >= *longest
                    && !is_used(device)
                    && (known || !self.first.contains(device))
            };
            let Some(which) = found.iter().position(fits) else { continue };
            // A device may go as it has come.
            let Ok(driver) = self.providers.open(which, &found, *longest) else { continue };
            let address = driver.address().ok().and_then(|address| Address::new(&address));
            let Some(address) = address else { continue };
            let watched = &mut self.slots[number];
            watched.slot.device = Some(found[which].device.clone());
            watched.slot.address = Some(address);
            watched.untold.fill(true);
            watched.untold[usize::from(self.rank)] = false;
            for (peer, ungreeted) in watched.slot.peers.iter().zip(&mut watched.ungreeted) {
                *ungreeted = peer.is_some();
            }
            opened.push((number as u8, driver));
        }
        opened
    }

    /// Gives a driver the addresses of a slot. Those that it refuses are forgotten.
    pub fn connect(&mut self, rail: u8, driver: &mut dyn Rail) {
        let peers = &mut self.slots[usize::from(rail)].slot.peers;
        let most = driver.capabilities().address;
        let all = |peers: &[Option<Vec<u8>>]| -> Vec<Option<Vec<u8>>> {
            peers.iter().map(|peer| peer.clone().filter(|peer| peer.len() <= most)).collect()
        };
        let connect = |driver: &mut dyn Rail, peers: &[Option<Vec<u8>>]| {
            let peers: Vec<Option<&[u8]>> = peers.iter().map(Option::as_deref).collect();
            driver.connect(&peers).is_ok()
        };
        *peers = all(peers);
        if connect(driver, peers) {
            return;
        }
        for peer in 0..peers.len() {
            let mut alone = vec![None; peers.len()];
            alone[peer] = peers[peer].clone();
            if !connect(driver, &alone) {
                peers[peer] = None;
            }
        }
        connect(driver, peers);
    }

    /// Another rank tells where it is reached. Returns true if that is news.
    pub fn told(&mut self, from: u16, rail: u8, address: Option<Address>) -> bool {
        let Some(watched) = self.slots.get_mut(usize::from(rail)) else { return false };
        let from = usize::from(from);
        watched.untold[from] = false;
        // One that has none may have had a device that it uses again.
        let Some(address) = address else { return false };
        let peer = &mut watched.slot.peers[from];
        if peer.as_deref() == Some(address.as_bytes()) {
            return false;
        }
        *peer = Some(address.as_bytes().to_vec());
        watched.ungreeted[from] = watched.slot.device.is_some();
        true
    }

    /// Where this rank is reached in a slot.
    pub fn address(&self, rail: u8) -> Option<Address> {
        self.slots.get(usize::from(rail)).and_then(|watched| watched.slot.address)
    }

    /// Returns true if no rank is known to use a device in a slot.
    pub fn is_spare(&self, rail: u8) -> bool {
        let spare = |slot: &Slot| slot.device.is_none() && slot.peers.iter().all(Option::is_none);
        self.slots.get(usize::from(rail)).is_some_and(|watched| spare(&watched.slot))
    }

    /// Returns true if this rank uses a device in a slot.
    pub fn has_device(&self, rail: u8) -> bool {
        self.slots.get(usize::from(rail)).is_some_and(|watched| watched.slot.device.is_some())
    }

    /// A peer has answered on a rail, or will not any more.
    pub fn settled(&mut self, to: u16, rail: u8) {
        let watched = &mut self.slots[usize::from(rail)];
        (watched.untold[usize::from(to)], watched.ungreeted[usize::from(to)]) = (false, false);
    }

    /// All that is to be said again: to a peer about a rail.
    pub fn open(&self) -> Vec<Open> {
        let mut all = Vec::new();
        for (rail, watched) in (0u8..).zip(&self.slots) {
            for (to, (&untold, &ungreeted)) in
                (0u16..).zip(watched.untold.iter().zip(&watched.ungreeted))
            {
                if untold || ungreeted {
                    all.push(Open { to, rail, untold, ungreeted });
                }
            }
        }
        all
    }
}

/// What has not been answered.
pub(crate) struct Open {
    pub to: u16,
    pub rail: u8,
    /// True if the address of this rank is to be told.
    pub untold: bool,
    /// True if it is to be greeted on the rail.
    pub ungreeted: bool,
}
