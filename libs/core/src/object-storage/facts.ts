import { ObjectMissing, ObjectRefused, ObjectReplaced } from './errors.js'
import type { ObjectFacts } from './object-store.js'
import type { Answer } from './requester.js'

type Headers = Answer['headers']

/** Of an answer that carries an object or a part of it. Throws `ObjectRefused` where the server does not say how long the object is. */
export function factsOf(status: number, headers: Headers): ObjectFacts {
  const size = status === 206 ? sizeOfRange(headers) : Number(text(headers, 'content-length') ?? Number.NaN)
  if (!Number.isSafeInteger(size)) throw new ObjectRefused('the server does not say how long the object is')
  const modified = text(headers, 'last-modified')
  const modifiedAt = modified === undefined || Number.isNaN(Date.parse(modified)) ? null : new Date(modified)
  // A server without tags still names the content as well as it can.
  const etag = text(headers, 'etag') ?? `W/"${modifiedAt?.getTime().toString(36) ?? ''}-${size.toString(36)}"`
  return { size, etag, modifiedAt }
}

/** The first byte that a partial answer carries. */
export function offsetOfRange(headers: Headers): number {
  return Number(/^bytes (\d{1,16})-/.exec(text(headers, 'content-range') ?? '')?.[1] ?? Number.NaN)
}

function sizeOfRange(headers: Headers): number {
  return Number(/\/(\d{1,16})$/.exec(text(headers, 'content-range') ?? '')?.[1] ?? Number.NaN)
}

/** A weak tag is never matched by a server (RFC 9110, 13.1.1): such an object is compared here alone. */
export function pinningHeaders(ifMatch: string | undefined): Record<string, string> {
  return ifMatch === undefined || ifMatch.startsWith('W/') ? {} : { 'if-match': ifMatch }
}

/** Servers that know no conditions answer what they have. */
export function checkPin(facts: ObjectFacts, ifMatch: string | undefined): void {
  if (ifMatch !== undefined && facts.etag !== ifMatch) throw new ObjectReplaced('the object has been replaced')
}

/** Throws what a status means that carries no object. @param reason what the body says of it */
export function refuseStatus(status: number, reason: string): never {
  const said = reason === '' ? '' : `: ${reason}`
  if (status === 404 || status === 410) throw new ObjectMissing(`it is not there${said}`)
  if (status === 412) throw new ObjectReplaced('the object has been replaced')
  throw new ObjectRefused(`the server answers ${status}${said}`)
}

function text(headers: Headers, name: string): string | undefined {
  return [headers[name]].flat()[0]
}
