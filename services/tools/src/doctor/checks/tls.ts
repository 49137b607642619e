import { isIP } from 'node:net'
import type { Settings } from '@gateway/core/settings/load.js'
import { SettingsRefusal } from '@gateway/core/settings/refusal.js'
import { readTlsPair } from '@gateway/core/settings/tls-pair.js'
import { type Finding, fault, ok, warn } from '../finding.js'

const DAY_MS = 86_400_000
/** Automatic renewal takes place a month before the expiry, so fewer days mean a problem. */
const FEW_DAYS = 14

/** Checks the certificate of an edge that terminates TLS itself. */
export async function checkTls(settings: Settings): Promise<readonly Finding[]> {
  try {
    const pair = readTlsPair(settings)
    if (pair === null) return []
    const { certificate, certFile } = pair
    // biome-ignore lint/plugin: calendar, by which certificates expire
    const days = Math.floor((Date.parse(certificate.validTo) - Date.now()) / DAY_MS)
    const found = `${certFile} ends on ${certificate.validTo}`
    if (days < 0) return [fault('tls', found, 'renew it; a running edge takes the new one within seconds')]
    if (days < FEW_DAYS) return [warn('tls', found, 'renew it; a running edge takes the new one within seconds')]
    const { hostname } = new URL(settings.apiBaseUrl)
    const host = hostname.replaceAll(/[[\]]/g, '')
    const isFor = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)
    return isFor === undefined
      ? [
          warn(
            'tls',
            `${certFile} is not for ${host}, the host of API_BASE_URL`,
            'correct API_BASE_URL, or get a certificate that names this host',
          ),
        ]
      : [ok('tls', `${found}, and is for ${host}`)]
  } catch (error) {
    if (!(error instanceof SettingsRefusal)) throw error
    return [fault('tls', error.message, 'correct the files')]
  }
}
