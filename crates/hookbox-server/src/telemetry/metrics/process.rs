//! What Linux says of this process, read when it is asked for.

use std::fmt::Error;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use super::declare::{Kind, Row};

/// What `/proc` counts time in, on every machine that Rust builds for: a hundredth of a second.
const TICKS: f64 = 100.0;

/// The names are those of Prometheus' own clients.
pub(super) const ROWS: [Row; 5] = [
    Row {
        name: "process_cpu_seconds",
        kind: Kind::Counter,
        about: "Time on a processor, in the program and in the system for it",
    },
    Row {
        name: "process_resident_memory_bytes",
        kind: Kind::Gauge,
        about: "Memory in use",
    },
    Row {
        name: "process_start_time_seconds",
        kind: Kind::Gauge,
        about: "When the process began, since 1970",
    },
    Row {
        name: "process_open_fds",
        kind: Kind::Gauge,
        about: "Open files and connections",
    },
    Row {
        name: "process_max_fds",
        kind: Kind::Gauge,
        about: "How many there may be",
    },
];

#[derive(Debug)]
pub(super) struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let stat = read("self/stat").and_then(|text| Stat::of(&text));
        let values = [
            stat.as_ref().map(|stat| stat.cpu),
            read("self/status").and_then(|text| memory(&text)),
            stat.and_then(|stat| Some(began(&read("stat")?)? + stat.start)),
            open_files(),
            read("self/limits").and_then(|text| limit(&text)),
        ];
        for (row, value) in ROWS.iter().zip(values) {
            let Some(value) = value else { continue };
            // The registry ends a help with a full stop; here nobody else does.
            let help = format!("{}.", row.about);
            let metric: &dyn EncodeMetric = match row.kind {
                Kind::Counter => &ConstCounter::new(value),
                Kind::Gauge | Kind::Histogram => &ConstGauge::new(value),
            };
            let kind = metric.metric_type();
            metric.encode(encoder.encode_descriptor(row.name, &help, None, kind)?)?;
        }
        Ok(())
    }
}

fn read(name: &str) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{name}")).ok()
}

/// Of `/proc/self/stat`: seconds on a processor, and of the start after the machine's.
#[derive(Debug, PartialEq)]
struct Stat {
    cpu: f64,
    start: f64,
}

impl Stat {
    fn of(text: &str) -> Option<Self> {
        // The second field is the program's name in brackets, which may hold anything.
        let rest = text.rsplit_once(')')?.1;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let seconds = |n: usize| {
            fields
                .get(n - 3)?
                .parse::<f64>()
                .ok()
                .map(|ticks| ticks / TICKS)
        };
        Some(Self {
            cpu: seconds(14)? + seconds(15)?,
            start: seconds(22)?,
        })
    }
}

/// When the machine began, of `/proc/stat`.
fn began(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("btime "))?;
    line.trim().parse().ok()
}

/// Of `/proc/self/status`.
fn memory(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0)
}

/// Of `/proc/self/limits`: the limit in force, before the one that it may be raised to.
fn limit(text: &str) -> Option<f64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn open_files() -> Option<f64> {
    let files = std::fs::read_dir("/proc/self/fd").ok()?.count();
    // The folder itself is open while it is read.
    u32::try_from(files)
        .ok()
        .map(|files| f64::from(files) - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_writes_is_read() {
        let stat = "42 (a) b) c) S 1 42 42 0 -1 4194560 1 0 0 0 150 50 0 0 20 0 4 0 777 1 2 3";
        let read = Stat::of(stat).unwrap();
        assert_eq!((read.cpu, read.start), (2.0, 7.77));
        assert_eq!(began("cpu 1 2\nbtime 1700000000\n"), Some(1_700_000_000.0));
        assert_eq!(memory("VmHWM:\t 9 kB\nVmRSS:\t  12 kB\n"), Some(12_288.0));
        let limits = "Max processes 1 2 processes\nMax open files            1024                 4096                 files\n";
        assert_eq!(limit(limits), Some(1024.0));
        assert_eq!(Stat::of(""), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_knows_itself() {
        assert!(read("self/stat").and_then(|text| Stat::of(&text)).is_some());
        assert!(read("stat").and_then(|text| began(&text)).is_some());
        assert!(read("self/status").and_then(|text| memory(&text)) > Some(0.0));
        assert!(open_files() >= Some(3.0));
        assert!(read("self/limits").is_some_and(|text| text.contains("Max open files")));
    }
}
