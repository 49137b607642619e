import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

export interface Options {
  readonly minutes: number
  /** tile requests a second */
  readonly rate: number
  readonly kills: number
  readonly seed: number
  readonly killWorkers: boolean
}

/** What `run.mjs` was called with. */
export const options = JSON.parse(process.env.BY_HAND ?? '{}') as Options

/** Numbers from 0 to below 1, the same for the same seed. */
export function seeded(seed: number): () => number {
  const generator = xoroshiro128plus(seed)
  return () => uniformFloat64(generator)
}

/** Past the reporter of vitest, which holds back what a test prints until it has ended. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
