import { Agent, request } from 'node:http'
import { expect, test } from 'vitest'
import { useMaps } from './maps.js'

const maps = useMaps()

const FIRST: [method: string, path: string, headers?: Record<string, string>][] = [
  ['OPTIONS', '/api/v1/catalog/basemaps', { origin: 'https://map.example', 'access-control-request-method': 'GET' }],
  ['OPTIONS', '/tiles/world/0/0/0.png'],
  ['OPTIONS', '/health'],
  ['HEAD', '/api/v1/system'],
  ['HEAD', '/api/v1/catalog/basemaps'],
  ['HEAD', '/api/v1/admin/tokens'],
  ['HEAD', '/tiles/world/0/0/0.png'],
  ['HEAD', '/nowhere'],
  ['HEAD', '/health'],
  ['DELETE', '/api/v1/catalog/basemaps'],
  ['POST', '/tiles/world/0/0/0.png'],
]

test.each(FIRST)('after %s %s the same connection answers the next request', async (method, path, headers = {}) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    const first = await ask(agent, method, path, headers)
    if (first.status === 204) expect(first.contentLength).toBeUndefined()
    expect((await ask(agent, 'GET', '/health')).status).toBe(200)
  } finally {
    agent.destroy()
  }
})

function ask(agent: Agent, method: string, path: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number | undefined; contentLength: string | undefined }>((resolve, reject) => {
    const sent = request(maps().gateway.url + path, { agent, method, headers, timeout: 5_000 }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve({ status: answer.statusCode, contentLength: answer.headers['content-length'] }))
    })
    sent.on('timeout', () => sent.destroy(new Error(`${method} ${path} was not answered`)))
    sent.on('error', reject)
    sent.end()
  })
}
