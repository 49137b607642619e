/**
 * `node test/lint/regular-expressions.mjs [directory ...]`: lists every regular expression whose time can grow faster than its input, and
 * every one that cannot be judged: composed at run time, or with look-around or back references in addition to a repetition. Ends with 1 if it
 * lists any. Skips tests, which match only their own texts.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { check } from 'recheck'
import { parseSync } from 'vite'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const SOURCES = ['libs', 'services', 'bench'].map((name) => join(root, name))
const SKIPPED = new Set(['node_modules', 'dist', 'build', 'results'])
const SOURCE_FILE = /\.(ts|tsx|mjs|js)$/
const TEST_FILE = /\.test\.\w+$/
/** Quantifiers without a bound. An expression without them looks at each character a fixed number of times. */
const UNBOUNDED = /[*+]|\{\d+,\}/
const directories = process.argv.length > 2 ? process.argv.slice(2) : SOURCES
const found = directories.flatMap(sourceFiles).flatMap(expressionsOf)
const complaints = await Promise.all(found.map(complaintOf))
const bad = complaints.filter((complaint) => complaint !== null)
for (const line of bad) console.error(line)
if (found.length === 0) console.error('No regular expression was found.')
process.exitCode = bad.length > 0 || found.length === 0 ? 1 : 0

function sourceFiles(directory) {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : sourceFiles(path)
    return SOURCE_FILE.test(entry.name) && !TEST_FILE.test(entry.name) ? [path] : []
  })
}

/** Returns every literal, and every call of RegExp; `pattern` of a call is null if it is not a constant. */
function expressionsOf(file) {
  const text = readFileSync(file, 'utf8')
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`)
  const expressions = []
  const add = (node, pattern, flags) => {
    const line = text.slice(0, node.start).split('\n').length
    expressions.push({ place: `${relative(root, file)}:${line}`, pattern, flags })
  }
  const visit = (node) => {
    if (node === null || typeof node !== 'object') return
    if (node.type === 'Literal' && node.regex) add(node, node.regex.pattern, node.regex.flags)
    if (isRegExpCall(node)) add(node, ...node.arguments.slice(0, 2).map(constantOf))
    for (const child of Object.values(node)) visit(child)
  }
  visit(program)
  return expressions
}

function isRegExpCall(node) {
  return (node.type === 'NewExpression' || node.type === 'CallExpression') && node.callee.name === 'RegExp'
}

function constantOf(node) {
  return node?.type === 'Literal' && typeof node.value === 'string' ? node.value : null
}

async function complaintOf({ place, pattern, flags }) {
  if (pattern === null) return `${place}: a regular expression that is put together at run time cannot be judged`
  if (!UNBOUNDED.test(pattern)) return null
  // The other checker guesses with random texts: it judges more, and not always alike. On a busy machine a limit of time would judge the machine.
  const options = /** @type {const} */ ({ checker: 'automaton', timeout: null })
  const { status, complexity, attack, error } = /** @type {any} */ (await check(pattern, flags ?? '', options))
  if (status === 'safe') return null
  const why =
    status === 'vulnerable'
      ? `takes more than linear time (${complexity.summary}): try ${attack.pattern}`
      : `cannot be judged (${error.kind}); write it in simpler parts`
  return `${place}: /${pattern}/${flags ?? ''} ${why}`
}
