import type { ToldCode } from '@gateway/contracts/told.js'
import { type ServerWords, translated } from './server-words.js'

/** A sentence of the service: `Told` of the contracts, as the header carries it. */
export type ToldSentence = readonly [code: string, params: Readonly<Record<string, string | number>>]

export type ToldTexts = Readonly<Partial<Record<ToldCode, string>>>

/** The sentences in another language; null: one of them is not known there. Parameters that are sentences themselves are translated by their words. */
export function toldIn(sentences: readonly ToldSentence[], texts: ToldTexts, words: ServerWords): string | null {
  const each = sentences.map(([code, params]) => {
    const template = texts[code as ToldCode]
    return template?.replace(/\{(\w+)\}/g, (gap, name: string) => {
      const value = params[name]
      if (value === undefined) return gap
      return SENTENCES.has(name) ? translated(String(value), words) : String(value)
    })
  })
  return each.length === 0 || each.includes(undefined) ? null : each.join('；')
}

const SENTENCES: ReadonlySet<string> = new Set(['sentence', 'expected', 'forms'])
