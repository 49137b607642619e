import type { FileSender } from '@gateway/native-edge/transfer/file-sender.js'
import type { HttpRequest } from '@gateway/native-edge/uws/uws.js'

/*
 * uWebSockets.js shows the first line of a field alone. Several are one list (RFC 9110, 5.3); and of a field that is no list they are no valid value of
 * it, which is what they are together too.
 */

/** Fields that say who asks and come once (RFC 9110, 5.3): in front of the edge the second line may have been judged. The same twice says nothing new. */
const NEVER_A_LIST: ReadonlySet<string> = new Set(['authorization', 'x-access-token'])
/** Between two lines of them that differ; no value has it. */
const DIFFERS = '\n'

export const isNeverList = (name: string): boolean => NEVER_A_LIST.has(name)
export const contradictsItself = (value: string): boolean => value.includes(DIFFERS)

/** The values of those fields that `none` names; absent ones are empty. The names are in lower case. */
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

/** One field that may be a list as a whole, on paths where `readFields` would read more than is wanted. */
export function readField(req: HttpRequest, wanted: string): string {
  let found = ''
  req.forEach((name, value) => {
    if (name === wanted) found = found === '' ? value : joined(name, found, value)
  })
  return found
}

/** Connection as `connectionEnd` wants it. Where a client wants a connection to end, the native tier has said so in a line in front of all others. `whole`: all its lines, where they are known. */
export function readConnection({ tier }: Pick<FileSender, 'tier'>, req: HttpRequest, whole?: string): string {
  const first = req.getHeader('connection')
  if (first === '' || tier === 'native' || first.toLowerCase() === 'close') return first
  return whole ?? readField(req, 'connection')
}
