import type { Figures } from '../scenarios/scenario.js'

/** What a run found, by scenario; kept as JSON, and taken as a baseline by `--against`. */
export interface Results {
  readonly madeAt: string
  readonly commit: string
  readonly command: string
  readonly scenarios: Readonly<Record<string, Figures>>
}

export interface Regression {
  readonly scenario: string
  readonly figure: string
  readonly before: number
  readonly now: number
}

/**
 * By what part a figure may be worse before it counts: more than the noise of a quiet machine. Processor time is the steadiest, the slowest
 * hundredth of the requests the least steady. What is not listed is not judged.
 */
const TOLERANCES: readonly { readonly figure: RegExp; readonly better: 'more' | 'less'; readonly part: number }[] = [
  { figure: /^req\/s$/, better: 'more', part: 0.1 },
  { figure: /^cpu s\/100k$/, better: 'less', part: 0.1 },
  { figure: /p50 ms$/, better: 'less', part: 0.25 },
  { figure: /p99 ms$/, better: 'less', part: 0.5 },
  { figure: /^(accepted too late|not confirmed)$/, better: 'less', part: 0 },
]

/** Figures of scenarios that both runs have and that are worse now. */
export function regressions(before: Results, now: Results): Regression[] {
  return Object.entries(now.scenarios).flatMap(([scenario, figures]) =>
    Object.entries(figures).flatMap(([figure, value]) => {
      const known = before.scenarios[scenario]?.[figure]
      const rule = TOLERANCES.find((tolerance) => tolerance.figure.test(figure))
      if (known === undefined || rule === undefined) return []
      const worse = rule.better === 'more' ? value < known * (1 - rule.part) : value > known * (1 + rule.part)
      return worse ? [{ scenario, figure, before: known, now: value }] : []
    }),
  )
}
