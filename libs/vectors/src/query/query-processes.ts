import { KillableChild } from '@gateway/core/processes/killable-child.js'
import { type After, type Chunk, type ItemsQuery, QUERY_SECONDS } from './items-query.js'
import type { FromQueryProcess, ToQueryProcess } from './query-messages.js'

/** The built file, used both from the sources (in tests) and from the build. */
const MODULE = new URL('../../dist/query/query-process.js', import.meta.url)

/** Maximum number of processes per edge process, each of about 50 MB. Another one starts if all have worked on one step for this time in ms. */
const MAX_PROCESSES = 3
const STALLED_MS = 100
/** Limit: queries that are open at the same time. */
const MAX_OPEN = 200
/** MB of a process's JavaScript heap. */
const HEAP_MB = 256
/** Time in ms after which an idle process is ended. */
const IDLE_MS = 60_000
/** Maximum number of continuations of a query whose process ended because of another query. */
const MAX_STARTS = 3

export class QueryTimeout extends Error {}
export class QueriesBusy extends Error {}
/** Thrown if the index no longer exists because it was replaced. */
export class IndexMissing extends Error {}

interface Open {
  readonly id: number
  readonly query: ItemsQuery
  /** the query as it runs now: it continues after the features already sent */
  current: ItemsQuery
  server: Server | null
  starts: number
  /** milliseconds of steps so far */
  spentMs: number
  settle: ((outcome: Chunk | Error) => void) | null
  sent: number
  /** its process has sent the last part, and knows it no more */
  isOver: boolean
}

interface Server {
  readonly child: KillableChild<FromQueryProcess>
  /** requested steps; the process works on the first one */
  readonly queue: Open[]
  readonly open: Set<Open>
  /** start of the first step, by `performance.now()` */
  sinceMs: number
  timer: NodeJS.Timeout | null
  idleTimer: NodeJS.Timeout | null
  ended: boolean
}

/**
 * Runs queries in other processes, which can be killed, because a step of SQLite cannot be interrupted. A process works on one step at a time,
 * so that the steps of several queries alternate; between two steps of a query its client reads.
 */
export class QueryProcesses {
  readonly #servers = new Set<Server>()
  readonly #limitMs: number
  #lastId = 0
  #open = 0

  /** @param limitMs maximum total time of all steps of a query in milliseconds */
  constructor(limitMs = QUERY_SECONDS * 1000) {
    this.#limitMs = limitMs
  }

  /**
   * Yields the parts of a response. Throws `QueriesBusy`, `QueryTimeout`, `IndexMissing`, and an `Error` with SQLite's message. Callers must
   * always leave the generator by `return`, as `for await` does.
   */
  async *run(query: ItemsQuery): AsyncGenerator<Chunk, void> {
    if (this.#open >= MAX_OPEN) throw new QueriesBusy(`${MAX_OPEN} queries are running`)
    this.#lastId++
    const open: Open = {
      id: this.#lastId,
      query,
      current: query,
      server: null,
      starts: 0,
      spentMs: 0,
      settle: null,
      sent: 0,
      isOver: false,
    }
    this.#open++
    try {
      for (;;) {
        const chunk = await this.#step(open)
        open.sent += chunk.count
        open.isOver = chunk.state !== 'going on'
        if (chunk.last !== null) open.current = continued(open, chunk.last, chunk.bytes.length)
        yield chunk
        if (open.isOver) return
      }
    } finally {
      this.#open--
      this.#leave(open)
    }
  }

  /** Kills all processes. */
  close(): void {
    for (const server of this.#servers) this.#kill(server)
  }

  #step(open: Open): Promise<Chunk> {
    return new Promise((resolve, reject) => {
      open.settle = (outcome) => {
        open.settle = null
        if (outcome instanceof Error) reject(outcome)
        else resolve(outcome)
      }
      this.#ask(open)
    })
  }

  #ask(open: Open): void {
    if (open.server?.ended === true) open.server = null
    let message: ToQueryProcess = { what: 'pull', id: open.id }
    if (open.server === null) {
      if (open.starts++ >= MAX_STARTS) {
        open.settle?.(new Error('the processes that run queries end'))
        return
      }
      open.server = this.#choose()
      open.server.open.add(open)
      message = { what: 'open', id: open.id, query: open.current }
    }
    const { server } = open
    server.queue.push(open)
    if (server.queue.length === 1) this.#begin(server)
    server.child.send(message)
  }

