//! Standard Webhooks, sent: secrets and signatures.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hookbox::{PublicKey, Secret, SecretError, sign_with_all};

const SYMMETRIC: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const PRIVATE: &str =
    "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";
const PUBLIC: &str = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
const V1: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
const V1A: &str =
    "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==";

fn sign(secret: &Secret) -> String {
    secret.sign(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1_614_265_330,
        br#"{"test": 2432232314}"#,
    )
}

fn parse(text: &str) -> Result<Secret, SecretError> {
    text.parse()
}

#[test]
fn published_vectors() {
    let other = parse("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD").unwrap();
    let body = br#"{"email":"test@example.com","username":"test_user"}"#;
    assert_eq!(
        other.sign("msg_27UH4WbU6Z5A5EzD8u03UvzRbpk", 1_649_367_553, body),
        "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw="
    );
    assert_eq!(sign(&parse(SYMMETRIC).unwrap()), V1);
    assert_eq!(sign(&parse(PRIVATE).unwrap()), V1A);
    // A secret signs as often as it is asked to.
    let secret = parse(SYMMETRIC).unwrap();
    assert_eq!(
        (sign(&secret), sign(&secret.clone())),
        (V1.to_owned(), V1.to_owned())
    );
}

#[test]
fn several_secrets_make_a_list() {
    let secrets = [parse(SYMMETRIC).unwrap(), parse(PRIVATE).unwrap()];
    let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    let body = br#"{"test": 2432232314}"#;
    assert_eq!(
        sign_with_all(&secrets, id, 1_614_265_330, body),
        format!("{V1} {V1A}")
    );
    assert_eq!(sign_with_all(&[], id, 1_614_265_330, body), "");
}

#[test]
fn a_secret_is_what_it_was_made_from() {
    let symmetric = Secret::symmetric(&[7; 32]).unwrap();
    assert_eq!(sign(&parse(&symmetric.expose()).unwrap()), sign(&symmetric));
    assert!(symmetric.expose().starts_with("whsec_"));
    assert_eq!(symmetric.public(), None);

    let asymmetric = Secret::asymmetric(&[7; 32]);
    assert_eq!(
        sign(&parse(&asymmetric.expose()).unwrap()),
        sign(&asymmetric)
    );
    assert!(asymmetric.expose().starts_with("whsk_"));

    let pair = parse(PRIVATE).unwrap();
    assert_eq!(pair.expose(), PRIVATE);
    assert_eq!(pair.public().unwrap().to_string(), PUBLIC);
    assert_eq!(pair.public(), Some(PUBLIC.parse().unwrap()));
    assert_eq!(parse(SYMMETRIC).unwrap().expose(), SYMMETRIC);

    let seed = STANDARD
        .decode(PRIVATE.trim_start_matches("whsk_"))
        .unwrap()[..32]
        .to_vec();
    let from_seed = parse(&format!("whsk_{}", STANDARD.encode(seed))).unwrap();
    assert_eq!(from_seed.expose(), PRIVATE);
}

#[test]
fn texts_that_are_secrets_and_texts_that_are_not() {
    let bytes = |count: usize| STANDARD.encode(vec![7_u8; count]);
    let whsec = |count: usize| format!("whsec_{}", bytes(count));
    let length = |actual, expected| Some(SecretError::Length { actual, expected });
    let cases: &[(String, Option<SecretError>)] = &[
        (SYMMETRIC.to_owned(), None),
        (SYMMETRIC.replace("whsec_", ""), None),
        (whsec(24), None),
        (whsec(64), None),
        (whsec(75), None),
        (whsec(32).trim_end_matches('=').to_owned(), None),
        (whsec(23), length(23, "24 to 75")),
        (whsec(76), length(76, "24 to 75")),
        (whsec(1), length(1, "24 to 75")),
        (String::new(), Some(SecretError::Empty)),
        (" \n".to_owned(), Some(SecretError::Empty)),
        ("whsec_".to_owned(), Some(SecretError::Empty)),
        ("whsk_".to_owned(), Some(SecretError::Empty)),
        (format!("{SYMMETRIC}\n"), Some(SecretError::Whitespace)),
        (format!(" {SYMMETRIC}"), Some(SecretError::Whitespace)),
        ("whsec_!!!!".to_owned(), Some(SecretError::NotBase64)),
        ("whsec_====".to_owned(), Some(SecretError::NotBase64)),
        (
            format!("whsec_ {}", bytes(32)),
            Some(SecretError::NotBase64),
        ),
        (SYMMETRIC.replace("f", "_"), Some(SecretError::NotBase64)),
        (format!("whsec_{SYMMETRIC}"), Some(SecretError::NotBase64)),
        (PRIVATE.to_owned(), None),
        (format!("whsk_{}", bytes(32)), None),
        (format!("whsk_{}", bytes(33)), length(33, "32 or 64")),
        (format!("whsk_{}", bytes(64)), Some(SecretError::NotAKey)),
        (PUBLIC.to_owned(), Some(SecretError::CannotSign)),
    ];
    for (text, expected) in cases {
        assert_eq!(parse(text).err(), *expected, "{text:?}");
    }
    assert_eq!(Secret::symmetric(&[]).err(), Some(SecretError::Empty));
    assert_eq!(Secret::symmetric(&[1; 16]).err(), length(16, "24 to 75"));
}

#[test]
fn public_keys_that_anyone_can_sign_for_are_refused() {
    let whpk = |bytes: &[u8]| format!("whpk_{}", STANDARD.encode(bytes)).parse::<PublicKey>();
    let mut identity = [0; 32];
    identity[0] = 1;
    assert_eq!(whpk(&identity), Err(SecretError::NotAKey));
    assert_eq!(whpk(&[0; 32]), Err(SecretError::NotAKey));
    assert_eq!(whpk(&[2; 32]).err(), Some(SecretError::NotAKey));
    assert_eq!(
        whpk(&[1; 31]),
        Err(SecretError::Length {
            actual: 31,
            expected: "32"
        })
    );
    assert_eq!("whpk_".parse::<PublicKey>(), Err(SecretError::Empty));
    assert_eq!(
        format!("{PUBLIC} ").parse::<PublicKey>(),
        Err(SecretError::Whitespace)
    );
}

#[test]
fn debug_shows_no_secret() {
    for text in [SYMMETRIC, PRIVATE] {
        let shown = format!("{:?}", parse(text).unwrap());
        assert!(shown.ends_with("redacted)") && shown.len() < 40, "{shown}");
    }
}
