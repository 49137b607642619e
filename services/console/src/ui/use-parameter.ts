import { use, useCallback } from 'react'
import { UNSAFE_DataRouterContext as DataRouterContext, useSearchParams } from 'react-router'

type Values = Readonly<Record<string, string | null>>

/** The parameters of the address. Setting them replaces the entry of the history, so that Back leads to the page before. */
export function useParameters(): readonly [URLSearchParams, (values: Values) => void] {
  const [parameters, setParameters] = useSearchParams()
  // useNavigation, the public way, is a render late, and a render takes long where a map draws: what moves it in between would end a navigation.
  const router = use(DataRouterContext)?.router
  const set = useCallback(
    (values: Values) => {
      // While another page is on its way the router would stay at this one for its parameters, such as those of a map that still moves.
      const next = router?.state.navigation.location
      if (next !== undefined && next.pathname !== router?.state.location.pathname) return
      // What the router has rendered may lag behind the address.
      const after = new URLSearchParams(window.location.search)
      for (const [name, value] of Object.entries(values)) {
        if (value === null || value === '') after.delete(name)
        else after.set(name, value)
      }
      setParameters(after, { replace: true, preventScrollReset: true })
    },
    [setParameters, router],
  )
  return [parameters, set]
}

export function useParameter(name: string): readonly [string | null, (value: string | null) => void] {
  const [parameters, set] = useParameters()
  return [parameters.get(name), useCallback((value) => set({ [name]: value }), [set, name])]
}
