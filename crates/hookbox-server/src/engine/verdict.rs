//! What the outcome of a try means.

use std::time::Duration;

use bytes::Bytes;

use crate::egress::{Answer, Failure, FailureKind};
use crate::model::delivery::{Cause, Event};
use crate::model::{Attempt, AttemptId, Time, retry};
use crate::store::Work;

/// The meaning of an outcome.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) event: Event,
    pub(super) endpoint_gone: bool,
}

/// Judges an outcome: 2xx is taken, 410 is gone, all else failed. (Standard Webhooks specification)
pub(super) fn of(outcome: &Result<Answer, Failure>, now: Time) -> Verdict {
    let event = match outcome {
        Ok(answer) => of_status(answer.status, answer.retry_after.as_deref(), now),
        Err(failure) => match failure.kind {
            FailureKind::TargetRefused => Event::FailedForGood {
                cause: Cause::Refused,
            },
            FailureKind::Unsendable => Event::FailedForGood {
                cause: Cause::Unsendable,
            },
            _ => Event::Failed { retry_after: None },
        },
    };
    Verdict {
        event,
        endpoint_gone: event == Event::FailedForGood { cause: Cause::Gone },
    }
}

fn of_status(status: u16, retry_after: Option<&str>, now: Time) -> Event {
    match status {
        200..=299 => Event::Succeeded,
        410 => Event::FailedForGood { cause: Cause::Gone },
        _ => Event::Failed {
            retry_after: retry_after.and_then(|value| retry::retry_after(value, now)),
        },
    }
}

/// The history of a try.
pub(super) fn attempt(
    work: &Work,
    at: Time,
    outcome: &Result<Answer, Failure>,
    verdict: &Verdict,
) -> Attempt {
    let (duration, status, response, error) = match outcome {
        Ok(answer) => (
            answer.duration,
            Some(answer.status),
            answer.body.clone(),
            None,
        ),
        Err(failure) => (
            failure.duration,
            None,
            Bytes::new(),
            Some(failure.code().to_owned()),
        ),
    };
    Attempt {
        id: AttemptId::new(at),
        message_id: work.message.id,
        endpoint_id: work.endpoint.id,
        url: work.endpoint.url.clone(),
        at,
        duration_ms: millis(duration),
        status,
        response,
        error,
        succeeded: verdict.event == Event::Succeeded,
        manual: work.delivery.manual,
        late: false,
    }
}

fn millis(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_means_what_the_specification_says() {
        let now = Time(1_700_000_000_000);
        let again = |seconds: Option<u64>| Event::Failed {
            retry_after: seconds.map(Duration::from_secs),
        };
        let gone = Event::FailedForGood { cause: Cause::Gone };
        let table = [
            (200, None, Event::Succeeded),
            (204, Some("60"), Event::Succeeded),
            (299, None, Event::Succeeded),
            (301, None, again(None)),
            (304, None, again(None)),
            (400, None, again(None)),
            (404, None, again(None)),
            (410, None, gone),
            (429, Some("60"), again(Some(60))),
            (500, Some("abc"), again(None)),
            (503, Some("999999999"), again(Some(86_400))),
        ];
        for (status, retry_after, event) in table {
            assert_eq!(
                of_status(status, retry_after, now),
                event,
                "{status} {retry_after:?}"
            );
        }
    }
}
