// @vitest-environment happy-dom
import { QueryClient } from '@tanstack/react-query'
import { expect, onTestFinished, test, vi } from 'vitest'
import { afterFirstPage } from './later.js'

test('a page without data is complete once it is drawn', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'requestAnimationFrame'] })
  onTestFinished(() => void vi.useRealTimers())
  let isComplete = false
  void afterFirstPage(new QueryClient()).then(() => {
    isComplete = true
  })
  await vi.advanceTimersByTimeAsync(2_000)
  expect(isComplete).toBe(false)
  document.body.innerHTML = '<h1>A form</h1>'
  await vi.advanceTimersByTimeAsync(2_000)
  expect(isComplete).toBe(true)
})
