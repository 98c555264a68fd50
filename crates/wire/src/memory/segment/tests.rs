use super::*;
use proptest::prelude::*;
use std::os::unix::fs::PermissionsExt;

/// A folder with the segment of a rank in it.
struct Stage {
    folder: tempfile::TempDir,
    name: Name,
    beacon: Beacon,
}

fn stage() -> Stage {
    let folder = tempfile::tempdir().unwrap();
    Stage { folder, name: Name::random().unwrap(), beacon: Beacon::light().unwrap() }
}

impl Stage {
    fn create(&self, owner: usize, ranks: usize) -> Segment {
        let layout = Layout::new(owner, ranks, SMALLEST_RING).unwrap();
        Segment::create(self.folder.path(), &self.name, layout, &self.beacon).unwrap()
    }

    fn open(&self, peer: usize, ranks: usize) -> Result<Segment, MemoryError> {
        Segment::open(self.folder.path(), &self.name, peer, ranks)
    }

    fn path(&self) -> PathBuf {
        self.name.segment(self.folder.path())
    }

    fn files(&self) -> usize {
        fs::read_dir(self.folder.path()).unwrap().count()
    }

    /// What is said about the file when a peer opens it as that of rank 1 of 3.
    fn complaint(&self) -> String {
        let error = self.open(1, 3).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, MemoryError::Foreign { peer: 1, .. }), "{text}");
        text
    }
}

#[test]
fn peers_find_what_the_owner_made() {
    let stage = stage();
    let owner = stage.create(1, 3);
    assert_eq!(fs::metadata(stage.path()).unwrap().mode() & 0o7777, 0o600);
    let peer = stage.open(1, 3).unwrap();
    assert_eq!(peer.layout(), owner.layout());
    let mut copy = Box::new([0; super::super::ring::LONGEST]);
    for rank in [0, 2] {
        let mut consumer = owner.consumer(owner.layout().slot(rank));
        assert!(peer.producer(rank).unwrap().try_push(&[&[rank as u8; 100]]));
        assert!(consumer.pop(&mut copy, |record| assert_eq!(record, [rank as u8; 100])));
    }
    let reader = peer.reader();
    assert_eq!((reader.process, reader.word), (std::process::id(), stage.beacon.word()));
}

#[test]
fn the_name_goes_when_it_is_taken_away_and_when_the_owner_goes() {
    let stage = stage();
    let mut owner = stage.create(0, 2);
    let peer = stage.open(0, 2).unwrap();
    drop(peer);
    assert_eq!(stage.files(), 1, "peers leave it alone");
    owner.unlink();
    assert_eq!(stage.files(), 0);
    assert!(matches!(stage.open(0, 2), Err(MemoryError::Open { .. })));
    fs::write(stage.path(), "of somebody else").unwrap();
    drop(owner);
    assert_eq!(stage.files(), 1, "a name that we gave up is not ours");
    fs::remove_file(stage.path()).unwrap();
    drop(stage.create(0, 2));
    assert_eq!(stage.files(), 0);
}

#[test]
fn a_name_that_is_taken_is_not_taken_over() {
    let stage = stage();
    fs::write(stage.path(), "precious").unwrap();
    let layout = Layout::new(0, 2, SMALLEST_RING).unwrap();
    let made = Segment::create(stage.folder.path(), &stage.name, layout, &stage.beacon);
    assert!(matches!(made, Err(MemoryError::Create { .. })));
    assert_eq!(fs::read(stage.path()).unwrap(), b"precious");
}

#[test]
fn a_ring_has_one_producer() {
    let stage = stage();
    let owner = stage.create(0, 3);
    let peer = stage.open(0, 3).unwrap();
    peer.producer(2).unwrap();
    assert!(matches!(peer.producer(2), Err(MemoryError::Claimed { rank: 2, peer: 0 })));
    stage.open(0, 3).unwrap().producer(1).unwrap();
    drop(owner);
}

#[test]
fn files_that_are_too_short_or_too_long_are_refused() {
    let stage = stage();
    let owner = stage.create(1, 3);
    let size = owner.layout().size() as u64;
    let file = OpenOptions::new().write(true).open(stage.path()).unwrap();
    for length in [size + 1, size - 1, size - (64 << 10), 4096, 7, 0] {
        file.set_len(length).unwrap();
        assert!(stage.complaint().contains(&format!("found {length} bytes")), "{length}");
    }
}