  /** Returns the process with the shortest queue; starts another one if all are stuck. */
  #choose(): Server {
    const alive = [...this.#servers].filter(({ ended }) => !ended)
    const now = performance.now()
    const free = alive.filter(({ queue, sinceMs }) => queue.length === 0 || now - sinceMs < STALLED_MS)
    const candidates =
      free.length > 0 || alive.length >= MAX_PROCESSES ? (free.length > 0 ? free : alive) : [this.#start()]
    const chosen = candidates.reduce((best, one) => (one.queue.length < best.queue.length ? one : best))
    if (chosen.idleTimer !== null) clearTimeout(chosen.idleTimer)
    chosen.idleTimer = null
    return chosen
  }

  #start(): Server {
    const child = new KillableChild<FromQueryProcess>(
      { module: MODULE, nodeOptions: [`--max-old-space-size=${HEAP_MB}`] },
      { message: (message) => this.#answered(server, message), ended: () => this.#onEnded(server) },
    )
    const server: Server = {
      child,
      queue: [],
      open: new Set(),
      sinceMs: 0,
      timer: null,
      idleTimer: null,
      ended: false,
    }
    this.#servers.add(server)
    return server
  }

  #begin(server: Server): void {
    server.sinceMs = performance.now()
    if (server.timer !== null) clearTimeout(server.timer)
    const [first] = server.queue
    server.timer = first === undefined ? null : setTimeout(() => this.#tooLong(server), this.#limitMs - first.spentMs)
  }

  #tooLong(server: Server): void {
    const [first] = server.queue
    this.#kill(server)
    if (first === undefined) return
    server.queue.shift()
    server.open.delete(first)
    first.server = null
    first.settle?.(new QueryTimeout(`a query may take ${this.#limitMs / 1000} s`))
  }

  #answered(server: Server, message: FromQueryProcess): void {
    const at = server.queue.findIndex(({ id }) => id === message.id)
    if (at === -1) return
    const [open] = server.queue.splice(at, 1) as [Open]
    open.spentMs += performance.now() - server.sinceMs
    this.#begin(server)
    if ('failed' in message) {
      server.open.delete(open)
      open.server = null
      open.settle?.(message.missing ? new IndexMissing(message.failed) : new Error(message.failed))
      return
    }
    open.settle?.(message.chunk)
  }

  /** Moves the unfinished queries of the process to another one. */
  #onEnded(server: Server): void {
    if (server.ended && server.queue.length === 0) return void this.#servers.delete(server)
    server.ended = true
    this.#servers.delete(server)
    if (server.timer !== null) clearTimeout(server.timer)
    for (const open of server.queue.splice(0)) {
      open.server = null
      this.#ask(open)
    }
  }

  #kill(server: Server): void {
    server.ended = true
    if (server.timer !== null) clearTimeout(server.timer)
    if (server.idleTimer !== null) clearTimeout(server.idleTimer)
    server.child.kill()
  }

  #leave(open: Open): void {
    const { server } = open
    if (server === null || server.ended) return
    if (!open.isOver)
      server.child.send({
        what: 'close',
        id: open.id,
      } satisfies ToQueryProcess)
    server.open.delete(open)
    const at = server.queue.indexOf(open)
    // The process finishes a running step; the next step in the queue starts afterwards.
    if (at > 0) server.queue.splice(at, 1)
    if (server.open.size === 0) {
      server.idleTimer = setTimeout(() => this.#kill(server), IDLE_MS)
      server.idleTimer.unref()
    }
  }
}

/** Returns the rest of a query after the features already sent. */
function continued({ query, current, sent }: Open, last: After, bytes: number): ItemsQuery {
  return {
    ...current,
    continues: true,
    after: last,
    offset: 0,
    limit: query.limit - sent,
    maxBytes: current.maxBytes - bytes,
  }
}
