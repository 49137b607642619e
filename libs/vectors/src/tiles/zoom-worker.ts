import { parentPort, workerData } from 'node:worker_threads'
import { buildZoom, packerOf, type ZoomsTask } from './build-zoom.js'

/** Messages to the building thread: completed steps, or a completed zoom. */
export type FromZoomWorker = { readonly steps: number } | { readonly zoom: number; readonly leftOut: number }

/** Interval in ms of the messages about steps. */
const TELL_MS = 200

/** Builds zooms in sequence on request. An error ends the thread. */
const task = workerData as ZoomsTask
const packer = packerOf(task)
const tell = (message: FromZoomWorker) => parentPort?.postMessage(message)

parentPort?.on('message', (zoom: number) => {
  let steps = 0
  let told = performance.now()
  const leftOut = buildZoom(task, packer, zoom, () => {
    steps++
    if (performance.now() - told < TELL_MS) return
    told = performance.now()
    tell({ steps })
    steps = 0
  })
  tell({ zoom, leftOut })
})
