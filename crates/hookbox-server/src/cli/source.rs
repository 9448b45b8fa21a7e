//! `hookbox source`: the doors for incoming webhooks.

use clap::Subcommand;
use serde_json::{Map, Value};

use super::Task;
use super::client::encoded;
use super::error::Error;
use super::verb::{Part, sure};

#[derive(Debug, Subcommand)]
pub(super) enum Source {
    /// Open a door for a provider
    #[command(
        after_help = "Example:\n  hookbox source create stripe --provider stripe --secret whsec_… --forward http://127.0.0.1:3000/hooks"
    )]
    Create {
        /// Its name in the address: POST /in/NAME
        name: String,
        /// stripe, shopify, github or standard-webhooks
        #[arg(long)]
        provider: String,
        /// What requests are signed with, as often as needed
        #[arg(long = "secret", required = true, value_name = "SECRET")]
        secrets: Vec<String>,
        /// An address of your own that takes its events, as often as needed
        #[arg(long = "forward", value_name = "URL")]
        forward: Vec<String>,
        /// The uid of the application that its events belong to
        #[arg(long)]
        app: Option<String>,
    },
    /// List sources
    List {
        #[command(flatten)]
        part: Part,
    },
    /// Show a source
    Get {
        /// Its name
        name: String,
    },
    /// Close a door; its events stay
    Delete {
        /// Its name
        name: String,
        /// Really
        #[arg(long)]
        yes: bool,
    },
    /// List what a source has seen, newest first
    Receipts {
        /// Its name
        name: String,
        #[command(flatten)]
        part: Part,
    },
}

fn path(name: &str) -> String {
    format!("/api/v1/source/{}", encoded(name))
}

pub(super) async fn run(Task { verb, client, out }: Task<'_, Source>) -> Result<(), Error> {
    match verb {
        Source::Create {
            name,
            provider,
            secrets,
            forward,
            app,
        } => {
            let mut new = Map::new();
            new.insert("name".to_owned(), name.into());
            new.insert("provider".to_owned(), provider.into());
            new.insert("secrets".to_owned(), secrets.into());
            new.insert("forward".to_owned(), forward.into());
            if let Some(app) = app {
                new.insert("app".to_owned(), app.into());
            }
            let answer = client.post("/api/v1/source", &Value::Object(new)).await?;
            let text = format!(
                "open at POST {}",
                answer["path"].as_str().unwrap_or_default()
            );
            out.done(&answer, &text);
        }
        Source::List { part } => {
            let list = client
                .get(&format!("/api/v1/source{}", part.query()))
                .await?;
            out.list(
                &list,
                &[
                    ("NAME", "name"),
                    ("PROVIDER", "provider"),
                    ("PATH", "path"),
                    ("FORWARD", "forward"),
                ],
            );
        }
        Source::Get { name } => out.one(&client.get(&path(&name)).await?),
        Source::Delete { name, yes } => {
            sure(yes, "close the source")?;
            out.done(&client.delete(&path(&name)).await?, "closed");
        }
        Source::Receipts { name, part } => {
            let list = client
                .get(&format!("{}/receipt{}", path(&name), part.query()))
                .await?;
            let columns = [
                ("EVENT", "eventId"),
                ("MESSAGE", "messageId"),
                ("RECEIVED", "receivedAt"),
                ("SEEN", "seen"),
            ];
            out.list(&list, &columns);
        }
    }
    Ok(())
}
