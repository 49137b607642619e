import { type Figure, medianOf, medianRatio, type Taken } from './summary.js'

interface Goal {
  readonly text: string
  readonly figure: Figure
  readonly of: readonly [workload: string, peer: string]
  /** what it is compared with; a figure of its own where it is missing */
  readonly to?: readonly [workload: string, peer: string]
  readonly atLeast?: number
  readonly atMost?: number
}

const MB = 1024 * 1024

/** What the edge is meant to reach, on the same machine in the same run. */
const GOALS: readonly Goal[] = [
  rate('tiles a second, realistic mix, against nginx', ['mix', 'edge'], ['mix', 'nginx'], 1.05),
  most('processor time for a tile, against nginx', 'cpuPer100k', ['mix', 'edge'], ['mix', 'nginx'], 0.95),
  most('p99 of a tile, against nginx', 'p99', ['mix', 'edge'], ['mix', 'nginx'], 1.1),
  rate('bodies of 128 KB, against nginx', ['body-128k', 'edge'], ['body-128k', 'nginx'], 1.5),
  rate('bodies of 256 KB, against nginx', ['body-256k', 'edge'], ['body-256k', 'nginx'], 1.5),
  rate('bodies of 1 MB, against nginx', ['body-1m', 'edge'], ['body-1m', 'nginx'], 1.5),
  most(
    'processor time for a GB of downloads, against nginx',
    'cpuPerGb',
    ['download', 'edge'],
    ['download', 'nginx'],
    0.9,
  ),
  {
    text: 'MB of memory that 100 slow downloads cost',
    figure: 'memoryRise',
    of: ['slow-downloads', 'edge'],
    atMost: 64 * MB,
  },
  most(
    'p99 of tiles beside 8 downloads, against nginx',
    'p99',
    ['beside-downloads', 'edge'],
    ['beside-downloads', 'nginx'],
    1,
  ),
  rate('one hot tile, against the bare floor', ['hot', 'edge'], ['hot', 'floor'], 0.8),
  rate('MBTiles, against tileserver-gl-light', ['mixmb', 'edge'], ['mixmb', 'tileserver-gl-light'], 10),
  rate('304 answers for the mix, against its tiles', ['not-modified', 'edge'], ['mix', 'edge'], 1),
  most(
    'processor time for a 304 of the mix, against its tiles',
    'cpuPer100k',
    ['not-modified', 'edge'],
    ['mix', 'edge'],
    1,
  ),
  most(
    'processor time for a 401 of a mistyped token, against one hot tile',
    'cpuPer100k',
    ['refused-checksum', 'edge'],
    ['hot', 'edge'],
    1,
  ),
  rate('401 for a mistyped token, against one hot tile', ['refused-checksum', 'edge'], ['hot', 'edge'], 1),
  rate('401 for a token known to be unknown, against one hot tile', ['refused-unknown', 'edge'], ['hot', 'edge'], 1),
  rate('tiles beside a flood of unknown tokens, against tiles alone', ['beside-flood', 'edge'], ['mix', 'edge'], 0.9),
]

export interface Judged {
  readonly text: string
  readonly wanted: string
  readonly found: string
  readonly met: boolean
}

/** Those goals for which both sides were measured. */
export function judgeGoals(samples: readonly Taken[]): Judged[] {
  return GOALS.flatMap((goal) => {
    const found = foundValue(samples, goal)
    if (found === undefined) return []
    const { atLeast, atMost } = goal
    const met = (atLeast === undefined || found >= atLeast) && (atMost === undefined || found <= atMost)
    const scale = goal.figure === 'memoryRise' ? MB : 1
    const wanted = atLeast === undefined ? `at most ${(atMost ?? 0) / scale}` : `at least ${atLeast / scale}`
    return [{ text: goal.text, wanted, found: (found / scale).toFixed(2), met }]
  })
}

function foundValue(samples: readonly Taken[], { figure, of, to }: Goal): number | undefined {
  const [workload, peer] = of
  if (to === undefined) return medianOf(samples, workload, peer, figure)
  return medianRatio(samples, { workload, peer }, { workload: to[0], peer: to[1] }, figure)
}

function rate(text: string, of: Goal['of'], to: Goal['of'], atLeast: number): Goal {
  return { text, figure: 'requestsPerSecond', of, to, atLeast }
}

function most(text: string, figure: Figure, of: Goal['of'], to: Goal['of'], atMost: number): Goal {
  return { text, figure, of, to, atMost }
}
