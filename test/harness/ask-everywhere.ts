import { Agent, request } from 'undici'
import type { Gateway } from './gateway.js'

/** So many connections that every process of an edge gets some: the kernel spreads new ones over the processes that listen. */
const CONNECTIONS = 40

/** Asks every edge over many connections, each a new one. */
export async function askEverywhere(
  gateway: Gateway,
  path: string,
  headers: Record<string, string | string[]> = {},
): Promise<{ status: number; etag: unknown }[]> {
  const urls = gateway.edges.flatMap(({ url }) => Array.from({ length: CONNECTIONS }, () => url))
  // All at once: the last ones give no process more time than the first.
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
