const words = new Intl.Segmenter('zh', { granularity: 'word' })
const CHINESE = /\p{Script=Han}{2,}/gu

/**
 * Puts hair spaces between the Chinese words of a text for the index of the search, which splits only at spaces. Only the index has them; pages do
 * not.
 */
export function chineseWords(text: string): string {
  return text.replace(CHINESE, (run) => Array.from(words.segment(run), ({ segment }) => segment).join('\u200a'))
}
