import type { Machine } from '../machine.js'
import type { Sample } from './workload.js'

/** A sample with its workload, peer and round. */
export interface Taken extends Sample {
  readonly workload: string
  readonly peer: string
  readonly round: number
}

/** The complete result of a comparison, stored as JSON. */
export interface Comparison {
  readonly madeAt: string
  readonly command: string
  readonly commit: string
  readonly machine: Machine
  readonly bound: boolean
  readonly rounds: number
  readonly seconds: number
  readonly meanTileBytes: number
  readonly peers: readonly { readonly name: string; readonly description: string }[]
  readonly absent: readonly { readonly name: string; readonly reason: string }[]
  readonly samples: readonly Taken[]
}

export type Figure = keyof Sample

/** The median of the rounds; undefined without rounds. */
export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : average(sorted[middle - 1], sorted[middle])
}

function average(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : (a + b) / 2
}

/** `place`: a workload and a peer, separated by a blank. */
export function medianOf(samples: readonly Taken[], place: string, figure: Figure): number | undefined {
  const values = samplesAt(samples, place).map((sample) => sample[figure])
  return median(values.filter((value) => value !== undefined))
}

/** Returns the ratios of each round, since an effect that slows a whole round slows both sides. */
export function ratios(samples: readonly Taken[], one: string, other: string, figure: Figure): number[] {
  const others = new Map(samplesAt(samples, other).map((sample) => [sample.round, sample[figure]]))
  return samplesAt(samples, one)
    .map((sample) => (sample[figure] ?? 0) / (others.get(sample.round) ?? 0))
    .filter(Number.isFinite)
}

function samplesAt(samples: readonly Taken[], place: string): Taken[] {
  return samples.filter(({ workload, peer }) => `${workload} ${peer}` === place)
}
