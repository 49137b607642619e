import { CodedError, type CodedMessage, coded } from '@gateway/contracts/messages.js'
import type { DatabaseConnection, DatabaseRelation, DatabaseTable } from '@gateway/contracts/postgis.js'
import { FairLanes, type Release } from '@gateway/core/lanes/fair-lanes.js'
import { KillableChild } from '@gateway/core/processes/killable-child.js'
import { QueryError } from '../query/cql2/expression.js'
import type { Chunk } from '../query/items-query.js'
import { continued, QueriesBusy, QueryAbandoned, QueryTimeout } from '../query/query-processes.js'
import type {
  AskedTile,
  DatabaseFailure,
  FromDatabaseProcess,
  MadeTile,
  TableQuery,
  ToDatabaseProcess,
} from './messages.js'
import type { TableSource } from './open-table.js'

/** The built file, used both from the sources (in tests) and from the build. */
const MODULE = new URL('../../dist/postgis/database-process.js', import.meta.url)

/** Limit: requests that wait for a connection of one source, and the time in ms for which one waits. */
const MAX_WAITING = 200
const WAIT_MS = 10_000
/** Time in ms after which a query whose client does not read gives its connection back. It goes on later, after the features already sent. */
const RELEASE_MS = 1_000
/** Time in ms after the database's own limit in which the process must have answered. */
const GRACE_MS = 5_000
/** MB of the process's JavaScript heap. */
const HEAP_MB = 512

/** Thrown if a database does not respond, or has changed since the last scan. */
export class DatabaseTrouble extends CodedError {
  readonly failure: DatabaseFailure

  constructor(failure: DatabaseFailure, said: CodedMessage) {
    super(said)
    this.failure = failure
  }
}

export interface DatabasesOptions {
  /** Returns how to reach the database of a source; null: the source does not exist. */
  connection(source: string): Promise<DatabaseConnection | null>
  /** Called if a database says that a table has changed, in a box of degrees or (null) anywhere. */
  notified(source: string, table: string, box: readonly [number, number, number, number] | null): void
}

type Waiting = (message: Exclude<FromDatabaseProcess, { notified: string }> | Error) => void

/**
 * Queries the databases of all sources in one other process. Each source has as many lanes as its pool has connections; tokens take turns in them, so
 * that neither a slow database nor a busy token holds up another.
 */
export class Databases {
  readonly #options: DatabasesOptions
  readonly #lanes = new Map<string, { readonly pool: number; readonly lanes: FairLanes }>()
  readonly #waiting = new Map<number, Waiting>()
  #child: KillableChild<FromDatabaseProcess> | null = null
  #lastId = 0
  #isClosed = false

  constructor(options: DatabasesOptions) {
    this.#options = options
  }

  /** Makes a tile. Throws `DatabaseTrouble`, `QueryTimeout`, `QueriesBusy` and `QueryAbandoned`. `token`: its id, for policies of the database. */
  async tile(
    asked: AskedTile,
    { caller, token }: { readonly caller: string; readonly token: string },
    gone?: AbortSignal,
  ): Promise<MadeTile> {
    const { relation } = asked
    const { connection, release } = await this.#enter(relation, caller, gone)
    const id = ++this.#lastId
    try {
      const message = await this.#ask({ what: 'tile', id, connection, token, tile: asked }, relation, gone)
      if ('made' in message) return message.made
      throw new Error('a tile was expected')
    } finally {
      release()
    }
  }

  /** Yields the parts of a response as `QueryProcesses.run` does. Throws the errors of `tile`, and `QueryError` for values that the table cannot have. */
  async *run(query: TableQuery, layer: string, gone?: AbortSignal, token = ''): AsyncGenerator<Chunk, void> {
    const { table } = query
    let current = query
    let sent = 0
    let open: { readonly id: number; readonly release: Release } | null = null
    const leave = () => {
      if (open === null) return
      this.#child?.send({ what: 'close', id: open.id } satisfies ToDatabaseProcess)
      open.release()
      open = null
    }
    try {
      for (;;) {
        let message: Exclude<FromDatabaseProcess, { notified: string }>
        if (open === null) {
          const { connection, release } = await this.#enter(table, token, gone)
          const id = ++this.#lastId
          open = { id, release }
          message = await this.#ask({ what: 'open', id, connection, token, query: current, layer }, table, gone)
        } else message = await this.#ask({ what: 'pull', id: open.id }, table, gone)
        if (!('chunk' in message)) throw new Error('a part of a response was expected')
        const { chunk } = message
        sent += chunk.count
        if (chunk.last !== null)
          current = { ...continued({ query, current, sent }, chunk.last, chunk), table }
        if (chunk.state !== 'going on') {
          leave()
          return yield chunk
        }
        const timer = setTimeout(leave, RELEASE_MS)
        try {
          yield chunk
        } finally {
          clearTimeout(timer)
        }
      }
    } finally {
      leave()
    }
  }

