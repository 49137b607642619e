import { AsyncLocalStorage } from 'node:async_hooks'
import { type Logger, pino } from 'pino'
import { redactTokens } from '../access/redact.js'

export type Log = Logger

/** Log collectors cut longer lines in the middle of their JSON. Only strings from callers make a line that long. */
const MAX_STRING = 2000

/**
 * Creates the log of the process: JSON lines on standard output, with times in ISO 8601. Service tokens are cut to their prefix everywhere in a
 * line, and fields with credentials are removed. JSON escapes all content of callers and file names.
 */
export function createLog(service: string, level: string): Log {
  return pino(
    {
      level,
      base: { service, pid: process.pid },
      mixin: () => ({ ...logContext.getStore() }),
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: [
          'authorization',
          'cookie',
          'secret',
          'password',
          'token',
          '*.authorization',
          '*.cookie',
          '*.secret',
          '*.password',
          '*.token',
        ],
        censor: '[redacted]',
      },
      hooks: { streamWrite: redactTokens },
    },
    pino.destination({ dest: 1, sync: false }),
  )
}

/** Cuts a caller's string to a length that fits in a log line. */
export function clipped(text: string): string {
  return text.length <= MAX_STRING ? text : `${text.slice(0, MAX_STRING)}…`
}

/** Fields that every log line inside the context carries: the trace of a request, a job or a delivery. */
export const logContext = new AsyncLocalStorage<Readonly<Record<string, string>>>()
