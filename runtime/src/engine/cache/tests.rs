//! The directory and the format under everything that may happen to files.

use super::*;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A directory of this test's own, removed at its end.
struct Own(PathBuf);
impl Own {
    fn new(name: &str) -> Own {
        let path = std::env::temp_dir().join(format!("tierup-cache-test-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Own(path)
    }
    fn cache(&self, most: u64) -> Directory {
        Directory::new(self.0.clone(), most)
    }
}
impl Drop for Own {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const MB: u64 = 1 << 20;

fn key(k: u32) -> Key {
    Key(*blake3::hash(&k.to_le_bytes()).as_bytes())
}
fn object(k: u32, len: usize) -> Vec<u8> {
    (0..len).map(|i| (i as u32 ^ k) as u8).collect()
}
fn file(d: &Directory, k: Key) -> PathBuf {
    d.path.join(format!("{k}.tierup"))
}
fn names(d: &Directory) -> Vec<String> {
    fs::read_dir(&d.path)
        .map(|all| all.map(|e| e.unwrap().file_name().into_string().unwrap()).collect())
        .unwrap_or_default()
}

fn age(path: &Path, seconds: u64) {
    fs::File::open(path).unwrap().set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
}

#[test]
fn what_was_put_is_found() {
    let own = Own::new("found");
    let d = own.cache(MB);
    assert_eq!(d.get(key(1)), Ok(None));
    assert!(!d.path.exists(), "looking makes nothing");
    assert!(
        d.put(key(1), "f", &object(1, 5000))
            && d.put(key(2), "", &[])
            && d.put(key(3), &"ж".repeat(300), &object(3, 1))
    );
    assert_eq!(d.get(key(1)), Ok(Some(object(1, 5000))));
    assert_eq!(d.get(key(2)), Ok(Some(vec![])));
    assert_eq!(d.get(key(3)), Ok(Some(object(3, 1))));
    assert_eq!(d.get(key(4)), Ok(None));
    assert!(d.put(key(1), "f", &object(9, 10)), "the last writer wins");
    assert_eq!(d.get(key(1)), Ok(Some(object(9, 10))));
    let m = fs::metadata(&d.path).unwrap();
    assert_eq!(m.mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(file(&d, key(1))).unwrap().mode() & 0o777, 0o600);
    let listed = d.list().unwrap();
    assert_eq!((listed.len(), listed.iter().filter(|l| l.problem.is_none()).count()), (3, 3));
    assert!(listed.iter().any(|l| l.label == "f") && listed.iter().any(|l| l.label == "ж".repeat(100)));
    assert_eq!(d.clear(), Ok(3));
    assert!(names(&d).is_empty());
}

#[test]
fn a_changed_byte_anywhere_is_a_miss_and_the_file_goes() {
    let own = Own::new("bytes");
    let d = own.cache(MB);
    let whole = entry::write(key(1), "label", &object(1, 64));
    for at in 0..whole.len() {
        for flip in [1, 0x80] {
            assert!(d.put(key(1), "label", &object(1, 64)));
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            fs::write(file(&d, key(1)), &bytes).unwrap();
            assert!(d.get(key(1)).is_err(), "byte {at}");
            assert!(names(&d).is_empty(), "byte {at}");
        }
    }
}

#[test]
fn a_file_cut_short_or_grown_is_a_miss() {
    let own = Own::new("cut");
    let d = own.cache(MB);
    let whole = entry::write(key(1), "label", &object(1, 64));
    let longer = [whole.clone(), vec![0]].concat();
    for bytes in (0..whole.len()).map(|n| &whole[..n]).chain([longer.as_slice()]) {
        assert!(d.put(key(1), "label", &object(1, 64)));
        fs::write(file(&d, key(1)), bytes).unwrap();
        assert!(d.get(key(1)).is_err(), "{} bytes", bytes.len());
        assert!(names(&d).is_empty());
    }
}

#[test]
fn an_entry_under_another_name_is_refused_though_its_checksum_is_right() {
    let own = Own::new("renamed");
    let d = own.cache(MB);
    assert!(d.put(key(1), "f", &object(1, 64)));
    fs::rename(file(&d, key(1)), file(&d, key(2))).unwrap();
    assert!(d.get(key(2)).is_err() && names(&d).is_empty());
    // Lengths that do not add up, with a checksum that does.
    for (at, x) in [(12, 6u8), (12, 255), (16, 63), (16, 65), (20, 1), (23, 255)] {
        let mut bytes = entry::write(key(1), "label", &object(1, 64));
        bytes[at] = x;
        let body = bytes.len() - 32;
        let sum = blake3::hash(&bytes[..body]);
        bytes[body..].copy_from_slice(sum.as_bytes());
        assert_eq!(entry::read(key(1), &bytes), Err("its lengths do not add up"), "byte {at}");
    }
}

#[test]
fn links_pipes_folders_and_what_others_may_write_are_refused() {
    let own = Own::new("links");
    let d = own.cache(MB);
    let good = entry::write(key(1), "f", &object(1, 64));
    let path = file(&d, key(1));
    let fresh = || {
        let _ = fs::remove_file(&path);
        let _ = fs::remove_dir(&path);
        assert!(d.put(key(1), "f", &object(1, 64)));
    };
    fresh();
    let outside = own.0.join("outside");
    fs::write(&outside, &good).unwrap();
    fs::remove_file(&path).unwrap();
    symlink(&outside, &path).unwrap();
    assert!(d.get(key(1)).is_err());
    assert!(outside.exists());
    fresh();
    fs::hard_link(&path, own.0.join("second")).unwrap();
    assert!(d.get(key(1)).is_err());
    fresh();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o620)).unwrap();
    assert!(d.get(key(1)).is_err());
    fresh();
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(d.get(key(1)).is_err());
    fs::remove_dir(&path).unwrap();
    let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: a C string.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    assert!(d.get(key(1)).is_err(), "and nobody waits for a writer");
    fresh();
    assert_eq!(d.get(key(1)), Ok(Some(object(1, 64))));
}

#[test]
fn a_directory_that_others_may_write_or_that_is_a_link_is_not_used() {
    let own = Own::new("mode");
    let d = own.cache(MB);
    assert!(d.put(key(1), "f", &object(1, 64)));
    for mode in [0o720, 0o702, 0o777] {
        fs::set_permissions(&d.path, fs::Permissions::from_mode(mode)).unwrap();
        assert!(
            d.get(key(1)).is_err()
                && !d.put(key(2), "f", &[])
                && d.list().is_err()
                && d.clear().is_err()
                && d.problem().is_some(),
            "{mode:o}"
        );
    }
    fs::set_permissions(&d.path, fs::Permissions::from_mode(0o700)).unwrap();
    assert!(d.problem().is_none());
    let elsewhere = own.0.join("elsewhere");
    fs::rename(&d.path, &elsewhere).unwrap();
    symlink(&elsewhere, &d.path).unwrap();
    assert!(d.get(key(1)).is_err() && !d.put(key(2), "f", &[]));
    fs::remove_file(&d.path).unwrap();
    fs::write(&d.path, "a file").unwrap();
    assert!(d.get(key(1)).is_err() && !d.put(key(2), "f", &[]));
}

/// Root is asked for no permission, so there the directory belongs to somebody else.
#[test]
fn what_belongs_to_another_user_is_refused() {
    let own = Own::new("owner");
    let d = own.cache(MB);
    assert!(d.put(key(1), "f", &object(1, 64)));
    // SAFETY: a plain question.
    if unsafe { libc::geteuid() } != 0 {
        return;
    }
    std::os::unix::fs::chown(file(&d, key(1)), Some(12345), None).unwrap();
    assert!(d.get(key(1)).is_err());
    assert!(d.put(key(1), "f", &object(1, 64)), "a file of one's own takes its place");
    assert_eq!(d.get(key(1)), Ok(Some(object(1, 64))));
    std::os::unix::fs::chown(&d.path, Some(12345), None).unwrap();
    assert!(d.get(key(1)).is_err() && !d.put(key(2), "f", &[]));
}

#[test]
fn no_directory_to_be_had_is_no_cache() {
    for base in ["/proc/nowhere", "/dev/null/x"] {
        let d = Directory::new(base.into(), MB);
        assert!(!d.put(key(1), "f", &object(1, 64)), "{base}");
        assert_ne!(d.get(key(1)), Ok(Some(object(1, 64))));
        assert_eq!(d.list().map_or(0, |l| l.len()), 0);
    }
}

#[test]
fn what_was_not_used_for_longest_makes_room() {
    let own = Own::new("cap");
    let d = own.cache(100_000);
    for k in 0..9 {
        assert!(d.put(key(k), "f", &object(k, 10_000)));
        age(&file(&d, key(k)), 100_000 - 1000 * u64::from(k));
    }
    // A hit is a use.
    assert!(d.get(key(0)).unwrap().is_some());
    assert!(fs::metadata(file(&d, key(0))).unwrap().modified().unwrap().elapsed().unwrap().as_secs() < 1000);
    assert!(d.put(key(9), "f", &object(9, 10_000)) && d.put(key(10), "f", &object(10, 10_000)));
    let there: Vec<u32> = (0..11).filter(|k| file(&d, key(*k)).exists()).collect();
    assert!(
        there.contains(&0) && there.contains(&9) && there.contains(&10) && !there.contains(&1),
        "{there:?}"
    );
    let sum: u64 = fs::read_dir(&d.path).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum();
    assert!(sum <= 100_000, "{sum}");
    assert!(!d.put(key(11), "f", &object(11, 30_000)), "too large for this cache");
    assert!(!own.cache(0).put(key(12), "f", &[]), "no room at all");
}

#[test]
fn files_that_nobody_finished_go_and_those_of_others_stay() {
    let own = Own::new("unfinished");
    let d = own.cache(100_000);
    assert!(d.put(key(1), "f", &object(1, 10)));
    let (old, young, other) = (d.path.join(".new-1-0-0"), d.path.join(".new-2-0-0"), d.path.join("README"));
    for p in [&old, &young, &other] {
        fs::write(p, "x").unwrap();
    }
    age(&old, 7200);
    age(&other, 7200);
    assert!(own.cache(100_000).put(key(2), "f", &object(2, 10)));
    assert!(!old.exists() && young.exists() && other.exists());
    assert_eq!(d.clear(), Ok(3));
    assert!(other.exists());
}

#[test]
fn many_writers_and_readers_at_once() {
    let own = Own::new("writers");
    std::thread::scope(|s| {
        for t in 0..8u32 {
            let d = if t % 2 == 0 { own.cache(300_000) } else { Directory::new(own.0.clone(), 300_000) };
            s.spawn(move || {
                for k in 0..200 {
                    let which = (k * 7 + t) % 40;
                    if let Ok(Some(o)) = d.get(key(which)) {
                        assert_eq!(o, object(which, 10_000));
                    } else {
                        d.put(key(which), "f", &object(which, 10_000));
                    }
                }
            });
        }
    });
    let d = own.cache(MB);
    let listed = d.list().unwrap();
    assert!(!listed.is_empty() && listed.iter().all(|l| l.problem.is_none()), "{listed:?}");
}

#[test]
fn the_users_directory() {
    assert_eq!(directory::base("/x"), Some("/x".into()));
    let empty = directory::base("");
    let home = std::env::var_os("HOME").is_some_and(|h| Path::new(&h).is_absolute());
    assert!(
        empty.is_none_or(|p| p.ends_with("tierup") && p.is_absolute())
            && (!home || directory::base("").is_some())
    );
}
