import type { Redis } from 'ioredis'

export interface Endpoint {
  readonly host: string
  readonly port: number
}

const MOVED = /^MOVED \d+ (.*):(\d+)$/

/**
 * Lets a connection find its server in a Redis Cluster. All keys of an installation have one hash tag, so they are on one server, and messages
 * reach every server. One plain connection is therefore enough. It follows MOVED replies, and tries `nodes` in turn after it lost its server.
 */
export function followCluster(client: Redis, nodes: readonly Endpoint[]): void {
  const { options } = client
  const { retryStrategy, reconnectOnError } = options
  let turn = 0
  let sent = false
  options.reconnectOnError = (error) => {
    const [, host, port] = MOVED.exec(error.message) ?? []
    if (host === undefined) return reconnectOnError?.(error) ?? false
    // A reply without a host, or with `?`, means the same host at another port.
    Object.assign(options, { ...(host !== '' && host !== '?' && { host }), port: Number(port) })
    sent = true
    return true
  }
  options.retryStrategy = (times) => {
    if (!sent) Object.assign(options, nodes[++turn % nodes.length])
    sent = false
    return retryStrategy?.(times)
  }
}
