import type { ReactNode } from 'react'
import { translated } from '../texts/server-words.js'
import { useTexts } from '../texts/texts.js'

/** What the service has said, in the reader's language as far as it is known there. */
function useServerWords(): (text: string) => string {
  const { serverWords } = useTexts()
  return (text) => translated(text, serverWords)
}

/** The same, with the service's own words on demand, which logs and manuals have. */
export function ServerText({ text }: { text: string }): ReactNode {
  const shown = useServerWords()(text)
  return shown === text ? text : <span title={text}>{shown}</span>
}
