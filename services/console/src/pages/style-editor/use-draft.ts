import type { StyleJson } from '@gateway/styles/style-json.js'
import { useState } from 'react'
import { textOfStyle } from './style-edits.js'

/** Maximum number of steps that can be undone. A text has up to 4 MB. */
const MAX_STEPS = 50

interface State {
  readonly text: string
  /** the last text that was JSON */
  readonly document: StyleJson
  /** earlier texts, the newest last */
  readonly steps: readonly string[]
  /** true if the last step was typed, so that typing on is the same step */
  readonly isTyped: boolean
}

/** A document that is edited, as a text and by a form. The text is what is saved. */
export function useDraft(initial: StyleJson) {
  const [state, setState] = useState<State>(() => ({
    text: textOfStyle(initial),
    document: initial,
    steps: [],
    isTyped: false,
  }))
  const step = (text: string, isTyped: boolean) =>
    setState((now) => {
      if (text === now.text) return now
      const steps = isTyped && now.isTyped ? now.steps : [...now.steps, now.text].slice(-MAX_STEPS)
      return { text, document: parsed(text) ?? now.document, steps, isTyped }
    })
  return {
    ...state,
    edit: (document: StyleJson) => step(textOfStyle(document), false),
    type: (text: string) => step(text, true),
    undo: () =>
      setState(({ steps, ...now }) => {
        const text = steps.at(-1) ?? now.text
        return { text, document: parsed(text) ?? now.document, steps: steps.slice(0, -1), isTyped: false }
      }),
  }
}

function parsed(text: string): StyleJson | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as StyleJson) : null
  } catch {
    return null
  }
}
