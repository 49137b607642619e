import { type Logger, pino } from 'pino'
import { redactTokens } from '../access/redact.js'
import { logContext } from './log-context.js'

export type Log = Logger

/** Longer lines are cut by log collectors in the middle of their JSON; a caller's string is what makes a line that long. */
const MAX_STRING = 2000

/**
 * The process's log: JSON lines on standard output, times in ISO 8601. Service tokens are cut to their prefix wherever they stand in a
 * line, and fields that hold credentials are removed; JSON escapes whatever callers and file names contain.
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

/** A caller's string, cut to a length that a log line can bear. */
export function clipped(text: string): string {
  return text.length <= MAX_STRING ? text : `${text.slice(0, MAX_STRING)}…`
}
