import ipaddr from 'ipaddr.js'
import { SettingsRefusal } from './refusal.js'

/** Whether a listener on this host can be reached from this machine alone. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase()
  if (bare === 'localhost' || bare.endsWith('.localhost')) return true
  if (!ipaddr.isValid(bare)) return false
  return ipaddr.process(bare).range() === 'loopback'
}

/** What the guard looks at. */
export interface GuardedSettings {
  readonly apiHost: string
  readonly controlHost: string
  readonly adminAllowRemote: boolean
  readonly adminPassword: string | null
  readonly adminToken: string | null
}

/**
 * The start-up guard of the interface: remote administration without credentials is refused.
 * It holds for the control plane's own address too, since in a cluster that one is the address that others reach.
 */
export function guardStart(settings: GuardedSettings): void {
  if (!settings.adminAllowRemote || hasAdminCredentials(settings)) return
  const open = [
    ['API_HOST', settings.apiHost],
    ['CONTROL_HOST', settings.controlHost],
  ].find(([, host]) => !isLoopbackHost(host as string))
  if (open === undefined) return
  throw new SettingsRefusal(
    `ADMIN_ALLOW_REMOTE=true with ${open[0]}=${open[1]} needs ADMIN_PASSWORD or ADMIN_TOKEN: refusing to open the admin routes without credentials`,
  )
}

export function hasAdminCredentials(settings: Pick<GuardedSettings, 'adminPassword' | 'adminToken'>): boolean {
  return settings.adminPassword !== null || settings.adminToken !== null
}
