import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type SourceText, sourceTexts, textsOfScript } from './source-texts.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const { rules } = parse(readFileSync(`${root}config/wording.yml`, 'utf8')) as {
  rules: { pattern: string; expected: string }[]
}
const patterns = rules.map(({ pattern, expected }) => {
  const [, source = '', flags] = /^\/(.*)\/(\w*)$/.exec(pattern) ?? []
  return { pattern: new RegExp(source, flags), expected }
})
const inDocs = (readdirSync(`${root}docs`, { recursive: true }) as string[])
  .filter((name) => name.endsWith('.md') && !/^(zh|files)\//.test(name))
  .map((name) => `docs/${name}`)
const outsideOfDocs = execFileSync('git', ['ls-files', '*.md', ':!docs'], { cwd: root, encoding: 'utf8' })
const pages = [
  ...inDocs,
  ...outsideOfDocs
    .trim()
    .split('\n')
    .filter((name) => !/^(bench\/results|THIRD)/.test(name)),
]

/** Returns the paragraphs, items and rows of a page with their lines, without code blocks, headings, table heads, inline code, file names and quotations. */
function prose(markdown: string): { line: number; text: string }[] {
  const found: { line: number; text: string }[] = []
  const lines = markdown.split('\n')
  let [inBlock, isOpen] = [false, false]
  for (const [i, line] of lines.entries()) {
    const isFence = line.startsWith('```')
    if (isFence) inBlock = !inBlock
    const isHeadOfTable = /^\|[\s:|-]+\|?$/.test(lines[i + 1] ?? '')
    if (isFence || inBlock || isHeadOfTable || line.startsWith('#') || line.trim() === '') {
      isOpen = false
      continue
    }
    const text = line.trim().replace(/^([-*]|\d+\.) /, '')
    const last = found.at(-1)
    if (last !== undefined && isOpen && !/^\s*([-*] |\||\d+\. )/.test(line)) last.text += ` ${text}`
    else found.push({ line: i + 1, text })
    isOpen = true
  }
  return found.map(({ line, text }) => ({
    line,
    text: text.replace(/`[^`]*`|[\w./-]+\.(?:md|json)\b/g, '`').replace(/"[^"]*"/g, '""'),
  }))
}

function complaints(markdown: string): string[] {
  return prose(markdown).flatMap(({ line, text }) =>
    patterns.flatMap(({ pattern, expected }) => {
      const found = pattern.exec(text)
      return found === null ? [] : [`${line}: "${found[0]}"; write: ${expected}`]
    }),
  )
}

test.each(pages)('%s keeps to the rules of wording', (page) => {
  expect(complaints(readFileSync(root + page, 'utf8'))).toEqual([])
})

describe('the rules', () => {
  test.each([
    'What is refused has a reason.',
    'It ends. Of these it reads one.',
    'It reads the header alone.',
    'Use a server of yours.',
    'The second call is 409.',
    'The second call\nis 409.',
    'The edge reads it anew.',
  ])('find: %s', (sentence) => {
    expect(complaints(sentence)).toHaveLength(1)
  })

  test.each(['# What is refused', '```\nWhat is refused\n```', 'What does it do?', 'It returns `404`.'])(
    'leave: %s',
    (text) => {
      expect(complaints(text)).toEqual([])
    },
  )
})

test.each([
  ['libs/a.ts', ['It reads the N of a file alone.']],
  ['services/console/src/texts/zh.ts', []],
  ['libs/a.test.ts', []],
  ['test/run.mjs', ['It reads the N of a file alone.']],
  ['deploy/release/testing/a.ts', []],
])('the messages of %s are checked as whole texts', (file, messages) => {
  const source = `say("It reads " + \`the \${part} of \` + "a file alone."); say("a short name")`
  expect(textsOfScript(file, source).map(([text]) => text)).toEqual(messages)
})

let found: SourceText[] | undefined
/** Two tests read them, and parsing all sources takes most of their time. */
function textsOfSources(): SourceText[] {
  found ??= sourceTexts(root)
  return found
}

test('comments, names of tests and messages keep to the rules of wording', () => {
  const flagged = textsOfSources().flatMap(({ file, line, text }) =>
    patterns.flatMap(({ pattern, expected }) => {
      const found = pattern.exec(text)
      return found === null ? [] : [`${file}:${line}: "${text}"; write: ${expected}`]
    }),
  )
  expect(flagged).toEqual([])
})

test('comments name only files of TypeScript and C++ that exist', () => {
  const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n')
  const known = new Set(files.map((file) => basename(file)))
  const missing = textsOfSources().flatMap(({ file, line, text }) =>
    (text.match(/(?<![\w*.-])[\w-]+(?:\.\w+)*\.(?:tsx?|cc)\b/g) ?? [])
      .filter((name) => !known.has(name))
      .map((name) => `${file}:${line}: ${name}`),
  )
  expect(missing).toEqual([])
})
