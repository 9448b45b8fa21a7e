//! `hookbox message`: what happened.

use clap::Subcommand;
use http::Method;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Task;
use super::app;
use super::client::encoded;
use super::error::Error;
use super::verb::{Part, made};

#[derive(Debug, Subcommand)]
pub(super) enum Message {
    /// Send a message
    #[command(
        after_help = "Example:\n  hookbox message create acme invoice.paid '{\"id\": \"inv_1\"}'"
    )]
    Create {
        /// The application's id or uid
        app: String,
        /// What kind of thing happened
        event_type: String,
        /// The payload, a JSON object; sent as it stands
        payload: String,
        /// Your own name for it: a second message of that name is refused
        #[arg(long)]
        event_id: Option<String>,
        /// A channel that it is for, as often as needed
        #[arg(long = "channel", value_name = "CHANNEL")]
        channels: Vec<String>,
    },
    /// List an application's messages, newest first
    List {
        /// The application's id or uid
        #[arg(default_value = "default")]
        app: String,
        #[command(flatten)]
        part: Part,
    },
    /// Show a message, and where it went
    Get {
        /// The application's id or uid
        app: String,
        /// The message's id or event id
        message: String,
    },
    /// Send a message to an endpoint again
    Resend {
        /// The application's id or uid
        app: String,
        /// The message's id or event id
        message: String,
        /// The endpoint's id or uid
        endpoint: String,
    },
}

pub(super) async fn run(Task { verb, client, out }: Task<'_, Message>) -> Result<(), Error> {
    match verb {
        Message::Create {
            app,
            event_type,
            payload,
            event_id,
            channels,
        } => {
            let body = body(&event_type, &payload, event_id.as_deref(), &channels)?;
            let answer = client
                .call(
                    Method::POST,
                    &format!("{}/msg", app::path(&app)),
                    Some(body),
                )
                .await?;
            made(out, &answer, "message");
        }
        Message::List { app, part } => {
            let list = client
                .get(&format!(
                    "{}/msg{}&with_content=false",
                    app::path(&app),
                    part.query()
                ))
                .await?;
            out.list(
                &list,
                &[
                    ("ID", "id"),
                    ("TYPE", "eventType"),
                    ("EVENT ID", "eventId"),
                    ("TIME", "timestamp"),
                ],
            );
        }
        Message::Get { app, message } => {
            let path = format!("{}/msg/{}", app::path(&app), encoded(&message));
            let answer = client.get(&path).await?;
            let went = client.get(&format!("{path}/endpoint?limit=250")).await?;
            if out.json {
                let whole = answer.text.trim_end().strip_suffix('}').unwrap_or_default();
                out.line(&format!("{whole},\"endpoints\":{}}}", went["data"]));
            } else {
                out.one(&answer);
                out.line("");
                out.list(
                    &went,
                    &[
                        ("ENDPOINT", "id"),
                        ("URL", "url"),
                        ("STATUS", "statusText"),
                        ("NEXT TRY", "nextAttempt"),
                    ],
                );
            }
        }
        Message::Resend {
            app,
            message,
            endpoint,
        } => {
            let (app, message, endpoint) = (app::path(&app), encoded(&message), encoded(&endpoint));
            let path = format!("{app}/msg/{message}/endpoint/{endpoint}/resend");
            out.done(
                &client
                    .post(&path, &Value::Object(serde_json::Map::new()))
                    .await?,
                "sent again",
            );
        }
    }
    Ok(())
}

/// The payload is not read into a value and written again: it goes as it stands.
fn body(
    event_type: &str,
    payload: &str,
    event_id: Option<&str>,
    channels: &[String],
) -> Result<String, Error> {
    let payload: &RawValue = serde_json::from_str(payload)
        .map_err(|error| Error::Usage(format!("the payload is no JSON: {error}")))?;
    let id = event_id
        .map(|id| format!(",\"eventId\":{}", Value::from(id)))
        .unwrap_or_default();
    let channels = match channels {
        [] => String::new(),
        _ => format!(",\"channels\":{}", Value::from(channels)),
    };
    Ok(format!(
        "{{\"eventType\":{},\"payload\":{}{id}{channels}}}",
        Value::from(event_type),
        payload.get()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_goes_as_it_stands() {
        let sent = body(
            "a.b",
            "{\"z\": 10.00, \"a\": 9007199254740993}",
            Some("e\"1"),
            &["c".to_owned()],
        )
        .unwrap();
        assert_eq!(
            sent,
            "{\"eventType\":\"a.b\",\"payload\":{\"z\": 10.00, \"a\": 9007199254740993},\"eventId\":\"e\\\"1\",\"channels\":[\"c\"]}"
        );
        assert!(body("a.b", "{", None, &[]).is_err());
    }
}
