// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

type FirstPage = typeof import('./first-page.js')
let page: FirstPage

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  // Its state is that of one visit.
  vi.resetModules()
  page = await import('./first-page.js')
})
afterEach(() => void vi.useRealTimers())

test('parts of the first page are awaited, and each is counted once', () => {
  const completed: boolean[] = []
  page.watchParts(() => completed.push(page.hasAllParts()))
  const [endLibrary, endMap] = [page.beginPart(), page.beginPart()]
  endLibrary()
  endLibrary()
  endMap()
  expect(completed).toEqual([false, true])
})

test('a part that is never complete delays the rest for ten seconds at most', async () => {
  let isDrawn = false
  void page.firstPageDrawn.then(() => {
    isDrawn = true
  })
  page.watchParts(() => {})
  page.beginPart()
  await vi.advanceTimersByTimeAsync(9_999)
  expect(isDrawn).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(isDrawn).toBe(true)
})
