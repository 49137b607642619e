import { CodedError, coded } from '@gateway/contracts/messages.js'
import { fairPlace } from '@gateway/core/lanes/fair-lanes.js'
import { KillableChild } from '@gateway/core/processes/killable-child.js'
import { type After, type Chunk, type ItemsQuery, QUERY_SECONDS } from './items-query.js'
import type { FromQueryProcess, ToQueryProcess } from './query-messages.js'

/** The built file, used both from the sources (in tests) and from the build. */
const MODULE = new URL('../../dist/query/query-process.js', import.meta.url)

/** Maximum number of processes per edge process, each of about 50 MB. Another one starts if all have worked on one step for this time in ms. */
const MAX_PROCESSES = 3
const STALLED_MS = 100
/** Limit: processes that work for one caller while others may come. */
const MAX_PROCESSES_EACH = MAX_PROCESSES - 1
/** Limits: queries that wait for a step, and queries that are open, most of which then wait for a slow client. One caller may take half. */
const MAX_WAITING = 500
const MAX_OPEN = 1_000
/** Steps that a process knows of: it begins the next one at once, and the others can still be withdrawn. One after a step of more than SHORT_MS. */
const STEPS_AHEAD = 2
const SHORT_MS = 20
/** Time in ms after which a process forgets a query whose client does not read. The query continues later, after the features already sent. */
const RELEASE_MS = 1_000
/** MB of a process's JavaScript heap. */
const HEAP_MB = 256
/** Time in ms after which an idle process is ended. */
const IDLE_MS = 60_000
/** Maximum number of processes that a query loses, since it may be the reason. */
const MAX_CRASHES = 3

export class QueryTimeout extends CodedError {}
export class QueriesBusy extends CodedError {}
/** Thrown if the client of a query has gone. */
export class QueryAbandoned extends Error {}
/** Thrown if the index no longer exists because it was replaced. */
export class IndexMissing extends Error {}

interface Open {
  readonly id: number
  readonly caller: string
  readonly query: ItemsQuery
  /** the query as it runs now: it continues after the features already sent */
  current: ItemsQuery
  server: Server | null
  /** the requested step, until it is sent to the process */
  step: ToQueryProcess | null
  /** how often its process ended without a reason known here */
  crashes: number
  releaseTimer: NodeJS.Timeout | null
  /** ends the query if its step waits for too long */
  waitTimer: NodeJS.Timeout | null
  /** milliseconds of steps so far */
  spentMs: number
  settle: ((outcome: Chunk | Error) => void) | null
  sent: number
  /** true if its process has sent the last part and has forgotten the query */
  isOver: boolean
}

interface Server {
  readonly child: KillableChild<FromQueryProcess>
  /** requested steps; the process works on the first one */
  readonly queue: Open[]
  readonly open: Set<Open>
  /** start of the first step, by `performance.now()` */
  sinceMs: number
  /** milliseconds of the last step */
  lastMs: number
  timer: NodeJS.Timeout | null
  stallTimer: NodeJS.Timeout | null
  idleTimer: NodeJS.Timeout | null
  ended: boolean
}

/**
 * Runs queries in other processes, which can be killed, because a step of SQLite cannot be interrupted. A process works on one step at a time,
 * so that the steps of several queries alternate; between two steps of a query its client reads. Callers take turns, whatever their number of
 * queries, and none of them occupies all processes.
 */
export class QueryProcesses {
  readonly #servers = new Set<Server>()
  readonly #limitMs: number
  readonly #releaseMs: number
  #lastId = 0
  readonly #open: Open[] = []

  /**
   * @param limitMs maximum total time of all steps of a query in milliseconds, and the maximum time for which a step waits
   * @param releaseMs see RELEASE_MS
   */
  constructor(limitMs = QUERY_SECONDS * 1000, releaseMs = RELEASE_MS) {
    this.#limitMs = limitMs
    this.#releaseMs = releaseMs
  }

