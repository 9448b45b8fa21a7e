//! Deliveries: the promise of one message to one endpoint, and the rule that moves it.

use std::time::Duration;

use super::{EndpointId, MessageId, Schedule, Time};

/// The promise of one message to one endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// What is promised.
    pub message_id: MessageId,
    /// To whom.
    pub endpoint_id: EndpointId,
    /// Where it stands.
    pub state: State,
    /// Counts the leases it ever had; a result is taken only from the holder of the latest one.
    pub fence: i64,
    /// Failed tries since it was last started.
    pub failures: u32,
    /// A person asked for the next try.
    pub manual: bool,
}

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Due at that time.
    Scheduled {
        /// When.
        at: Time,
    },
    /// A node is trying it; when the lease ends without a result, any node may take it.
    Leased {
        /// The end of the lease.
        until: Time,
    },
    /// Waits until its endpoint is enabled.
    Held,
    /// The receiver took it.
    Delivered,
    /// Given up; kept, and replayable.
    Dead {
        /// Why.
        cause: Cause,
    },
    /// No longer owed: the endpoint is deleted, or a person discarded it.
    Cancelled,
}

/// Why a delivery is dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Every try of its schedule failed.
    Exhausted,
    /// The receiver answered 410 Gone.
    Gone,
    /// The address may not be reached.
    Refused,
    /// No request can be made of it, for example because a header is malformed.
    Unsendable,
    /// Its payload is kept no longer.
    Expired,
}

impl Cause {
    const ALL: [Self; 5] = [
        Self::Exhausted,
        Self::Gone,
        Self::Refused,
        Self::Unsendable,
        Self::Expired,
    ];

    /// The stable name.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Exhausted => "exhausted",
            Self::Gone => "gone",
            Self::Refused => "refused",
            Self::Unsendable => "unsendable",
            Self::Expired => "expired",
        }
    }

    /// The cause of that name.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.code() == code)
    }
}

impl State {
    /// The stable name, as stored.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Scheduled { .. } => "scheduled",
            Self::Leased { .. } => "leased",
            Self::Held => "held",
            Self::Delivered => "delivered",
            Self::Dead { .. } => "dead",
            Self::Cancelled => "cancelled",
        }
    }

    /// When something moves it next, if a time does.
    #[must_use]
    pub fn due(self) -> Option<Time> {
        match self {
            Self::Scheduled { at } => Some(at),
            Self::Leased { until } => Some(until),
            Self::Held | Self::Delivered | Self::Dead { .. } | Self::Cancelled => None,
        }
    }
}

/// What can happen to a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A node takes it, until then.
    Claimed {
        /// The end of the lease.
        until: Time,
    },
    /// The holder gives it back untried.
    Released,
    /// The try proved nothing, for the fault was the holder's own: it is made again then, and does not count.
    Postponed {
        /// When.
        until: Time,
    },
    /// The receiver took it.
    Succeeded,
    /// The try failed and another may succeed.
    Failed {
        /// How long the receiver asked to be left alone.
        retry_after: Option<Duration>,
    },
    /// The try failed and no other can succeed.
    FailedForGood {
        /// Why.
        cause: Cause,
    },
    /// Its endpoint is disabled.
    EndpointDisabled,
    /// Its endpoint is enabled again.
    EndpointEnabled,
    /// Its endpoint is deleted.
    EndpointDeleted,
    /// A person wants it sent again.
    Replayed,
    /// A person wants it forgotten.
    Discarded,
}

/// The event cannot happen in that state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a delivery that is {state} cannot take this event")]
pub struct Illegal {
    state: &'static str,
}

impl Delivery {
    /// A promise just made, due at once.
    #[must_use]
    pub fn new(message_id: MessageId, endpoint_id: EndpointId, now: Time) -> Self {
        Self {
            message_id,
            endpoint_id,
            state: State::Scheduled { at: now },
            fence: 0,
            failures: 0,
            manual: false,
        }
    }

