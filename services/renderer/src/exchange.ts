import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { DrawTask } from '@gateway/contracts/drawing.js'
import { forward, tunnel } from './loading.js'

const PAGE = new URL('../page/', import.meta.url)
const MAPLIBRE = new URL('./', import.meta.resolve('maplibre-gl/dist/maplibre-gl.css'))

/** The files of the page, by their names in its addresses. */
const FILES: Readonly<Record<string, { readonly at: URL; readonly type: string }>> = {
  'page.html': { at: new URL('page.html', PAGE), type: 'text/html' },
  'page.js': { at: new URL('page.js', PAGE), type: 'text/javascript' },
  'overlay.js': { at: new URL('overlay.js', PAGE), type: 'text/javascript' },
  'pixels.js': { at: new URL('pixels.js', PAGE), type: 'text/javascript' },
  'maplibre-gl.mjs': { at: new URL('maplibre-gl.mjs', MAPLIBRE), type: 'text/javascript' },
  'maplibre-gl-shared.mjs': { at: new URL('maplibre-gl-shared.mjs', MAPLIBRE), type: 'text/javascript' },
  'maplibre-gl-worker.mjs': { at: new URL('maplibre-gl-worker.mjs', MAPLIBRE), type: 'text/javascript' },
  'maplibre-gl.css': { at: new URL('maplibre-gl.css', MAPLIBRE), type: 'text/css' },
}

/** The first address of a browser. Its host is no secret, and leads once to the one that is. */
export const FIRST_ADDRESS = 'http://renderer.invalid/'

/** Pixels in RGB or RGBA, or the reason of the failure. */
export type Drawn = { readonly ok: true; readonly pixels: Buffer } | { readonly ok: false; readonly reason: string }

interface Running {
  readonly task: DrawTask
  readonly settle: (drawn: Drawn) => void
  readonly onProgress: () => void
  /** the first part that could not be loaded */
  fault: string | null
}

/**
 * The only way out of the browser: a proxy on a loopback port, through which the page gets itself, its tasks and the parts of styles. It refuses all other requests.
 */
export class Exchange {
  readonly #server: Server = createServer((request, response) => this.#onRequest(request, response))
  /** Other users of this machine see the browser's command line, but not this name. */
  readonly #host = `${randomBytes(16).toString('hex')}.invalid`
  #isOpened = false
  #page: ServerResponse | null = null
  #running: Running | null = null
  #onPage: () => void = () => {}
  #onLost: () => void = () => {}

  /** @returns the port of the proxy */
  async open(): Promise<number> {
    this.#server.on('connect', (request, socket) => tunnel(request, socket, this.#running?.task.loading.hosts ?? []))
    // A page waits for its next task as long as the browser lives.
    this.#server.requestTimeout = 0
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  /** Resolves when the page is ready for its first task. */
  ready(): Promise<void> {
    return new Promise((resolve) => {
      this.#onPage = resolve
    })
  }

  /** @param onLost called if the page that waits for a task disappears, or the one that draws */
  watch(onLost: () => void): void {
    this.#onLost = onLost
  }

  /** Draws a picture. `onProgress` is called for each part that the page requests. Never rejects; the caller ends a page that does not answer. */
  draw(task: DrawTask, onProgress: () => void): Promise<Drawn> {
    return new Promise((settle) => {
      this.#running = { task, settle, onProgress, fault: null }
      this.#hand()
    })
  }

  /** Answers the current task, because its browser has ended. */
  fail(reason: string): void {
    this.#settle({ ok: false, reason })
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #settle(drawn: Drawn): void {
    const running = this.#running
    this.#running = null
    running?.settle(drawn)
  }

  #hand(): void {
    if (this.#page === null || this.#running === null) return
    const page = this.#page
    this.#page = null
    page.end(JSON.stringify(this.#running.task))
  }

  #onRequest(request: IncomingMessage, response: ServerResponse) {
    const url = URL.canParse(request.url ?? '') ? new URL(request.url as string) : null
    if (url?.href === FIRST_ADDRESS && !this.#isOpened) {
      this.#isOpened = true
      response.writeHead(302, { location: `http://${this.#host}/page.html` }).end()
      return
    }
    if (url === null) return void response.writeHead(403).end()
    const running = this.#running
    running?.onProgress()
    if (url.host === this.#host) return this.#onOwn(url, request, response)
    if (running === null || !running.task.loading.hosts.includes(url.host)) return void response.writeHead(410).end()
    void forward(url, request, response).then((fault) => this.#note(running, fault))
  }

  #onOwn(url: URL, request: IncomingMessage, response: ServerResponse) {
    const name = url.pathname.slice(1)
    const file = FILES[name]
    if (file !== undefined) return void sendFile(response, fileURLToPath(file.at), file.type)
    if (name === 'next') return this.#onNext(response)
    if (name === 'picture' || name === 'failed') return void this.#onDrawn(name, request, response)
    const running = this.#running
    if (running === null || !PARTS.test(url.pathname) || PICTURES.test(url.pathname))
      return void response.writeHead(404).end()
    void forward(atGateway(url, running.task), request, response).then((fault) => this.#note(running, fault))
  }

  #onNext(response: ServerResponse): void {
    response.setHeader('cache-control', 'no-store')
    response.on('close', () => {
      if (this.#page === response) this.#onLost()
    })
    this.#page = response
    this.#onPage()
    this.#hand()
  }

  async #onDrawn(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const running = this.#running
    const parts: Buffer[] = []
    try {
      for await (const part of request) parts.push(part as Buffer)
    } catch {
      return this.#onLost()
    }
    response.writeHead(204).end()
    if (running === null || running !== this.#running) return
    const body = Buffer.concat(parts)
    if (running.fault !== null) this.#settle({ ok: false, reason: running.fault })
    else this.#settle(name === 'picture' ? { ok: true, pixels: body } : { ok: false, reason: body.toString('utf8') })
  }

  #note(running: Running, fault: string | null): void {
    running.onProgress()
    running.fault ??= fault
  }
}

/** Paths of the gateway at which the parts of styles lie. The browser itself asks for an icon of the page, for example. */
const PARTS = /^\/(?:tiles|vectors|styles|fonts)\//
/** Pictures are no parts: a style that showed its own would wait for itself. */
const PICTURES = /^\/styles\/[^/]+\/(?:tilejson\.json$|static\/|\d+\/)/
/** Parameters of a signature in an address, which may be that of an earlier picture. */
const SIGNATURE = /^(?:style|exp|sig)=/

function atGateway(url: URL, { loading }: DrawTask): URL {
  const own = url.search.slice(1).split('&')
  const query = [...own.filter((part) => part !== '' && !SIGNATURE.test(part)), loading.credential]
  return new URL(`${loading.gateway}${url.pathname}?${query.join('&')}`)
}

async function sendFile(response: ServerResponse, path: string, type: string): Promise<void> {
  try {
    const content = await readFile(path)
    response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(content)
  } catch {
    response.writeHead(404).end()
  }
}
