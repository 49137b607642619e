import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { judgeHeader } from '@gateway/contracts/header-limits.js'
import { isLoopbackHost } from '@gateway/core/settings/guard.js'
import type { Settings } from '@gateway/core/settings/load.js'

const ALL_INTERFACES: ReadonlySet<string> = new Set(['0.0.0.0', '::', '*'])

type HostSettings = Pick<Settings, 'apiHost' | 'controlHost' | 'apiBaseUrl' | 'adminHosts'>

/**
 * Builds the check against DNS rebinding, which tells whether a Host header names this service. Valid names are loopback names and addresses,
 * the listen addresses, the host of API_BASE_URL, and ADMIN_HOSTS. If the service listens on all interfaces, every address of the machine is a
 * listen address. Ports are not compared: a foreign page can choose a port, but not these names.
 */
export function knownHosts(
  settings: HostSettings,
  ownAddresses: () => readonly string[] = machineAddresses,
): (hostHeader: string | undefined) => boolean {
  const { apiHost, controlHost, apiBaseUrl, adminHosts } = settings
  const listed = [apiHost, controlHost, apiBaseUrl, ...adminHosts].map(hostName)
  const known = new Set(listed.filter((name): name is string => name !== null && !ALL_INTERFACES.has(name)))
  const onAll = [apiHost, controlHost].some((host) => ALL_INTERFACES.has(host.replace(/^\[|\]$/g, '')))
  return (header) => {
    const name = header === undefined || judgeHeader('host', header.length) !== 'fits' ? null : hostName(header)
    if (name === null) return false
    return isLoopbackHost(name) || known.has(name) || (onAll && ownAddresses().includes(name))
  }
}

/** Returns the host of `host`, `host:port`, a bare IPv6 address or a whole URL, as the URL standard normalises it, without brackets. */
function hostName(text: string): string | null {
  const url = text.includes('://') ? text : `http://${isIPv6(text) ? `[${text}]` : text}`
  if (!URL.canParse(url)) return null
  const { hostname, username, pathname } = new URL(url)
  if (!text.includes('://') && (username !== '' || pathname !== '/')) return null
  return hostname.replace(/^\[|\]$|\.$/g, '')
}

function machineAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address))
}
