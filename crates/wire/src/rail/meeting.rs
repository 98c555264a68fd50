//! How the ranks of a job come to drivers that know each other: all tell of their devices, agree on
//! rails, open them, and tell each other their addresses.

use crosstie_launch::{Job, StartError};

use super::offer::{self, Offer};
use super::provider::MOST;
use super::{Driver, RailError};
use crate::key::Key;

/// The key by which ranks know each other's datagrams. It is another one each time all ranks have
/// exchanged something, so that nothing is taken for new that was under way when ranks of the same
/// job last spoke.
pub(crate) fn key_of(job: &mut Job) -> Result<Key, StartError> {
    let secret = job.secret()?;
    Ok(Key::numbered(*secret.bytes(), job.exchanges()))
}

/// What a rank tells of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Introduction {
    /// The machine that it runs on.
    pub machine: String,
    /// A line that means something to those that exchange it.
    pub note: String,
    /// Its devices.
    pub offers: Vec<Offer>,
}

impl Introduction {
    pub(crate) fn write(&self) -> String {
        format!("{}\n{}\n{}", self.machine, self.note, offer::write(&self.offers))
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<Introduction> {
        let mut parts = std::str::from_utf8(bytes).ok()?.splitn(3, '\n');
        let mut part = || parts.next();
        let (machine, note, offers) = (part()?, part()?, part()?);
        let (machine, note) = (machine.to_owned(), note.to_owned());
        Some(Introduction { machine, note, offers: offer::read(offers)? })
    }
}

/// Tells all others of this rank, and learns of them.
pub(crate) fn introduce<E: From<StartError> + From<RailError>>(
    job: &mut Job,
    mine: &Introduction,
) -> Result<Vec<Introduction>, E> {
    let everybody = job.exchange(mine.write().as_bytes())?;
    let read = |(rank, bytes): (usize, &Vec<u8>)| {
        Introduction::read(bytes).ok_or(RailError::Odd { rank }.into())
    };
    everybody.iter().enumerate().map(read).collect()
}

/// A driver, and what it joins.
pub(crate) struct Joins<'a> {
    /// `None`: this rank has none there, and others do.
    pub driver: Option<&'a mut dyn Driver>,
    /// The ranks by the numbers that the driver has for them; `None`: one that has none there.
    pub ranks: Vec<Option<usize>>,
}

/// Tells all others the addresses of this rank's drivers, and the drivers those of the others. The
/// ranks that a driver joins have one at the same place. Returns the addresses of all, by rank and
/// place.
pub(crate) fn connect<E: From<StartError> + From<RailError>>(
    job: &mut Job,
    drivers: Vec<Joins<'_>>,
) -> Result<Vec<Vec<Vec<u8>>>, E> {
    let address = |Joins { driver, .. }: &Joins<'_>| {
        let Some(driver) = driver else { return Ok(Vec::new()) };
        let none = |cause| RailError::Unaddressed { name: driver.name().to_owned(), cause };
        driver.address().map_err(none)
    };
    let mine = drivers.iter().map(address).collect::<Result<Vec<_>, RailError>>()?;
    let everybody = job.exchange(&write(&mine))?;
    let rank = job.rank();
    let read =
        |(rank, bytes): (usize, &Vec<u8>)| read(bytes).ok_or(E::from(RailError::Odd { rank }));
    let everybody: Vec<Vec<Vec<u8>>> =
        everybody.iter().enumerate().map(read).collect::<Result<_, E>>()?;
    for (place, Joins { driver, ranks }) in drivers.into_iter().enumerate() {
        let Some(driver) = driver else { continue };
        let most = driver.capabilities().address;
        let peer = |other: &Option<usize>| {
            let Some(other) = other.filter(|&other| other != rank) else { return Ok(None) };
            let address = everybody[other].get(place).filter(|address| address.len() <= most);
            let none = || RailError::Address { rail: driver.name().to_owned(), rank: other };
            Ok(Some(&address.ok_or_else(none)?[..]))
        };
        let peers = ranks.iter().map(peer).collect::<Result<Vec<_>, RailError>>()?;
        driver.connect(&peers)?;
    }
    Ok(everybody)
}

/// Addresses as bytes: the length of each in front of it.
pub(crate) fn write(addresses: &[Vec<u8>]) -> Vec<u8> {
    let one = |address: &Vec<u8>| {
        let length = u16::try_from(address.len()).expect("drivers have short addresses");
        [&length.to_le_bytes()[..], address].concat()
    };
    addresses.iter().flat_map(one).collect()
}

/// Reads what [`write()`] has written; `None` if it has not.
pub(crate) fn read(mut bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut addresses = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk()?;
        let (address, rest) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
        addresses.push(address.to_vec());
        bytes = rest;
    }
    // Shared memory is one more than rails.
    (addresses.len() <= MOST + 1).then_some(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_key_is_of_one_job_until_ranks_exchange_something() {
        let alone = || Job::joined_by(|_| None).unwrap();
        let (mut job, mut other) = (alone(), alone());
        let key = key_of(&mut job).unwrap();
        assert_eq!(key_of(&mut job).unwrap(), key);
        assert_ne!(key_of(&mut other).unwrap(), key);
        job.exchange(b"").unwrap();
        assert_ne!(key_of(&mut job).unwrap(), key);
    }

    proptest! {
        #[test]
        fn addresses_are_read_as_written(
            addresses in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..=MOST),
            cut in 1..400usize,
        ) {
            let bytes = write(&addresses);
            prop_assert_eq!(read(&bytes), Some(addresses.clone()));
            // What is cut off is no address.
            let cut = bytes.len().saturating_sub(cut);
            prop_assert_ne!(read(&bytes[..cut]), Some(addresses).filter(|all| !all.is_empty()));
        }

        #[test]
        fn anything_may_be_told(bytes: Vec<u8>) {
            if let Some(addresses) = read(&bytes) {
                prop_assert_eq!(&write(&addresses), &bytes);
            }
            let _ = Introduction::read(&bytes);
        }
    }
}
