import MiniSearch, { type Options } from 'minisearch'
import { chineseWords } from '../chinese-words'

/** Replaces the library in the search box: splits the query into Chinese words in the same way as the index. */
export default {
  loadJSON: <T>(json: string, options: Options<T>): MiniSearch<T> =>
    MiniSearch.loadJSON(json, {
      ...options,
      tokenize: (text) => MiniSearch.getDefault('tokenize')(chineseWords(text)),
    }),
}
