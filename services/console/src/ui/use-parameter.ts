import { use, useCallback } from 'react'
import { UNSAFE_DataRouterContext as DataRouterContext, useSearchParams } from 'react-router'

type Values = Readonly<Record<string, string | null>>

/** The parameters of the URL. Setting them replaces the history entry, so that Back leads to the previous page. */
export function useParameters(): readonly [URLSearchParams, (values: Values) => void] {
  const [parameters, setParameters] = useSearchParams()
  // The public useNavigation is a render late, and a render takes long while a map draws. A change in between would abort a navigation.
  const router = use(DataRouterContext)?.router
  const set = useCallback(
    (values: Values) => {
      // During a navigation to another page, parameters of this one, such as those of a moving map, must not stop it.
      const next = router?.state.navigation.location
      if (next !== undefined && next.pathname !== router?.state.location.pathname) return
      // The rendered state may lag behind the URL.
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
