import { setImmediate } from 'node:timers/promises'
import { serve } from '../serve.js'

/** Tasks of the tests' helper process. */
export type HelperTask =
  | { readonly do: 'answer'; readonly with: ReadonlyMap<string, Date> }
  | { readonly do: 'hang' | 'throw' | 'die' | 'list the environment' | 'name yourself' }
  | { readonly do: 'fill the heap' | 'fill the memory' }
  | { readonly do: 'spin'; readonly name: string }
  | { readonly do: 'make progress'; readonly ms: number }

serve<HelperTask, unknown>(async (task, progress) => {
  switch (task.do) {
    case 'answer':
      return task.with
    case 'list the environment':
      // biome-ignore lint/style/noProcessEnv: the test checks that the environment is empty
      return Object.keys(process.env)
    case 'hang':
      return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    case 'throw':
      throw new Error('no luck')
    case 'die':
      return process.kill(process.pid, 'SIGKILL')
    case 'name yourself':
      return process.pid
    case 'spin':
      progress(task.name)
      await setImmediate()
      for (;;);
    case 'fill the heap': {
      progress(task.do)
      await setImmediate()
      const kept: object[] = []
      for (;;) kept.push({ kept })
    }
    case 'fill the memory': {
      progress(task.do)
      await setImmediate()
      const kept: Buffer[] = []
      try {
        for (;;) kept.push(Buffer.alloc(1024 * 1024, 1))
      } catch {
        // The limit is met, as by a program that does not expect it.
        return process.abort()
      }
    }
    case 'make progress': {
      const end = performance.now() + task.ms
      while (performance.now() < end) progress()
      return 'done'
    }
  }
})
