import type { Machine } from '../machine.js'
import type { Sample } from './workload.js'

/** One sample, and where it belongs. */
export interface Taken extends Sample {
  readonly workload: string
  readonly peer: string
  readonly round: number
}

/** Everything that a comparison found; what is kept as JSON. */
export interface Comparison {
  readonly madeAt: string
  readonly command: string
  readonly commit: string
  readonly machine: Machine
  readonly generator: string
  readonly bound: boolean
  readonly rounds: number
  readonly seconds: number
  readonly meanTileBytes: number
  readonly peers: readonly { readonly name: string; readonly description: string }[]
  readonly absent: readonly { readonly name: string; readonly reason: string }[]
  readonly samples: readonly Taken[]
}

export type Figure = Exclude<keyof Sample, 'memoryRise'> | 'memoryRise'

/** The middle value of the rounds; undefined where there is none. */
export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : average(sorted[middle - 1], sorted[middle])
}

function average(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : (a + b) / 2
}

export function medianOf(
  samples: readonly Taken[],
  workload: string,
  peer: string,
  figure: Figure,
): number | undefined {
  const values = samples.filter((sample) => sample.workload === workload && sample.peer === peer)
  return median(values.map((sample) => sample[figure]).filter((value) => value !== undefined))
}

/** The median of the ratios of each round: what slowed a whole round down slowed both sides of it. */
export function medianRatio(
  samples: readonly Taken[],
  one: { readonly workload: string; readonly peer: string },
  other: { readonly workload: string; readonly peer: string },
  figure: Figure,
): number | undefined {
  const of = (place: typeof one): Taken[] =>
    samples.filter(({ workload, peer }) => workload === place.workload && peer === place.peer)
  const others = new Map(of(other).map((sample) => [sample.round, sample[figure]]))
  const ratios = of(one).map((sample) => (sample[figure] ?? 0) / (others.get(sample.round) ?? 0))
  return median(ratios.filter(Number.isFinite))
}
