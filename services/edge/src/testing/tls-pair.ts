import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

export interface MadePair {
  readonly cert: string
  readonly key: string
}

/** Makes a self-signed certificate and its key, as files in a directory. */
export function makePair(directory: string, name: string): MadePair {
  const pair = { cert: join(directory, `${name}.cert.pem`), key: join(directory, `${name}.key.pem`) }
  const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=${name}`
  execFileSync('openssl', [...words.split(' '), '-keyout', pair.key, '-out', pair.cert], { stdio: 'ignore' })
  return pair
}

export const tlsEnv = ({ cert, key }: MadePair) => ({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key })
