import { execFileSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The files of a self-signed certificate and of its key. */
export interface TlsPair {
  readonly cert: string
  readonly key: string
}

let made: TlsPair | null = null

/** Returns the pair for all servers of a comparison: ECDSA on P-256, the default of public authorities. Makes this process trust any certificate. */
export function tlsPair(): TlsPair {
  if (made !== null) return made
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  const dir = mkdtempSync(join(tmpdir(), 'gateway-bench-tls-'))
  const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=127.0.0.1'
  execFileSync('openssl', [...words.split(' '), '-keyout', key, '-out', cert], { stdio: 'ignore' })
  made = { cert, key }
  return made
}
