import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { NativeTier } from '../transfer/native-tier.js'
import type { Listener } from '../transfer/types.js'
import { RawClient, type RawResponse } from './raw-client.js'
import { type SelfTestRoute, TEST_FILE } from './self-test-route.js'

/**
 * The test takes a tenth of a second on an idle machine. On a busy machine it takes more than five seconds, and must not fail
 * for that.
 */
const TIMEOUT_MILLISECONDS = 20_000
/**
 * If several processes share a port, the kernel picks one for each connection, so the test may have to connect several times.
 */
const MAX_CONNECTION_ATTEMPTS = 200
/** More than the kernel buffers on both sides for a client that does not read, so that the sender must wait for it. */
const BIG = { offset: 4321, length: 12_000_000 }
const PARTS = [
  { offset: 0, length: 1 },
  { offset: 7, length: 1_000 },
  { offset: 4_096, length: 60_000 },
  { offset: 10_001, length: 200_000 },
  { offset: 65_537, length: 1_048_577 },
]
const PIPELINED = 10

type Part = (typeof PARTS)[number]

/**
 * Sends real requests to the tier through the real listener. Returns an empty string if the tier may be used, otherwise the
 * failure.
 */
export async function testTier(tier: NativeTier, route: SelfTestRoute, listener: Listener): Promise<string> {
  const test = new SelfTest(route, listener)
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, TIMEOUT_MILLISECONDS, 'the self-test did not end in time')
  })
  route.tier = tier
  try {
    return await Promise.race([test.run(), timeout])
  } catch (error) {
    return `self-test: ${(error as Error).message}`
  } finally {
    clearTimeout(timer)
    route.tier = undefined
    test.close()
  }
}

class SelfTest {
  readonly #route: SelfTestRoute
  readonly #listener: Listener
  readonly #clients: RawClient[] = []

  constructor(route: SelfTestRoute, listener: Listener) {
    this.#route = route
    this.#listener = listener
  }

  close(): void {
    for (const client of this.#clients) client.close()
  }

  async run(): Promise<string> {
    const client = await this.#connect()
    this.#route.probed = false
    client.write(this.#request('/probe'))
    const probe = await client.response()
    if (probe.status !== 200 || !this.#route.probed) return "uWebSockets.js's memory is not laid out as expected"
    for (const part of PARTS) {
      client.write(this.#ask(part))
      if (!isRight(await client.response(), part)) return `a body of ${part.length} bytes was received with other bytes`
    }
    return (await this.#pipelined(client)) || (await this.#big(client)) || (await this.#splitHead(client))
  }

  async #pipelined(client: RawClient): Promise<string> {
    const asked = Array.from({ length: PIPELINED }, (_, i) => PARTS[i % PARTS.length] as Part)
    client.write(asked.map((part) => this.#ask(part)).join(''))
    for (const part of asked) {
      if (!isRight(await client.response(), part))
        return 'a response to a pipelined request was received with other bytes'
    }
    return ''
  }

  /** The client does not read at first, so that the sender fills all buffers and must continue on writable events. */
  async #big(client: RawClient): Promise<string> {
    client.socket.pause()
    client.write(this.#ask(BIG))
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    client.socket.resume()
    return isRight(await client.response(), BIG) ? '' : 'a large body was received with other bytes'
  }

  /** Writes one byte per packet. */
  async #splitHead(client: RawClient): Promise<string> {
    const part = PARTS[3] as Part
    for (const byte of this.#ask(part)) {
      client.write(byte)
      await nextTurn()
    }
    return isRight(await client.response(), part) ? '' : 'a request in many packets was not answered correctly'
  }

  async #connect(): Promise<RawClient> {
    for (let attempt = 0; attempt < MAX_CONNECTION_ATTEMPTS; attempt++) {
      const client = await RawClient.open(
        reachable(this.#listener.host),
        this.#listener.port,
        this.#listener.isEncrypted,
      )
      this.#clients.push(client)
      client.write(this.#request('/own'))
      if ((await client.response()).status === 200) return client
      client.close()
    }
    throw new Error('no connection reached this process')
  }

  #ask(part: Part): string {
    return this.#request(`/file?${part.offset}-${part.length}`)
  }

  #request(path: string): string {
    return `GET ${this.#route.path}${path} HTTP/1.1\r\nHost: self-test\r\n\r\n`
  }
}

/** A wildcard address is not a destination. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}

function isRight(response: RawResponse, part: Part): boolean {
  return response.status === 200 && response.bytes === part.length && response.sha256 === digestOf(part)
}

/** Limit: bytes read at a time. The whole body would stay in the memory of each edge process as its largest object. */
const READ_BYTES = 65_536

function digestOf({ offset, length }: Part): string {
  const fd = openSync(TEST_FILE, 'r')
  try {
    const hash = createHash('sha256')
    const bytes = Buffer.allocUnsafe(Math.min(READ_BYTES, length))
    for (let done = 0; done < length; ) {
      const read = readSync(fd, bytes, 0, Math.min(bytes.length, length - done), offset + done)
      if (read === 0) break
      hash.update(bytes.subarray(0, read))
      done += read
    }
    return hash.digest('hex')
  } finally {
    closeSync(fd)
  }
}
