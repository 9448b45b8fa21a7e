//! Signing secrets of endpoints.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use serde_json::json;

use super::asked::{Asked, At, Reply};
use super::endpoint::{editable, find};
use super::wire::Fields;
use super::{Answer, Api, Fault, Shared};
use crate::model::endpoint::SigningSecret;
use crate::model::{Endpoint, Secret, Time};
use crate::store::Error;

/// How many secrets may be on their way out at once: every one costs a signature on every request.
const MOST_OLD: usize = 10;
const DAY: u64 = 24 * 3600;

pub(super) fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/api/v1/app/{app}/endpoint/{endpoint}/secret", get(show))
        .route(
            "/api/v1/app/{app}/endpoint/{endpoint}/secret/rotate",
            post(rotate),
        )
}

/// A secret that the caller brings, in normal form.
pub(super) fn sent(fields: &mut Fields<'_>, name: &'static str) -> Result<Option<Secret>, Fault> {
    let text = fields.text(name)?.value();
    text.map(|text| normal(&text).map_err(|problem| Fault::field(name, problem)))
        .transpose()
}

fn normal(text: &str) -> Result<Secret, String> {
    text.parse::<hookbox::Secret>()
        .map(|secret| Secret::new(secret.expose()))
        .map_err(|error| error.to_string())
}

/// What the receiver verifies with: the secret itself, or the public half of a key pair.
fn shown(secret: &Secret) -> Result<String, Fault> {
    let parsed: hookbox::Secret = secret.expose().parse().map_err(|error| {
        tracing::error!(%error, "a signing secret in the database is unusable");
        Fault::Broken
    })?;
    Ok(parsed
        .public()
        .map_or_else(|| parsed.expose(), |public| public.to_string()))
}

async fn show(State(api): Shared, At([app, endpoint]): At<2>) -> Answer {
    let endpoint = find(&api, &app, &endpoint).await?;
    let current = endpoint.secrets.first().ok_or(Fault::NotFound)?;
    Reply::ok(&json!({ "key": shown(&current.key)? }))
}

async fn rotate(State(api): Shared, At([app, endpoint]): At<2>, asked: Asked) -> Answer {
    let now = api.clock.now();
    let mut fields = asked.fields_if_any()?;
    let key = sent(&mut fields, "key")?.unwrap_or_else(|| SigningSecret::generate().key);
    let grace = grace(&mut fields)?;
    fields.finish()?;
    let id = find(&api, &app, &endpoint).await?.id;
    let reply = Reply::ok(&json!({ "key": shown(&key)? }))?;
    let end = now.plus(std::time::Duration::from_secs(grace));
    let change = Box::new(move |endpoint: &mut Endpoint| {
        editable(endpoint)?;
        turn(&mut endpoint.secrets, &key, now, end)?;
        endpoint.updated_at = now;
        Ok(())
    });
    let once = asked.once(&reply, now);
    match api.store.change_endpoint(id, now, change, once).await {
        Ok(_) => Ok(reply),
        Err(Error::Invalid { problem, .. }) => Err(Fault::Limit(problem)),
        Err(error) => Err(error.into()),
    }
}

fn grace(fields: &mut Fields<'_>) -> Result<u64, Fault> {
    const WHAT: &str = "a whole number of seconds from 0 to 604800";
    let grace = fields.take::<u64>("gracePeriodSeconds", WHAT)?;
    let grace = grace.checked("gracePeriodSeconds", |seconds| match *seconds <= 7 * DAY {
        true => Ok(()),
        false => Err(format!("must be {WHAT}")),
    })?;
    Ok(grace.value().unwrap_or(DAY))
}

/// Puts a new secret first; the one before it is used until `end`.
fn turn(secrets: &mut Vec<SigningSecret>, key: &Secret, now: Time, end: Time) -> Result<(), Error> {
    let mut turned = vec![SigningSecret {
        key: key.clone(),
        expires_at: None,
    }];
    turned.extend(
        secrets
            .iter()
            .filter(|old| old.key != *key)
            .map(|old| SigningSecret {
                key: old.key.clone(),
                expires_at: Some(old.expires_at.unwrap_or(end)),
            }),
    );
    turned.retain(|secret| secret.expires_at.is_none_or(|end| end > now));
    if turned.len() > 1 + MOST_OLD {
        return Err(Error::Invalid {
            at: "key",
            problem: format!("{MOST_OLD} old secrets are still in use; wait until one expires"),
        });
    }
    *secrets = turned;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time(1000);
    const END: Time = Time(2000);

    fn turned(secrets: &mut Vec<SigningSecret>, key: &str, now: Time, end: Time) -> bool {
        turn(secrets, &Secret::new(key), now, end).is_ok()
    }

    fn shape(secrets: &[SigningSecret]) -> Vec<(&str, Option<Time>)> {
        secrets
            .iter()
            .map(|secret| (secret.key.expose(), secret.expires_at))
            .collect()
    }

    #[test]
    fn the_new_secret_is_first_and_the_old_one_ends() {
        let mut secrets = Vec::new();
        assert!(turned(&mut secrets, "a", NOW, END));
        assert!(turned(&mut secrets, "b", NOW, END));
        assert_eq!(shape(&secrets), [("b", None), ("a", Some(END))]);
        assert!(turned(&mut secrets, "a", NOW, Time(3000)));
        assert_eq!(shape(&secrets), [("a", None), ("b", Some(Time(3000)))]);
        assert!(turned(&mut secrets, "c", Time(3000), Time(3000)));
        assert_eq!(shape(&secrets), [("c", None)]);
    }

    #[test]
    fn ten_old_secrets_are_enough() {
        let mut secrets = Vec::new();
        for n in 0..11 {
            assert!(turned(&mut secrets, &n.to_string(), NOW, END));
        }
        assert!(!turned(&mut secrets, "one more", NOW, END));
        assert_eq!(secrets.len(), 11);
        assert!(turned(&mut secrets, "later", END, END));
    }

    #[test]
    fn secrets_are_kept_in_normal_form() {
        let bare = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let kept = normal(bare).unwrap();
        assert_eq!(kept.expose(), format!("whsec_{bare}"));
        assert_eq!(shown(&kept).unwrap(), kept.expose());
        let pair = hookbox::Secret::asymmetric(&[7; 32]);
        assert!(
            shown(&normal(&pair.expose()).unwrap())
                .unwrap()
                .starts_with("whpk_")
        );
        for bad in ["", "whsec_", "whsec_AAAA", "?", "whpk_AAAA"] {
            assert!(normal(bad).is_err(), "{bad}");
        }
    }
}