  /** Returns what a process needs to read a whole table by itself. Throws `DatabaseTrouble`. */
  async tableSource(table: DatabaseTable, token: string): Promise<TableSource> {
    const connection = await this.#options.connection(table.source)
    if (connection === null) throw new DatabaseTrouble('away', coded('database_away', { name: nameOf(table) }))
    return { connection, table, token }
  }

  close(): void {
    this.#isClosed = true
    this.#child?.kill()
  }

  async #enter(relation: DatabaseRelation, caller: string, gone?: AbortSignal) {
    const { source } = relation
    const connection = await this.#options.connection(source)
    if (connection === null) throw new DatabaseTrouble('away', coded('database_away', { name: nameOf(relation) }))
    let known = this.#lanes.get(source)
    if (known?.pool !== connection.pool) {
      known = { pool: connection.pool, lanes: new FairLanes(connection.pool, MAX_WAITING) }
      this.#lanes.set(source, known)
    }
    const entered = known.lanes.enter(caller)
    if (entered === null) throw new QueriesBusy(coded('query_busy'))
    let isLate = false
    const late = new Promise<null>((resolve) => {
      const timer = setTimeout(resolve, WAIT_MS, null)
      const stop = () => void clearTimeout(timer)
      entered.then(stop)
      gone?.addEventListener('abort', () => resolve(stop() ?? null), { once: true })
    })
    const release = await Promise.race([entered, late])
    if (release === null) {
      isLate = true
      void entered.then((unwanted) => isLate && unwanted())
      if (gone?.aborted === true) throw new QueryAbandoned()
      throw new QueriesBusy(coded('query_waited', { seconds: WAIT_MS / 1000 }))
    }
    return { connection, release }
  }

  #ask(message: ToDatabaseProcess, relation: DatabaseRelation, gone?: AbortSignal) {
    const { id } = message
    return new Promise<Exclude<FromDatabaseProcess, { notified: string }>>((resolve, reject) => {
      if (gone?.aborted === true) return reject(new QueryAbandoned())
      const child = this.#running()
      const abandon = () => {
        child.send({ what: 'close', id } satisfies ToDatabaseProcess)
        settle(new QueryAbandoned())
      }
      const limitMs = relation.statementTimeoutSeconds * 1000 + WAIT_MS + GRACE_MS
      const timer = setTimeout(() => settle({ id, failure: 'away', words: 'the process does not answer' }), limitMs)
      const settle: Waiting = (outcome) => {
        clearTimeout(timer)
        gone?.removeEventListener('abort', abandon)
        this.#waiting.delete(id)
        if (outcome instanceof Error) reject(outcome)
        else if ('failure' in outcome) reject(errorOf(outcome.failure, outcome.words, relation))
        else resolve(outcome)
      }
      gone?.addEventListener('abort', abandon, { once: true })
      this.#waiting.set(id, settle)
      child.send(message, settle)
    })
  }

  #running(): KillableChild<FromDatabaseProcess> {
    if (this.#child !== null && !this.#child.hasEnded) return this.#child
    if (this.#isClosed) throw new QueryAbandoned()
    const child: KillableChild<FromDatabaseProcess> = new KillableChild(
      { module: MODULE, nodeOptions: [`--max-old-space-size=${HEAP_MB}`] },
      {
        message: (message) => {
          if (!('notified' in message)) return this.#waiting.get(message.id)?.(message)
          this.#options.notified(message.source, message.notified, message.box)
        },
        ended: (how) => {
          if (this.#child === child) this.#child = null
          for (const settle of [...this.#waiting.values()])
            settle(new Error(`the process that queries databases has ended: ${how}`))
        },
      },
    )
    this.#child = child
    return child
  }
}

const nameOf = (relation: DatabaseRelation): string =>
  `${relation.schema}.${relation.what === 'table' ? relation.table : relation.function}`

function errorOf(failure: DatabaseFailure, words: string, relation: DatabaseRelation): Error {
  const name = nameOf(relation)
  switch (failure) {
    case 'late':
      return new QueryTimeout(coded('database_late', { name, seconds: relation.statementTimeoutSeconds }))
    case 'away':
      return new DatabaseTrouble(failure, coded('database_away', { name }))
    case 'changed':
      return new DatabaseTrouble(failure, coded('database_changed', { name, words }))
    case 'refused':
      return new QueryError('query_refused', { words })
    case 'failed':
      return new Error(words)
  }
}
