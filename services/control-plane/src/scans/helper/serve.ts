import { setPriority } from 'node:os'

export type HelperMessage<Answer> =
  | { readonly progress: true }
  | { readonly answer: Answer }
  | { readonly error: string }

const PROGRESS_EVERY_MS = 1000

/** Requests come first where processors are short (nice 10 of 19). */
const PRIORITY = 10

/** Answers tasks in a helper process, until whoever started it goes. Called once, by the process's main file. */
export function serve<Task, Answer>(work: (task: Task, progress: () => void) => Answer | Promise<Answer>): void {
  setPriority(PRIORITY)
  let told = performance.now()
  // With nobody left to hear, there is nobody left to work for. Without the callback the error would be an exception.
  const tell = (message: HelperMessage<Answer>) =>
    void process.send?.(message, undefined, undefined, (error) => {
      if (error !== null) process.exit()
    })
  const progress = () => {
    if (performance.now() - told < PROGRESS_EVERY_MS) return
    told = performance.now()
    tell({ progress: true })
  }
  process.on('disconnect', () => process.exit())
  process.on('message', async (task: Task) => {
    try {
      tell({ answer: await work(task, progress) })
    } catch (error) {
      tell({ error: (error as Error).message })
    }
  })
}
