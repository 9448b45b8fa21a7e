//! Judging where the file of a database lies, and how it fares there.

use super::codes::{DAMAGE, FOLDER, LOG, NETWORK, SPACE};
use super::finding::Finding;
use crate::store::diagnosis::Place;

const MIB: u64 = 1 << 20;
/// A log that is longer cannot be emptied.
const LONG_LOG: u64 = 256 * MIB;
const LITTLE: u64 = 1024 * MIB;
const ALMOST_NONE: u64 = 100 * MIB;

pub(super) fn judge(place: &Place) -> Vec<Finding> {
    if !place.folder {
        return vec![FOLDER.error("there is no such folder")];
    }
    let mut findings = Vec::new();
    findings.push(match place.network {
        Some(kind) => NETWORK.error(format!("the file lies on {kind}")),
        None => NETWORK.ok("the file lies on this machine"),
    });
    if let Some(free) = place.free_bytes {
        let said = format!("{} MiB are free", free / MIB);
        findings.push(match free {
            ..ALMOST_NONE => SPACE.error(said),
            ALMOST_NONE..LITTLE => SPACE.warning(said),
            _ => SPACE.ok(said),
        });
    }
    let said = format!("the log has {} MiB", place.log_bytes.div_ceil(MIB));
    findings.push(match place.log_bytes > LONG_LOG {
        true => LOG.warning(said),
        false => LOG.ok(said),
    });
    findings.extend(place.damage.as_ref().map(|damage| match damage.first() {
        Some(first) => DAMAGE.error(first.clone()),
        None => DAMAGE.ok("all pages hold together"),
    }));
    findings
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    #[test]
    fn a_place_is_judged() {
        use Level::{Error, Warning};
        let sound = Place {
            folder: true,
            file: true,
            free_bytes: Some(LITTLE),
            damage: Some(Vec::new()),
            ..Place::default()
        };
        let change = |change: fn(&mut Place)| {
            let mut place = sound.clone();
            change(&mut place);
            place
        };
        let table = [
            (sound.clone(), vec![]),
            (
                change(|place| place.folder = false),
                vec![("sqlite.folder", Error)],
            ),
            (
                change(|place| place.network = Some("NFS")),
                vec![("sqlite.network", Error)],
            ),
            (
                change(|place| place.free_bytes = Some(LITTLE - 1)),
                vec![("sqlite.space", Warning)],
            ),
            (
                change(|place| place.free_bytes = Some(ALMOST_NONE - 1)),
                vec![("sqlite.space", Error)],
            ),
            (
                change(|place| place.log_bytes = LONG_LOG + 1),
                vec![("sqlite.log", Warning)],
            ),
            (
                change(|place| place.damage = Some(vec!["a page is wrong".into()])),
                vec![("sqlite.integrity", Error)],
            ),
        ];
        for (place, expected) in table {
            let findings = judge(&place).into_iter();
            let bad: Vec<_> = findings
                .filter(|finding| finding.level > Level::Ok)
                .map(|finding| (finding.code.name, finding.level))
                .collect();
            assert_eq!(bad, expected, "{place:?}");
        }
    }
}
