//! Which addresses a stranger's endpoint may not have. Pure, and imports nothing of ours.
//!
//! IPv4 is a list of what is refused. IPv6 is a list of what is allowed, `2000::/3`, less what is refused inside
//! it: so nothing that the list does not know can be reached. An IPv6 address that carries an IPv4 one (mapped,
//! translated, tunnelled) is refused whatever it carries; a host has no need of such a name.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// Why an address is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What the range is, with its source.
    pub reason: &'static str,
}

const V4: [(Ipv4Net, &str); 20] = [
    v4([0, 0, 0, 0], 8, "this network (RFC 791)"),
    v4([10, 0, 0, 0], 8, "private (RFC 1918)"),
    v4([100, 64, 0, 0], 10, "shared by carriers (RFC 6598)"),
    v4([127, 0, 0, 0], 8, "loopback (RFC 1122)"),
    v4(
        [168, 63, 129, 16],
        32,
        "Azure's host, behind a public-looking address",
    ),
    v4(
        [169, 254, 0, 0],
        16,
        "link-local, cloud metadata (RFC 3927)",
    ),
    v4([172, 16, 0, 0], 12, "private (RFC 1918)"),
    v4([192, 0, 0, 0], 24, "protocol assignments (RFC 6890)"),
    v4([192, 0, 2, 0], 24, "documentation (RFC 5737)"),
    v4([192, 31, 196, 0], 24, "AS112 (RFC 7535)"),
    v4([192, 52, 193, 0], 24, "AMT relays (RFC 7450)"),
    v4([192, 88, 99, 0], 24, "6to4 relays (RFC 7526)"),
    v4([192, 168, 0, 0], 16, "private (RFC 1918)"),
    v4([192, 175, 48, 0], 24, "AS112 (RFC 7534)"),
    v4([198, 18, 0, 0], 15, "benchmarks (RFC 2544)"),
    v4([198, 51, 100, 0], 24, "documentation (RFC 5737)"),
    v4([203, 0, 113, 0], 24, "documentation (RFC 5737)"),
    v4([224, 0, 0, 0], 4, "multicast (RFC 5771)"),
    v4([240, 0, 0, 0], 4, "reserved (RFC 1112)"),
    v4([255, 255, 255, 255], 32, "broadcast (RFC 919)"),
];

/// All of IPv6 that is given to hosts.
const GLOBAL: Ipv6Net = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3, "").0;

const V6: [(Ipv6Net, &str); 6] = [
    v6(
        [0x2001, 0, 0, 0, 0, 0, 0, 0],
        23,
        "protocol assignments, Teredo among them (RFC 2928)",
    ),
    v6(
        [0x2001, 0xdb8, 0, 0, 0, 0, 0, 0],
        32,
        "documentation (RFC 3849)",
    ),
    v6(
        [0x2002, 0, 0, 0, 0, 0, 0, 0],
        16,
        "6to4, carries IPv4 (RFC 3056)",
    ),
    v6(
        [0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0],
        48,
        "AS112 (RFC 7534)",
    ),
    v6(
        [0x3ffe, 0, 0, 0, 0, 0, 0, 0],
        16,
        "returned 6bone (RFC 3701)",
    ),
    v6(
        [0x3fff, 0, 0, 0, 0, 0, 0, 0],
        20,
        "documentation (RFC 9637)",
    ),
];

const fn v4(octets: [u8; 4], prefix: u8, reason: &'static str) -> (Ipv4Net, &'static str) {
    let [a, b, c, d] = octets;
    (
        Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix),
        reason,
    )
}

const fn v6(segments: [u16; 8], prefix: u8, reason: &'static str) -> (Ipv6Net, &'static str) {
    let [a, b, c, d, e, f, g, h] = segments;
    (
        Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), prefix),
        reason,
    )
}

/// Judges an address.
///
/// # Errors
/// Why a stranger may not reach it.
pub fn judge(address: IpAddr) -> Result<(), Refused> {
    match address {
        IpAddr::V4(address) => judge_v4(address),
        IpAddr::V6(address) => judge_v6(address),
    }
}

fn judge_v4(address: Ipv4Addr) -> Result<(), Refused> {
    match V4.iter().find(|(net, _)| net.contains(&address)) {
        Some((_, reason)) => Err(Refused { reason }),
        None => Ok(()),
    }
}

