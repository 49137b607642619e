import { useParameter } from './use-parameter.js'

/** The text of a page's search, kept in the address: a link to what was found can be shared. */
export function useSearchText(): readonly [string, (text: string) => void] {
  const [text, setText] = useParameter('q')
  return [text ?? '', setText]
}
