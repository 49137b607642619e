// @vitest-environment happy-dom
import { useQuery } from '@tanstack/react-query'
import { act, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { show, stubService } from '../testing/render.js'
import { useLive } from './live.js'

/** A stream that says what it is told to. */
function stubStream(): EventTarget {
  const stream = Object.assign(new EventTarget(), { readyState: 1, close: () => {} })
  vi.stubGlobal(
    'EventSource',
    class {
      constructor() {
        // biome-ignore lint/correctness/noConstructorReturn: the one that the test holds
        return stream
      }
    },
  )
  return stream
}

test('what changed between the first reading and the beginning of the stream is read', async () => {
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
