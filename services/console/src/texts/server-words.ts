/** Sentences of the service, `{}` for each part that differs, and the same in another language: `{}` again, in the same order. */
export type ServerWords = Readonly<Record<string, string>>

/** The place of a field that is refused, before the words. */
const FIELD = /^(?:body|query|params|headers|request)[\w.-]*: /

/**
 * What the service has said, in another language. Several sentences may be joined by `; `, and each may begin with the field that it is about. What is
 * not known stays as it is.
 */
export function translated(text: string, words: ServerWords): string {
  // A part that differs may hold anything, also the next sentence.
  const parts = text.split('; ').map((part) => sentence(part, words))
  return words[text] ?? (parts.includes(null) ? (sentence(text, words) ?? text) : parts.join('；'))
}

function sentence(text: string, words: ServerWords): string | null {
  const known = words[text] ?? filled(text, words)
  if (known !== null) return known
  const field = FIELD.exec(text)?.[0]
  if (field === undefined) return null
  const rest = sentence(text.slice(field.length), words)
  return rest === null ? null : field + rest
}

function filled(text: string, words: ServerWords): string | null {
  for (const [template, meaning] of Object.entries(words)) {
    const parts = template.includes('{}') ? partsOf(text, template.split('{}')) : null
    if (parts !== null) return meaning.replaceAll('{}', () => parts.shift() ?? '')
  }
  return null
}

/** What stands between the fixed pieces; null: they are not in it, in their order. */
function partsOf(text: string, [first = '', ...pieces]: readonly string[]): string[] | null {
  if (!text.startsWith(first)) return null
  const parts: string[] = []
  let from = first.length
  for (const [i, piece] of pieces.entries()) {
    const isLast = i === pieces.length - 1
    const at =
      isLast && piece !== '' ? text.length - piece.length : piece === '' ? text.length : text.indexOf(piece, from)
    if (at < from || !text.startsWith(piece, at)) return null
    parts.push(text.slice(from, at))
    from = at + piece.length
  }
  return parts
}
