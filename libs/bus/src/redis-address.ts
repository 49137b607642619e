import type { RedisOptions } from 'ioredis'

/** Without what ioredis takes for its types alone. */
export type ConnectOptions = Omit<RedisOptions, 'replyMapping'>

/** The scheme, who signs in, one or several hosts, and what follows. */
const ADDRESS = /^(rediss?)(\+sentinel)?:\/\/(?:([^@/]*)@)?([^/?]+)(?:\/([^?]*))?$/
const SENTINEL_PORT = 26_379

/**
 * The options for REDIS_URL. `redis://` and `rediss://` (TLS) as the client reads them; `redis+sentinel://user:password@host1:26379,host2:26379/name/db`
 * asks Sentinels for the master of that name and follows it, `rediss+sentinel://` by TLS. User and password are sent to Redis and to the Sentinels.
 */
export function redisOptions(url: string): { readonly url: string | null; readonly options: ConnectOptions } {
  const [, scheme, sentinel, who = '', hosts = '', path = ''] = ADDRESS.exec(url) ?? []
  if (sentinel === undefined) return { url, options: {} }
  const [user = '', password = ''] = who.includes(':')
    ? who.split(':', 2).map(decodeURIComponent)
    : ['', decodeURIComponent(who)]
  const [name = '', db = ''] = path.split('/')
  const secret = {
    ...(user !== '' && { username: user, sentinelUsername: user }),
    ...(password !== '' && { password, sentinelPassword: password }),
  }
  const secure = scheme === 'rediss' ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}
  return {
    url: null,
    options: {
      sentinels: hosts.split(',').map(endpoint),
      name: decodeURIComponent(name),
      ...(db !== '' && { db: Number(db) }),
      ...secret,
      ...secure,
    },
  }
}

function endpoint(text: string): { host: string; port: number } {
  const { hostname, port } = new URL(`redis://${text}`)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? SENTINEL_PORT : Number(port) }
}
