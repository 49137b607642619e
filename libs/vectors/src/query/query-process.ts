import fs from 'node:fs'
import { lowerPriority, NICE } from '@gateway/core/processes/priority.js'
import type { Chunk } from './items-query.js'
import type { FromQueryProcess, ToQueryProcess } from './query-messages.js'
import { OpenIndex } from './run-query.js'

/**
 * Runs queries for the parent process, one step at a time, until the parent ends. A step takes as long as SQLite needs for a feature; a parent
 * that cannot wait kills this process.
 */

lowerPriority(NICE.requests)

/** Limit: indexes that are open. */
const MAX_INDEXES = 32

const indexes = new Map<string, OpenIndex>()
const running = new Map<number, Generator<Chunk, void>>()

function indexAt(file: string): OpenIndex {
  const known = indexes.get(file)
  if (known !== undefined) {
    // Moves the index to the end, so that the least recently used one is closed first.
    indexes.delete(file)
    indexes.set(file, known)
    return known
  }
  for (const [name, index] of indexes) {
    if (indexes.size < MAX_INDEXES) break
    if (!index.isIdle) continue
    index.close()
    indexes.delete(name)
  }
  const opened = new OpenIndex(file)
  indexes.set(file, opened)
  return opened
}

function tell(message: FromQueryProcess): void {
  process.send?.(message)
}

function step(id: number): void {
  const generator = running.get(id)
  if (generator === undefined) return
  const { value, done } = generator.next()
  if (done === true || value === undefined) return void running.delete(id)
  if (value.state !== 'going on') end(id)
  tell({ id, chunk: value })
}

function end(id: number): void {
  running.get(id)?.return()
  running.delete(id)
}

process.on('message', (message: ToQueryProcess) => {
  const { id } = message
  if (message.what === 'close') return end(id)
  try {
    if (message.what === 'open') running.set(id, indexAt(message.query.index).run(message.query))
    step(id)
  } catch (error) {
    const missing = message.what === 'open' && !fs.existsSync(message.query.index)
    end(id)
    tell({ id, failed: (error as Error).message, missing })
  }
})
// At a terminal signals reach the whole process group; the parent process handles them.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.on('disconnect', () => process.exit(0))
