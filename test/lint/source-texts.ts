import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import ts from 'typescript'

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
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true)
  const ranges = new Map<number, number>()
  const names: Found[] = []
  const messages: Found[] = []
  const visit = (node: ts.Node): void => {
    for (const { pos, end } of ts.getLeadingCommentRanges(source, node.pos) ?? []) ranges.set(pos, end)
    for (const { pos, end } of ts.getTrailingCommentRanges(source, node.end) ?? []) ranges.set(pos, end)
    if (ts.isCallExpression(node) && NAMES_TESTS.test(node.expression.getText(tree))) {
      const [name] = node.arguments
      if (name !== undefined && ts.isStringLiteralLike(name)) names.push([name.text, name.pos])
    }
    const message = !HAS_NO_MESSAGES.test(file) && !isPartOfMessage(node) ? messageOf(node) : null
    if (message !== null && message.split(/\s+/).length >= LEAST_WORDS) messages.push([message, node.getStart(tree)])
    for (const child of node.getChildren(tree)) visit(child)
  }
  visit(tree)
  return [
    ...joinLines(
      source,
      [...ranges].sort(([a], [b]) => a - b),
    ),
    ...names,
    ...messages,
  ]
}

/** Returns the text of a string, a template (N for each value) or a concatenation of both, or null for other nodes. */
function messageOf(node: ts.Node): string | null {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `N${literal.text}`).join('')
  }
  if (!isConcatenation(node)) return null
  const left = messageOf(node.left)
  const right = messageOf(node.right)
  return left === null || right === null ? null : left + right
}

function isPartOfMessage({ parent }: ts.Node): boolean {
  return isConcatenation(parent) && messageOf(parent) !== null
}

function isConcatenation(node: ts.Node | undefined): node is ts.BinaryExpression {
  return node !== undefined && ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken
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
