//! `hookbox dead`: deliveries that were given up.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::Task;
use super::app;
use super::client::encoded;
use super::error::Error;
use super::verb::{Part, sure};

#[derive(Debug, Subcommand)]
pub(super) enum Dead {
    /// List dead letters, newest first
    List {
        /// The application's id or uid
        #[arg(default_value = "default")]
        app: String,
        /// Only of this message
        #[arg(long)]
        message: Option<String>,
        /// Only to this endpoint
        #[arg(long)]
        endpoint: Option<String>,
        #[command(flatten)]
        part: Part,
    },
    /// Send dead letters again
    #[command(after_help = "Example:\n  hookbox dead replay --endpoint ep_…")]
    Replay {
        #[command(flatten)]
        which: Which,
    },
    /// Take dead letters off the list without sending them
    Discard {
        #[command(flatten)]
        which: Which,
        /// Really
        #[arg(long)]
        yes: bool,
    },
}

/// Which dead letters.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(super) struct Chosen {
    /// Of this message
    #[arg(long)]
    message: Option<String>,
    /// To this endpoint
    #[arg(long)]
    endpoint: Option<String>,
    /// All of the application
    #[arg(long, conflicts_with_all = ["message", "endpoint"])]
    all: bool,
}

/// Which dead letters, and whose.
#[derive(Debug, Args)]
pub(super) struct Which {
    /// The application's id or uid
    #[arg(default_value = "default")]
    app: String,
    #[command(flatten)]
    chosen: Chosen,
}

impl Which {
    fn json(&self) -> Value {
        match (&self.chosen.message, &self.chosen.endpoint) {
            (None, None) => json!({"all": self.chosen.all}),
            (Some(message), None) => json!({"messageId": message}),
            (None, Some(endpoint)) => json!({"endpointId": endpoint}),
            (Some(message), Some(endpoint)) => {
                json!({"messageId": message, "endpointId": endpoint})
            }
        }
    }
}

pub(super) async fn run(Task { verb, client, out }: Task<'_, Dead>) -> Result<(), Error> {
    match verb {
        Dead::List {
            app,
            message,
            endpoint,
            part,
        } => {
            let mut path = format!("{}/dead{}", app::path(&app), part.query());
            for (name, value) in [("message_id", message), ("endpoint_id", endpoint)] {
                if let Some(value) = value {
                    path += &format!("&{name}={}", encoded(&value));
                }
            }
            let columns = [
                ("MESSAGE", "messageId"),
                ("ENDPOINT", "endpointId"),
                ("TYPE", "eventType"),
                ("CAUSE", "cause"),
                ("TRIES", "failures"),
                ("LAST STATUS", "lastAttempt.responseStatusCode"),
                ("URL", "url"),
            ];
            out.list(&client.get(&path).await?, &columns);
        }
        Dead::Replay { which } => {
            let answer = client
                .post(
                    &format!("{}/dead/replay", app::path(&which.app)),
                    &which.json(),
                )
                .await?;
            let text = format!("{} sent again", answer["count"]);
            out.done(&answer, &text);
        }
        Dead::Discard { which, yes } => {
            sure(yes, "take these dead letters off the list")?;
            let answer = client
                .post(
                    &format!("{}/dead/discard", app::path(&which.app)),
                    &which.json(),
                )
                .await?;
            let text = format!("{} discarded", answer["count"]);
            out.done(&answer, &text);
        }
    }
    Ok(())
}