  /**
   * Yields the parts of a response. Throws `QueriesBusy`, `QueryTimeout`, `QueryAbandoned`, `IndexMissing`, and an `Error` with SQLite's message.
   * Callers must always leave the generator by `return`, as `for await` does.
   * @param gone aborted when the client has gone
   * @param caller whose query it is, for example the id of a token
   */
  async *run(query: ItemsQuery, gone?: AbortSignal, caller = ''): AsyncGenerator<Chunk, void> {
    this.#refuseIfFull(caller)
    this.#lastId++
    const open: Open = {
      id: this.#lastId,
      caller,
      query,
      current: query,
      server: null,
      step: null,
      crashes: 0,
      releaseTimer: null,
      waitTimer: null,
      spentMs: 0,
      settle: null,
      sent: 0,
      isOver: false,
    }
    this.#open.push(open)
    const abandon = () => this.#abandon(open)
    gone?.addEventListener('abort', abandon)
    try {
      for (;;) {
        if (gone?.aborted === true) throw new QueryAbandoned()
        const chunk = await this.#step(open)
        open.sent += chunk.count
        open.isOver = chunk.state !== 'going on'
        if (chunk.last !== null) open.current = continued(open, chunk.last, chunk)
        if (!open.isOver) this.#releaseLater(open)
        yield chunk
        if (open.isOver) return
      }
    } finally {
      gone?.removeEventListener('abort', abandon)
      this.#open.splice(this.#open.indexOf(open), 1)
      this.#leave(open)
    }
  }

