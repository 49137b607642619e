import { figure } from '../report/text-table.js'
import { type Comparison, type Figure, medianOf } from './summary.js'
import type { Workload } from './workload.js'

interface Panel {
  readonly title: string
  readonly figure: Figure
}

const PANELS: readonly Panel[] = [
  { title: 'requests a second (more is better)', figure: 'requestsPerSecond' },
  { title: 'processor seconds for 100,000 requests (less is better)', figure: 'cpuPer100k' },
  { title: 'p99 in milliseconds (less is better)', figure: 'p99' },
]
/** Colours that also differ in lightness, for colour-blind readers. */
export const COLOURS: Readonly<Record<string, string>> = {
  edge: '#1d4ed8',
  nginx: '#94a3b8',
  lighttpd: '#0d9488',
  varnish: '#a21caf',
  limit: '#d4d4d8',
  'tileserver-gl-light': '#f59e0b',
}
export const OTHER_COLOUR = '#64748b'
const BAR = 16
const GAP = 22
const TITLE = 34
const LABELS = 210
const BARS = 240
const VALUES = 70

/** Plots one row per workload and one panel per figure; the longest bar of a row is its greatest value. SVG 1.1. */
export function comparePlot(comparison: Comparison, workloads: readonly Workload[]): string {
  const rows = workloads
    .map((workload) => ({ workload, peers: peersOf(comparison, workload) }))
    .filter(({ workload, peers }) => peers.length > 0 && workload.name !== 'slow-downloads')
  const parts: string[] = []
  PANELS.forEach(({ title }, i) => {
    parts.push(text(LABELS + i * (BARS + VALUES), 22, title, 'font-weight="600"'))
  })
  let y = TITLE
  for (const { workload, peers } of rows) {
    parts.push(text(8, y + 12, workload.name, 'font-weight="600"'))
    PANELS.forEach((panel, i) => {
      parts.push(...bars(comparison, workload, peers, panel, LABELS + i * (BARS + VALUES), y))
    })
    for (const [i, peer] of peers.entries()) parts.push(text(LABELS - 8, y + i * BAR + 12, peer, 'text-anchor="end"'))
    y += peers.length * BAR + GAP
  }
  const width = LABELS + PANELS.length * (BARS + VALUES)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" font-family="system-ui, sans-serif" font-size="11" fill="#0f172a">
<title>Requests a second and processor time of each server, by workload</title>
<rect width="${width}" height="${y}" fill="#fff"/>
${parts.join('\n')}
</svg>
`
}

function peersOf({ peers, samples }: Comparison, { name }: Workload): string[] {
  return peers
    .map((peer) => peer.name)
    .filter((peer) => samples.some((sample) => sample.workload === name && sample.peer === peer))
}

function bars(
  { samples }: Comparison,
  { name }: Workload,
  peers: readonly string[],
  panel: Panel,
  x: number,
  y: number,
): string[] {
  const values = peers.map((peer) => medianOf(samples, `${name} ${peer}`, panel.figure) ?? 0)
  const longest = Math.max(...values) || 1
  return values.flatMap((value, i) => {
    const length = Math.max(1, (value / longest) * BARS)
    const top = y + i * BAR
    const colour = COLOURS[peers[i] as string] ?? OTHER_COLOUR
    return [
      `<rect x="${x}" y="${top + 2}" width="${length.toFixed(1)}" height="${BAR - 4}" fill="${colour}"/>`,
      text(x + length + 5, top + 12, figure(value)),
    ]
  })
}

export function text(x: number, y: number, content: string, more = ''): string {
  return `<text x="${x.toFixed(1)}" y="${y}" ${more}>${content}</text>`
}
