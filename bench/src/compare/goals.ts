import { OTHERS, type Other } from '../data/others-set.js'
import { SIZES } from '../data/size-set.js'
import { MULTIPLES, OTHER_MULTIPLES } from './even-workloads.js'
import { SIZE_STORAGES } from './size-workloads.js'
import { type Figure, median, medianOf, ratios, type Taken } from './summary.js'

type Place = `${string} ${string}`
/** A figure of a workload and peer, the place it is compared with (null: none), and the limit. */
type Goal = readonly [text: string, figure: Figure, of: Place, to: Place | null, limit: 'least' | 'most', value: number]

const MB = 1024 * 1024
const RATE = 'requestsPerSecond'
const CPU = 'cpuPer100k'

/** Goals of the edge, on the same machine in the same run. Each peer is the best one for its comparison. */
export const GOALS: readonly Goal[] = [
  ...against('the mix', 'mix', 'nginx', 1.3, 0.77),
  ['the mix, p99, against nginx', 'p99', 'mix edge', 'mix nginx', 'most', 1.1],
  ...against('the mix', 'mix', 'varnish', 2, 0.5),
  ['the mix with a revision, against without', RATE, 'mix-revised edge', 'mix edge', 'least', 0.97],
  ['the mix with the token in the query, against without', RATE, 'mix-revised-query edge', 'mix edge', 'least', 0.97],
  ...against('304', 'not-modified', 'nginx', 1, 1),
  ['304, against the mix', RATE, 'not-modified edge', 'mix edge', 'least', 1],
  ...['128k', '160k', '256k', '1m'].flatMap((size) =>
    ['nginx', 'lighttpd'].flatMap((peer) => against(`bodies of ${size}`, `body-${size}`, peer, 1, 1)),
  ),
  ...Object.keys(SIZE_STORAGES).flatMap((storage) =>
    SIZES.flatMap((size) =>
      against(`${storage}, ${size} KB`, `${storage}-${size}k`, 'nginx', size === 1024 ? 1.5 : 1.05, 1),
    ),
  ),
  ...against('many files, not in memory,', 'many', 'nginx', 0.9, 1.1),
  ['processor time for a GB of downloads, against nginx', 'cpuPerGb', 'download edge', 'download nginx', 'most', 0.9],
  ['MB of memory that 100 slow downloads cost', 'memoryRise', 'slow-downloads edge', null, 'most', 64 * MB],
  [
    'p99 of tiles next to downloads, against nginx',
    'p99',
    'beside-downloads edge',
    'beside-downloads nginx',
    'most',
    1,
  ],
  ...['hot', 'mix', 'mix-revised-query', ...['128k', '160k', '256k', '1m'].map((size) => `body-${size}`)].map(
    (name): Goal => [`${name}, against the kernel's limit`, RATE, `${name} edge`, `${name} limit`, 'least', 0.9],
  ),
  ...SIZES.map(
    (size): Goal => [
      `files of ${size} KB, against the kernel's limit`,
      RATE,
      `size-${size}k edge`,
      `size-${size}k limit`,
      'least',
      0.9,
    ],
  ),
  ["evenly over 5 times the memory, against the kernel's limit", RATE, 'even-5 edge', 'even-5 limit', 'least', 0.7],
  ['MBTiles, against tileserver-gl-light', RATE, 'mixmb edge', 'mixmb tileserver-gl-light', 'least', 10],
  ...['browser', 'orders', 'head', 'tags', 'since', 'weights', 'basic', 'two-places', 'range'].map(
    (form): Goal => [`the form ${form}, against lean`, RATE, `form-${form} edge`, 'mix edge', 'least', 0.9],
  ),
  ...MULTIPLES.flatMap((multiple) => [
    ...cold(`files, ${multiple} times the memory`, `even-${multiple}`, 0.9, 1.3),
    ...cold(`PMTiles, ${multiple} times the memory`, `evenpm-${multiple}`, 1.3),
    ...cold(`MBTiles, ${multiple} times the memory`, `evenmb-${multiple}`, 0.7),
  ]),
  ...cold('vector tiles, files', 'vt', 0.9, 1.3),
  ...cold('vector tiles, PMTiles', 'vtpm', 1.3),
  ...cold('vector tiles, MBTiles', 'vtmb', 0.7),
  ...OTHER_MULTIPLES.flatMap((multiple) =>
    (Object.keys(OTHERS) as Other[]).flatMap((name) => likePmtiles(name, multiple)),
  ),
  [
    'MBTiles at 20 times the memory, against tileserver-gl-light',
    RATE,
    'evenmb-20 edge',
    'evenmb-20 tileserver-gl-light',
    'least',
    10,
  ],
  ...['connections', 'crowd-tokens', 'crowd-basemaps', 'crowd-all'].map(
    (name): Goal => [`${name}, against only the mix`, RATE, `${name} edge`, 'mix edge', 'least', 0.8],
  ),
  ...against('the mix over TLS', 'tls-mix', 'nginx', 1.2, 0.85),
  ...against('a handshake of TLS for each request', 'tls-once', 'nginx', 1, 1),
  ['connections for one request each, against nginx', RATE, 'once edge', 'once nginx', 'least', 0.8],
  ['the catalog of a crowd, against a small one', RATE, 'catalog-crowd edge', 'catalog edge', 'least', 0.8],
  ['404, against one hot tile', RATE, 'missing edge', 'hot edge', 'least', 0.9],
  ['404 of many addresses, against one hot tile', RATE, 'missing-many edge', 'hot edge', 'least', 0.9],
  ['401 without a token, against one hot tile', RATE, 'refused-missing edge', 'hot edge', 'least', 0.9],
  ['403, against one hot tile', RATE, 'refused-grant edge', 'hot edge', 'least', 0.9],
  ['401 for a mistyped token, against one hot tile', RATE, 'refused-checksum edge', 'hot edge', 'least', 1],
  ['401 for an unknown token, against one hot tile', RATE, 'refused-unknown edge', 'hot edge', 'least', 1],
  [
    'the mix next to a flood of unknown tokens, against only the mix',
    RATE,
    'beside-flood edge',
    'mix edge',
    'least',
    0.9,
  ],
  ['p99 of the mix next to GetTile, against only the mix', 'p99', 'beside-gettile edge', 'mix edge', 'most', 1.1],
]

