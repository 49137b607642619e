import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'

/** Milliseconds after the last keystroke at which a text takes effect. */
const SETTLED_AFTER_MS = 200

export interface Typed {
  /** text of the field */
  readonly text: string
  /** called on typing: the text takes effect after a pause */
  readonly type: (text: string) => void
  /** makes the text take effect now, like Enter */
  readonly take: () => void
}

/**
 * The text of a field whose value is kept elsewhere, such as in the URL. The field itself holds every letter, because a kept value arrives
 * at least a render later and would replace newer input. A value that did not come from this field replaces the text.
 * @param value the kept value
 * @param onChange keeps the text; called after a pause unless `delay` is null, and then only by `take`
 */
export function useTyped(
  value: string,
  onChange: (text: string) => void,
  delay: number | null = SETTLED_AFTER_MS,
): Typed {
  const [text, setText] = useState(value)
  // Texts that this field has sent and that have not returned as the kept value. A later one may overtake an earlier one.
  const sent = useRef<readonly string[]>([])
  useEffect(() => {
    const at = sent.current.indexOf(value)
    sent.current = sent.current.slice(at < 0 ? sent.current.length : at + 1)
    if (at < 0) setText(value)
  }, [value])
  const send = (text: string) => {
    if (text === (sent.current.at(-1) ?? value)) return
    sent.current = [...sent.current, text]
    onChange(text)
  }
  const sendLater = useDebouncedCallback(send, { delay: delay ?? 0 })
  return {
    text,
    type: (text) => {
      setText(text)
      if (delay !== null) sendLater(text)
    },
    take: () => {
      sendLater.cancel()
      send(text)
    },
  }
}
