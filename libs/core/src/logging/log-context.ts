import { AsyncLocalStorage } from 'node:async_hooks'

/** What every line of the code that runs within says next to its own: the trace of a request, a job or a delivery. */
export const logContext = new AsyncLocalStorage<Readonly<Record<string, string>>>()
