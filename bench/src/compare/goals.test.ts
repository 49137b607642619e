import { expect, it } from 'vitest'
import { GOALS, judgeAgainstBefore } from './goals.js'
import type { Taken } from './summary.js'
import { WORKLOADS } from './workloads.js'

const sample = (peer: string, round: number, requestsPerSecond: number, cpuPer100k: number) =>
  ({ workload: 'mix', peer, round, requestsPerSecond, cpuPer100k }) as Taken

const judged = (...samples: Taken[]) => judgeAgainstBefore(samples).map(({ found, worst, met }) => [found, worst, met])

it('a rate that fell, or processor time that rose, by more than 3 % is worse', () => {
  expect(judged(sample('before', 1, 100, 1), sample('edge', 1, 96, 1.04))).toEqual([
    ['0.96', '0.96', false],
    ['1.04', '1.04', false],
  ])
  expect(judged(sample('before', 1, 100, 1), sample('edge', 1, 98, 1.02)).every(([, , met]) => met)).toBe(true)
})

it('rounds are compared one by one; the median counts, and the worst is named', () => {
  const rounds = [1, 2, 3].flatMap((round) => [sample('before', round, 100 * round, 1)])
  const now = [sample('edge', 1, 50, 1), sample('edge', 2, 200, 1), sample('edge', 3, 300, 1)]
  expect(judged(...rounds, ...now)[0]).toEqual(['1.00', '0.50', true])
})

it('without an earlier checkout nothing is judged', () => {
  expect(judged(sample('edge', 1, 100, 1), sample('nginx', 1, 100, 1))).toEqual([])
})

it('each goal compares existing workloads, and no workload occurs twice', () => {
  const names = WORKLOADS.map(({ name }) => name)
  expect(names).toEqual([...new Set(names)])
  const compared = GOALS.flatMap(([, , of, to]) => [of, to ?? of]).map((place) => place.split(' ')[0])
  expect(compared.filter((name) => name === undefined || !names.includes(name))).toEqual([])
})
