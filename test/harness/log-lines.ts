/** One line that a process wrote: JSON from its log, or else text that nothing of ours should write. */
export interface LogLine {
  readonly raw: string
  /** the parsed line; null when it is not JSON */
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

/** Whether a line is one that a healthy run never has: an error, or something that is not a log line at all. */
export function isTrouble({ json }: LogLine): boolean {
  return json === null || TROUBLE.has(json.level)
}
