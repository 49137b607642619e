import { parentPort, workerData } from 'node:worker_threads'
import { type ComparedColumn, columnChanges, type FolderPair } from './column-changes.js'

// The main file of a thread of `ColumnThreads`. An error ends the thread.
parentPort?.on('message', (column: ComparedColumn) => {
  const changes = columnChanges(workerData as FolderPair, column)
  parentPort?.postMessage(changes, [changes.buffer as ArrayBuffer])
})
