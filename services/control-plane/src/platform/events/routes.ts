import { z } from 'zod'
import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'
import { EventStreams } from '../http/event-streams.js'
import { ChangeFeed } from './change-feed.js'

export function eventRoutes(app: App, ctx: ControlContext): void {
  const feed = new ChangeFeed(ctx)
  const streams = new EventStreams(app)
  app.get(
    '/api/v1/admin/events',
    {
      exposeHeadRoute: false,
      config: { mayTakeLong: true },
      schema: {
        operationId: 'streamChanges',
        summary: 'Stream changes as they are committed',
        description:
          'Server-sent events: one `change` for each new entry of the change log. The id is the revision, and the data is `{"revision", ' +
          '"kind", "key"}` with kind `token`, `basemap`, `vector` or `all` (anything may have changed). Read the lists after every connect and ' +
          'reconnect, because earlier changes are not repeated. A comment comes every 15 s.',
        response: { 200: { description: 'events', content: { 'text/event-stream': { schema: z.unknown() } } } },
      },
    },
    (_request, reply) =>
      streams.answer(reply, (send) =>
        feed.listen((change) => send({ event: 'change', id: change.revision, data: change })),
      ),
  )
}
