import { lowerPriority, NICE } from '@gateway/core/processes/priority.js'
import type { Chunk } from '../query/items-query.js'
import { makeTile } from './make-tile.js'
import type { FromDatabaseProcess, ToDatabaseProcess } from './messages.js'
import { type Pool, Pools } from './pools.js'
import { readQuery } from './read-query.js'

/**
 * Queries databases for the parent process, so that neither their responses nor the packing of tiles occupy its event loop. Ends with the parent.
 */

lowerPriority(NICE.requests)

/** Time in ms after which a statement that nobody waits for is cancelled, if it has not ended. */
const CANCEL_AFTER_MS = 50

interface Work {
  readonly pool: Pool
  chunks: AsyncGenerator<Chunk, void> | null
  cancel: () => void
  isOver: boolean
}

const works = new Map<number, Work>()
const pools = new Pools((message) => tell(message))

function tell(message: FromDatabaseProcess): void {
  process.send?.(message)
}

async function answer(id: number, work: Work, made: () => Promise<FromDatabaseProcess>): Promise<void> {
  try {
    const message = await made()
    work.pool.succeeded()
    if (!work.isOver) tell(message)
  } catch (error) {
    const failed = work.pool.failed(error)
    if (!work.isOver) tell({ id, ...failed })
    works.delete(id)
  }
}

/** A statement of the client. `active`: the database works for it, and no other one of its connection is in front of it. */
interface Statement extends PromiseLike<unknown> {
  cancel(): void
  readonly active?: boolean
}

/**
 * Cancels a statement that goes on. The client loses the connection of one that is cancelled before it was sent, and mixes up the answers of one that is
 * cancelled behind another. Short statements end by themselves: a request to cancel that comes too late would end the next one.
 */
function cancelActive(statement: Statement): void {
  const timer = setInterval(() => {
    if (statement.active !== true) return
    stop()
    statement.cancel()
  }, CANCEL_AFTER_MS)
  const stop = () => clearInterval(timer)
  statement.then(stop, stop)
}

function begin(message: Extract<ToDatabaseProcess, { what: 'tile' | 'open' }>): void {
  const { id, connection, token } = message
  const pool = pools.of(connection, message.what === 'tile' ? message.tile.relation : message.query.table)
  const work: Work = { pool, chunks: null, cancel: () => {}, isOver: false }
  const running = (statement: Statement) => {
    if (work.isOver) throw new Error('nobody waits for the statement any more')
    work.cancel = () => cancelActive(statement)
  }
  if (pool.isAway) {
    tell({ id, failure: 'away', words: 'the database did not respond a moment ago' })
    return
  }
  works.set(id, work)
  if (message.what === 'open') {
    work.chunks = readQuery(pool.sql, message.query, message.layer, token, running)
    return void pull(id, work)
  }
  const { tile } = message
  void answer(id, work, async () => {
    if (!tile.relation.isPersonal) return { id, made: await makeTile(pool.sql, tile, running) }
    const made = await pool.sql.begin('read only', async (tx) => {
      await tx.unsafe("SELECT set_config('gateway.token', $1::text, true)", [token])
      return makeTile(tx, tile, running)
    })
    return { id, made }
  }).finally(() => works.delete(id))
}

function pull(id: number, work: Work): Promise<void> {
  return answer(id, work, async () => {
    const next = await work.chunks?.next()
    const chunk = next?.value
    if (chunk === undefined) throw new Error('the query has ended')
    if (chunk.state !== 'going on') end(id, work)
    return { id, chunk }
  })
}

/** Ends a query. The next rows are already asked for between two parts; that statement is cancelled. */
function end(id: number, work: Work): void {
  works.delete(id)
  work.cancel()
  void work.chunks?.return().catch(() => {})
}

process.on('message', (message: ToDatabaseProcess) => {
  if (message.what === 'tile' || message.what === 'open') return begin(message)
  if (message.what === 'listen') return void pools.of(message.connection, message.relation)
  const work = works.get(message.id)
  if (work === undefined) return
  if (message.what === 'pull') return void pull(message.id, work)
  work.isOver = true
  end(message.id, work)
})
// At a terminal signals reach the whole process group; the parent process handles them.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.on('disconnect', () => process.exit(0))
// The client reports some lost connections both to their queries and here.
process.on('unhandledRejection', () => {})
