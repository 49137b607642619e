import { serve } from '../serve.js'

/** Tasks of the tests' helper process. */
export type HelperTask =
  | { readonly do: 'answer'; readonly with: ReadonlyMap<string, Date> }
  | { readonly do: 'hang' | 'throw' | 'die' | 'list the environment' }
  | { readonly do: 'make progress'; readonly ms: number }

serve<HelperTask, unknown>((task, progress) => {
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
    case 'make progress': {
      const end = performance.now() + task.ms
      while (performance.now() < end) progress()
      return 'done'
    }
  }
})
