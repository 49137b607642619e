// @vitest-environment happy-dom
import { useQuery } from '@tanstack/react-query'
import { act, screen } from '@testing-library/react'
import { expect, onTestFinished, test, vi } from 'vitest'
import { show, stubService } from '../testing/render.js'
import { useLive, withNewest } from './live.js'
import { useLiveState } from './live-state.js'

/** A stream controlled by the test. */
function stubStream(): EventTarget {
  const stream = Object.assign(new EventTarget(), { readyState: 1, close: () => {} })
  vi.stubGlobal(
    'EventSource',
    class {
      constructor() {
        // biome-ignore lint/correctness/noConstructorReturn: returns the object that the test controls
        return stream
      }
    },
  )
  return stream
}

test('changes between the first read and the start of the stream are read', async () => {
  let stored = 'before'
  stubService(() => ({ stored }))
  const stream = stubStream()
  function Shown() {
    useLive()
    const { data } = useQuery({
      queryKey: ['tokens', 'list'],
      queryFn: async () => (await (await fetch('/x', {})).json()) as { stored: string },
    })
    return <p>{data?.stored}</p>
  }
  show(<Shown />)
  await screen.findByText('before')
  stored = 'changed'
  act(() => void stream.dispatchEvent(new Event('watching')))
  await screen.findByText('changed')
  expect(screen.queryByText('before')).toBeNull()
})

test('the counts of a canary are read again when edges have reported new ones', async () => {
  let requests = 1
  stubService(() => ({ requests }))
  const stream = stubStream()
  function Counted() {
    useLive()
    const { data } = useQuery({
      queryKey: ['default-history', 'world'],
      queryFn: async () => (await (await fetch('/x', {})).json()) as { requests: number },
    })
    return <p>{data && `${data.requests} requests`}</p>
  }
  show(<Counted />)
  await screen.findByText('1 requests')
  requests = 2
  act(() => void stream.dispatchEvent(new MessageEvent('touched', { data: JSON.stringify(['canaries']) })))
  await screen.findByText('2 requests')
})

test('the service is not polled while the stream is alive, but is once it falls silent', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const sent = stubService(() => ({}))
  const stream = stubStream()
  function Listening() {
    useLive()
    return null
  }
  show(<Listening />)
  act(() => void stream.dispatchEvent(new Event('watching')))
  for (let second = 0; second < 10; second++) {
    act(() => void vi.advanceTimersByTime(1_000))
    act(() => void stream.dispatchEvent(new Event('alive')))
  }
  expect(sent).toEqual([])
  act(() => void vi.advanceTimersByTime(3_000))
  expect(sent).toMatchObject([{ method: 'HEAD', path: '/api/v1/system' }])
})

function State() {
  useLive()
  return <p>{useLiveState()}</p>
}

test('a stream that is heard again proves that the service is there, although probes go unanswered', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => AbortSignal.abort())
  onTestFinished(() => {
    vi.useRealTimers()
    timeout.mockRestore()
  })
  stubService(() => new TypeError('Failed to fetch'))
  const stream = stubStream()
  show(<State />)
  act(() => void stream.dispatchEvent(new Event('watching')))
  expect(screen.getByText('live')).toBeDefined()
  await act(() => vi.advanceTimersByTimeAsync(3_000))
  expect(screen.getByText('away')).toBeDefined()
  act(() => void stream.dispatchEvent(new Event('alive')))
  expect(screen.getByText('live')).toBeDefined()
})

test('a stream that outlives the way for new connections does not prove that changes arrive', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  let isReached = false
  stubService(() => (isReached ? {} : new TypeError('Failed to fetch')))
  const stream = stubStream()
  show(<State />)
  act(() => void stream.dispatchEvent(new Event('watching')))
  await act(async () => void window.dispatchEvent(new Event('offline')))
  await act(() => vi.advanceTimersByTimeAsync(0))
  expect(screen.getByText('away')).toBeDefined()
  act(() => void stream.dispatchEvent(new Event('alive')))
  expect(screen.getByText('away')).toBeDefined()
  isReached = true
  await act(() => vi.advanceTimersByTimeAsync(1_500))
  act(() => void stream.dispatchEvent(new Event('watching')))
  expect(screen.getByText('live')).toBeDefined()
})

test('the newest point of the stream replaces that of its span, or follows it', () => {
  const point = (at: string, requests: number) => ({
    ...{ at, seconds: 30, requests, tiles: 0, tiles_missing: 0, memory_hits: 0, downloads: 0, auth_failures: 0 },
    ...{ server_errors: 0, bytes_sent: 0 },
  })
  const [first, second] = ['2026-11-25T12:00:00.000Z', '2026-11-25T12:00:30.000Z'] as const
  const known = { since: first, points: [point(first, 1)], edges: [] }
  const grown = withNewest(known, { since: first, points: [point(first, 5)], edges: [] })
  expect(grown.points.map(({ requests }) => requests)).toEqual([5])
  const next = withNewest(grown, { since: first, points: [point(second, 7)], edges: [] })
  expect(next.points.map(({ at, requests }) => [at, requests])).toEqual([
    [first, 5],
    [second, 7],
  ])
})
