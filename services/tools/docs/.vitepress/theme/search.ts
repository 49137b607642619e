import MiniSearch, { type Options } from 'minisearch'
import { chineseWords } from '../chinese-words'

/** In the place of the library in the search box: what is typed is cut into Chinese words as the index was. */
export default {
  loadJSON: <T>(json: string, options: Options<T>): MiniSearch<T> =>
    MiniSearch.loadJSON(json, {
      ...options,
      tokenize: (text) => MiniSearch.getDefault('tokenize')(chineseWords(text)),
    }),
}
