import { once } from 'node:events'
import fs from 'node:fs'
import http, { type IncomingMessage } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedVector } from '@gateway/store/testing/stored-rows.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { READER, type RunningEdge, runEdge } from '../testing/running-edge.js'

/** More than the buffers of a connection hold. */
const BYTES = 200 * 1024 * 1024
const home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'broken-downloads-')))
let running: RunningEdge

beforeAll(async () => {
  const file = path.join(home, 'large.gpkg')
  fs.writeFileSync(file, '')
  fs.truncateSync(file, BYTES)
  const rows = [storedVector('large', { kind: 'geopackage', sourcePath: home, path: file, fileName: 'large.gpkg' })]
  const catalog = nextCatalog(EMPTY_CATALOG, { codes: null, rows: [] }, { codes: null, rows })
  const dataDir = path.join(home, 'data')
  running = await runEdge({ port: await freePort(), catalog, dataDir, controlPlane: 'http://[::1]:1' })
})
afterAll(async () => {
  await running.server.drain(1)
  running.edge.tiles.closeAll()
  fs.rmSync(home, { recursive: true, force: true })
})

test('a download breaks off when its token is disabled, and another one goes on', async () => {
  const [ended, other] = [createToken(), createToken()]
  const digest = tokenDigest(ended).toString('hex')
  running.storedTokens.set(digest, { ...READER, id: ended })
  running.storedTokens.set(tokenDigest(other).toString('hex'), { ...READER, id: other })
  const begin = async (token: string) => {
    const headers = { 'x-access-token': token }
    const request = http.get(`${running.url}/vectors/large/download`, { agent: false, headers })
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    return answer
  }
  const answers = await Promise.all([begin(ended), begin(other)])
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200])
  running.storedTokens.set(digest, { ...READER, id: ended, disabled: true })
  running.edge.tokens.invalidate(digest)
  const [first, second] = answers as [IncomingMessage, IncomingMessage]
  // At this pace, the whole would take a minute.
  expect(await read(first, () => sleep(20))).toBeLessThan(BYTES)
  expect(await read(second, () => {})).toBe(BYTES)
})

async function read(answer: IncomingMessage, pace: () => unknown): Promise<number> {
  let bytes = 0
  try {
    for await (const chunk of answer) {
      bytes += (chunk as Buffer).length
      await pace()
    }
  } catch {
    // The connection was cut.
  }
  return bytes
}
