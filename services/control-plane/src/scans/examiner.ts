import { Piscina } from 'piscina'
import type { ExamineTask, Finding } from './examine-worker.js'

/** Looks into files in threads of their own, for the time of one scan. */
export interface Examiner {
  examine<T extends ExamineTask>(task: T): Promise<Finding<T>>
  close(): Promise<void>
}

/** One thread examines while the other waits for the disk; more would take the processors away from requests. */
const THREADS = 2

export function startExaminer(): Examiner {
  const pool = new Piscina({
    filename: new URL('./examine-worker.js', import.meta.url).href,
    minThreads: 0,
    maxThreads: THREADS,
  })
  return {
    examine: (task) => pool.run(task),
    close: () => pool.destroy(),
  }
}
