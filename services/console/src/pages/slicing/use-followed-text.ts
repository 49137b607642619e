import { useCallback, useEffect, useState } from 'react'
import { ApiError, refusalIn } from '../../api/client.js'

/** Maximum number of characters: the end of a log matters, a longer text makes the page slow, and a file has all of it. */
const MAX_CHARACTERS = 400_000

/** Minimum time between two renders, since a log can grow faster than anyone reads. */
const DRAW_EVERY_MS = 150

interface Followed {
  readonly text: string
  readonly error: Error | null
  /** starts a new request from the beginning */
  readonly again: () => void
}

/** Follows the text of a response while the service writes it. A null path sends no request. */
export function useFollowedText(path: string | null): Followed {
  const [text, setText] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const [attempt, setAttempt] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt starts a new request
  useEffect(() => {
    if (path === null) return
    const stop = new AbortController()
    setError(null)
    follow(path, stop.signal, setText).catch((failure: Error) => {
      if (!stop.signal.aborted) setError(failure)
    })
    return () => stop.abort()
  }, [path, attempt])
  const again = useCallback(() => setAttempt((n) => n + 1), [])
  return { text, error, again }
}

async function follow(path: string, signal: AbortSignal, show: (text: string) => void): Promise<void> {
  const answer = await fetch(path, { signal }).catch((error: Error) => {
    throw new ApiError(0, error.message)
  })
  if (!answer.ok || answer.body === null) throw new ApiError(answer.status, await refusalIn(answer))
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  let timer: number | undefined
  const draw = () => {
    timer = undefined
    show(text)
  }
  show('')
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    text = (text + value).slice(-MAX_CHARACTERS)
    timer ??= window.setTimeout(draw, DRAW_EVERY_MS)
  }
  window.clearTimeout(timer)
  draw()
}
