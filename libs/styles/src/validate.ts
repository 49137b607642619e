import { levelsOf, MAX_LEVELS } from '@gateway/core/files/outside-json.js'
import jsonlint from '@mapbox/jsonlint-lines-primitives'
import { type StyleSpecification, validateStyleMin } from '@maplibre/maplibre-gl-style-spec'
import { dependenciesOf, type StyleDependencies } from './dependencies.js'
import { jsonFault } from './json-fault.js'
import { problemWords } from './problem-words.js'
import { GATEWAY_SCHEME, isObject, parseGatewayAddress, type StyleJson, type StyleProblem } from './style-json.js'

/** Maximum bytes of a style document. The largest known ones have 1 MB. */
export const MAX_STYLE_BYTES = 4 * 1024 * 1024
/** Maximum number of layers. The validator compares each one with all others; the largest known styles have 600. */
const MAX_LAYERS = 10_000
/** Maximum number of reported problems of one style. */
const MAX_PROBLEMS = 20

export type CheckedStyle =
  | {
      readonly ok: true
      readonly style: StyleJson
      readonly dependencies: StyleDependencies
      /** mistakes in spite of which every client draws the style */
      readonly warnings: readonly StyleProblem[]
    }
  | { readonly ok: false; readonly problems: readonly StyleProblem[] }

/** Checks a document against the MapLibre style specification, version 8. Never throws. It also runs in browsers. */
export function checkStyle(text: string): CheckedStyle {
  if (new TextEncoder().encode(text).length > MAX_STYLE_BYTES)
    return failed(`it has more than ${MAX_STYLE_BYTES} bytes`)
  // Validators recurse.
  if (levelsOf(text) > MAX_LEVELS) return failed(`it has more than ${MAX_LEVELS} levels of arrays and objects`)
  try {
    const { problems, warnings } = withGatewayAddresses(text)
    if (problems.length > 0) return { ok: false, problems: problems.slice(0, MAX_PROBLEMS) }
    const style: unknown = JSON.parse(text)
    if (!isObject(style)) return failed('it is not a JSON object')
    return { ok: true, style, dependencies: dependenciesOf(style), warnings: warnings.slice(0, MAX_PROBLEMS) }
  } catch (error) {
    return failed((error as Error).message.slice(0, 300))
  }
}

function failed(message: string): CheckedStyle {
  return { ok: false, problems: [{ line: null, message }] }
}

/** The specification requires a template in `glyphs`, so `gateway://fonts` is checked as one. No line moves. */
function withGatewayAddresses(text: string): Record<'problems' | 'warnings', StyleProblem[]> {
  const plain = text.replaceAll('"gateway://fonts"', '"gateway://fonts/{fontstack}/{range}"')
  const fault = jsonFault(plain)
  if (fault !== null) return { problems: [fault], warnings: [] }
  const values: unknown = JSON.parse(plain)
  if (isObject(values) && Array.isArray(values.layers) && values.layers.length > MAX_LAYERS)
    return { problems: [{ line: null, message: `it has more than ${MAX_LAYERS} layers` }], warnings: [] }
  // The validator's copy has objects with line numbers instead of texts and numbers.
  const style = jsonlint.parse(plain) as StyleSpecification
  const found = validateStyleMin(style)
  const of = (isWarning: boolean) => {
    const some = found.filter(({ severity }) => (severity === 'warning') === isWarning)
    const problems = some.map(({ line, message }) => ({
      line: typeof line === 'number' ? line : null,
      message: problemWords(message, values).slice(0, MAX_MESSAGE),
    }))
    return [...new Map(problems.map((problem) => [`${problem.line} ${problem.message}`, problem])).values()]
  }
  return { problems: [...of(false), ...unknownAddresses(text)], warnings: of(true) }
}

/** Limit: characters of a problem. */
const MAX_MESSAGE = 300

function unknownAddresses(text: string): StyleProblem[] {
  const problems: StyleProblem[] = []
  for (const [i, line] of text.split('\n').entries()) {
    for (const [, address = ''] of line.matchAll(/"(gateway:\/\/[^"\\]{0,1000})"/g)) {
      if (parseGatewayAddress(address) !== null) continue
      const message = `${JSON.stringify(address)} names nothing: write ${GATEWAY_SCHEME}basemaps/CODE, ${GATEWAY_SCHEME}basemaps/CODE/VERSION, ${GATEWAY_SCHEME}vectors/CODE, ${GATEWAY_SCHEME}fonts or ${GATEWAY_SCHEME}sprites/CODE`
      problems.push({ line: i + 1, message })
    }
  }
  return problems
}
