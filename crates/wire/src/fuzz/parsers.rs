//! What is read: datagrams, envelopes, offers and addresses of rails, options.

use crate::comm::Options;
use crate::datagram::{Datagram, Head};
use crate::envelope as envelopes;
use crate::key::{Course, Key};
use crate::rail::agree::agree;
use crate::rail::{meeting, offer, udp};

/// A datagram: as it is, which is a stranger's, and with the right tag. What is understood is
/// written again as it was meant.
pub fn datagram(bytes: &[u8]) {
    let (key, course) = (Key::new([1; 16]), Course { to: 0, rail: 0 });
    let _ = Datagram::decode(bytes, &key, course);
    let sealed = seal(bytes, &key, course);
    if let Ok((read, load)) = Datagram::decode(&sealed, &key, course) {
        let front = read.encode(&key, course, load);
        let again = [front.as_bytes(), load].concat();
        let (second, second_load) = Datagram::decode(&again, &key, course).expect("it was written");
        assert_eq!((second, second_load), (read, load));
        let elsewhere = Course { to: 0, rail: 1 };
        assert!(Datagram::decode(&sealed, &key, elsewhere).is_err(), "it is of another rail");
    }
}

/// The same bytes with the tag that their head asks for.
pub(super) fn seal(bytes: &[u8], key: &Key, course: Course) -> Vec<u8> {
    let mut sealed = bytes.to_vec();
    if let Some((bytes, rest)) = sealed.split_first_chunk_mut() {
        let head = Head::read(bytes);
        *bytes = head.tagged(key.tag(course, &head, [rest, &[]])).bytes();
    }
    sealed
}

/// An envelope, with what is behind it.
pub fn envelope(bytes: &[u8]) {
    if let Some((envelope, rest)) = envelopes::decode(bytes) {
        let again = [&envelopes::encode(&envelope)[..], rest].concat();
        assert_eq!(envelopes::decode(&again), Some((envelope, rest)));
    }
}

/// What three ranks say of their devices, one paragraph each; the first byte says which share a
/// machine.
pub fn offers(bytes: &[u8]) {
    let (&first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let Ok(text) = str::from_utf8(rest) else { return };
    let ranks: Option<Vec<_>> = text.split("\n\n").take(3).map(offer::read).collect();
    let Some(offers) = ranks else { return };
    for offers in &offers {
        assert_eq!(offer::read(&offer::write(offers)).as_ref(), Some(offers));
    }
    let machines: Vec<usize> =
        (0..offers.len()).map(|rank| usize::from(first >> (2 * rank)) & 3).collect();
    if let Ok(rails) = agree(&offers, &machines) {
        for rail in &rails {
            assert_eq!(rail.offers.len(), offers.len());
            for (offers, chosen) in offers.iter().zip(&rail.offers) {
                assert!(chosen.is_none_or(|which| offers[which].device.longest >= rail.longest));
            }
        }
        for (rank, _) in offers.iter().enumerate() {
            let mut used: Vec<usize> = rails.iter().filter_map(|rail| rail.offers[rank]).collect();
            used.sort_unstable();
            assert!(used.windows(2).all(|two| two[0] != two[1]), "a device is part of one rail");
        }
    }
}

/// What a rank tells of itself before ranks meet. What is understood is written again as it was
/// meant.
pub fn told(bytes: &[u8]) {
    if let Some(told) = meeting::Introduction::read(bytes) {
        let again = told.write();
        assert_eq!(meeting::Introduction::read(again.as_bytes()).as_ref(), Some(&told));
    }
}

/// The addresses of a rank's drivers, each of which is given to that of UDP too.
pub fn addresses(bytes: &[u8]) {
    if let Some(addresses) = meeting::read(bytes) {
        assert_eq!(meeting::write(&addresses), bytes);
        for address in addresses {
            assert!(udp::decode(&address).is_none_or(|address| address.port() > 0));
        }
    }
}

/// Options in an environment, a variable in each line: a name, `=` and a value.
pub fn options(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let find = |name: &str| {
        let mut variables = text.lines().filter_map(|line| line.split_once('='));
        variables.find(|(other, _)| *other == name).map(|(_, value)| value.to_owned())
    };
    match Options::read(find) {
        Ok(options) => assert!(!options.patience.is_zero() && options.eager <= 1 << 16),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
