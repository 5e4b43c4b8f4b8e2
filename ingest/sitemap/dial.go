package sitemap

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// transport connects to public addresses alone, unless private ones are allowed. It
// looks at the address that a name has led to, not at the name. It uses no proxy, which
// would be asked for any address.
func transport(private bool) http.RoundTripper {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if !private {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			host, _, err := net.SplitHostPort(address)
			if err != nil {
				return err
			}
			ip, err := netip.ParseAddr(host)
			if err != nil {
				return err
			}
			if !public(ip) {
				return fmt.Errorf("%s is an address of this machine or a private network: allow private addresses to have it asked", ip)
			}
			return nil
		}
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext, t.Proxy = dialer.DialContext, nil
	t.ResponseHeaderTimeout = 20 * time.Second
	return t
}

// notPublic are ranges that netip has no word for: shared address space, this
// network, benchmarks, documentation, what carries other addresses within, and the
// rest that is not in use.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"),
}

func public(ip netip.Addr) bool {
	ip = ip.Unmap()
	for _, p := range notPublic {
		if p.Contains(ip) {
			return false
		}
	}
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && !ip.IsLoopback() && !ip.IsLinkLocalUnicast()
}
