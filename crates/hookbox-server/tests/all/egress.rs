//! The way out, against servers that mean no good. Each speaks raw bytes over a loopback socket.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use hookbox_server::egress::{
    Answer, Client, Failure, FailureKind, Limits, Policy, Request, Resolver,
};
use http::HeaderMap;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A server that reads a request and then does as told, for each connection.
struct Hostile {
    at: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Hostile {
    async fn start<F, Fut>(behave: F) -> Self
    where
        F: Fn(TcpStream) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        let behave = Arc::new(behave);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let behave = Arc::clone(&behave);
                tokio::spawn(async move {
                    behave(stream).await;
                });
            }
        });
        Self { at, connections }
    }

    /// Answers every request on a connection with the same bytes.
    async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer: Arc<Vec<u8>> = Arc::new(answer.into());
        Self::start(move |mut stream| {
            let answer = Arc::clone(&answer);
            async move {
                while read_request(&mut stream).await {
                    if stream.write_all(&answer).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await
    }

    /// Answers with a beginning and then with the same bytes for ever.
    async fn endless(beginning: &'static str, rest: Vec<u8>) -> Self {
        let rest = Arc::new(rest);
        Self::start(move |mut stream| {
            let rest = Arc::clone(&rest);
            async move {
                read_request(&mut stream).await;
                let mut sent = stream.write_all(beginning.as_bytes()).await;
                while sent.is_ok() {
                    sent = stream.write_all(&rest).await;
                }
            }
        })
        .await
    }

    fn url(&self) -> String {
        format!("http://{}/hook", self.at)
    }
}

/// Reads a request with the body `{}`; false when the peer is gone.
async fn read_request(stream: &mut TcpStream) -> bool {
    let mut seen = Vec::new();
    let mut byte = [0; 1024];
    while !seen.ends_with(b"\r\n\r\n{}") {
        match stream.read(&mut byte).await {
            Ok(0) | Err(_) => return false,
            Ok(n) => seen.extend_from_slice(&byte[..n]),
        }
    }
    true
}

fn client() -> Client {
    Client::new(Policy::Trusted, Resolver::system())
}

fn stranger(allow: &str, resolver: Resolver) -> Client {
    Client::new(
        Policy::Stranger {
            allow: allow.parse().unwrap(),
            allow_http: true,
        },
        resolver,
    )
}

/// Limits with a deadline that a test can wait for.
fn short() -> Limits {
    Limits {
        deadline: Duration::from_millis(300),
        ..Limits::default()
    }
}

async fn send(client: &Client, url: &str) -> Result<Answer, Failure> {
    let request = Request {
        uri: url.parse().unwrap(),
        headers: HeaderMap::new(),
        body: Bytes::from_static(b"{}"),
    };
    client.send(request, &short()).await
}

async fn status_of(answer: impl Into<Vec<u8>>) -> Result<u16, FailureKind> {
    let server = Hostile::answering(answer).await;
    send(&client(), &server.url())
        .await
        .map(|answer| answer.status)
        .map_err(|failure| failure.kind)
}

fn resolver(host: &str, answers: &[&[&str]]) -> Resolver {
    let lists = answers.iter().map(|list| {
        list.iter()
            .map(|address| address.parse::<IpAddr>().unwrap())
            .collect()
    });
    Resolver::fixed([(host.to_owned(), lists.collect())])
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let inside = Hostile::answering("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    for code in [301, 302, 303, 307, 308] {
        let answer = format!(
            "HTTP/1.1 {code} X\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n",
            inside.url()
        );
        assert_eq!(status_of(answer).await, Ok(code));
    }
    for answer in [
        "HTTP/1.1 304 X\r\n\r\n",
        "HTTP/1.1 300 X\r\ncontent-length: 0\r\n\r\n",
    ] {
        assert!(
            status_of(answer)
                .await
                .is_ok_and(|status| (300..400).contains(&status))
        );
    }
    assert_eq!(inside.connections.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn what_is_no_answer_is_a_failure() {
    let many: String = (0..200).map(|n| format!("x-{n}: y\r\n")).collect();
    let long = "y".repeat(1_000_000);
    for answer in [
        "HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n".to_owned(),
        "HTTP/1.1 099 X\r\n\r\n".to_owned(),
        "HTTP/1.1 600 X\r\ncontent-length: 0\r\n\r\n".to_owned(),
        "HTTP/1.1 999 X\r\ncontent-length: 0\r\n\r\n".to_owned(),
        "hello\r\n".to_owned(),
        "<html></html>\r\n\r\n".to_owned(),
        format!("HTTP/1.1 200 OK\r\n{many}\r\n"),
        format!("HTTP/1.1 200 OK\r\nx: {long}\r\n\r\n"),
        format!("HTTP/1.1 200 {long}\r\n\r\n"),
    ] {
        let begin: String = answer.chars().take(40).collect();
        assert_eq!(
            status_of(answer).await,
            Err(FailureKind::Protocol),
            "{begin}"
        );
    }
}

#[tokio::test]
async fn silence_ends_at_the_deadline() {
    let mute = Hostile::start(|mut stream| async move {
        read_request(&mut stream).await;
        std::future::pending::<()>().await;
    })
    .await;
    let began = Instant::now();
    let failure = send(&client(), &mute.url()).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Timeout, true));
    assert!(began.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn interim_answers_without_end_end_at_the_deadline() {
    let server =
        Hostile::endless("", b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n".to_vec()).await;
    let failure = send(&client(), &server.url()).await.unwrap_err();
    assert!(matches!(
        failure.kind,
        FailureKind::Timeout | FailureKind::Protocol
    ));
}

#[tokio::test]
async fn a_success_counts_whatever_becomes_of_its_body() {
    let endless = Hostile::endless("HTTP/1.1 200 OK\r\n\r\n", vec![b'x'; 8192]).await;
    let drip = Hostile::start(|mut stream| async move {
        read_request(&mut stream).await;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nx")
            .await
            .ok();
        std::future::pending::<()>().await;
    })
    .await;
    let huge = Hostile::endless(
        "HTTP/1.1 200 OK\r\ncontent-length: 1000000000000000000\r\n\r\n",
        vec![b'x'; 8192],
    )
    .await;
    let cut = Hostile::start(|mut stream| async move {
        read_request(&mut stream).await;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nx")
            .await
            .ok();
    })
    .await;
    for server in [endless, drip, huge, cut] {
        let answer = send(&client(), &server.url()).await.unwrap();
        assert_eq!((answer.status, answer.body_complete), (200, false));
        assert!(answer.body.len() <= Limits::default().kept);
    }
}

#[tokio::test]
async fn a_failure_with_an_endless_body_is_that_failure() {
    let server = Hostile::endless("HTTP/1.1 500 X\r\n\r\n", vec![b'x'; 8192]).await;
    assert_eq!(send(&client(), &server.url()).await.unwrap().status, 500);
}

#[tokio::test]
async fn a_body_is_kept_as_it_is_and_cut() {
    let bomb = b"\x1f\x8b\x08\x00not inflated";
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        bomb.len()
    )
    .into_bytes();
    answer.extend_from_slice(bomb);
    let server = Hostile::answering(answer).await;
    assert_eq!(
        send(&client(), &server.url()).await.unwrap().body,
        &bomb[..]
    );

    let long = "z".repeat(20_000);
    let server = Hostile::answering(format!(
        "HTTP/1.1 200 OK\r\ncontent-length: 20000\r\n\r\n{long}"
    ))
    .await;
    let answer = send(&client(), &server.url()).await.unwrap();
    assert_eq!((answer.body.len(), answer.body_complete), (16 * 1024, true));
}

#[tokio::test]
async fn a_connection_is_used_again_when_its_answer_was_read() {
    let server = Hostile::answering("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
    let client = client();
    for _ in 0..5 {
        assert_eq!(send(&client, &server.url()).await.unwrap().status, 200);
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_connection_that_breaks_before_the_answer_may_have_been_heard() {
    let server = Hostile::start(|mut stream| async move {
        read_request(&mut stream).await;
    })
    .await;
    let failure = send(&client(), &server.url()).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Protocol, true));

    let closed = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let failure = send(&client(), &format!("http://{closed}/"))
        .await
        .unwrap_err();
    assert_eq!(
        (failure.kind, failure.sent),
        (FailureKind::ConnectRefused, false)
    );
}

#[tokio::test]
async fn what_speaks_no_tls_gets_no_request() {
    let server = Hostile::answering("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let failure = send(&client(), &format!("https://{}/", server.at))
        .await
        .unwrap_err();
    assert!(
        matches!(failure.kind, FailureKind::Tls | FailureKind::Timeout),
        "{failure:?}"
    );
    assert!(!failure.sent || failure.kind == FailureKind::Timeout);
}

#[tokio::test]
async fn a_stranger_reaches_nothing_inside_by_any_spelling() {
    let server = Hostile::answering("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let port = server.at.port();
    let client = stranger("", Resolver::system());
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f000001",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
    ] {
        let failure = send(&client, &format!("http://{host}:{port}/"))
            .await
            .unwrap_err();
        assert!(
            matches!(
                failure.kind,
                FailureKind::TargetRefused | FailureKind::ConnectRefused
            ),
            "{host}: {failure:?}"
        );
        assert!(!failure.sent);
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 0);
    let allowed = stranger(&format!("127.0.0.1:{port}"), Resolver::system());
    assert_eq!(send(&allowed, &server.url()).await.unwrap().status, 200);
}

#[tokio::test]
async fn a_name_is_judged_by_every_address_it_stands_for() {
    let refused = [
        &["127.0.0.1"][..],
        &["1.1.1.1", "10.0.0.5"],
        &["1.1.1.1", "fc00::1"],
        &["::ffff:169.254.169.254"],
        &["169.254.169.254"],
    ];
    for answer in refused {
        let client = stranger("", resolver("example.test", &[answer]));
        let failure = send(&client, "http://example.test/").await.unwrap_err();
        assert_eq!(
            (failure.kind, failure.sent),
            (FailureKind::TargetRefused, false),
            "{answer:?}"
        );
    }
    let crowd: Vec<String> = (0..17).map(|n| format!("1.1.1.{n}")).collect();
    let crowd: Vec<&str> = crowd.iter().map(String::as_str).collect();
    let client = stranger("", resolver("example.test", &[&crowd]));
    assert_eq!(
        send(&client, "http://example.test/")
            .await
            .unwrap_err()
            .kind,
        FailureKind::TargetRefused
    );
    let client = stranger("", resolver("example.test", &[&[]]));
    assert_eq!(
        send(&client, "http://example.test/")
            .await
            .unwrap_err()
            .kind,
        FailureKind::Resolve
    );
    let client = stranger("", resolver("other.test", &[]));
    assert_eq!(
        send(&client, "http://example.test/")
            .await
            .unwrap_err()
            .kind,
        FailureKind::Resolve
    );
    assert_eq!(
        send(&client, "http://other.test/").await.unwrap_err().kind,
        FailureKind::NoResolver
    );
}

#[tokio::test]
async fn a_name_that_points_elsewhere_later_is_judged_anew() {
    let server = Hostile::start(|mut stream| async move {
        read_request(&mut stream).await;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
            .await
            .ok();
    })
    .await;
    let names = resolver("example.test", &[&["127.0.0.1"], &["169.254.169.254"]]);
    let client = stranger("127.0.0.0/8", names);
    let url = format!("http://example.test:{}/", server.at.port());
    assert_eq!(send(&client, &url).await.unwrap().status, 200);
    assert_eq!(
        send(&client, &url).await.unwrap_err().kind,
        FailureKind::TargetRefused
    );
}

#[tokio::test]
async fn a_stranger_may_not_use_http_where_it_is_not_allowed() {
    let client = Client::new(
        Policy::Stranger {
            allow: "127.0.0.0/8".parse().unwrap(),
            allow_http: false,
        },
        Resolver::system(),
    );
    let server = Hostile::answering("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    assert_eq!(
        send(&client, &server.url()).await.unwrap_err().kind,
        FailureKind::TargetRefused
    );
}
