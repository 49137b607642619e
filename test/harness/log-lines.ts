/** One output line of a process: JSON from its log, or text that the gateway should never write. */
export interface LogLine {
  readonly raw: string
  /** the parsed line; null if it is not JSON */
  readonly json: Readonly<Record<string, unknown>> | null
  readonly from: 'stdout' | 'stderr'
}

export function parseLine(raw: string, from: LogLine['from']): LogLine {
  try {
    const json: unknown = JSON.parse(raw)
    return { raw, json: typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : null, from }
  } catch {
    return { raw, json: null, from }
  }
}

const TROUBLE = new Set<unknown>(['error', 'fatal', 50, 60])

/** True for lines that a healthy run never has: errors, and text that is not a log line. */
export function isTrouble({ json }: LogLine): boolean {
  return json === null || TROUBLE.has(json.level)
}
