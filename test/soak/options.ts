import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

export interface Options {
  readonly minutes: number
  /** tile requests per second */
  readonly rate: number
  readonly kills: number
  readonly seed: number
  readonly killWorkers: boolean
  /** the commit of the version before an upgrade; default: the last release */
  readonly before?: string
}

/** The options of `run.mjs`. */
export const options = JSON.parse(process.env.BY_HAND ?? '{}') as Options

/** Returns a generator of numbers from 0 to below 1, the same for the same seed. */
export function seeded(seed: number): () => number {
  const generator = xoroshiro128plus(seed)
  return () => uniformFloat64(generator)
}

/** Bypasses the reporter of vitest, which holds back a test's output until the test has ended. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
