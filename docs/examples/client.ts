/**
 * A client of the map asset gateway for Node.js 20 and browsers, without packages:
 *
 *     const gateway = new Gateway('http://127.0.0.1:8910', 'bmp_...')
 *     for (const { code } of await gateway.basemaps()) console.log(code)
 *
 * The types name what is used here; generate all of them from /api/v1/openapi.json (openapi-typescript, say).
 */
export interface Basemap {
  readonly code: string
  readonly name: string
  readonly default_version: string | null
}

export interface Vector {
  readonly code: string
  readonly kind: string
  readonly size: number
}

export interface SliceJob {
  readonly id: string
  readonly status: 'pending' | 'running' | 'succeeded' | 'failed'
  readonly message: string
  readonly progress: number
}

/** The gateway answered with an error; its words are the message. */
export class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const ATTEMPTS = 5
const LOOK_AGAIN_MS = 500
const TIMEOUT_MS = 30_000

export class Gateway {
  readonly #address: string
  readonly #token: string

  constructor(address: string, token: string) {
    this.#address = address.replace(/\/$/, '')
    this.#token = token
  }

  async basemaps(): Promise<readonly Basemap[]> {
    return (await this.#json<{ items: Basemap[] }>('/api/v1/catalog/basemaps')).items
  }

  async vectors(): Promise<readonly Vector[]> {
    return (await this.#json<{ items: Vector[] }>('/api/v1/catalog/vectors')).items
  }

  /** A tile of the current version; null if the version has no such tile. TileJSON names the version and its format. */
  async tile(code: string, z: number, x: number, y: number): Promise<Blob | null> {
    const { tiles } = await this.#json<{ tiles: [string] }>(`/tiles/${encodeURIComponent(code)}/tilejson.json`)
    const address = tiles[0].replace('{z}', `${z}`).replace('{x}', `${x}`).replace('{y}', `${y}`)
    const answer = await this.#ask(new URL(address).pathname)
    if (answer.status === 404) return null
    return (await accepted(answer)).blob()
  }

  /** A vector's file as a stream: it may be large. */
  async download(code: string): Promise<ReadableStream<Uint8Array>> {
    const answer = await accepted(await this.#ask(`/vectors/${encodeURIComponent(code)}/download`))
    return answer.body as ReadableStream<Uint8Array>
  }

  /**
   * Submits a slice job, for which the token needs the scope `slice`, and waits for its end. `code` makes it safe to submit again: a known one answers the same job.
   */
  async slice(job: {
    code: string
    name: string
    target_code: string
    source_path: string
    zoom_max: number
  }): Promise<SliceJob> {
    let seen = await this.#json<SliceJob>('/api/v1/slice/jobs', job)
    while (seen.status === 'pending' || seen.status === 'running') {
      await sleep(LOOK_AGAIN_MS)
      seen = await this.#json<SliceJob>(`/api/v1/slice/jobs/${seen.id}`)
    }
    return seen
  }

  async #json<T>(path: string, body?: object): Promise<T> {
    return (await accepted(await this.#ask(path, body))).json() as Promise<T>
  }

  /** Waits as Retry-After says where the gateway asks for it. */
  async #ask(path: string, body?: object): Promise<Response> {
    const headers = { 'x-access-token': this.#token, ...(body && { 'content-type': 'application/json' }) }
    for (let attempt = 1; ; attempt++) {
      const answer = await fetch(`${this.#address}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers,
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      const isBusy = answer.status === 429 || answer.status === 503
      if (!isBusy || attempt === ATTEMPTS) return answer
      await answer.body?.cancel()
      await sleep(1000 * Number(answer.headers.get('retry-after') ?? 1))
    }
  }
}

async function accepted(answer: Response): Promise<Response> {
  if (answer.ok) return answer
  const { error } = (await answer.json()) as { error: string }
  throw new Refused(answer.status, error)
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
