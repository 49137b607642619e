import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { type ESTree, parseSync } from 'vite'

type Node = ESTree.Node

/** A sentence of a comment or a message, or the name of a test. */
export interface SourceText {
  readonly file: string
  /** line of the comment, string or call, from 1 */
  readonly line: number
  readonly text: string
}

const SCRIPTS = ['*.ts', '*.tsx', '*.mts', '*.mjs', '*.cjs', '*.js']
const LIKE_C = ['*.cc', '*.h', '*.c', '*.css']
/** Migrations are absent: a store compares their checksums, comments included. */
const LIKE_SHELL = ['*.sh', '*.py', '*.yaml', '*.yml', '*.env', '*.example', '*.conf', '*Dockerfile', '*Makefile']
/** It is written by a program. */
const GENERATED = /openapi\.d\.ts$/
const NAMES_TESTS = /^(test|it|describe)\b/
/** Chinese texts have their own reviewers, and strings of tests quote what users write. */
const HAS_NO_MESSAGES = /\.test\.|\/testing\/|\/zh|\.config\.ts$/
/** A shorter string is a name, a key or a code rather than a message. */
const LEAST_WORDS = 4
const C_COMMENTS = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/gm
const SHELL_COMMENTS = /(?<=^|\s)# [^\n]*/gm
const LINE_COMMENT = /^(\/\/|#)/

/** The sentences of all comments, names of tests, and messages in the files that git knows below `root`. */
export function sourceTexts(root: string): SourceText[] {
  return [
    ...textsOf(root, SCRIPTS, textsOfScript),
    ...textsOf(root, LIKE_C, (_, source) => commentsOf(source, C_COMMENTS)),
    ...textsOf(root, LIKE_SHELL, (_, source) => commentsOf(source, SHELL_COMMENTS)),
  ]
}

function textsOf(root: string, names: readonly string[], find: (file: string, source: string) => Found[]) {
  const listed = execFileSync('git', ['ls-files', ...names], { cwd: root, encoding: 'utf8' })
  const files = listed
    .trim()
    .split('\n')
    .filter((file) => !GENERATED.test(file))
  return files.flatMap((file) => {
    const source = readFileSync(root + file, 'utf8')
    return find(file, source).flatMap(([text, at]) => {
      const line = source.slice(0, at).split('\n').length
      return sentences(text).map((sentence) => ({ file, line, text: sentence }))
    })
  })
}

type Found = [text: string, at: number]

function commentsOf(source: string, pattern: RegExp): Found[] {
  return joinLines(
    source,
    [...source.matchAll(pattern)].map((match) => [match.index, match.index + match[0].length]),
  )
}

/** Returns the comments, names of tests and messages of a file, each with its position in `source`. */
export function textsOfScript(file: string, source: string): Found[] {
  const { program, comments } = parseSync(file, source)
  const names: Found[] = []
  const messages: Found[] = []
  const hasMessages = !HAS_NO_MESSAGES.test(file)
  const visit = (node: Node, parent: Node | null): void => {
    if (node.type === 'CallExpression' && NAMES_TESTS.test(source.slice(node.callee.start, node.callee.end))) {
      const [name] = node.arguments
      const text = name === undefined ? null : stringOf(name)
      if (name !== undefined && text !== null) names.push([text, name.start])
    }
    const isWhole = parent === null || !isConcatenation(parent) || messageOf(parent) === null
    const message = hasMessages && isWhole ? messageOf(node) : null
    if (message !== null && message.split(/\s+/).length >= LEAST_WORDS) messages.push([message, node.start])
    for (const child of childrenOf(node)) visit(child, node)
  }
  visit(program, null)
  return [
    ...joinLines(
      source,
      comments.filter(({ start }) => !source.startsWith('#!', start)).map(({ start, end }) => [start, end]),
    ),
    ...names,
    ...messages,
  ]
}

function childrenOf(node: Node): Node[] {
  const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value
  return Object.values(node).flat().filter(isNode)
}

/** Returns the text of a string without values. */
function stringOf(node: Node): string | null {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : null
  return node.type === 'TemplateLiteral' && node.expressions.length === 0 ? messageOf(node) : null
}

/** Returns the text of a string, a template (N for each value) or a concatenation of both, or null for other nodes. */
function messageOf(node: Node): string | null {
  if (node.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.cooked ?? value.raw).join('N')
  if (!isConcatenation(node)) return stringOf(node)
  const left = messageOf(node.left)
  const right = messageOf(node.right)
  return left === null || right === null ? null : left + right
}

function isConcatenation(node: Node): node is ESTree.BinaryExpression {
  return node.type === 'BinaryExpression' && node.operator === '+'
}

/** The texts of comments; `//` and `#` comments on successive lines are one text. */
function joinLines(source: string, ranges: [from: number, to: number][]): Found[] {
  const found: Found[] = []
  let last = Number.NaN
  for (const [from, to] of ranges) {
    const text = source
      .slice(from, to)
      .split('\n')
      .map((line) => line.replace(/^\s*(\/\*+|\*\/|\*|\/\/|#)\s?|\s*\*\/$/g, '').trim())
      .join(' ')
    const previous = found.at(-1)
    const isLine = LINE_COMMENT.test(source.slice(from, from + 2))
    const continues = isLine && source.slice(last, from).trim() === '' && !Number.isNaN(last)
    if (continues && previous !== undefined) previous[0] += ` ${text}`
    else found.push([text, from])
    last = isLine ? to : Number.NaN
  }
  return found
}

function sentences(text: string): string[] {
  return text
    .replace(/`[^`]*`/g, '`')
    .replace(/"[^"]*"/g, '""')
    .replace(/\s+/g, ' ')
    .split(/(?<=[.!?]) (?=[A-Z])| (?=@(?:param|returns|throws)\b)/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '')
}
