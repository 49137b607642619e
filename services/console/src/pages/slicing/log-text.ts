import type { Texts } from '../../texts/en.js'
import type { Formats } from '../../ui/format.js'

type Phase = keyof Texts['slicing']['logLines']['phases']

/** JSON lines of the tiling tool; see `libs/contracts/src/tiling/protocol.ts`. */
type ToolLine =
  | {
      readonly type: 'plan'
      readonly tiles: number
      readonly bytes_estimate: number
      readonly min_zoom: number
      readonly max_zoom: number
      readonly engine: string
    }
  | { readonly type: 'progress'; readonly percent: number; readonly phase: Phase }
  | {
      readonly type: 'result'
      readonly ok: true
      readonly tiles_written: number
      readonly min_zoom: number
      readonly max_zoom: number
      readonly format: string
    }
  | { readonly type: 'result'; readonly ok: false; readonly reason: string }

/**
 * Converts a slicing log to readable text. Plain lines of the tool stay as they are. JSON lines become words, and consecutive progress
 * lines become one with the latest value. An incomplete JSON line is left out until it ends.
 */
export function readableLog(text: string, t: Texts['slicing']['logLines'], formats: Formats): string {
  const lines = text.split('\n')
  if (lines.at(-1)?.startsWith('{')) lines.pop()
  const words: string[] = []
  let phase: Phase | null = null
  for (const raw of lines) {
    const line = toolLine(raw)
    const before: Phase | null = phase
    phase = line?.type === 'progress' ? line.phase : null
    if (phase !== null && phase === before) words.pop()
    words.push(line === null ? raw : inWords(line, t, formats))
  }
  return words.join('\n')
}

function inWords(line: ToolLine, t: Texts['slicing']['logLines'], { number, bytes, percent }: Formats): string {
  if (line.type === 'progress') return `${t.phases[line.phase] ?? line.phase}: ${percent(line.percent / 100)}`
  if (line.type === 'result' && !line.ok) return t.failed(line.reason)
  const zooms = `${line.min_zoom}–${line.max_zoom}`
  if (line.type === 'plan') return t.plan(number(line.tiles), bytes(line.bytes_estimate), zooms, line.engine)
  return t.succeeded(number(line.tiles_written), zooms, line.format)
}

const TYPES: ReadonlySet<unknown> = new Set(['plan', 'progress', 'result'] satisfies ToolLine['type'][])

/** Returns null for a plain line, or for a kind that this page does not know. */
function toolLine(raw: string): ToolLine | null {
  if (!raw.startsWith('{')) return null
  try {
    const line = JSON.parse(raw)
    return TYPES.has(line.type) ? line : null
  } catch {
    return null
  }
}