fn judge_v6(address: Ipv6Addr) -> Result<(), Refused> {
    if !GLOBAL.contains(&address) {
        return Err(Refused {
            reason: "not a global IPv6 address (RFC 4291)",
        });
    }
    if let Some((_, reason)) = V6.iter().find(|(net, _)| net.contains(&address)) {
        return Err(Refused { reason });
    }
    // An ISATAP interface id carries an IPv4 address under any prefix.
    if matches!(address.segments()[4..6], [0 | 0x0200, 0x5efe]) {
        return Err(Refused {
            reason: "ISATAP, carries IPv4 (RFC 5214)",
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(text: &str) -> bool {
        judge(text.parse().unwrap()).is_ok()
    }

    #[test]
    fn ordinary_hosts_are_allowed() {
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "93.184.215.14",
            "2606:4700::1111",
            "2a00:1450:4001:830::200e",
            "2620:0:862::1",
        ] {
            assert!(allowed(text), "{text}");
        }
    }

    #[test]
    fn what_matters_most_is_refused() {
        for text in [
            "127.0.0.1",
            "0.0.0.0",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "169.254.170.2",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "255.255.255.255",
            "224.0.0.1",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "::ffff:0:127.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "2002:a9fe:a9fe::1",
            "2001::1",
            "fd00:ec2::254",
            "fd20:ce::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "100::1",
            "100:0:0:1::1",
            "5f00::1",
            "3fff::1",
            "2001:db8::1",
            "2606:4700::5efe:7f00:1",
            "2606:4700::200:5efe:7f00:1",
            "4000::1",
            "e000::1",
        ] {
            assert!(!allowed(text), "{text}");
        }
    }

    #[test]
    fn every_range_ends_where_it_says() {
        for (net, reason) in V4 {
            let (first, last) = (u32::from(net.network()), u32::from(net.broadcast()));
            for inside in [first, last, first + (last - first) / 2] {
                assert!(judge_v4(inside.into()).is_err(), "{reason}");
            }
            for outside in [first.checked_sub(1), last.checked_add(1)]
                .into_iter()
                .flatten()
            {
                let listed = V4
                    .iter()
                    .any(|(other, _)| other.contains(&Ipv4Addr::from(outside)));
                assert_eq!(judge_v4(outside.into()).is_err(), listed, "beside {reason}");
            }
        }
        for (net, reason) in V6 {
            let (first, last) = (u128::from(net.network()), u128::from(net.broadcast()));
            assert!(
                judge_v6(first.into()).is_err() && judge_v6(last.into()).is_err(),
                "{reason}"
            );
            for outside in [first - 1, last + 1].map(Ipv6Addr::from) {
                let listed = V6.iter().any(|(other, _)| other.contains(&outside))
                    || !GLOBAL.contains(&outside);
                assert_eq!(
                    judge_v6(outside).is_err(),
                    listed,
                    "beside {reason}: {outside}"
                );
            }
        }
    }

    /// Numbers that look random and are the same in every run.
    fn scattered(n: u64) -> u64 {
        let mut x = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x ^= x >> 31;
        x.wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    #[test]
    fn no_spelling_of_any_ipv4_address_passes_as_ipv6() {
        for n in 0..20_000 {
            let v4 = Ipv4Addr::from(u32::try_from(scattered(n) >> 32).unwrap());
            let bits = u128::from(u32::from(v4));
            let isatap = (0x2606_4700_u128 << 96) | (0x5efe_u128 << 32) | bits;
            for spelled in [
                u128::from(v4.to_ipv6_mapped()),
                bits,
                (0xffff_u128 << 48) | bits,
                (0x0064_ff9b_u128 << 96) | bits,
                (0x2002_u128 << 112) | (bits << 80),
                (0x2001_0000_u128 << 96) | (bits ^ 0xffff_ffff),
                isatap,
                isatap | (0x0200_u128 << 48),
            ] {
                assert!(
                    judge_v6(spelled.into()).is_err(),
                    "{v4} as {}",
                    Ipv6Addr::from(spelled)
                );
            }
        }
    }

    #[test]
    fn nothing_outside_the_global_range_passes() {
        for n in 0..20_000 {
            let bits = (u128::from(scattered(n)) << 64) | u128::from(scattered(n + 1_000_000));
            let address = Ipv6Addr::from(bits);
            if bits >> 125 != 1 {
                assert!(judge_v6(address).is_err(), "{address}");
            }
        }
    }
}
