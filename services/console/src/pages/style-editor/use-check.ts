import type { StyleJson, StyleProblem } from '@gateway/styles/style-json.js'
import { useEffect, useState } from 'react'

/** Milliseconds after the last change at which a text is checked. The largest styles take longer than a keystroke. */
const SETTLED_AFTER_MS = 250

export interface Checked {
  readonly text: string
  readonly problems: readonly StyleProblem[]
  readonly warnings: readonly StyleProblem[]
  /** null if there are problems */
  readonly style: StyleJson | null
}

/** Checks a text as the service does, with the same code. Returns the latest result; null: none yet, or the check could not be loaded. */
export function useCheck(text: string): Checked | null {
  const [checked, setChecked] = useState<Checked | null>(null)
  useEffect(() => {
    let isLatest = true
    const check = async () => {
      const { checkStyle } = await import('@gateway/styles/validate.js')
      if (!isLatest) return
      const result = checkStyle(text)
      setChecked(
        result.ok
          ? { text, problems: [], warnings: result.warnings, style: result.style }
          : { text, problems: result.problems, warnings: [], style: null },
      )
    }
    // Without it the service checks, when the style is saved.
    const timer = setTimeout(() => void check().catch(() => {}), SETTLED_AFTER_MS)
    return () => {
      isLatest = false
      clearTimeout(timer)
    }
  }, [text])
  return checked
}
