use super::*;

#[test]
fn the_page_of_metrics_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md");
    let written = std::fs::read_to_string(path).unwrap_or_default();
    let page = metrics().page();
    assert_eq!(
        written, page,
        "run `cargo run -- metrics > docs/metrics.md`"
    );
}

/// What counting costs: `cargo test --release -p hookbox-server --lib -- --ignored --nocapture counting`.
#[test]
#[ignore = "a measurement"]
fn counting_costs_tens_of_nanoseconds() {
    const TIMES: u32 = 10_000_000;
    let measure = |what: &str, work: &dyn Fn(f64)| {
        let began = Instant::now();
        for n in 0..TIMES {
            work(f64::from(n % 64) / 1000.0);
        }
        println!("{what}: {:?}", began.elapsed() / TIMES);
    };
    let metrics = metrics();
    let received = |_| metrics.received.count(["stripe", "recorded"]);
    measure("a counter with labels", &received);
    measure("a counter", &|_| {
        metrics.duplicates.inc();
    });
    measure("a histogram", &|value| {
        metrics.receive_duration.observe(value);
    });
}
