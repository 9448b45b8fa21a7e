//! Looking at a database without using it: nothing is written, nothing migrated, no lock taken.

use std::time::{Duration, Instant};

use super::open::{CONNECTIONS, OpenError, Target, oldest};
use super::schema::{BY_DAY, DAY, NEEDED, day_name};
use super::sql::{Dialect, Statement, sql};
use super::transaction::{Limits, Pool, Row, reading};
use super::trouble::Trouble;
use super::{applications, deliveries};
use crate::model::{Clock, Time};
use crate::store::columns::{Columns as _, Value, source};
use crate::store::diagnosis::{
    Days, Diagnosis, Endpoints, KeyFit, OldTransactions, Product, Sources,
};
use crate::store::seal::Sealer;
use crate::store::{QueueFigures, Result};

/// Counting a long queue takes its time.
const LIMITS: Limits = Limits {
    wait: Duration::from_secs(10),
    read: Duration::from_secs(30),
    run: Duration::from_secs(30),
};
/// Today and the days after it that must have tables.
const AHEAD: i64 = 2;

/// Looks at the database at a `postgres://` or `mysql://` address.
///
/// # Errors
/// The address cannot be read, or the database cannot be reached. Whatever else fails is among what was found.
pub async fn diagnose(
    url: &str,
    sealer: Option<&Sealer>,
) -> std::result::Result<Diagnosis, OpenError> {
    let target = Target::of(url).await?;
    let (target, direct) = target.unnamed();
    let look = Look {
        pool: target.pool(1, LIMITS, &[])?,
    };
    let began = Instant::now();
    let rows = look.ask(sql!("version"), &[]).await?;
    let took = began.elapsed();
    let (number, version) = match rows.first() {
        Some(row) => (row.number::<i64>(0)?, row.string(1)?),
        None => (0, String::new()),
    };
    let product = match look.pool.dialect() {
        Dialect::Postgres => Product::Postgres,
        Dialect::Mysql if version.contains("MariaDB") => Product::Mariadb,
        Dialect::Mysql => Product::Mysql,
    };
    let mut found = Diagnosis {
        too_old: number < oldest(look.pool.dialect(), &version),
        version,
        took,
        direct,
        connections: CONNECTIONS,
        needed: NEEDED,
        ..Diagnosis::of(product)
    };
    if let Some(rows) = found.keep("settings", look.ask(sql!("diagnose_settings"), &[]).await) {
        for row in &rows {
            if let (Ok(name), Ok(Some(value))) = (row.string(0), row.text(1)) {
                found.settings.insert(name, value);
            }
        }
    }
    found.ahead_ms = found.keep("the clock", look.clock().await).flatten();
    found.transactions = found.keep("open transactions", look.transactions().await);
    found.schema = found.keep("the schema", look.schema().await);
    if let (Some(sealer), Some(1..)) = (sealer, found.schema) {
        let fit = look.key(sealer).await;
        found.key = found.keep("the key check", fit).unwrap_or_default();
    }
    if found.is_current() {
        look.tables(&mut found, sealer).await;
    }
    Ok(found)
}

/// One connection to look through.
struct Look {
    pool: Pool,
}

