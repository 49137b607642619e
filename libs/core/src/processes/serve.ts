import { CodedError, type CodedMessage } from '@gateway/contracts/messages.js'
import { lowerPriority, NICE } from './priority.js'

export type HelperMessage<Answer> =
  | { readonly started: true }
  | { readonly progress: number; readonly at: string | null }
  | { readonly answer: Answer }
  | { readonly error: string; readonly said: CodedMessage | null }

const PROGRESS_EVERY_MS = 1000

/**
 * Reports a step of a task. Without a name at most one report a second is sent; a name is sent at once, because the task may hang in that step.
 */
export type Progress = (name?: string) => void

/** Runs tasks in a helper process until its parent ends. The main file of the process calls it once. */
export function serve<Task, Answer>(work: (task: Task, progress: Progress) => Answer | Promise<Answer>): void {
  lowerPriority(NICE.background)
  let reported = performance.now()
  // A send fails if the parent is gone. Without the callback the error would be an uncaught exception.
  const send = (message: HelperMessage<Answer>) =>
    void process.send?.(message, undefined, undefined, (error) => {
      if (error !== null) process.exit()
    })
  let steps = 0
  const progress: Progress = (name) => {
    steps++
    if (name === undefined && performance.now() - reported < PROGRESS_EVERY_MS) return
    reported = performance.now()
    send({ progress: steps, at: name ?? null })
  }
  process.on('disconnect', () => process.exit())
  process.on('message', async (task: Task) => {
    steps = 0
    try {
      send({ answer: await work(task, progress) })
    } catch (error) {
      send({ error: (error as Error).message, said: error instanceof CodedError ? error.said : null })
    }
  })
  send({ started: true })
}
