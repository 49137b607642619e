import { SIZES } from '../data/size-set.js'
import { figure } from '../report/text-table.js'
import { MULTIPLES, STORAGES } from './even-workloads.js'
import { COLOURS, OTHER_COLOUR, text } from './plot.js'
import { SIZE_STORAGES } from './size-workloads.js'
import { type Figure, median, medianOf, ratios, type Taken } from './summary.js'

interface Line {
  readonly words: string
  readonly colour: string
  readonly dashes: string
  readonly values: (what: Figure) => readonly (number | undefined)[]
}

interface Panel {
  readonly title: string
  readonly figure: Figure
}

/** Figures over a row of values: one line for each server and storage. */
interface Curves {
  readonly title: string
  readonly panels: readonly Panel[]
  readonly over: readonly number[]
  /** returns the workload of a storage at a value */
  readonly workload: (storage: string, value: number) => string
  readonly label: (value: number) => string
  readonly lines: (samples: readonly Taken[]) => Line[]
}

const WIDTH = 420
const HEIGHT = 260
const LEFT = 64
const TOP = 40
const LEGEND = 230
const ROW = 18
const DASHES: Readonly<Record<string, string>> = { evenpm: '7 3', evenmb: '2 3', sizepm: '7 3' }
const WORDS: Readonly<Record<string, string>> = {
  even: 'files',
  evenpm: 'PMTiles',
  evenmb: 'MBTiles',
  ...SIZE_STORAGES,
}

const EVEN: Curves = {
  title: 'Tiles asked for evenly, over how many times the memory for tiles they are',
  panels: [
    { title: 'requests a second', figure: 'requestsPerSecond' },
    { title: 'p99 in milliseconds', figure: 'p99' },
  ],
  over: MULTIPLES,
  workload: (storage, multiple) => `${storage}-${multiple}`,
  label: String,
  lines: (samples) =>
    linesOf(samples, EVEN, Object.keys(STORAGES), (place, what) => medianOf(samples, place, what)).filter(
      // A file server has the same tiles as files, whatever storage it is compared with, so it has only one line.
      ({ words }) => !words.startsWith('nginx') || words.endsWith(WORDS.even as string),
    ),
}

const BY_SIZE: Curves = {
  title: 'Hot bodies by size, as multiples of what nginx takes or answers in the same round',
  panels: [
    { title: 'requests a second, of nginx', figure: 'requestsPerSecond' },
    { title: 'processor time, of nginx', figure: 'cpuPer100k' },
  ],
  over: SIZES,
  workload: (storage, size) => `${storage}-${size}k`,
  label: (size) => (size < 1024 ? `${size}` : `${size / 1024}M`),
  lines: (samples) =>
    linesOf(samples, BY_SIZE, Object.keys(SIZE_STORAGES), (place, what) =>
      median(ratios(samples, place, place.replace(/ .*/, ' nginx'), what)),
    ).filter(({ words }) => words.endsWith(WORDS.size as string) || !words.startsWith('nginx')),
}

/** Plots rate and p99 over the size of the evenly requested set. SVG 1.1; null without measurements. */
export const evenPlot = (samples: readonly Taken[], machine: string): string | null => curvePlot(samples, EVEN, machine)
/** Plots rate and processor time of hot bodies by their size, relative to nginx. SVG 1.1; null without measurements. */
export const sizePlot = (samples: readonly Taken[], machine: string): string | null =>
  curvePlot(samples, BY_SIZE, machine)

function curvePlot(samples: readonly Taken[], curves: Curves, machine: string): string | null {
  const lines = curves.lines(samples)
  if (lines.length === 0) return null
  const width = LEFT + curves.panels.length * (WIDTH + LEFT) + LEGEND
  const parts = curves.panels.flatMap((panel, i) => panelOf(curves, panel, lines, LEFT + i * (WIDTH + LEFT)))
  const legendX = LEFT + curves.panels.length * (WIDTH + LEFT)
  for (const [i, { words, colour, dashes }] of lines.entries()) {
    const y = TOP + i * ROW
    parts.push(
      `<line x1="${legendX}" y1="${y}" x2="${legendX + 30}" y2="${y}" stroke="${colour}" stroke-width="2" stroke-dasharray="${dashes}"/>`,
      text(legendX + 38, y + 4, words),
    )
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${TOP + HEIGHT + 50}" font-family="system-ui, sans-serif" font-size="11" fill="#0f172a">
<title>${curves.title}</title>
<rect width="${width}" height="${TOP + HEIGHT + 50}" fill="#fff"/>
${parts.join('\n')}
${text(LEFT, TOP + HEIGHT + 40, machine)}
</svg>
`
}

function linesOf(
  samples: readonly Taken[],
  { over, workload }: Curves,
  storages: readonly string[],
  valueAt: (place: string, what: Figure) => number | undefined,
): Line[] {
  return storages.flatMap((storage) => {
    const taken = samples.filter((sample) => over.some((value) => sample.workload === workload(storage, value)))
    return [...new Set(taken.map(({ peer }) => peer))].map((peer) => ({
      words: `${peer}, ${WORDS[storage]}`,
      colour: COLOURS[peer] ?? OTHER_COLOUR,
      dashes: DASHES[storage] ?? '',
      values: (what: Figure) => over.map((value) => valueAt(`${workload(storage, value)} ${peer}`, what)),
    }))
  })
}

function panelOf(
  { over, label }: Curves,
  { title, figure: what }: Panel,
  lines: readonly Line[],
  left: number,
): string[] {
  const most = Math.max(...lines.flatMap(({ values }) => values(what).map((value) => value ?? 0))) || 1
  const last = Math.log(over.at(-1) ?? 1)
  const first = Math.log(over[0] ?? 1)
  const xOf = (multiple: number) => left + ((Math.log(multiple) - first) / (last - first)) * WIDTH
  const yOf = (value: number) => TOP + HEIGHT - (value / most) * HEIGHT
  const parts = [
    text(left, TOP - 18, title, 'font-weight="600"'),
    `<rect x="${left}" y="${TOP}" width="${WIDTH}" height="${HEIGHT}" fill="none" stroke="#cbd5e1"/>`,
    ...[0, 0.5, 1].map((part) => text(left - 6, yOf(part * most) + 4, figure(part * most), 'text-anchor="end"')),
    ...over.map((value) => text(xOf(value), TOP + HEIGHT + 16, label(value), 'text-anchor="middle"')),
  ]
  for (const { values, colour, dashes } of lines) {
    const points = over.flatMap((place, i) => {
      const value = values(what)[i]
      return value === undefined ? [] : [[xOf(place), yOf(value)] as const]
    })
    const path = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ')
    parts.push(
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2" stroke-dasharray="${dashes}"/>`,
      ...points.map(([x, y]) => `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="2.5" fill="${colour}"/>`),
    )
  }
  return parts
}
