//! Declaring a metric: it is registered, and stands on the page of metrics.

use std::sync::atomic::AtomicU64;

use prometheus_client::collector::Collector;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// A figure that goes up and down.
pub type Gauge = gauge::Gauge<f64, AtomicU64>;
/// A series' labels: names and values, all of them texts of the program.
type Labels<const N: usize> = [(&'static str, &'static str); N];

/// Counters of one name, one for each combination of their labels' values.
#[derive(Clone, Debug)]
pub struct Counters<const N: usize> {
    names: [&'static str; N],
    family: Family<Labels<N>, Counter>,
}

impl<const N: usize> Counters<N> {
    /// Counts one.
    pub fn count(&self, values: [&'static str; N]) {
        let labels = labelled(self.names, values);
        self.family.get_or_create(&labels).inc();
    }

    /// Shows a series before anything is counted in it.
    pub fn begin(&self, values: [&'static str; N]) {
        let labels = labelled(self.names, values);
        drop(self.family.get_or_create(&labels));
    }
}

/// Figures of one name, one for each combination of their labels' values. They are absent until set.
#[derive(Clone, Debug)]
pub struct Gauges<const N: usize> {
    names: [&'static str; N],
    family: Family<Labels<N>, Gauge>,
}

impl<const N: usize> Gauges<N> {
    /// Sets one.
    pub fn set(&self, values: [&'static str; N], value: f64) {
        let labels = labelled(self.names, values);
        self.family.get_or_create(&labels).set(value);
    }

    /// Forgets all: what is not known is not shown.
    pub fn clear(&self) {
        self.family.clear();
    }
}

fn labelled<const N: usize>(names: [&'static str; N], values: [&'static str; N]) -> Labels<N> {
    std::array::from_fn(|n| (names[n], values[n]))
}

/// A line of the page of metrics.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) about: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// What is declared so far.
#[derive(Debug, Default)]
pub(super) struct Declaring {
    registry: Registry,
    lines: Vec<String>,
}

impl Declaring {
    pub(super) fn counter(&mut self, name: &'static str, about: &'static str) -> Counter {
        let counter = Counter::default();
        self.line("hookbox_", name, Kind::Counter, &[], about);
        self.registry.register(full(name), about, counter.clone());
        counter
    }

    pub(super) fn counters<const N: usize>(
        &mut self,
        name: &'static str,
        names: [&'static str; N],
        about: &'static str,
    ) -> Counters<N> {
        let family = Family::default();
        self.line("hookbox_", name, Kind::Counter, &names, about);
        self.registry.register(full(name), about, family.clone());
        Counters { names, family }
    }

    pub(super) fn gauge(&mut self, name: &'static str, about: &'static str) -> Gauge {
        let gauge = Gauge::default();
        self.line("hookbox_", name, Kind::Gauge, &[], about);
        self.registry.register(full(name), about, gauge.clone());
        gauge
    }

    pub(super) fn gauges<const N: usize>(
        &mut self,
        name: &'static str,
        names: [&'static str; N],
        about: &'static str,
    ) -> Gauges<N> {
        let family = Family::default();
        self.line("hookbox_", name, Kind::Gauge, &names, about);
        self.registry.register(full(name), about, family.clone());
        Gauges { names, family }
    }

    pub(super) fn histogram(
        &mut self,
        name: &'static str,
        about: &'static str,
        buckets: &'static [f64],
    ) -> Histogram {
        let histogram = Histogram::new(buckets.iter().copied());
        self.line("hookbox_", name, Kind::Histogram, &[], about);
        self.registry.register(full(name), about, histogram.clone());
        histogram
    }

    /// What the system says of the process, under the names that every dashboard knows.
    pub(super) fn process(&mut self, rows: &[Row], collector: impl Collector) {
        for row in rows {
            self.line("", row.name, row.kind, &[], row.about);
        }
        self.registry.register_collector(Box::new(collector));
    }

    pub(super) fn registry(&self) -> &Registry {
        &self.registry
    }

    fn line(&mut self, prefix: &str, name: &str, kind: Kind, labels: &[&str], about: &str) {
        let (suffix, kind) = match kind {
            Kind::Counter => ("_total", "counter"),
            Kind::Gauge => ("", "gauge"),
            Kind::Histogram => ("", "histogram"),
        };
        let labels: Vec<_> = labels.iter().map(|label| format!("`{label}`")).collect();
        let labels = labels.join(", ");
        self.lines.push(format!(
            "| `{prefix}{name}{suffix}` | {kind} | {labels} | {about}. |\n"
        ));
    }

    pub(super) fn page(&self) -> String {
        let head = "# Metrics\n\n`GET /metrics` answers in the text format of Prometheus, or as OpenMetrics where that is \
             asked for. Labels have few\nvalues, and never a name, an address or an id that somebody chose: there are no \
             series for single endpoints. What to\nmake of them stands in [operating.md](operating.md).\n\n\
             | name | type | labels | |\n|---|---|---|---|\n";
        let tail = "\nCounters begin at 0 with each start. The `process_…` figures come from `/proc` and exist on Linux \
             only.\n";
        [head, &self.lines.concat(), tail].concat()
    }
}

fn full(name: &str) -> String {
    format!("hookbox_{name}")
}
