//! All that can be found. A code that was released is never given another meaning.

use super::finding::{Code, Level};

macro_rules! codes {
    ($($id:ident: $name:literal [$($level:ident),+] $about:literal $advice:literal;)+) => {
        $(pub(super) static $id: Code = Code {
            name: $name,
            levels: &[$(Level::$level),+],
            about: $about,
            advice: $advice,
        };)+
        /// All of them, in the order of the page.
        pub(super) static CODES: &[&Code] = &[$(&$id),+];
    };
}

codes! {
    SETTINGS: "settings.valid" [Ok, Error]
        "Whether the settings can be read: each fault is a finding. With a fault nothing that needs them is looked at."
        "Correct it, and run this again; `docs/settings.md` has all settings.";
    STRAY: "settings.unknown_variable" [Warning]
        "A variable that begins with `HOOKBOX_` is none of ours, so nobody reads it."
        "Correct its name, or take it away.";
    ROLES: "settings.roles" [Ok, Note, Error]
        "What this node does. SQLite needs all roles in one process; nodes of a shared database may divide them."
        "On SQLite leave `HOOKBOX_ROLE` out. Elsewhere see to it that other nodes have the remaining roles.";
    KEY: "settings.secret_key" [Ok, Error]
        "Whether there is a key that seals the secrets in the database."
        "Set `HOOKBOX_SECRET_KEY` (`openssl rand -base64 32`), the same for every node, or restore the key file from a \
         backup. Without the key of an existing database its secrets are lost.";
    KEY_FILE: "settings.key_file_readable" [Ok, Warning]
        "Who may read the key file beside the database."
        "`chmod 600` the file: whoever reads it and the database has every secret.";
    SECRET_FILE: "settings.secret_file_readable" [Note]
        "A file with a secret can be read by other users of this machine."
        "`chmod 600` the file, unless a container is all that sees it.";
    ADMIN_TOKEN: "settings.admin_token" [Ok, Warning]
        "Whether the token with every right can be guessed."
        "Set `HOOKBOX_ADMIN_TOKEN` to the output of `openssl rand -hex 32`, and restart.";
    EGRESS: "settings.egress_allow" [Ok, Note, Warning]
        "Networks that strangers' endpoints may reach although they are not public. A warning when the cloud's \
         metadata service is among them: it hands out credentials."
        "Name as few addresses as possible, each with its port; leave it empty when no endpoint is private.";
    ALLOW_HTTP: "settings.allow_http" [Ok, Note]
        "Whether strangers' endpoints may be plain http: others on the way can read what is sent."
        "Set `HOOKBOX_ALLOW_HTTP=false` unless this is for development.";
    METRICS: "settings.metrics_token" [Note]
        "The server listens beyond this machine, and shows `/metrics` and `/queue` to everyone."
        "Set `HOOKBOX_METRICS_TOKEN`, or see to it that a proxy in front does not pass them on.";

    REACHABLE: "database.reachable" [Ok, Error]
        "Whether the database answers, and how long connecting and the first answer took."
        "See that it runs, and that address, user and password in `HOOKBOX_DATABASE` are right.";
    UNREAD: "database.unread" [Warning]
        "Something could not be looked at, mostly for want of a right."
        "Run this as the user that the server uses; the rest holds nevertheless.";
    VERSION: "database.version" [Ok, Error]
        "Whether the database is one that Hookbox works with: PostgreSQL 13, MySQL 8.0.16, MariaDB 10.6, or later; \
         SQLite 3.51.3 or later is built in."
        "Upgrade the database server; a Hookbox that is linked with another SQLite, to a build with the bundled one.";
    SCHEMA: "database.schema" [Ok, Note]
        "The schema of the database is the one that this version works with. A note when there is none yet."
        "The first start of `hookbox serve` fills an empty database. If it should not be empty, correct \
         `HOOKBOX_DATABASE`.";
    OLDER: "database.schema_older" [Error]
        "The schema is of an older version."
        "Make a backup, stop all nodes, run `hookbox migrate`, start the nodes.";
    NEWER: "database.schema_newer" [Error]
        "The schema is of a newer version than this program knows."
        "Run the newer hookbox that wrote it.";
    FOREIGN: "database.foreign" [Error]
        "The file is a database of another program."
        "Set `HOOKBOX_DATABASE` to another path.";
    KEY_FIT: "database.key" [Ok, Error]
        "Whether the key is the one that the secrets in the database were sealed with."
        "Start with the key that the database was first started with; it cannot be replaced by another.";
    READ_ONLY: "database.read_only" [Error]
        "The database server refuses writes, or refuses them to this user."
        "Connect to the primary, not to a replica, and as the user that owns the tables.";
    DURABILITY: "database.durability" [Ok, Warning, Error]
        "Whether a commit is on the disk when the database says so. An error when what was accepted can be lost."
        "PostgreSQL: `fsync=on`, `full_page_writes=on`, `synchronous_commit=on`. MySQL and MariaDB: \
         `innodb_flush_log_at_trx_commit=1`, `innodb_doublewrite=ON`, and `sync_binlog=1` where there is a binary log.";
    CONNECTIONS: "database.connections" [Ok, Warning]
        "Whether the database takes as many connections as this node makes."
        "Raise `max_connections` above the sum over all nodes, with some to spare for yourself.";
    TRANSACTIONS: "database.long_transactions" [Ok, Warning]
        "Transactions that are open for more than five minutes: what the queue leaves behind cannot be cleaned up \
         meanwhile, and claiming becomes slow."
        "Find whose they are (`pg_stat_activity`, `pg_prepared_xacts`, `information_schema.innodb_trx`) and end them. \
         PostgreSQL's `idle_in_transaction_session_timeout` does so by itself.";
    AUTOVACUUM: "database.autovacuum" [Ok, Warning]
        "Whether PostgreSQL cleans up by itself: the queue is a table of many changes."
        "Set `autovacuum=on`.";
    CHECKPOINTS: "database.checkpoint_distance" [Ok, Note]
        "How much PostgreSQL writes between checkpoints. The first change of a page after one writes the whole page, and \
         receipts touch pages at random."
        "Set `max_wal_size` to 1GB or more.";
    PROXY: "database.proxy" [Ok, Note]
        "A proxy with transaction pooling stands in front: wake-ups between nodes are off, so another node's message \
         may wait up to a second, and statements are prepared each time."
        "Nothing needs to be done. Connect to the server itself if the second matters.";
    SESSION: "database.session" [Ok, Warning]
        "The session has strict mode and the isolation READ COMMITTED, as each connection asks for."
        "Look for a proxy that undoes what a session sets.";
    PACKET: "database.packet" [Ok, Warning]
        "Whether the largest events fit into one packet: GitHub sends up to 25 MiB."
        "Set `max_allowed_packet=64M`.";
    DAYS: "database.days" [Ok, Note, Warning]
        "Whether PostgreSQL has the tables of today and the next two days, and nothing in those for the rest. Days are \
         made by running nodes, and retention drops whole days."
        "Start a node, and see its log for why tables were not made. Rows outside of their day are read all the same.";

    FOLDER: "sqlite.folder" [Error]
        "The folder of the database is not there."
        "Make it, or correct `HOOKBOX_DATABASE`.";
    DAMAGE: "sqlite.integrity" [Ok, Error]
        "Whether all pages of the file hold together; only with `--deep`."
        "Stop the server, keep a copy, and restore a backup or use `sqlite3 FILE .recover`.";
    LOG: "sqlite.log" [Ok, Warning]
        "The size of the write-ahead log. Over 256 MiB something reads for so long that it cannot be emptied."
        "End what else reads the file, such as a backup or an open `sqlite3`.";
    NETWORK: "sqlite.network" [Ok, Error]
        "Whether the file lies on a network file system, where locks and mapped memory do not hold."
        "Move it to a disk of this machine, or use PostgreSQL or MySQL.";
    SPACE: "sqlite.space" [Ok, Warning, Error]
        "What is free on the disk: a warning under 1 GiB, an error under 100 MiB."
        "Make room, or move the database. What cannot be written is answered with 503.";

    CLOCK: "clock.database" [Ok, Note, Warning]
        "This machine's clock against the database's. Nodes are not compared with each other: run this on each. Times \
         in signatures are judged by the database's clock where it is shared, otherwise by this machine's."
        "Have both machines follow a time server (`timedatectl`, chrony).";

    DUE: "queue.due" [Ok, Warning]
        "How long the oldest delivery has been due: over a minute no node keeps up, or none delivers."
        "See that a node with the role engine runs, and its log and `/metrics`; add nodes, or raise \
         `HOOKBOX_ENDPOINT_CONCURRENCY` when one endpoint has most of it.";
    LEASES: "queue.leases" [Ok, Warning]
        "Leases that ended over a minute ago and that nobody took up: a node died, and no other delivers."
        "Start a node with the role engine: it takes them up.";
    DEAD: "queue.dead_letters" [Ok, Note]
        "Deliveries that were given up."
        "`hookbox dead list` shows why; `hookbox dead replay --all` sends them again once that is mended.";
    HELD: "queue.held" [Ok, Note]
        "Deliveries that wait for a disabled endpoint."
        "Enable the endpoint to send them, or delete it to cancel them.";
    SOURCES: "sources.secrets" [Ok, Error]
        "Whether every source has a secret: without one, nothing that comes in can be verified."
        "Give it one, in the settings file or over the API.";
    GONE: "endpoints.gone" [Ok, Note]
        "Endpoints that answered 410 Gone, and were disabled for it."
        "Ask their owners; `hookbox endpoint list` shows them. Enable or delete them.";

    LIVE: "server.live" [Ok, Note, Warning]
        "Whether a server answers `/livez` at `url`. A note when none does: this works without."
        "Start it with `hookbox serve`, or set `HOOKBOX_URL` to where it listens.";
    READY: "server.ready" [Ok, Error]
        "Whether the server answers `/readyz`: it takes in and delivers."
        "The finding says which part is not ready; see the server's log.";
    NAMES: "dns.names" [Ok, Warning]
        "Whether names can be looked up: that of `--name`, or the hosts that events are forwarded to."
        "See `/etc/resolv.conf` and the name; events for it wait and are tried again.";
}
