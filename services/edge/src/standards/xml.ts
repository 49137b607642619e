const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Markup that is inserted into other markup without escaping. */
export class Xml {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Xml | readonly Xml[] | null

/** Returns the XML 1.0 of a template: texts are escaped, markup and lists of markup are not, null is omitted. */
export function xml(strings: TemplateStringsArray, ...parts: readonly Part[]): Xml {
  let text = strings[0] as string
  for (const [i, part] of parts.entries()) text += `${toText(part)}${strings[i + 1]}`
  return new Xml(text)
}

/** Returns a whole document, without the blank lines and indents of its templates. */
export function xmlDocument(document: Xml): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${xmlItem(document)}`
}

/** Returns a part of a document that occupies whole lines, in the form of `xmlDocument`. */
export function xmlItem({ text }: Xml): string {
  return `${text.replace(/>\s*\n\s*/g, '>\n').trim()}\n`
}

/** Placeholder of the items in the frame of `xmlPieces`. No foreign text can contain this character (`escaped`). */
export const XML_ITEMS = new Xml('\0')

/** Returns a document that grows with its items, in pieces. */
export function* xmlPieces(frame: Xml, items: Iterable<string>): Iterable<string> {
  const [head = '', tail = ''] = xmlDocument(frame).split(XML_ITEMS.text)
  yield head
  yield* items
  yield tail.trimStart()
}

function toText(part: Part): string {
  if (part === null) return ''
  if (part instanceof Xml) return part.text
  if (typeof part === 'object') return part.map(({ text }) => text).join('')
  return escaped(String(part))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 has no form for these
const NOT_IN_XML = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g

function escaped(text: string): string {
  return text.replace(NOT_IN_XML, '').replace(/[&<>"']/g, (character) => ENTITIES[character] as string)
}
