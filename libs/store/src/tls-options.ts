import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP, isIPv6 } from 'node:net'
import { type ConnectionOptions, checkServerIdentity, type PeerCertificate } from 'node:tls'

/** The TLS options of DATABASE_URL, and the URL without their parameters, which the client would send to the server. */
export interface SecuredAddress {
  readonly url: string
  /** undefined: without TLS, or the client itself handles `sslmode` */
  readonly ssl: ConnectionOptions | undefined
}

const FILES = { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' } as const

/**
 * Reads `sslmode` and the file names next to it, like libpq (PostgreSQL, "SSL Support"): `verify-full` checks certificate and host name,
 * `verify-ca` the certificate, and `require` neither, unless `sslrootcert` names the trusted roots. Without it those of the system and
 * NODE_EXTRA_CA_CERTS apply. Throws if a file cannot be read.
 */
export function securedAddress(databaseUrl: string): SecuredAddress {
  const [address = '', query = ''] = split(databaseUrl)
  const params = new URLSearchParams(query)
  const mode = params.get('sslmode')
  const named = (Object.keys(FILES) as (keyof typeof FILES)[]).filter(
    (name) => params.has(name) && params.get(name) !== 'system',
  )
  const verified = mode === 'verify-full' || mode === 'verify-ca' || (mode === 'require' && params.has('sslrootcert'))
  if (!verified && named.length === 0) return { url: databaseUrl, ssl: undefined }
  const files = Object.fromEntries(named.map((name) => [FILES[name], readFileSync(params.get(name) ?? '')]))
  for (const name of ['sslmode', ...Object.keys(FILES)]) params.delete(name)
  const rest = params.toString()
  const ssl: ConnectionOptions = {
    ...files,
    rejectUnauthorized: verified,
    // Only `verify-full` checks the host name.
    checkServerIdentity: mode === 'verify-full' ? identityOf(address) : () => undefined,
  }
  return { url: rest === '' ? address : `${address}?${rest}`, ssl }
}

/** Sets the name for the check, since the client passes no IP address: such a connection would be checked against `localhost`. */
function identityOf(address: string): NonNullable<ConnectionOptions['checkServerIdentity']> {
  const hosts = address.slice(Math.max(address.indexOf('://') + 3, address.lastIndexOf('@') + 1)).replace(/\/.*$/s, '')
  const names = hosts.split(',').map((host) => host.replace(/:\d*$/, '').replace(/^\[|\]$/g, ''))
  return (name, certificate) => {
    const wanted = names.includes(name) ? [name] : names.filter((one) => isIP(one) !== 0)
    const errors = wanted.map((one) => checkIdentity(one, certificate))
    return errors.includes(undefined) ? undefined : (errors[0] ?? checkServerIdentity(name, certificate))
  }
}

/** Like Node's own check, which in 22.23 never finds IPv6 addresses in certificates, because it reads them as host names. */
function checkIdentity(host: string, certificate: PeerCertificate): Error | undefined {
  const isItsAddress = isIPv6(host) && new X509Certificate(certificate.raw).checkIP(host) !== undefined
  return isItsAddress ? undefined : checkServerIdentity(host, certificate)
}

function split(url: string): string[] {
  const question = url.indexOf('?')
  return question < 0 ? [url] : [url.slice(0, question), url.slice(question + 1)]
}
