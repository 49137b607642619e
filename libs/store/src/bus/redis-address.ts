import type { RedisOptions } from 'ioredis'
import type { Endpoint } from './redis-cluster.js'

/** Options without a member that ioredis uses only for its types. */
export type ConnectOptions = Omit<RedisOptions, 'replyMapping'>

/** The scheme, the credentials, one or several hosts, and the rest. */
const ADDRESS = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^/?]+)(?:\/([^?]*))?$/
const SENTINEL_PORT = 26_379
const REDIS_PORT = 6379

/**
 * Parses REDIS_URL. The client itself reads `redis://` and `rediss://` (TLS). `redis+sentinel://user:password@host1:26379,host2:26379/name/db`
 * asks Sentinels for the master of that name and follows it; `rediss+sentinel://` uses TLS. User and password are sent to Redis and to the
 * Sentinels. `redis+cluster://user:password@host1:6379,host2:6379` names servers of a Redis Cluster (`nodes`); `rediss+cluster://` uses TLS.
 */
export function redisOptions(url: string): {
  readonly url: string | null
  readonly options: ConnectOptions
  /** null: not a cluster */
  readonly nodes: readonly Endpoint[] | null
} {
  const [, scheme, kind, who = '', hosts = '', path = ''] = ADDRESS.exec(url) ?? []
  if (kind === undefined) return { url, options: {}, nodes: null }
  const [user = '', password = ''] = who.includes(':')
    ? who.split(':', 2).map(decodeURIComponent)
    : ['', decodeURIComponent(who)]
  const [name = '', db = ''] = path.split('/')
  if (kind === 'cluster') {
    const nodes = hosts.split(',').map((host) => endpoint(host, REDIS_PORT))
    const secret = { ...(user !== '' && { username: user }), ...(password !== '' && { password }) }
    return { url: null, options: { ...nodes[0], ...secret, ...(scheme === 'rediss' && { tls: {} }) }, nodes }
  }
  const secret = {
    ...(user !== '' && { username: user, sentinelUsername: user }),
    ...(password !== '' && { password, sentinelPassword: password }),
  }
  const secure = scheme === 'rediss' ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}
  return {
    url: null,
    options: {
      sentinels: hosts.split(',').map((host) => endpoint(host, SENTINEL_PORT)),
      name: decodeURIComponent(name),
      ...(db !== '' && { db: Number(db) }),
      ...secret,
      ...secure,
    },
    nodes: null,
  }
}

function endpoint(text: string, standard: number): Endpoint {
  const { hostname, port } = new URL(`redis://${text}`)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? standard : Number(port) }
}
