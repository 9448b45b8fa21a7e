//! What a measurement found, and how it is shown.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::drive::Driven;
use super::ledger::Tally;
use super::quantiles::Quantiles;
use super::wire::Outcome;
use crate::cli::error::Error;
use crate::cli::out::Out;

/// One measurement. Rates are for a second, times in milliseconds.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Report {
    pub(super) mode: &'static str,
    pub(super) server: String,
    pub(super) messages: u32,
    pub(super) repeats: u32,
    pub(super) endpoints: u32,
    pub(super) connections: u16,
    pub(super) size: usize,
    pub(super) rate: Option<u32>,
    /// Messages that the server took.
    pub(super) accepted: u64,
    /// Calls accepted in a second, repeats included.
    pub(super) accepted_per_s: f64,
    /// From a call to its answer.
    pub(super) answer_ms: Quantiles,
    /// How late a call was begun at most, where there is a rate.
    pub(super) behind_ms: f64,
    /// Calls that were not accepted, by status, or by what happened instead.
    pub(super) errors: BTreeMap<String, u64>,
    /// What came to the sink, where there is one.
    #[serde(flatten)]
    pub(super) arrivals: Option<Arrivals>,
    /// Everything was accepted, and everything that is owed arrived.
    pub(super) complete: bool,
}

/// What came to the sink.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Arrivals {
    pub(super) arrived: u64,
    pub(super) arrived_per_s: f64,
    /// From the call that sent a message to its arrival.
    pub(super) arrival_ms: Quantiles,
    pub(super) missing: u64,
    /// Arrivals beyond the first of each.
    pub(super) repeated: u64,
}

impl Report {
    /// From what was counted; what was asked for is filled in by who knows it.
    pub(super) fn new(messages: u32, driven: &Driven, tally: Tally, watched: bool) -> Self {
        let missing = if watched { tally.missing } else { 0 };
        Self {
            messages,
            accepted: tally.accepted,
            accepted_per_s: per_second(driven.accepted, driven.time),
            answer_ms: Quantiles::of(driven.took.clone()),
            behind_ms: (driven.behind.as_secs_f64() * 1e6).round() / 1e3,
            errors: driven
                .errors
                .iter()
                .map(|(outcome, count)| (name(*outcome), *count))
                .collect(),
            complete: driven.errors.is_empty()
                && tally.accepted == u64::from(messages)
                && missing == 0,
            arrivals: watched.then(|| Arrivals {
                arrived: tally.arrived,
                arrived_per_s: per_second(tally.arrived, tally.span),
                arrival_ms: Quantiles::of(tally.latencies),
                missing: tally.missing,
                repeated: tally.repeated,
            }),
            ..Self::default()
        }
    }

    /// Says what was not complete.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.complete {
            return Ok(());
        }
        let mut faults: Vec<_> = self
            .errors
            .iter()
            .map(|(name, count)| format!("{count} calls: {name}"))
            .collect();
        if let Some(arrivals) = self.arrivals.as_ref().filter(|found| found.missing > 0) {
            faults.push(format!("{} did not arrive", arrivals.missing));
        }
        Err(Error::Failed(format!(
            "not complete: {}",
            faults.join(", ")
        )))
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let mut rows = vec![
            row(
                "accepted",
                format!("{} of {}", self.accepted, self.messages),
            ),
            row("calls accepted", rate(self.accepted_per_s)),
            row("call to answer", self.answer_ms.to_string()),
        ];
        if self.rate.is_some() {
            rows.push(row("begun late by", format!("{:.2} ms", self.behind_ms)));
        }
        for (name, count) in &self.errors {
            rows.push(row("not accepted", format!("{count}: {name}")));
        }
        if let Some(arrivals) = &self.arrivals {
            rows.extend([
                row(
                    "arrived",
                    format!("{}, {} missing", arrivals.arrived, arrivals.missing),
                ),
                row("arrivals", rate(arrivals.arrived_per_s)),
                row("call to arrival", arrivals.arrival_ms.to_string()),
                row("arrived again", arrivals.repeated.to_string()),
            ]);
        }
        let complete = if self.complete { "yes" } else { "no" };
        rows.push(row("complete", complete.to_owned()));
        rows
    }
}

/// Prints a report; an error when it is not complete.
pub(super) fn show(out: &mut Out, report: &Report, json: bool) -> Result<(), Error> {
    if json {
        print(out, report)?;
    } else {
        out.table(report.rows());
    }
    report.check()
}

/// Prints JSON on one line.
pub(super) fn print(out: &mut Out, value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string(value).map_err(|error| Error::Failed(error.to_string()))?;
    out.line(&text);
    Ok(())
}

fn row(name: &str, value: String) -> Vec<String> {
    vec![name.to_owned(), value]
}

/// A rate as it is shown.
pub(super) fn rate(per_second: f64) -> String {
    format!("{per_second:.0}/s")
}

fn name(outcome: Outcome) -> String {
    match outcome {
        Ok(status) => status.to_string(),
        Err(trouble) => trouble.to_string(),
    }
}

/// Rounded to a tenth; zero when no time passed.
fn per_second(count: u64, time: Duration) -> f64 {
    let count = f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let seconds = time.as_secs_f64();
    if seconds > 0.0 {
        (count / seconds * 10.0).round() / 10.0
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(accepted: u64, missing: u64) -> Tally {
        Tally {
            accepted,
            arrived: accepted - missing,
            missing,
            span: Duration::from_secs(2),
            ..Tally::default()
        }
    }

    #[test]
    fn complete_is_all_accepted_and_all_arrived() {
        let fine = Driven::default();
        assert!(Report::new(3, &fine, tally(3, 0), true).check().is_ok());
        let lost = Report::new(3, &fine, tally(3, 1), true);
        assert!(!lost.complete);
        assert!(
            lost.check()
                .unwrap_err()
                .to_string()
                .contains("1 did not arrive")
        );
        assert!(!Report::new(3, &fine, tally(2, 0), true).complete);
        // Without a sink, nothing can be missed there.
        assert!(Report::new(3, &fine, tally(3, 3), false).complete);
    }

    #[test]
    fn a_refused_call_is_not_complete() {
        let driven = Driven {
            errors: BTreeMap::from([(Ok(503), 2)]),
            ..Driven::default()
        };
        let report = Report::new(3, &driven, tally(3, 0), true);
        let fault = report.check().unwrap_err().to_string();
        assert!(fault.contains("2 calls: 503"), "{fault}");
    }

    #[test]
    fn rates() {
        let report = Report::new(3, &Driven::default(), tally(3, 0), true);
        assert_eq!(report.accepted_per_s.to_string(), "0");
        assert_eq!(report.arrivals.unwrap().arrived_per_s.to_string(), "1.5");
    }
}
