//! Judging the queue, the sources and the endpoints.

use std::time::Duration;

use super::codes::{DEAD, DUE, GONE, HELD, LEASES, SOURCES};
use super::finding::{Finding, counted};
use crate::model::Time;
use crate::store::QueueFigures;
use crate::store::diagnosis::{Diagnosis, Endpoints, Sources};

/// What is due for longer is not kept up with.
const LATE: Duration = Duration::from_secs(60);

pub(super) fn judge(found: &Diagnosis) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some((figures, now)) = &found.queue {
        findings.extend(queue(figures, *now));
    }
    findings.extend(found.sources.as_ref().map(sources));
    findings.extend(found.endpoints.as_ref().map(endpoints));
    findings
}

fn queue(figures: &QueueFigures, now: Time) -> Vec<Finding> {
    let (due, leased) = (figures.due, figures.leased);
    let age = due.age(now);
    let said = format!(
        "{} due, the oldest for {} s",
        counted(due.count, "delivery is", "deliveries are"),
        age.as_secs()
    );
    let due = match age > LATE {
        true => DUE.warning(said),
        false => DUE.ok(said),
    };
    let over = leased.age(now);
    let leases = match over > LATE {
        true => LEASES.warning(format!("one ended {} s ago", over.as_secs())),
        false => LEASES.ok(format!(
            "{} held by nodes",
            counted(leased.count, "delivery is", "deliveries are")
        )),
    };
    let dead = match figures.dead {
        0 => DEAD.ok("there is none"),
        count => DEAD.note(format!("there are {count}")),
    };
    let held = match figures.held.count {
        0 => HELD.ok("there is none"),
        count => HELD.note(format!("there are {count}")),
    };
    vec![due, leases, dead, held]
}

fn sources(sources: &Sources) -> Finding {
    match sources.without_secret.as_slice() {
        [] => SOURCES.ok(counted(sources.count, "source", "sources")),
        names => SOURCES.error(format!("without one: {}", names.join(", "))),
    }
}

fn endpoints(endpoints: &Endpoints) -> Finding {
    let all = counted(endpoints.count, "endpoint", "endpoints");
    let off = endpoints.switched_off;
    match endpoints.gone {
        0 => GONE.ok(format!("{all}, {off} switched off by hand")),
        gone => GONE.note(format!("{gone} of {all}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;
    use crate::store::Waiting;

    #[test]
    fn the_queue_is_judged() {
        use Level::{Note, Warning};
        let now = Time(1_000_000);
        let since = |seconds: u64| Waiting {
            count: 1,
            oldest: Some(now.minus(Duration::from_secs(seconds))),
        };
        let none = QueueFigures::default();
        let table = [
            (none, vec![]),
            (
                QueueFigures {
                    due: since(60),
                    leased: since(60),
                    ..none
                },
                vec![],
            ),
            (
                QueueFigures {
                    due: since(61),
                    ..none
                },
                vec![("queue.due", Warning)],
            ),
            (
                QueueFigures {
                    leased: since(61),
                    ..none
                },
                vec![("queue.leases", Warning)],
            ),
            (
                QueueFigures {
                    dead: 2,
                    held: since(9),
                    ..none
                },
                vec![("queue.dead_letters", Note), ("queue.held", Note)],
            ),
        ];
        for (figures, expected) in table {
            let bad: Vec<_> = queue(&figures, now)
                .iter()
                .filter(|finding| finding.level > Level::Ok)
                .map(|finding| (finding.code.name, finding.level))
                .collect();
            assert_eq!(bad, expected, "{figures:?}");
        }
    }

    #[test]
    fn sources_and_endpoints_are_judged() {
        let mut doors = Sources {
            count: 2,
            ..Sources::default()
        };
        assert_eq!(sources(&doors).level, Level::Ok);
        doors.without_secret.push("stripe".into());
        assert_eq!(sources(&doors).level, Level::Error);
        let mut all = Endpoints {
            count: 2,
            switched_off: 1,
            ..Endpoints::default()
        };
        assert_eq!(endpoints(&all).level, Level::Ok);
        all.gone = 1;
        assert_eq!(endpoints(&all).level, Level::Note);
    }
}
