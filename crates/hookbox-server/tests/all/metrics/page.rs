//! A strict reader of the text format: what it takes, Prometheus takes.

use std::collections::BTreeMap;

/// A page of metrics, read whole.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// The types of the families.
    pub(super) families: BTreeMap<String, String>,
    /// The values of the series, each named as on the page.
    pub(super) series: BTreeMap<String, f64>,
}

impl Page {
    /// Reads a page of either form.
    pub(super) fn read(text: &str) -> Self {
        assert!(text.ends_with('\n'), "the last line ends");
        let mut page = Self::default();
        let mut family = String::new();
        let mut helped = String::new();
        let body = text.strip_suffix("# EOF\n").unwrap_or(text);
        for line in body.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').expect(line);
                assert!(!help.trim().is_empty() && help.ends_with('.'), "{line}");
                assert!(!help.ends_with(".."), "{line}");
                helped = name.to_owned();
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').expect(line);
                assert_eq!(name, helped, "HELP comes before TYPE");
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                let twice = page.families.insert(name.to_owned(), kind.to_owned());
                assert_eq!(twice, None, "{line}");
                family = name.to_owned();
            } else {
                page.sample(&family, line);
            }
        }
        page.check_histograms();
        page
    }

    fn sample(&mut self, family: &str, line: &str) {
        let (series, value) = line.rsplit_once(' ').expect(line);
        let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
        assert!(is_name(name), "{line}");
        let suffix = name.strip_prefix(family).unwrap_or("another's");
        let fits = match self.families[family].as_str() {
            "counter" => suffix == "_total" || (suffix.is_empty() && name.ends_with("_total")),
            "gauge" => suffix.is_empty(),
            _ => ["_bucket", "_sum", "_count"].contains(&suffix),
        };
        assert!(fits, "{line} is not of {family}");
        let mut rest = labels.strip_suffix('}').expect(line);
        while !rest.is_empty() {
            let (label, after) = rest.split_once("=\"").expect(line);
            assert!(is_name(label) && !label.contains(':'), "{line}");
            let (value, after) = after.split_once('"').expect(line);
            assert!(!value.contains(['\\', '\n']), "{line}");
            rest = after.strip_prefix(',').unwrap_or(after);
        }
        let value: f64 = value.parse().expect(line);
        assert!(value >= 0.0 && value.is_finite(), "{line}");
        let twice = self.series.insert(series.to_owned(), value);
        assert_eq!(twice, None, "{line}");
    }

    /// Buckets grow, and the last one is the count.
    fn check_histograms(&self) {
        for (name, kind) in &self.families {
            if kind != "histogram" {
                continue;
            }
            let begin = format!("{name}_bucket{{le=\"");
            let mut buckets: Vec<(f64, f64)> = Vec::new();
            for (series, count) in &self.series {
                if let Some(bound) = series.strip_prefix(&begin) {
                    let bound = bound.strip_suffix("\"}").expect(series);
                    buckets.push((bound.parse().expect(series), *count));
                }
            }
            buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
            assert!(buckets.is_sorted_by(|one, other| one.1 <= other.1));
            let last = buckets.last().expect(name);
            assert_eq!(*last, (f64::INFINITY, self.value(&format!("{name}_count"))));
        }
    }

    /// The value of a series; 0 for a counter that has not begun.
    pub(super) fn value(&self, series: &str) -> f64 {
        self.series.get(series).copied().unwrap_or_default()
    }

    /// The series of a family that are not 0, by what stands between the braces.
    pub(super) fn of(&self, name: &str) -> BTreeMap<&str, f64> {
        let begin = format!("{name}{{");
        let series = self.series.iter().filter(|(_, value)| **value > 0.0);
        series
            .filter_map(|(series, value)| {
                let labels = series.strip_prefix(&begin)?.strip_suffix('}')?;
                Some((labels, *value))
            })
            .collect()
    }
}

fn is_name(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    text.chars().all(letter) && text.starts_with(|c: char| !c.is_ascii_digit())
}
