//! Recognises addresses that are not public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// The address that a URL contains instead of a name, in any spelling.
pub(super) fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Domain(_) => None,
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(IpAddr::from(address).to_canonical()),
    }
}

/// Whether an address is not public: it belongs to this machine, its network, or nobody.
pub(super) fn is_internal(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_internal_v4(address),
        IpAddr::V6(address) => {
            is_internal_v6(address) || embedded(address).is_some_and(is_internal_v4)
        }
    }
}

fn is_internal_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_multicast()
        // This network (RFC 791), and reserved addresses, including the broadcast address.
        || a == 0
        || a >= 240
        // Addresses that a provider's customers share (RFC 6598), protocol assignments (RFC 6890), and
        // benchmark addresses (RFC 2544).
        || (a == 100 && (64..128).contains(&b))
        || (a, b, c) == (192, 0, 0)
        || (a == 198 && (18..20).contains(&b))
}

fn is_internal_v6(address: Ipv6Addr) -> bool {
    address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        // Site-local addresses, which unique-local addresses have replaced (RFC 3879), and translation within
        // one network (RFC 8215).
        || address.segments()[0] & 0xffc0 == 0xfec0
        || address.segments()[..3] == [0x64, 0xff9b, 1]
        // Tunnels through NAT (Teredo, RFC 4380). The address hides the other end of the tunnel.
        || address.segments()[..2] == [0x2001, 0]
}

/// The IPv4 address inside an IPv6 address: mapped, compatible, translated (RFC 6052, and before it RFC
/// 2765), or tunnelled by 6to4 (RFC 3056).
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => Some(of(high, low)),
        [0, 0, 0, 0, 0xffff, 0, high, low] => Some(of(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(of(high, low)),
        [0x2002, high, low, ..] => Some(of(high, low)),
        _ => None,
    }
}
