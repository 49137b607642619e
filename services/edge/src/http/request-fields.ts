import type { FileSender } from '@gateway/native-edge/transfer/file-sender.js'
import type { HttpRequest } from '@gateway/native-edge/uws/uws.js'
import type { Unchunked } from './streamed-answer.js'

/*
 * uWebSockets.js shows only the first line of a field. Several lines form one list (RFC 9110, 5.3). For a field that is not a list the joined lines
 * are not a valid value, like the lines themselves.
 */

/**
 * Credentials, which come once (RFC 9110, 5.3): a proxy in front of the edge may have judged the second line. A repetition of the same value is
 * accepted.
 */
const NEVER_A_LIST: ReadonlySet<string> = new Set(['authorization', 'x-access-token'])
/** Separates two different lines of these fields; no value contains it. */
const DIFFERS = '\n'

export const isNeverList = (name: string): boolean => NEVER_A_LIST.has(name)
export const contradictsItself = (value: string): boolean => value.includes(DIFFERS)

/** Returns the values of the fields in `none`; absent ones are empty. The names are in lower case. */
export function readFields<Fields extends Record<string, string>>(req: HttpRequest, none: Readonly<Fields>): Fields {
  const fields: Record<string, string> = { ...none }
  const credentials: string[] = []
  req.forEach((name, value) => {
    const before = fields[name]
    if (before === undefined) return
    const isFirst = before === '' && !credentials.includes(name)
    fields[name] = isFirst ? value : joined(name, before, value)
    if (NEVER_A_LIST.has(name)) credentials.push(name)
  })
  return fields as Fields
}

function joined(name: string, before: string, value: string): string {
  if (NEVER_A_LIST.has(name)) return before === value ? before : `${before}${DIFFERS}${value}`
  return value === '' ? before : `${before}, ${value}`
}

/** Returns all lines of one field, for paths on which `readFields` would read more than necessary. */
export function readField(req: HttpRequest, wanted: string): string {
  let found = ''
  req.forEach((name, value) => {
    if (name === wanted) found = found === '' ? value : joined(name, found, value)
  })
  return found
}

/** Returns how a body of unknown length is sent to a client that knows no chunks; null for a client that does. */
export function unchunkedFor(sender: FileSender, connection: string, version: string): Unchunked | null {
  // Only the native tier passes on HTTP/1.0. Clients may send the field too, but such a body needs a connection that ends.
  if (version === '' || connection.toLowerCase() !== 'close' || sender.tier !== 'native') return null
  return (res, first) => sender.sendUntilClose(res, first)
}

/**
 * Returns Connection in the form that `connectionEnd` expects. If a client wants to close the connection, the native tier has put that in the first
 * line. `whole` is all its lines, if they are known.
 */
export function readConnection({ tier }: Pick<FileSender, 'tier'>, req: HttpRequest, whole?: string): string {
  const first = req.getHeader('connection')
  if (first === '' || tier === 'native' || first.toLowerCase() === 'close') return first
  return whole ?? readField(req, 'connection')
}
