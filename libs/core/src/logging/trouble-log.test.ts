import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { noteTrouble, TroubleLog } from './trouble-log.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a thousand occurrences of a trouble write one line at the beginning, one per interval, and one at the end', () => {
  const lines: unknown[] = []
  const write = (detail: object, text?: string) => void lines.push([detail, text])
  const trouble = new TroubleLog({ warn: write as never, info: write as never }, 'it fails', 1000)
  for (let i = 0; i < 1000; i++) trouble.note({ i })
  vi.advanceTimersByTime(1000)
  trouble.note({ i: 'late' })
  vi.advanceTimersByTime(5000)
  expect(lines).toEqual([
    [{ i: 0 }, 'it fails'],
    [{ i: 999, times: 999 }, 'it fails, still'],
    [{ i: 'late', times: 1 }, 'it fails, still'],
    [{ times: 1001, seconds: expect.any(Number) }, 'it fails: no more'],
  ])
  trouble.note({ i: 'again' })
  expect(lines.at(-1)).toEqual([{ i: 'again' }, 'it fails'])
  vi.advanceTimersByTime(1000)
  expect(lines.at(-1)).toEqual([{ times: 1, seconds: expect.any(Number) }, 'it fails: no more'])
})

test('a caller without its own trouble log writes as few lines, at the level of the trouble', () => {
  const lines: unknown[] = []
  const at = (level: string) => (detail: object, text: string) => void lines.push([level, detail, text])
  const log = { warn: at('warn'), info: at('info'), error: at('error') } as never
  for (let i = 0; i < 1000; i++) {
    noteTrouble(log, 'requests fail', { i }, 'error')
    noteTrouble(log, 'requests are slow', { i })
  }
  vi.advanceTimersByTime(10_000)
  expect(lines).toEqual([
    ['error', { i: 0 }, 'requests fail'],
    ['warn', { i: 0 }, 'requests are slow'],
    ['error', { i: 999, times: 999 }, 'requests fail, still'],
    ['warn', { i: 999, times: 999 }, 'requests are slow, still'],
  ])
})
