import { PassThrough } from 'node:stream'
import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from './app-type.js'
import { sendRefusal } from './refusal.js'

/** Each stream holds a connection for good; operators with open consoles are few. */
const MAX_STREAMS = 100
/** Proxies close an idle connection after 30 s at the earliest. */
const HEARTBEAT_MS = 15_000
/** A client with a larger backlog is gone or stuck; it reconnects and reads everything again. */
const MAX_BACKLOG_BYTES = 256 * 1024

const TOO_MANY = refuse('too_many_requests', coded('event_streams_full'))

export interface ServerEvent {
  readonly event: string
  readonly id?: number
  /** sent as JSON; the same object is of the same event */
  readonly data: unknown
}

export type SendEvent = (event: ServerEvent) => void

/** The streams of server-sent events (HTML standard, 9.2) of one route: bounded in number and in what waits for a slow reader. */
export class EventStreams {
  readonly #open = new Set<PassThrough>()
  /** of what all streams are sent, by its data */
  readonly #texts = new WeakMap<object, string>()
  readonly #heartbeatMs: number

  constructor(app: App, heartbeatMs = HEARTBEAT_MS) {
    this.#heartbeatMs = heartbeatMs
    // A stream never ends by itself: without this the process would not, either.
    app.addHook('preClose', async () => {
      for (const stream of this.#open) stream.end()
    })
  }

  /** Answers with a stream, or 429. `subscribe` is called with what sends into it, and answers the function that ends the subscription. */
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

  /** Written once, however many streams it goes to: all are sent the same data. */
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

/** The browser connects again, and learns that its session has ended. A store that does not answer ends nothing. */
async function endWithSession({ isStillSignedIn }: FastifyRequest, stream: PassThrough): Promise<void> {
  const lasts = isStillSignedIn === undefined || (await isStillSignedIn().catch(() => true))
  if (!lasts) stream.end()
}

function asText({ event, id, data }: ServerEvent): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`
}
