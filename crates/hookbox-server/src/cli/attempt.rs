//! `hookbox attempt`: every try, and how it ended.

use clap::{ArgGroup, Subcommand};

use super::Task;
use super::app;
use super::client::encoded;
use super::error::Error;
use super::verb::Part;

#[derive(Debug, Subcommand)]
pub(super) enum Attempt {
    /// List the tries of a message or to an endpoint, newest first
    #[command(group(ArgGroup::new("of").required(true).args(["message", "endpoint"])))]
    List {
        /// The application's id or uid
        #[arg(default_value = "default")]
        app: String,
        /// The tries of this message
        #[arg(long)]
        message: Option<String>,
        /// The tries to this endpoint
        #[arg(long)]
        endpoint: Option<String>,
        #[command(flatten)]
        part: Part,
    },
    /// Show a try, with what was answered
    Get {
        /// The application's id or uid
        app: String,
        /// The message's id or event id
        message: String,
        /// The attempt's id
        attempt: String,
    },
}

pub(super) async fn run(Task { verb, client, out }: Task<'_, Attempt>) -> Result<(), Error> {
    match verb {
        Attempt::List {
            app,
            message,
            endpoint,
            part,
        } => {
            let of = match (message, endpoint) {
                (Some(message), _) => format!("msg/{}", encoded(&message)),
                (None, endpoint) => format!("endpoint/{}", encoded(&endpoint.unwrap_or_default())),
            };
            let list = client
                .get(&format!("{}/attempt/{of}{}", app::path(&app), part.query()))
                .await?;
            let columns = [
                ("ID", "id"),
                ("MESSAGE", "msgId"),
                ("TIME", "timestamp"),
                ("RESULT", "statusText"),
                ("STATUS", "responseStatusCode"),
                ("MS", "responseDurationMs"),
                ("ERROR", "error"),
                ("URL", "url"),
            ];
            out.list(&list, &columns);
        }
        Attempt::Get {
            app,
            message,
            attempt,
        } => {
            let (message, attempt) = (encoded(&message), encoded(&attempt));
            out.one(
                &client
                    .get(&format!(
                        "{}/msg/{message}/attempt/{attempt}",
                        app::path(&app)
                    ))
                    .await?,
            );
        }
    }
    Ok(())
}