  /** Kills all processes. */
  close(): void {
    for (const server of this.#servers) this.#kill(server)
  }

  #refuseIfFull(caller: string): void {
    const waiting = this.#open.filter(({ settle }) => settle !== null)
    const isFull = (all: readonly Open[], most: number) =>
      all.length >= most || (all.length >= most / 2 && all.filter((one) => one.caller === caller).length >= most / 2)
    if (isFull(waiting, MAX_WAITING) || isFull(this.#open, MAX_OPEN)) throw new QueriesBusy(coded('query_busy'))
  }

  #step(open: Open): Promise<Chunk> {
    return new Promise((resolve, reject) => {
      open.settle = (outcome) => {
        open.settle = null
        stopWaiting(open)
        if (outcome instanceof Error) reject(outcome)
        else resolve(outcome)
      }
      this.#ask(open)
    })
  }

  #ask(open: Open): void {
    if (open.releaseTimer !== null) clearTimeout(open.releaseTimer)
    if (open.server?.ended === true) open.server = null
    if (open.server !== null && isStalled(open.server)) {
      this.#forget(open)
      open.server = null
    }
    open.step = { what: 'pull', id: open.id }
    open.waitTimer ??= setTimeout(() => {
      open.settle?.(new QueriesBusy(coded('query_waited', { seconds: this.#limitMs / 1000 })))
    }, this.#limitMs)
    if (open.server === null) {
      open.server = this.#choose(open.caller)
      open.server.open.add(open)
      open.step = { what: 'open', id: open.id, query: open.current }
    }
    const { server } = open
    // The process knows of a step that was sent, which keeps its place.
    server.queue.splice(
      fairPlace(server.queue, open.caller, ({ step }) => step !== null),
      0,
      open,
    )
    if (server.queue.length === 1) this.#begin(server)
    this.#sendAhead(server)
  }

  #sendAhead({ queue, child, lastMs }: Server): void {
    for (const open of queue.slice(0, lastMs < SHORT_MS ? STEPS_AHEAD : 1)) {
      if (open.step !== null) child.send(open.step)
      open.step = null
    }
  }

  /** Returns the process with the shortest queue; starts another one if all are stuck, and the caller does not have most of them. */
  #choose(caller: string): Server {
    const running = [...this.#servers].filter(({ ended }) => !ended)
    const own = running.filter(({ queue }) => queue[0]?.caller === caller)
    const alive = own.length < MAX_PROCESSES_EACH ? running : own
    const free = alive.filter((server) => !isStalled(server))
    const isMost = alive === own || alive.length >= MAX_PROCESSES
    const candidates = free.length > 0 ? free : isMost ? alive : [this.#start()]
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
      lastMs: Number.POSITIVE_INFINITY,
      timer: null,
      stallTimer: null,
      idleTimer: null,
      ended: false,
    }
    this.#servers.add(server)
    return server
  }

  #begin(server: Server): void {
    server.sinceMs = performance.now()
    stopTimers(server)
    const [first] = server.queue
    if (first === undefined) return
    stopWaiting(first)
    server.stallTimer = setTimeout(() => this.#spread(server), STALLED_MS)
    const isWanted = first.settle !== null
    server.timer = setTimeout(
      () => this.#tooLong(server),
      isWanted ? Math.max(0, this.#limitMs - first.spentMs) : STALLED_MS,
    )
  }

  /** Moves queries that wait for a stalled process, and have not begun there, to another one that gets to them earlier. */
  #spread(server: Server): void {
    for (const open of server.queue.filter(({ step }) => step?.what === 'open')) {
      const other = this.#choose(open.caller)
      if (other.queue.length >= server.queue.indexOf(open)) continue
      server.queue.splice(server.queue.indexOf(open), 1)
      server.open.delete(open)
      open.server = null
      this.#ask(open)
    }
  }

  #tooLong(server: Server): void {
    const [first] = server.queue
    this.#kill(server)
    if (first === undefined) return
    server.queue.shift()
    server.open.delete(first)
    first.server = null
    first.settle?.(new QueryTimeout(coded('query_late', { seconds: this.#limitMs / 1000 })))
  }

  #answered(server: Server, message: FromQueryProcess): void {
    const at = server.queue.findIndex(({ id }) => id === message.id)
    if (at === -1) return
    const [open] = server.queue.splice(at, 1) as [Open]
    server.lastMs = performance.now() - server.sinceMs
    open.spentMs += server.lastMs
    this.#begin(server)
    this.#sendAhead(server)
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
    const hasCrashed = !server.ended
    server.ended = true
    this.#servers.delete(server)
    stopTimers(server)
    for (const open of server.queue.splice(0)) {
      open.server = null
      // Its client has gone, or has waited for too long.
      if (open.settle === null) continue
      if (hasCrashed) open.crashes++
      if (open.crashes < MAX_CRASHES) this.#ask(open)
      else open.settle?.(new Error('the processes that run queries end'))
    }
  }

  #kill(server: Server): void {
    server.ended = true
    stopTimers(server)
    if (server.idleTimer !== null) clearTimeout(server.idleTimer)
    server.child.kill()
  }

  /** Withdraws the step of a client that has gone. A step that takes long is ended with its process; the others continue in another one. */
  #abandon(open: Open): void {
    const { server, settle } = open
    if (server === null || settle === null) return
    settle(new QueryAbandoned())
    setTimeout(() => {
      if (server.ended || server.queue[0] !== open) return
      server.queue.shift()
      this.#kill(server)
    }, STALLED_MS).unref()
  }

  /** The process forgets the query, unless its client reads on soon. */
  #releaseLater(open: Open): void {
    open.releaseTimer = setTimeout(() => {
      this.#forget(open)
      open.server = null
    }, this.#releaseMs)
    open.releaseTimer.unref()
  }

  #leave(open: Open): void {
    if (open.releaseTimer !== null) clearTimeout(open.releaseTimer)
    const { server } = open
    if (server === null || server.ended) return
    const at = server.queue.indexOf(open)
    // The process runs a step that was sent to it, so the time that it takes must not be that of the next one in the queue.
    if (at >= 0 && open.step !== null) server.queue.splice(at, 1)
    this.#forget(open)
    this.#sendAhead(server)
  }

  #forget(open: Open): void {
    const { server, id, isOver } = open
    if (server === null || server.ended) return
    if (!isOver) server.child.send({ what: 'close', id } satisfies ToQueryProcess)
    server.open.delete(open)
    if (server.open.size > 0) return
    server.idleTimer = setTimeout(() => this.#kill(server), IDLE_MS)
    server.idleTimer.unref()
  }
}

/** True if a process has worked on one step for long. */
function isStalled({ queue, sinceMs }: Server): boolean {
  return queue.length > 0 && performance.now() - sinceMs >= STALLED_MS
}

function stopTimers(server: Server): void {
  if (server.timer !== null) clearTimeout(server.timer)
  if (server.stallTimer !== null) clearTimeout(server.stallTimer)
  server.timer = null
  server.stallTimer = null
}

function stopWaiting(open: Open): void {
  if (open.waitTimer !== null) clearTimeout(open.waitTimer)
  open.waitTimer = null
}

/** Returns the rest of a query after the features already sent. */
export function continued(
  { query, current, sent }: Pick<Open, 'query' | 'current' | 'sent'>,
  last: After,
  { bytes, sum }: Chunk,
): ItemsQuery {
  const taken = sum === undefined ? bytes.length : sum.length - (current.packedAfter?.length ?? 0)
  return {
    ...current,
    continues: true,
    after: last,
    offset: 0,
    limit: query.limit - sent,
    maxBytes: current.maxBytes - taken,
    packedAfter: sum,
  }
}