export interface Judged {
  readonly text: string
  readonly wanted: string
  /** median of the rounds */
  readonly found: string
  /** worst of the rounds */
  readonly worst: string
  readonly met: boolean
}

/** Returns the goals for which both sides were measured. */
export function judgeGoals(samples: readonly Taken[]): Judged[] {
  return GOALS.flatMap((goal) => judge(samples, goal) ?? [])
}

/** Tolerance by which a figure may be worse than that of the earlier checkout. */
const WORSE = 0.03

/** Compares each workload of the edge with the earlier checkout, if that was measured. */
export function judgeAgainstBefore(samples: readonly Taken[]): Judged[] {
  const workloads = [...new Set(samples.map(({ workload }) => workload))]
  return workloads.flatMap((name) =>
    against(name, name, 'before', 1 - WORSE, 1 + WORSE).flatMap((goal) => judge(samples, goal) ?? []),
  )
}

function judge(samples: readonly Taken[], [text, figure, of, to, limit, value]: Goal): Judged | undefined {
  const found = to === null ? [medianOf(samples, of, figure)] : ratios(samples, of, to, figure)
  const values = found.filter((one) => one !== undefined)
  const middle = median(values)
  if (middle === undefined) return undefined
  const scale = figure === 'memoryRise' ? MB : 1
  const worst = limit === 'least' ? Math.min(...values) : Math.max(...values)
  return {
    text,
    wanted: `at ${limit} ${Number((value / scale).toFixed(2))}`,
    found: (middle / scale).toFixed(2),
    worst: (worst / scale).toFixed(2),
    met: limit === 'least' ? middle >= value : middle <= value,
  }
}

/** Goals for even access, against nginx on the same tiles as files without its file cache. */
function cold(text: string, workload: string, rate: number, p99?: number): readonly Goal[] {
  const [of, to] = [`${workload} edge`, `${workload} nginx`] as const
  return [
    [`${text}: requests a second, against nginx`, RATE, of, to, 'least', rate],
    ...(p99 === undefined ? [] : [[`${text}: p99, against nginx`, 'p99', of, to, 'most', p99] satisfies Goal]),
  ]
}

/** Goals for the readers of other makers' archives: at least the figure of PMTiles for the same tiles, within the noise of a shared machine. */
function likePmtiles(name: Other, multiple: number): readonly Goal[] {
  if (name === 'others-pmtiles') return []
  const text = `${name.slice('others-'.length)}, ${multiple} times the memory`
  const [of, to] = [`${name}-${multiple} edge`, `others-pmtiles-${multiple} edge`] as const
  return [
    [`${text}: requests a second, against PMTiles`, RATE, of, to, 'least', 0.95],
    [`${text}: processor time, against PMTiles`, CPU, of, to, 'most', 1.05],
  ]
}

function against(text: string, workload: string, peer: string, rate: number, cpu: number): readonly Goal[] {
  const [of, to] = [`${workload} edge`, `${workload} ${peer}`] as const
  return [
    [`${text}: requests a second, against ${peer}`, RATE, of, to, 'least', rate],
    [`${text}: processor time, against ${peer}`, CPU, of, to, 'most', cpu],
  ]
}