    /// The delivery after an event. This is the only rule that moves one.
    ///
    /// `dice` in `0.0..1.0` spreads the next try.
    ///
    /// # Errors
    /// The event cannot happen in this state; the delivery stays as it is.
    pub fn after(
        self,
        event: Event,
        now: Time,
        dice: f64,
        schedule: &Schedule,
    ) -> Result<Self, Illegal> {
        use Event as E;
        use State as S;
        let due_now = S::Scheduled { at: now };
        let fresh = Self {
            failures: 0,
            manual: true,
            ..self
        };
        Ok(match (self.state, event) {
            // A lease is given to what is due, and to what another node let run out.
            (S::Scheduled { at: due } | S::Leased { until: due }, E::Claimed { until })
                if due <= now =>
            {
                Self {
                    state: S::Leased { until },
                    fence: self.fence + 1,
                    ..self
                }
            }

            (S::Leased { .. }, E::Released) => Self {
                state: due_now,
                ..self
            },
            (S::Leased { .. }, E::Postponed { until }) => Self {
                state: S::Scheduled { at: until },
                ..self
            },
            (S::Leased { .. }, E::Succeeded) => Self {
                state: S::Delivered,
                manual: false,
                ..self
            },
            (S::Leased { .. }, E::FailedForGood { cause }) => Self {
                state: S::Dead { cause },
                failures: self.failures + 1,
                manual: false,
                ..self
            },
            (S::Leased { .. }, E::Failed { retry_after }) => {
                let failures = self.failures + 1;
                let state = match schedule.next(failures, now, dice, retry_after) {
                    Some(at) => S::Scheduled { at },
                    None => S::Dead {
                        cause: Cause::Exhausted,
                    },
                };
                Self {
                    state,
                    failures,
                    manual: false,
                    ..self
                }
            }

            // A try under way ends first; what is settled stays settled.
            (S::Scheduled { .. }, E::EndpointDisabled) => Self {
                state: S::Held,
                ..self
            },
            (S::Held, E::EndpointEnabled) => Self {
                state: due_now,
                ..self
            },
            (S::Scheduled { .. } | S::Leased { .. } | S::Held, E::EndpointDeleted) => Self {
                state: S::Cancelled,
                ..self
            },
            (_, E::EndpointDisabled | E::EndpointEnabled | E::EndpointDeleted) => self,

            // A try under way is already what was asked for.
            (S::Leased { .. }, E::Replayed) => self,
            (_, E::Replayed) => Self {
                state: due_now,
                ..fresh
            },

            (S::Scheduled { .. } | S::Held | S::Dead { .. }, E::Discarded) => Self {
                state: S::Cancelled,
                ..self
            },
            (S::Cancelled, E::Discarded) => self,

            (
                state,
                E::Claimed { .. }
                | E::Released
                | E::Postponed { .. }
                | E::Succeeded
                | E::Failed { .. }
                | E::FailedForGood { .. }
                | E::Discarded,
            ) => {
                return Err(Illegal {
                    state: state.code(),
                });
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time(1_000_000);
    const LATER: Time = Time(1_005_000);
    const PAST: Time = Time(999_000);

    const STATES: [State; 11] = [
        State::Scheduled { at: PAST },
        State::Scheduled { at: NOW },
        State::Scheduled { at: LATER },
        State::Leased { until: PAST },
        State::Leased { until: LATER },
        State::Held,
        State::Delivered,
        State::Dead {
            cause: Cause::Exhausted,
        },
        State::Dead { cause: Cause::Gone },
        State::Dead {
            cause: Cause::Refused,
        },
        State::Cancelled,
    ];
    const EVENTS: [Event; 12] = [
        Event::Claimed {
            until: Time(1_060_000),
        },
        Event::Released,
        Event::Postponed { until: LATER },
        Event::Succeeded,
        Event::Failed { retry_after: None },
        Event::Failed {
            retry_after: Some(Duration::from_secs(60)),
        },
        Event::FailedForGood { cause: Cause::Gone },
        Event::EndpointDisabled,
        Event::EndpointEnabled,
        Event::EndpointDeleted,
        Event::Replayed,
        Event::Discarded,
    ];

    fn delivery(state: State, failures: u32) -> Delivery {
        let (message_id, endpoint_id) = (MessageId([1; 16]), EndpointId([2; 16]));
        Delivery {
            message_id,
            endpoint_id,
            state,
            fence: 7,
            failures,
            manual: false,
        }
    }

    /// One letter for each outcome: `l`eased, `n`ow due, `5`/`6` due in 5 s or 60 s, `h`eld, `d`elivered,
    /// dead by `e`xhaustion or as `g`one, `c`ancelled, `=` unchanged, `-` illegal.
    fn letter(before: Delivery, event: Event) -> char {
        let schedule: Schedule = "5s".parse().unwrap();
        let Ok(after) = before.after(event, NOW, 0.5, &schedule) else {
            return '-';
        };
        match after.state {
            _ if after == before => '=',
            State::Leased {
                until: Time(1_060_000),
            } if after.fence == before.fence + 1 => 'l',
            State::Scheduled { at } if at == NOW => 'n',
            State::Scheduled { at } if at == LATER => '5',
            State::Scheduled {
                at: Time(1_060_000),
            } => '6',
            State::Held => 'h',
            State::Delivered => 'd',
            State::Dead {
                cause: Cause::Exhausted,
            } => 'e',
            State::Dead { cause: Cause::Gone } => 'g',
            State::Cancelled => 'c',
            other => panic!("no letter for {other:?}"),
        }
    }

    #[test]
    fn every_state_meets_every_event() {
        // events:      claim release postpone ok fail fail+60 gone disable enable delete replay discard
        let table = [
            "l------h=cnc", // scheduled, overdue
            "l------h=cnc", // scheduled, due now (replay makes it manual)
            "-------h=cnc", // scheduled, due later
            "ln5d56g==c=-", // leased, run out
            "-n5d56g==c=-", // leased
            "-------=ncnc", // held
            "-------===n-", // delivered
            "-------===nc", // dead: exhausted
            "-------===nc", // dead: gone
            "-------===nc", // dead: refused
            "-------===n=", // cancelled
        ];
        for (state, row) in STATES.into_iter().zip(table) {
            let found: String = EVENTS
                .into_iter()
                .map(|event| letter(delivery(state, 0), event))
                .collect();
            assert_eq!(found, row, "{state:?}");
        }
    }

    #[test]
    fn the_last_failure_is_the_end() {
        let leased = delivery(State::Leased { until: LATER }, 1);
        assert_eq!(letter(leased, Event::Failed { retry_after: None }), 'e');
        assert_eq!(
            letter(
                leased,
                Event::Failed {
                    retry_after: Some(Duration::from_secs(60))
                }
            ),
            'e'
        );
    }

    #[test]
    fn a_postponed_try_does_not_count() {
        let leased = Delivery {
            manual: true,
            ..delivery(State::Leased { until: LATER }, 3)
        };
        let until = Time(2_000_000);
        let after = leased.after(Event::Postponed { until }, NOW, 0.5, &Schedule::own_app());
        let state = State::Scheduled { at: until };
        assert_eq!(after, Ok(Delivery { state, ..leased }));
    }

    #[test]
    fn a_replay_starts_the_schedule_anew_and_is_manual_once() {
        let schedule: Schedule = "5s".parse().unwrap();
        let step = |delivery: Delivery, event| delivery.after(event, NOW, 0.5, &schedule).unwrap();
        let replayed = step(
            delivery(
                State::Dead {
                    cause: Cause::Exhausted,
                },
                2,
            ),
            Event::Replayed,
        );
        assert_eq!((replayed.failures, replayed.manual), (0, true));
        let leased = step(replayed, Event::Claimed { until: LATER });
        let failed = step(leased, Event::Failed { retry_after: None });
        assert_eq!((failed.failures, failed.manual), (1, false));
        assert!(matches!(failed.state, State::Scheduled { .. }));
    }

    #[test]
    fn every_lease_can_be_taken_over_when_it_ends() {
        let schedule = Schedule::own_app();
        let mut held = delivery(State::Scheduled { at: PAST }, 0);
        for round in 1..5 {
            held = held
                .after(Event::Claimed { until: PAST }, NOW, 0.0, &schedule)
                .unwrap();
            assert_eq!(held.fence, 7 + round);
        }
    }
}
