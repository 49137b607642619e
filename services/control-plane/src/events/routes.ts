import { PassThrough } from 'node:stream'
import { refuse } from '@gateway/contracts/errors.js'
import { z } from 'zod'
import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'
import { sendRefusal } from '../http/refusal.js'
import { ChangeFeed } from './change-feed.js'

/** Each stream holds a connection for good; operators with open consoles are few. */
const MAX_STREAMS = 100
/** Proxies close a silent connection after 30 s at the earliest. */
const HEARTBEAT_MS = 15_000
/** A client that has not taken this much is gone or stuck; it reconnects and reads everything anew. */
const MAX_BACKLOG_BYTES = 256 * 1024

/** Server-sent events (HTML standard, 9.2). */
export function eventRoutes(app: App, ctx: ControlContext): void {
  const feed = new ChangeFeed(ctx)
  const streams = new Set<PassThrough>()
  // A stream never ends by itself: without this the process would not, either.
  app.addHook('preClose', async () => {
    for (const stream of streams) stream.end()
  })
  app.get(
    '/api/v1/admin/events',
    {
      exposeHeadRoute: false,
      config: { mayTakeLong: true },
      schema: {
        summary: 'Changes as they are committed',
        description:
          'Server-sent events: one `change` for each entry of the change log from now on, its id the revision, its data ' +
          '`{"revision", "kind", "key"}` with kind `token`, `basemap`, `vector` or `all` (anything may have changed). Read the lists ' +
          'after every (re)connect; what happened before is not repeated. A comment comes every 15 s.',
        response: { 200: { description: 'events', content: { 'text/event-stream': { schema: z.unknown() } } } },
      },
    },
    async (_request, reply) => {
      if (streams.size >= MAX_STREAMS) {
        return sendRefusal(reply, refuse('too_many_requests', 'too many event streams are open'))
      }
      const stream = new PassThrough()
      streams.add(stream)
      const send = (text: string): void => {
        if (stream.writableLength > MAX_BACKLOG_BYTES) stream.destroy()
        else if (stream.writable) stream.write(text)
      }
      const stop = feed.listen((change) =>
        send(`event: change\nid: ${change.revision}\ndata: ${JSON.stringify(change)}\n\n`),
      )
      const heart = setInterval(() => send(':\n\n'), HEARTBEAT_MS).unref()
      stream.once('close', () => {
        stop()
        clearInterval(heart)
        streams.delete(stream)
      })
      send(':\n\n')
      return reply.type('text/event-stream').header('X-Accel-Buffering', 'no').send(stream)
    },
  )
}
