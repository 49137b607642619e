import { expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'
import { rawRequest } from './raw-request.js'

const gateway = useGateway()

const MALFORMED: [what: string, head: string][] = [
  ['no HTTP at all', 'GARBAGE'],
  ['no Host', 'GET /api/v1/system HTTP/1.1'],
  ['two Hosts', 'GET /api/v1/system HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: localhost'],
  ['a header without a colon', 'GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nnonsense'],
  ['a length that is no number', 'POST /api/v1/admin/tokens HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: x'],
  ['an address with a host', 'GET http://127.0.0.1/health HTTP/1.1\r\nHost: 127.0.0.1'],
  ['an address that cannot be decoded', 'GET /api/v1/catalog/basemaps/%E0%A4%A HTTP/1.1\r\nHost: 127.0.0.1'],
]

test.each(MALFORMED)('a request with %s is 400 in the fixed form from both processes', async (_, head) => {
  for (const url of [gateway().url, gateway().controlPlane.url]) {
    const answer = await rawRequest(url, `${head}\r\nConnection: close\r\n\r\n`)
    expect([answer?.status, answer?.head.match(/^content-type: *application\/json/im)?.length], url).toEqual([400, 1])
    expect(JSON.parse(answer?.body ?? ''), url).toEqual({ error: expect.stringMatching(/./) })
  }
})