#[test]
fn files_of_others_are_refused() {
    let stage = stage();
    let owner = stage.create(1, 3);
    assert!(matches!(stage.open(0, 3), Err(MemoryError::Foreign { .. })), "another rank");
    assert!(matches!(stage.open(1, 4), Err(MemoryError::Foreign { .. })), "another machine");
    fs::set_permissions(stage.path(), fs::Permissions::from_mode(0o620)).unwrap();
    assert!(stage.complaint().contains("found mode 100620"));
    fs::set_permissions(stage.path(), fs::Permissions::from_mode(0o600)).unwrap();
    owner.mapping.word(Layout::ring_word()).store(3 << 15, Relaxed);
    assert!(stage.complaint().contains("rings of 98304 bytes"));
    owner.mapping.word(Layout::ring_word()).store(SMALLEST_RING as u32 * 2, Relaxed);
    assert!(stage.complaint().contains("bytes, expected"));
    owner.mapping.long(Layout::magic()).store(1, Relaxed);
    assert!(stage.complaint().contains("found 0000000000000001 at its beginning"));
}

#[test]
fn links_and_folders_are_no_segments() {
    let stage = stage();
    let real = stage.create(1, 3);
    fs::rename(stage.path(), stage.folder.path().join("real")).unwrap();
    std::os::unix::fs::symlink(stage.folder.path().join("real"), stage.path()).unwrap();
    assert!(matches!(stage.open(1, 3), Err(MemoryError::Open { .. })));
    fs::remove_file(stage.path()).unwrap();
    fs::create_dir(stage.path()).unwrap();
    assert!(stage.open(1, 3).is_err());
    drop(real);
}

#[test]
fn peers_see_that_an_owner_has_died() {
    let stage = stage();
    let owner = stage.create(0, 2);
    let [peer, other] = [(); 2].map(|()| stage.open(0, 2).unwrap());
    assert!(peer.owner_lives() && other.owner_lives());
    drop(owner);
    assert!(!peer.owner_lives() && !other.owner_lives() && !peer.owner_lives());
}

#[test]
fn segments_of_killed_ranks_are_swept_and_others_are_not() {
    let stage = stage();
    let living = stage.create(0, 2);
    let folder = stage.folder.path();
    let dead = Name::random().unwrap();
    fs::write(dead.segment(folder), [0; 100]).unwrap();
    fs::write(dead.bell(folder), "").unwrap();
    fs::write(folder.join("crosstie-notes"), "").unwrap();
    // As a rank leaves it that is killed while it waits for others.
    let killed = Name::random().unwrap();
    fs::copy(stage.path(), killed.segment(folder)).unwrap();
    fs::write(killed.bell(folder), "").unwrap();
    sweep(folder);
    assert!(dead.segment(folder).exists(), "it may have been made this moment");
    assert!(!killed.segment(folder).exists() && !killed.bell(folder).exists());
    sweep_older(folder, Duration::ZERO);
    let mut left: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    let mut expected = [stage.name.as_str(), "crosstie-notes"];
    expected.sort();
    assert_eq!(left, expected);
    drop(living);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is in a file, opening it ends well, and what is opened fits into the file.
    #[test]
    fn any_file_is_opened_or_refused(
        header in prop::collection::vec(any::<u8>(), 40),
        ours in any::<bool>(),
        ring in prop_oneof![Just(SMALLEST_RING), Just(2 * SMALLEST_RING), any::<usize>()],
        length in prop_oneof![0u64..300_000, Just(196_608), Just(327_680)],
    ) {
        let stage = stage();
        let mut header = header;
        if ours {
            header[..8].copy_from_slice(&MAGIC.to_le_bytes());
            header[8..12].copy_from_slice(&3u32.to_ne_bytes());
            header[12..16].copy_from_slice(&1u32.to_ne_bytes());
            header[16..20].copy_from_slice(&(ring as u32).to_ne_bytes());
        }
        fs::write(stage.path(), &header).unwrap();
        fs::set_permissions(stage.path(), fs::Permissions::from_mode(0o600)).unwrap();
        OpenOptions::new().write(true).open(stage.path()).unwrap().set_len(length).unwrap();
        match stage.open(1, 3) {
            Ok(segment) => {
                prop_assert!(ours && segment.layout().size() as u64 == length);
                prop_assert!(segment.producer(0).unwrap().try_push(&[&[1; 1000]]));
                prop_assert!(!segment.reader().works());
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}
