//! `hookbox app`: applications.

use clap::Subcommand;
use serde_json::{Map, json};

use super::Task;
use super::client::encoded;
use super::error::Error;
use super::verb::{Part, made, sure};

#[derive(Debug, Subcommand)]
pub(super) enum App {
    /// Make an application
    #[command(after_help = "Example:\n  hookbox app create \"Acme\" --uid acme")]
    Create {
        /// What people call it
        name: String,
        /// Your own name for it
        #[arg(long)]
        uid: Option<String>,
    },
    /// List applications
    List {
        #[command(flatten)]
        part: Part,
    },
    /// Show an application
    Get {
        /// Its id or uid
        app: String,
    },
    /// Change an application
    Update {
        /// Its id or uid
        app: String,
        /// What people call it
        #[arg(long)]
        name: Option<String>,
        /// Your own name for it
        #[arg(long)]
        uid: Option<String>,
    },
    /// Delete an application and its endpoints; what they are owed is cancelled
    Delete {
        /// Its id or uid
        app: String,
        /// Really
        #[arg(long)]
        yes: bool,
    },
}

/// The address of an application.
pub(super) fn path(app: &str) -> String {
    format!("/api/v1/app/{}", encoded(app))
}

pub(super) async fn run(Task { verb, client, out }: Task<'_, App>) -> Result<(), Error> {
    match verb {
        App::Create { name, uid } => {
            let answer = client
                .post("/api/v1/app", &json!({"name": name, "uid": uid}))
                .await?;
            made(out, &answer, "application");
        }
        App::List { part } => {
            let list = client.get(&format!("/api/v1/app{}", part.query())).await?;
            out.list(
                &list,
                &[
                    ("ID", "id"),
                    ("UID", "uid"),
                    ("NAME", "name"),
                    ("CREATED", "createdAt"),
                ],
            );
        }
        App::Get { app } => out.one(&client.get(&path(&app)).await?),
        App::Update { app, name, uid } => {
            let mut change = Map::new();
            for (field, value) in [("name", name), ("uid", uid)] {
                if let Some(value) = value {
                    change.insert(field.to_owned(), value.into());
                }
            }
            out.one(&client.patch(&path(&app), &change.into()).await?);
        }
        App::Delete { app, yes } => {
            sure(yes, "delete the application and its endpoints")?;
            out.done(&client.delete(&path(&app)).await?, "deleted");
        }
    }
    Ok(())
}
