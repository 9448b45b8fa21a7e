//! `hookbox endpoint`: where an application's messages go.

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::Task;
use super::app;
use super::client::encoded;
use super::error::Error;
use super::verb::{Part, made, sure};

#[derive(Debug, Subcommand)]
pub(super) enum Endpoint {
    /// Make an endpoint
    #[command(
        after_help = "Example:\n  hookbox endpoint create acme https://example.com/webhooks --type invoice.paid"
    )]
    Create {
        /// The application's id or uid
        app: String,
        /// Where it is
        url: String,
        #[command(flatten)]
        fields: Fields,
    },
    /// List an application's endpoints
    List {
        /// The application's id or uid
        #[arg(default_value = "default")]
        app: String,
        #[command(flatten)]
        part: Part,
    },
    /// Show an endpoint
    Get {
        #[command(flatten)]
        which: Which,
    },
    /// Change an endpoint
    Update {
        #[command(flatten)]
        which: Which,
        /// Where it is
        #[arg(long)]
        url: Option<String>,
        #[command(flatten)]
        fields: Fields,
    },
    /// Delete an endpoint; what it is owed is cancelled
    Delete {
        #[command(flatten)]
        which: Which,
        /// Really
        #[arg(long)]
        yes: bool,
    },
    /// Show the secret that its messages are signed with
    Secret {
        #[command(flatten)]
        which: Which,
    },
    /// Give it a new secret; the old one signs too for a while
    Rotate {
        #[command(flatten)]
        which: Which,
        /// For how many seconds the old secret signs too
        #[arg(long, default_value_t = 86_400, value_name = "SECONDS")]
        grace: u32,
    },
    /// Send to it again, what waited first
    Enable {
        #[command(flatten)]
        which: Which,
    },
    /// Send nothing to it; what comes waits
    Disable {
        #[command(flatten)]
        which: Which,
    },
}

/// An endpoint of an application.
#[derive(Debug, Args)]
pub(super) struct Which {
    /// The application's id or uid
    app: String,
    /// The endpoint's id or uid
    endpoint: String,
}

/// What may be set on an endpoint.
#[derive(Debug, Args)]
pub(super) struct Fields {
    /// Your own name for it
    #[arg(long)]
    uid: Option<String>,
    /// What people call it
    #[arg(long)]
    description: Option<String>,
    /// An event type that it wants, as often as needed; all when not given
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// A channel that it listens to, as often as needed; all when not given
    #[arg(long = "channel", value_name = "CHANNEL")]
    channels: Vec<String>,
}

impl Fields {
    fn json(self) -> Map<String, Value> {
        let mut fields = Map::new();
        for (name, value) in [("uid", self.uid), ("description", self.description)] {
            if let Some(value) = value {
                fields.insert(name.to_owned(), value.into());
            }
        }
        for (name, values) in [("eventTypes", self.types), ("channels", self.channels)] {
            if !values.is_empty() {
                fields.insert(name.to_owned(), values.into());
            }
        }
        fields
    }
}

impl Which {
    fn path(&self) -> String {
        format!(
            "{}/endpoint/{}",
            app::path(&self.app),
            encoded(&self.endpoint)
        )
    }
}

pub(super) async fn run(Task { verb, client, out }: Task<'_, Endpoint>) -> Result<(), Error> {
    match verb {
        Endpoint::Create { app, url, fields } => {
            let mut new = fields.json();
            new.insert("url".to_owned(), url.into());
            let answer = client
                .post(&format!("{}/endpoint", app::path(&app)), &new.into())
                .await?;
            made(out, &answer, "endpoint");
        }
        Endpoint::List { app, part } => {
            let list = client
                .get(&format!("{}/endpoint{}", app::path(&app), part.query()))
                .await?;
            let columns = [
                ("ID", "id"),
                ("UID", "uid"),
                ("URL", "url"),
                ("TYPES", "eventTypes"),
                ("DISABLED", "disabled"),
            ];
            out.list(&list, &columns);
        }
        Endpoint::Get { which } => out.one(&client.get(&which.path()).await?),
        Endpoint::Update { which, url, fields } => {
            let mut change = fields.json();
            if let Some(url) = url {
                change.insert("url".to_owned(), url.into());
            }
            out.one(&client.patch(&which.path(), &change.into()).await?);
        }
        Endpoint::Delete { which, yes } => {
            sure(yes, "delete the endpoint")?;
            out.done(&client.delete(&which.path()).await?, "deleted");
        }
        Endpoint::Secret { which } => {
            let answer = client.get(&format!("{}/secret", which.path())).await?;
            out.done(&answer, answer["key"].as_str().unwrap_or_default());
        }
        Endpoint::Rotate { which, grace } => {
            let path = format!("{}/secret/rotate", which.path());
            let answer = client
                .post(&path, &json!({"gracePeriodSeconds": grace}))
                .await?;
            out.done(&answer, answer["key"].as_str().unwrap_or_default());
        }
        Endpoint::Enable { which } => {
            out.done(
                &client
                    .patch(&which.path(), &json!({"disabled": false}))
                    .await?,
                "enabled",
            );
        }
        Endpoint::Disable { which } => {
            out.done(
                &client
                    .patch(&which.path(), &json!({"disabled": true}))
                    .await?,
                "disabled",
            );
        }
    }
    Ok(())
}
