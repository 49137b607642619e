import { AsyncLocalStorage } from 'node:async_hooks'

/** Fields that every log line inside the context carries: the trace of a request, a job or a delivery. */
export const logContext = new AsyncLocalStorage<Readonly<Record<string, string>>>()
