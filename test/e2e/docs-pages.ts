import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const CHECKOUT = fileURLToPath(new URL('../../', import.meta.url))

/** A fenced block of a page. The mark behind its language says how the test handles the block; see `KINDS`. */
export interface Block {
  readonly page: string
  readonly line: number
  readonly language: string
  /** `run`, `saved-as=receiver.mjs`, `not-run: ...`; empty if the page lacks it */
  readonly mark: string
  readonly code: string
}

/**
 * Marks of blocks: `starts` is the start command; `run` is run in a shell, one shell per page; `prints` is the expected output of the
 * preceding block; `saved-as` is written to a file; `draws` is a page that must draw a map; `settings` must be accepted; `checks` is
 * validated by the program that reads it; `not-run` gives the reason. The build renders drawings.
 */
export const KINDS = /^(starts|run|prints|draws|settings|checks|saved-as=\S+|not-run: \S.*)$/

/** Returns the pages of the documentation and the README. */
export function readPages(): ReadonlyMap<string, readonly Block[]> {
  const docs = readdirSync(join(CHECKOUT, 'docs'), { recursive: true, encoding: 'utf8' })
  const pages = docs
    .filter((path) => path.endsWith('.md') && !/^(adr|examples)\//.test(path))
    .map((path) => `docs/${path}`)
  return new Map(['README.md', ...pages.sort()].map((page) => [page, blocksOf(page)]))
}

/** Parses fences as in CommonMark 0.31 (section 4.5), only those of backquotes; indented fences lose their indentation. */
function blocksOf(page: string): Block[] {
  const blocks: Block[] = []
  let open: { indent: number; lines: string[] } | null = null
  for (const [at, line] of readFileSync(join(CHECKOUT, page), 'utf8').split('\n').entries()) {
    const text = line.trim()
    if (!text.startsWith('```')) open?.lines.push(line.slice(open.indent))
    else if (open === null) {
      const [language = '', ...mark] = text.slice(3).split(' ')
      open = { indent: line.indexOf('`'), lines: [] }
      blocks.push({ page, line: at + 1, language, mark: mark.join(' '), code: '' })
    } else {
      const last = blocks.pop() as Block
      blocks.push({ ...last, code: `${open.lines.join('\n')}\n` })
      open = null
    }
  }
  return blocks
}

/** True if the output matches the block of a page: `...` stands for any text, and a page may omit members of JSON. */
export function comesOut({ language, code }: Block, printed: string): boolean {
  if (language === 'json') return isPartOf(JSON.parse(code), JSON.parse(printed))
  return matches(code.trim(), printed.trim())
}

function isPartOf(part: unknown, whole: unknown): boolean {
  if (typeof part === 'string') return typeof whole === 'string' && matches(part, whole)
  if (typeof part !== 'object' || part === null) return part === whole
  if (typeof whole !== 'object' || whole === null || Array.isArray(part) !== Array.isArray(whole)) return false
  if (Array.isArray(part) && part.length !== (whole as unknown[]).length) return false
  return Object.entries(part).every(([key, value]) => isPartOf(value, (whole as Record<string, unknown>)[key]))
}

function matches(pattern: string, text: string): boolean {
  const parts = pattern.split('...')
  const first = parts.shift() ?? ''
  if (!text.startsWith(first)) return false
  if (parts.length === 0) return text === first
  let at = first.length
  const last = parts.pop() ?? ''
  for (const part of parts) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return text.endsWith(last) && text.length - last.length >= at
}

/** Returns the page and line of a block. */
export const nameOf = ({ page, line }: Block): string => `${page}:${line}`
