import { XMLParser } from 'fast-xml-parser'
import { NotAService } from './service.js'

/** Limit: characters of a description; capabilities of 3,000 layers have some 6 million. */
export const MAX_DESCRIPTION = 16 * 1024 * 1024

export type Node = { readonly [name: string]: unknown }

/** Parses a description without its own entities. Names have no prefix, attributes begin with `@`. */
export function parseXml(text: string): Node {
  if (text.length > MAX_DESCRIPTION) throw new NotAService('the description is too long')
  if (/<!ENTITY/i.test(text)) throw new NotAService('the description defines entities')
  try {
    const parser = new XMLParser({
      ignoreAttributes: false,
      attributeNamePrefix: '@',
      removeNSPrefix: true,
      parseTagValue: false,
      parseAttributeValue: false,
      processEntities: true,
    })
    return parser.parse(text) as Node
  } catch (error) {
    throw new NotAService(`the description is no XML: ${(error as Error).message}`)
  }
}

/** Returns all elements of a name. */
export function all(node: unknown, name: string): Node[] {
  const value = isNode(node) ? node[name] : undefined
  if (value === undefined) return []
  return (Array.isArray(value) ? value : [value]).map((one) => (isNode(one) ? one : { '#text': one }))
}

export function first(node: unknown, ...path: readonly string[]): Node | undefined {
  let at: Node | undefined = isNode(node) ? node : undefined
  for (const name of path) at = all(at, name)[0]
  return at
}

/** Returns the text of an element, at the end of a path; '' if it does not exist. */
export function text(node: unknown, ...path: readonly string[]): string {
  const value = first(node, ...path)?.['#text']
  return typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : ''
}

export function attribute(node: Node | undefined, name: string): string {
  const value = node?.[`@${name}`]
  return typeof value === 'string' ? value.trim() : ''
}

export function numbers(value: string): number[] {
  return value
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map(Number)
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null
}
