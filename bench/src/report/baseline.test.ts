import { describe, expect, it } from 'vitest'
import { type Results, regressions } from './baseline.js'

const results = (figures: Record<string, number>): Results => ({
  madeAt: '',
  commit: '',
  command: '',
  scenarios: { mix: figures },
})

describe('regressions', () => {
  it('tells a rate that fell, and processor time that rose, beyond what is noise', () => {
    const before = results({ 'req/s': 1000, 'cpu s/100k': 2 })
    expect(regressions(before, results({ 'req/s': 899, 'cpu s/100k': 2.21 }))).toEqual([
      { scenario: 'mix', figure: 'req/s', before: 1000, now: 899 },
      { scenario: 'mix', figure: 'cpu s/100k', before: 2, now: 2.21 },
    ])
  })

  it('tells nothing of what got better, or worse within the noise', () => {
    const before = results({ 'req/s': 1000, 'cpu s/100k': 2, 'p99 ms': 10 })
    expect(regressions(before, results({ 'req/s': 901, 'cpu s/100k': 1, 'p99 ms': 14.9 }))).toEqual([])
  })

  it('allows no breach that was not there before', () => {
    const before = results({ 'accepted too late': 0 })
    expect(regressions(before, results({ 'accepted too late': 1 }))).toHaveLength(1)
  })

  it('judges only what both runs have', () => {
    expect(regressions({ ...results({}), scenarios: {} }, results({ 'req/s': 1 }))).toEqual([])
  })
})
