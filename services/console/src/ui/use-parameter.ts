import { useCallback } from 'react'
import { useSearchParams } from 'react-router'

/** One parameter of the address; null takes it out. It replaces the entry of the history, so that back leads to the page before. */
export function useParameter(name: string): readonly [string | null, (value: string | null) => void] {
  const [parameters, setParameters] = useSearchParams()
  const set = useCallback(
    (value: string | null) => {
      setParameters(
        () => {
          // What the router renders may lag behind: two parameters that change in quick succession must both stay.
          const after = new URLSearchParams(window.location.search)
          if (value === null || value === '') after.delete(name)
          else after.set(name, value)
          return after
        },
        { replace: true, preventScrollReset: true },
      )
    },
    [setParameters, name],
  )
  return [parameters.get(name), set]
}
