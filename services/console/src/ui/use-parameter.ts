import { useCallback } from 'react'
import { useRouter, useSearchParams } from '../router/hooks.js'

type Values = Readonly<Record<string, string | null>>

/** The parameters of the URL. Setting them replaces the history entry, so that Back leads to the previous page. */
export function useParameters(): readonly [URLSearchParams, (values: Values) => void] {
  const parameters = useSearchParams()
  const router = useRouter()
  const set = useCallback(
    (values: Values) => {
      // The rendered state may lag behind that of the router.
      const { location, next } = router.state
      // During a navigation to another page, parameters of this one, such as those of a moving map, must not stop it.
      if (next !== null && next.pathname !== location.pathname) return
      const after = new URLSearchParams((next ?? location).search)
      for (const [name, value] of Object.entries(values)) {
        if (value === null || value === '') after.delete(name)
        else after.set(name, value)
      }
      const search = after.size === 0 ? '' : `?${after}`
      router.navigate(`${location.pathname}${search}${location.hash}`, { replace: true, keepsScroll: true })
    },
    [router],
  )
  return [parameters, set]
}

export function useParameter(name: string): readonly [string | null, (value: string | null) => void] {
  const [parameters, set] = useParameters()
  return [parameters.get(name), useCallback((value) => set({ [name]: value }), [set, name])]
}
