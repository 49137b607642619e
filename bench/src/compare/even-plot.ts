import { figure } from '../report/text-table.js'
import { MULTIPLES, STORAGES } from './even-workloads.js'
import { COLOURS, OTHER_COLOUR, text } from './plot.js'
import { type Figure, medianOf, type Taken } from './summary.js'

interface Line {
  readonly words: string
  readonly colour: string
  readonly dashes: string
  readonly values: (what: Figure) => readonly (number | undefined)[]
}

const PANELS: readonly { readonly title: string; readonly figure: Figure }[] = [
  { title: 'requests a second', figure: 'requestsPerSecond' },
  { title: 'p99 in milliseconds', figure: 'p99' },
]
const DASHES: Readonly<Record<keyof typeof STORAGES, string>> = { even: '', evenpm: '7 3', evenmb: '2 3' }
const WORDS: Readonly<Record<keyof typeof STORAGES, string>> = { even: 'files', evenpm: 'PMTiles', evenmb: 'MBTiles' }
const WIDTH = 420
const HEIGHT = 260
const LEFT = 64
const TOP = 40
const LEGEND = 230
const ROW = 18

/** Rate and p99 over how much is asked for evenly, one line for each server and storage. SVG 1.1; null: nothing was measured. */
export function evenPlot(samples: readonly Taken[]): string | null {
  const lines = linesOf(samples)
  if (lines.length === 0) return null
  const width = LEFT + PANELS.length * (WIDTH + LEFT) + LEGEND
  const parts = PANELS.flatMap((panel, i) => panelOf(panel, lines, LEFT + i * (WIDTH + LEFT)))
  const legendX = LEFT + PANELS.length * (WIDTH + LEFT)
  for (const [i, { words, colour, dashes }] of lines.entries()) {
    const y = TOP + i * ROW
    parts.push(
      `<line x1="${legendX}" y1="${y}" x2="${legendX + 30}" y2="${y}" stroke="${colour}" stroke-width="2" stroke-dasharray="${dashes}"/>`,
      text(legendX + 38, y + 4, words),
    )
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${TOP + HEIGHT + 50}" font-family="system-ui, sans-serif" font-size="11" fill="#0f172a">
<title>Tiles asked for evenly: rate and p99 by how many times the memory for tiles they are</title>
<rect width="${width}" height="${TOP + HEIGHT + 50}" fill="#fff"/>
${parts.join('\n')}
</svg>
`
}

/** A file server has the same tiles as files, whichever storage is measured beside it: one line is enough. */
function linesOf(samples: readonly Taken[]): Line[] {
  return (Object.keys(STORAGES) as (keyof typeof STORAGES)[]).flatMap((storage) => {
    const taken = samples.filter(({ workload }) => MULTIPLES.some((multiple) => workload === `${storage}-${multiple}`))
    const peers = [...new Set(taken.map(({ peer }) => peer))].filter((peer) => storage === 'even' || peer !== 'nginx')
    return peers.map((peer) => ({
      words: `${peer}, ${WORDS[storage]}`,
      colour: COLOURS[peer] ?? OTHER_COLOUR,
      dashes: DASHES[storage],
      values: (what: Figure) => MULTIPLES.map((multiple) => medianOf(samples, `${storage}-${multiple} ${peer}`, what)),
    }))
  })
}

function panelOf({ title, figure: what }: (typeof PANELS)[number], lines: readonly Line[], left: number): string[] {
  const most = Math.max(...lines.flatMap(({ values }) => values(what).map((value) => value ?? 0))) || 1
  const last = Math.log(MULTIPLES.at(-1) ?? 1)
  const first = Math.log(MULTIPLES[0])
  const xOf = (multiple: number) => left + ((Math.log(multiple) - first) / (last - first)) * WIDTH
  const yOf = (value: number) => TOP + HEIGHT - (value / most) * HEIGHT
  const parts = [
    text(left, TOP - 18, `${title}, over multiples of the memory for tiles`, 'font-weight="600"'),
    `<rect x="${left}" y="${TOP}" width="${WIDTH}" height="${HEIGHT}" fill="none" stroke="#cbd5e1"/>`,
    ...[0, 0.5, 1].map((part) => text(left - 6, yOf(part * most) + 4, figure(part * most), 'text-anchor="end"')),
    ...MULTIPLES.map((multiple) => text(xOf(multiple), TOP + HEIGHT + 16, `${multiple}`, 'text-anchor="middle"')),
  ]
  for (const { values, colour, dashes } of lines) {
    const points = MULTIPLES.flatMap((multiple, i) => {
      const value = values(what)[i]
      return value === undefined ? [] : [[xOf(multiple), yOf(value)] as const]
    })
    const path = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ')
    parts.push(
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2" stroke-dasharray="${dashes}"/>`,
      ...points.map(([x, y]) => `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="2.5" fill="${colour}"/>`),
    )
  }
  return parts
}
