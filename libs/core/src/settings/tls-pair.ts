import { createHash, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { Settings } from './load.js'
import { SettingsRefusal } from './refusal.js'

/** A certificate and its key, as read from their files at one moment. */
export interface TlsPair {
  readonly certFile: string
  readonly keyFile: string
  /** digest of both files */
  readonly digest: string
  readonly certificate: X509Certificate
}

/**
 * Reads TLS_CERT_FILE (PEM: the certificate first, then the chain) and TLS_KEY_FILE (PEM, without a passphrase). Returns null if they are unset.
 * Throws SettingsRefusal, with one line and no part of the key, if a file cannot be read or the two do not match.
 */
export function readTlsPair({ tlsCertFile, tlsKeyFile }: Pick<Settings, 'tlsCertFile' | 'tlsKeyFile'>): TlsPair | null {
  if (tlsCertFile === null || tlsKeyFile === null) return null
  const cert = readPem('TLS_CERT_FILE', tlsCertFile)
  const key = readPem('TLS_KEY_FILE', tlsKeyFile)
  try {
    createSecureContext({ cert, key })
    const digest = createHash('sha256').update(cert).update('\0').update(key).digest('hex')
    return { certFile: tlsCertFile, keyFile: tlsKeyFile, digest, certificate: new X509Certificate(cert) }
  } catch (error) {
    const reason = (error as { reason?: string }).reason ?? (error as Error).message
    throw new SettingsRefusal(
      `TLS_CERT_FILE ${tlsCertFile} and TLS_KEY_FILE ${tlsKeyFile} are not a PEM certificate and its key without a passphrase: ${reason}`,
    )
  }
}

function readPem(setting: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new SettingsRefusal(`${setting} names a file that cannot be read: ${(error as Error).message}`)
  }
}
