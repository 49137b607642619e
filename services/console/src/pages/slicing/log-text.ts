import type { Texts } from '../../texts/en.js'
import type { Formats } from '../../ui/format.js'

type Phase = keyof Texts['slicing']['logLines']['phases']

/** Lines that the tiling tool writes for programs; see `libs/contracts/src/tiling/protocol.ts`. */
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
 * A slicing log in words. What the tool writes for people stays as it is; its JSON lines are told, of a run of progress only where it has
 * come to; a JSON line that is still being written waits for its end.
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

/** null: a line for people, or one of a kind that this page does not know. */
function toolLine(raw: string): ToolLine | null {
  if (!raw.startsWith('{')) return null
  try {
    const line = JSON.parse(raw)
    return TYPES.has(line.type) ? line : null
  } catch {
    return null
  }
}
