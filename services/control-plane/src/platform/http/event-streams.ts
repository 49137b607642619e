import { PassThrough } from 'node:stream'
import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from './app-type.js'
import { sendRefusal } from './refusal.js'

/** Maximum number of streams. Each holds a connection permanently, and operators with open consoles are few. */
const MAX_STREAMS = 100
/** Interval of heartbeats. Proxies close an idle connection after 30 s at the earliest. */
const HEARTBEAT_MS = 15_000
/** Maximum backlog. A client with a larger one is gone or stuck; it reconnects and reads everything again. */
const MAX_BACKLOG_BYTES = 256 * 1024

const TOO_MANY = refuse('too_many_requests', coded('event_streams_full'))

export interface ServerEvent {
  readonly event: string
  readonly id?: number
  /** sent as JSON; several streams share the serialised text of one object */
  readonly data: unknown
}

export type SendEvent = (event: ServerEvent) => void

/** The streams of server-sent events (HTML standard, 9.2) of one route, limited in number and in the backlog of a slow reader. */
export class EventStreams {
  readonly #open = new Set<PassThrough>()
  /** serialised text of an event's data, shared by all streams */
  readonly #texts = new WeakMap<object, string>()
  readonly #heartbeatMs: number

  constructor(app: App, heartbeatMs = HEARTBEAT_MS) {
    this.#heartbeatMs = heartbeatMs
    // A stream never ends by itself, and would keep the process alive.
    app.addHook('preClose', async () => {
      for (const stream of this.#open) stream.end()
    })
  }

  /** Responds with a stream, or 429. `subscribe` receives the function that sends into it, and returns the one that ends the subscription. */
  answer(reply: FastifyReply, subscribe: (send: SendEvent) => () => void): FastifyReply {
    if (this.#open.size >= MAX_STREAMS) return sendRefusal(reply, TOO_MANY)
    const stream = new PassThrough()
    this.#open.add(stream)
    const send = (text: string): void => {
      if (stream.writableLength > MAX_BACKLOG_BYTES) stream.destroy()
      else if (stream.writable) stream.write(text)
    }
    const unsubscribe = subscribe((event) => send(this.#textOf(event)))
    const heart = setInterval(() => {
      send(':\n\n')
      void endWithSession(reply.request, stream)
    }, this.#heartbeatMs).unref()
    stream.once('close', () => {
      unsubscribe()
      clearInterval(heart)
      this.#open.delete(stream)
    })
    send(':\n\n')
    return reply.type('text/event-stream').header('X-Accel-Buffering', 'no').send(stream)
  }

  /** Serialises an event once for all streams. */
  #textOf(event: ServerEvent): string {
    const { data } = event
    if (typeof data !== 'object' || data === null) return asText(event)
    const known = this.#texts.get(data)
    if (known !== undefined) return known
    const text = asText(event)
    this.#texts.set(data, text)
    return text
  }
}

/** The browser reconnects, and learns that its session has ended. A store that does not respond ends no stream. */
async function endWithSession({ isStillSignedIn }: FastifyRequest, stream: PassThrough): Promise<void> {
  const lasts = isStillSignedIn === undefined || (await isStillSignedIn().catch(() => true))
  if (!lasts) stream.end()
}

function asText({ event, id, data }: ServerEvent): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`
}
