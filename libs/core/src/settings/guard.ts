import ipaddr from 'ipaddr.js'
import { SettingsRefusal } from './refusal.js'

/** True if only this machine can reach a listener on this host. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase()
  if (bare === 'localhost' || bare.endsWith('.localhost')) return true
  if (!ipaddr.isValid(bare)) return false
  return ipaddr.process(bare).range() === 'loopback'
}

/** The settings that the guard checks. */
export interface GuardedSettings {
  readonly apiHost: string
  readonly controlHost: string
  readonly adminAllowRemote: boolean
  readonly adminPassword: string | null
  readonly adminToken: string | null
  readonly oidcIssuer: string | null
  readonly oidcClientId: string | null
  readonly oidcRoles: readonly unknown[]
}

/**
 * The startup guard of the interface. It refuses remote administration without credentials, and sign-in by OpenID Connect that would admit
 * nobody. It also covers the control plane's own address, which is the one that others reach in a cluster.
 */
export function guardStart(settings: GuardedSettings): void {
  guardSignIn(settings)
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

function guardSignIn({ oidcIssuer, oidcClientId, oidcRoles }: GuardedSettings): void {
  if (oidcIssuer === null) {
    const alone = oidcClientId !== null ? 'OIDC_CLIENT_ID' : oidcRoles.length > 0 ? 'OIDC_ROLES' : null
    if (alone === null) return
    throw new SettingsRefusal(`${alone} is set without OIDC_ISSUER: name the OpenID provider`)
  }
  if (oidcClientId === null) {
    throw new SettingsRefusal('OIDC_ISSUER needs OIDC_CLIENT_ID: the name of this service at the OpenID provider')
  }
  if (oidcRoles.length === 0) {
    throw new SettingsRefusal(
      'OIDC_ISSUER needs OIDC_ROLES, such as admin=gis-admins,viewer=staff: without it nobody has a role',
    )
  }
}

/** True if a password, a token, or an OpenID provider is configured. */
export function hasAdminCredentials(
  settings: Pick<GuardedSettings, 'adminPassword' | 'adminToken' | 'oidcIssuer'>,
): boolean {
  return settings.adminPassword !== null || settings.adminToken !== null || settings.oidcIssuer !== null
}
