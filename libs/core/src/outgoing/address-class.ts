import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Classes of destination addresses. `never`: no list and no setting admits it. */
export type AddressClass =
  | { readonly kind: 'public' | 'private' | 'loopback' }
  | { readonly kind: 'never'; readonly reason: string }

/**
 * Addresses at which clouds hand out credentials to any client inside, if they lie in ranges that are otherwise allowed:
 * Alibaba, Azure, AWS over IPv6, Google over IPv6. The common 169.254.169.254 is link-local.
 */
const METADATA: ReadonlySet<string> = new Set(['100.100.100.200', '168.63.129.16', 'fd00:ec2::254', 'fd20:ce::254'])

const RANGE_KINDS: Readonly<Record<string, 'public' | 'private' | 'loopback'>> = {
  unicast: 'public',
  private: 'private',
  uniqueLocal: 'private',
  carrierGradeNat: 'private',
  loopback: 'loopback',
}

/**
 * Networks for documentation (RFC 5737, RFC 3849). They are not routed on the internet, but laboratories and containers use them, and receivers
 * live there. They count as private.
 */
const DOCUMENTATION = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32'].map((range) =>
  ipaddr.parseCIDR(range),
)

/**
 * Returns the form in which an address is judged: IPv4 if packets reach an IPv4 address. `::ffff:a.b.c.d` is another spelling of a.b.c.d
 * (RFC 4291), and a translator behind `64:ff9b::/96` sends to the IPv4 address in the last 32 bits (RFC 6052).
 * Returns null if the text is not an address.
 */
export function canonicalAddress(text: string): { readonly address: Address; readonly translated: boolean } | null {
  const plain = withoutDots(text)
  if (!ipaddr.isValid(plain)) return null
  const address = ipaddr.process(plain)
  if (address instanceof ipaddr.IPv6 && address.match(NAT64, 96)) {
    return { address: new ipaddr.IPv4(address.toByteArray().slice(12)), translated: true }
  }
  return { address, translated: false }
}

/** Converts `::a.b.c.d`, which name look-ups return, to hexadecimal. ipaddr.js would read it as `::ffff:a.b.c.d`, which is another address. */
function withoutDots(text: string): string {
  return text.replace(/^::(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
    const [a, b, c, d] = bytes.map(Number) as [number, number, number, number]
    return `::${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
  })
}

const NAT64 = ipaddr.IPv6.parse('64:ff9b::')

/** Classifies an address, independent of the settings. Every address that is not plain unicast, private or loopback is `never`. */
export function classifyAddress(text: string): AddressClass {
  const canonical = canonicalAddress(text)
  if (canonical === null) return never('not an IP address')
  const { address, translated } = canonical
  if (METADATA.has(address.toString())) return never('a metadata address')
  if (address instanceof ipaddr.IPv6 && hidesAnIpv4Address(address)) return never('an IPv4 address in an IPv6 disguise')
  const range = isForDocumentation(address) ? 'private' : address.range()
  const kind = RANGE_KINDS[range]
  if (kind === undefined) return never(`${named(range)} address`)
  // RFC 6052, 3.1: the well-known prefix must not lead to addresses that are not global.
  if (translated && kind !== 'public') return never(`${named(range)} address behind NAT64`)
  return { kind }
}

/** Returns the name of a range of ipaddr.js with its article: "a link-local", "an unspecified". */
function named(range: string): string {
  const name = range.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`)
  return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`
}

function isForDocumentation(address: Address): boolean {
  return DOCUMENTATION.some((range) => range[0].kind() === address.kind() && address.match(range))
}

/** True for IPv4-compatible (`::a.b.c.d`, RFC 4291, deprecated) and ISATAP (RFC 5214) addresses. 6to4 and Teredo have separate ranges. */
function hidesAnIpv4Address(address: ipaddr.IPv6): boolean {
  const parts = address.parts
  const compatible = parts.slice(0, 6).every((part) => part === 0) && (parts[6] !== 0 || (parts[7] as number) > 1)
  const isatap = ((parts[4] as number) & 0xfdff) === 0 && parts[5] === 0x5efe
  return compatible || isatap
}

function never(reason: string): AddressClass {
  return { kind: 'never', reason }
}
