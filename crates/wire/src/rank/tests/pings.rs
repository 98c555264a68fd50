//! Short pings over rails of unequal rates take the same time whatever went before.

use super::*;

/// What two ranks exchange before they ping each other.
#[derive(Debug, Clone, Copy)]
enum Before {
    Nothing,
    /// Long messages in one direction or in both.
    Long {
        both: bool,
    },
    /// Short messages, all at once.
    Burst,
    /// One rail is down meanwhile.
    Outage(usize),
}

fn message(from: u16, bytes: usize) -> Message {
    Message { from, to: 1 - from, tag: 0, bytes: vec![from as u8; bytes] }
}

/// The median round trip of pings of `bytes` bytes after something else, in microseconds.
fn round_trip(rates: &[u64], bytes: usize, before: Before) -> u64 {
    let (profile, policy) = (Profile::live(), PolicyKind::recommended());
    let mut sky =
        Sky::with_profile((profile, Injection::default()), 1, 2, rates, Harm::default(), policy);
    let play = |sky: &mut Sky, messages: &[Message]| {
        let until = sky.now() + ms(60_000);
        assert_eq!(exchange(sky, messages, |_| (), until), Ok(()), "{before:?}");
    };
    match before {
        Before::Nothing => {}
        Before::Long { both } => {
            let froms: &[u16] = if both { &[0, 1] } else { &[0] };
            let each = froms.iter().map(|&from| message(from, 1_000_000));
            play(&mut sky, &each.cycle().take(20).collect::<Vec<_>>());
        }
        Before::Burst => play(&mut sky, &vec![message(1, 1_000); 200]),
        Before::Outage(rail) => {
            sky.air.lock().unwrap().works[rail] = Some(false);
            play(&mut sky, &vec![message(0, 200_000); 5]);
            sky.air.lock().unwrap().works[rail] = Some(true);
            let rests = sky.now() + ms(200);
            sky.run(rests);
        }
    }
    let ping = |sky: &mut Sky| {
        let begin = sky.now();
        play(sky, &[message(0, bytes)]);
        play(sky, &[message(1, bytes)]);
        (sky.now() - begin).ps() / 1_000_000
    };
    // A rail that has come back is trusted again, and rates are found.
    let trusted = sky.now() + ms(3_000);
    sky.run(trusted);
    (0..200).for_each(|_| _ = ping(&mut sky));
    let mut took: Vec<u64> = (0..101).map(|_| ping(&mut sky)).collect();
    took.sort_unstable();
    took[50]
}

#[test]
fn short_pings_take_the_fast_rail_whatever_went_before() {
    use Before::{Burst, Long, Nothing, Outage};
    let histories =
        [Nothing, Long { both: false }, Long { both: true }, Burst, Outage(0), Outage(1)];
    for bytes in [8 << 10, 16 << 10] {
        for rates in [[125, 31], [31, 125]] {
            let alone = round_trip(&[125], bytes, Nothing);
            let found = histories.map(|before| round_trip(&rates, bytes, before));
            let as_fast = |&took: &u64| 10 * took <= 11 * alone;
            assert!(found.iter().all(as_fast), "{bytes} B: {found:?} us, alone {alone}");
        }
    }
}
