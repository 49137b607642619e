import type { FileSender } from '@gateway/native-edge/transfer/file-sender.js'
import type { HttpRequest } from '@gateway/native-edge/uws/uws.js'

/*
 * uWebSockets.js shows the first line of a field alone. Several are one list (RFC 9110, 5.3); and of a field that is no list they are no valid value of
 * it, which is what they are together too.
 */

/** Two lines that differ are refused before they are read; the same twice says nothing new. */
const NEVER_A_LIST: ReadonlySet<string> = new Set(['authorization', 'x-access-token'])

/** The values of those fields that `none` names; absent ones are empty. The names are in lower case. */
export function readFields<Fields extends Record<string, string>>(req: HttpRequest, none: Readonly<Fields>): Fields {
  const fields: Record<string, string> = { ...none }
  req.forEach((name, value) => {
    if (Object.hasOwn(fields, name)) fields[name] = joined(name, fields[name] as string, value)
  })
  return fields as Fields
}

function joined(name: string, before: string, value: string): string {
  if (before === '') return value
  return value === '' || NEVER_A_LIST.has(name) ? before : `${before}, ${value}`
}

/** One field as a whole, on paths where `readFields` would read more than is wanted. */
export function readField(req: HttpRequest, wanted: string): string {
  let found = ''
  req.forEach((name, value) => {
    if (name === wanted) found = joined(name, found, value)
  })
  return found
}

/** Connection as `connectionEnd` wants it. Where a client wants a connection to end, the native tier has said so in a line in front of all others. */
export function readConnection({ tier }: Pick<FileSender, 'tier'>, req: HttpRequest): string {
  const first = req.getHeader('connection')
  if (tier === 'native' || first.toLowerCase() === 'close') return first
  return readField(req, 'connection')
}