impl Look {
    /// Asks in a transaction that cannot write.
    async fn ask(&self, sql: Statement, values: &[Value<'_>]) -> Result<Vec<Row>> {
        match self.pool.dialect() {
            // In one transaction: behind a proxy nothing else holds from one statement to the next.
            Dialect::Postgres => {
                let mut open = self.pool.begin().await?;
                let done = async {
                    open.script("SET TRANSACTION READ ONLY").await?;
                    open.query(sql, values).await
                };
                let done = done.await;
                open.end(done).await.map_err(Trouble::into_error)
            }
            Dialect::Mysql => reading!(self.pool, |read| {
                read.script("SET SESSION TRANSACTION READ ONLY").await?;
                read.query(sql, values).await
            }),
        }
    }

    async fn clock(&self) -> Result<Option<i64>> {
        let asked = Clock.now();
        let rows = self.ask(sql!("now"), &[]).await?;
        let took = Clock.now().since(asked);
        let theirs = rows.first().map(|row| row.time(0)).transpose()?;
        Ok(theirs.map(|theirs| theirs.0 - asked.plus(took / 2).0))
    }

    async fn transactions(&self) -> Result<OldTransactions> {
        let rows = self.ask(sql!("diagnose_transactions"), &[]).await?;
        let Some(row) = rows.first() else {
            return Ok(OldTransactions::default());
        };
        Ok(OldTransactions {
            count: row.number(0)?,
            oldest: Duration::from_secs(row.optional_number(1)?.unwrap_or_default()),
        })
    }

    async fn schema(&self) -> Result<u32> {
        let exists = self.ask(sql!("schema_exists"), &[]).await?;
        if !applications::says_yes(exists.first())? {
            return Ok(0);
        }
        let rows = self.ask(sql!("schema_find"), &[]).await?;
        Ok(match rows.first() {
            Some(row) => row.optional_number(0)?.unwrap_or_default(),
            None => 0,
        })
    }

    async fn key(&self, sealer: &Sealer) -> Result<KeyFit> {
        let rows = self.ask(sql!("key_check_find"), &[]).await?;
        let sealed = rows.first().map_or(Ok(None), |row| row.bytes(0))?;
        Ok(KeyFit::of(sealer, sealed.as_deref()))
    }

    /// What only a schema that this program knows is asked for.
    async fn tables(&self, found: &mut Diagnosis, sealer: Option<&Sealer>) {
        let now = Clock.now().0.saturating_add(found.ahead_ms.unwrap_or(0));
        let now = Time(now);
        let queue = found.keep("the queue", self.queue(now).await);
        found.queue = queue.map(|figures| (figures, now));
        if found.product == Product::Postgres {
            found.days = found.keep("the tables by days", self.days(now).await);
        }
        let sealer = sealer.filter(|_| found.key == KeyFit::Same);
        found.sources = found.keep("the sources", self.sources(sealer).await);
        found.endpoints = found.keep("the endpoints", self.endpoints().await);
    }

    async fn queue(&self, now: Time) -> Result<QueueFigures> {
        let rows = self.ask(sql!("delivery_figures"), &[now.into()]).await?;
        rows.first()
            .map_or(Ok(QueueFigures::default()), deliveries::figures)
    }

    async fn days(&self, now: Time) -> Result<Days> {
        let rows = self.ask(sql!("day_list"), &[]).await?;
        let known = rows
            .iter()
            .map(|row| row.string(0))
            .collect::<Result<Vec<_>>>()?;
        let today = now.0.div_euclid(DAY);
        let wanted = (today..=today + AHEAD)
            .flat_map(|day| BY_DAY.map(|table| format!("{table}_{}", day_name(day))));
        let mut days = Days {
            missing: wanted.filter(|name| !known.contains(name)).collect(),
            strays: Vec::new(),
        };
        for row in &self.ask(sql!("diagnose_days"), &[]).await? {
            if row.flag(1)? {
                days.strays.push(row.string(0)?);
            }
        }
        Ok(days)
    }

    async fn sources(&self, sealer: Option<&Sealer>) -> Result<Sources> {
        let last = char::MAX.to_string();
        let values = [Value::from(""), (&last).into(), i64::MAX.into()];
        let rows = self.ask(sql!("source_list"), &values).await?;
        let mut sources = Sources {
            count: rows.len(),
            without_secret: Vec::new(),
        };
        let Some(sealer) = sealer else {
            return Ok(sources);
        };
        for row in &rows {
            let source = source::read(row, sealer)?;
            if source.secrets.is_empty() {
                sources.without_secret.push(source.name);
            }
        }
        Ok(sources)
    }

    async fn endpoints(&self) -> Result<Endpoints> {
        let mut endpoints = Endpoints::default();
        for row in &self.ask(sql!("diagnose_endpoints"), &[]).await? {
            endpoints.add(row.text(0)?.as_deref(), row.number(1)?);
        }
        for row in &self.ask(sql!("diagnose_forward"), &[]).await? {
            endpoints.forward.push(row.string(0)?);
        }
        Ok(endpoints)
    }
}
