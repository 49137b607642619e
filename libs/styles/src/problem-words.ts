import { nearest } from '@gateway/contracts/input/nearest.js'
import { expressions, latest } from '@maplibre/maplibre-gl-style-spec'
import { isObject } from './style-json.js'

/** Limit: names that a problem lists. */
const MAX_LISTED = 10

type Key = string | number

/** Something that a validator found: where it is, and the value there. */
interface Found {
  readonly path: readonly Key[]
  readonly value: unknown
  readonly reason: string
  readonly style: unknown
}

/**
 * The words of a validator's message for those who design a map: a layer has its id, as editors show it, and a misspelled name has the name that
 * was probably meant. A message in a form that is not known stays.
 */
export function problemWords(message: string, style: unknown): string {
  const [, place = '', reason = message] = /^([\w$-]+(?:\[[^\]]*\]|\.[\w$-]+)*): (.*)$/s.exec(message) ?? []
  const path = [...place.matchAll(/[^.[\]]+/g)].map(([key]) => (/^\d+$/.test(key) ? Number(key) : key))
  const found = { path, value: valueAt(style, path), reason: reason.replace(/\.$/, ''), style }
  const words = expressionWords(found) ?? propertyWords(found) ?? sourceWords(found) ?? otherWords(found)
  const layer = path[0] === 'layers' ? valueAt(style, path.slice(0, 2)) : null
  if (!isObject(layer) || layer.id === undefined) return place === '' ? words : `${place}: ${words}`
  const below = place.replace(/^layers\[\d+\]\.?/, '')
  return `layer ${JSON.stringify(String(layer.id))}: ${below === '' ? '' : `${below}: `}${words}`
}

function valueAt(style: unknown, path: readonly Key[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<Key, unknown> | null | undefined)?.[key], style)
}

function expressionWords({ path, value, reason, style }: Found): string | null {
  const around = Array.isArray(value) ? value : valueAt(style, path.slice(0, -1))
  const operator = Array.isArray(around) && typeof around[0] === 'string' ? around[0] : null
  if (operator === null) return null
  const isKnown = Object.hasOwn(expressions, operator)
  if (!isKnown && (/^\w+ expected, array found$/.test(reason) || reason.startsWith('Unknown expression')))
    return `there is no expression ${JSON.stringify(operator)}${guess(operator, Object.keys(expressions))}`
  return isKnown && /^Expected/.test(reason) ? `${JSON.stringify(operator)}: ${reason}` : null
}

const SECTIONS = ['paint', 'layout'] as const

function propertyWords({ path, reason, style }: Found): string | null {
  const [, name] = /^unknown property "(.*)"$/.exec(reason) ?? []
  const section = SECTIONS.find((one) => one === path[2])
  const layer = valueAt(style, path.slice(0, 2))
  if (name === undefined || section === undefined || !isObject(layer) || typeof layer.type !== 'string') return null
  const other = section === 'paint' ? 'layout' : 'paint'
  if (propertiesOf(other, layer.type).includes(name)) return `${JSON.stringify(name)} belongs below "${other}"`
  const known = propertiesOf(section, layer.type)
  return `layers of the type ${layer.type} have no ${section} property ${JSON.stringify(name)}${guess(name, known)}`
}

function propertiesOf(section: string, type: string): readonly string[] {
  return Object.keys((latest as unknown as Record<string, object>)[`${section}_${type}`] ?? {})
}

function sourceWords({ reason, style }: Found): string | null {
  const [, name] = /^source "(.*)" not found$/.exec(reason) ?? []
  if (name === undefined) return null
  const known = isObject(style) && isObject(style.sources) ? Object.keys(style.sources) : []
  const listed = known.slice(0, MAX_LISTED).map((one) => JSON.stringify(one))
  const all = listed.length === 0 ? 'it has none' : `it has ${listed.join(', ')}`
  return `the style has no source ${JSON.stringify(name)}${guess(name, known) || `: ${all}`}`
}

function otherWords({ path, reason }: Found): string {
  const [, allowed = '', given = ''] = /^expected one of \[([^\]]*)\], "(.*)" found$/.exec(reason) ?? []
  if (given !== '' && path[0] !== 'version') return `${reason}${guess(given, allowed.split(', '))}`
  if (path[0] === 'glyphs' && reason.includes('must include'))
    return 'write gateway://fonts, or an address with {fontstack} and {range}'
  if (path[0] === 'version') return 'write 8, as a number'
  if (reason === 'missing required property "version"') return 'the style has no "version": write "version": 8'
  if (reason.endsWith('must specify a "source-layer"'))
    return 'a layer of vector tiles needs a "source-layer", the name of the layer in the tiles'
  return reason
}

function guess(name: string, known: readonly string[]): string {
  // The comparison of names looks at letters only.
  const meant = name === '=' ? '==' : nearest(name, known)
  return meant === null || meant === name ? '' : `: did you mean ${JSON.stringify(meant)}?`
}
