/** Maximum characters of a value that a message repeats. */
const MAX_SHOWN = 80
const SECRET_FIELD = /secret|password|token|authorization|signature|key$/i

/**
 * Formats a value of a request for a message: JSON, at most 80 characters, without secrets. Returns null if it must not be shown.
 * @param field name of its field
 */
export function shownValue(value: unknown, field: string): string | null {
  if (value === undefined || SECRET_FIELD.test(field)) return null
  if (typeof value === 'string') return JSON.stringify(bounded(withoutSecrets(value)))
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value)
  if (Array.isArray(value) && value.every((one) => typeof one === 'number')) return bounded(JSON.stringify(value))
  return Array.isArray(value) ? 'a list' : 'an object'
}

/** User information and queries of URLs may hold credentials, and a token may be pasted anywhere. */
function withoutSecrets(text: string): string {
  return text
    .slice(0, 4 * MAX_SHOWN)
    .replace(/bmp_[0-9A-Za-z]+/g, (token) => `${token.slice(0, 12)}…`)
    .split(/([/\s])/)
    .map((part) => (part.includes('@') ? `…${part.slice(part.lastIndexOf('@'))}` : part))
    .join('')
    .replace(/\?.+$/s, '?…')
}

function bounded(text: string): string {
  const characters = [...text.slice(0, 2 * MAX_SHOWN)]
  return characters.length <= MAX_SHOWN ? text : `${characters.slice(0, MAX_SHOWN).join('')}…`
}
