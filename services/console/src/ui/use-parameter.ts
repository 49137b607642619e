import { useCallback } from 'react'
import { useSearchParams } from 'react-router'

type Values = Readonly<Record<string, string | null>>

/** The parameters of the address. Setting them replaces the entry of the history, so that Back leads to the page before. */
export function useParameters(): readonly [URLSearchParams, (values: Values) => void] {
  const [parameters, setParameters] = useSearchParams()
  const set = useCallback(
    (values: Values) => {
      // What the router has rendered may lag behind the address.
      const after = new URLSearchParams(window.location.search)
      for (const [name, value] of Object.entries(values)) {
        if (value === null || value === '') after.delete(name)
        else after.set(name, value)
      }
      setParameters(after, { replace: true, preventScrollReset: true })
    },
    [setParameters],
  )
  return [parameters, set]
}

export function useParameter(name: string): readonly [string | null, (value: string | null) => void] {
  const [parameters, set] = useParameters()
  return [parameters.get(name), useCallback((value) => set({ [name]: value }), [set, name])]
}
