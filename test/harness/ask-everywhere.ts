import { Agent, request } from 'undici'
import type { Gateway } from './gateway.js'

/** Number of connections: enough to reach every process of an edge, because the kernel spreads new connections over listening processes. */
const CONNECTIONS = 40

/** Sends a request to every edge over many connections, each a new one. */
export async function askEverywhere(
  gateway: Gateway,
  path: string,
  headers: Record<string, string | string[]> = {},
): Promise<{ status: number; etag: unknown }[]> {
  const urls = gateway.edges.flatMap(({ url }) => Array.from({ length: CONNECTIONS }, () => url))
  // Sends all requests at once: a sequence would give late processes more time.
  return Promise.all(
    urls.map(async (url) => {
      const dispatcher = new Agent({ pipelining: 0 })
      const answer = await request(url + path, { dispatcher, headers })
      await answer.body.dump()
      await dispatcher.destroy()
      return { status: answer.statusCode, etag: answer.headers.etag }
    }),
  )
}
