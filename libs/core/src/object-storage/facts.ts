import { ObjectMissing, ObjectRefused, ObjectReplaced } from './errors.js'
import type { ObjectFacts } from './object-store.js'
import type { Answer } from './requester.js'

type Headers = Answer['headers']

/** Reads the facts of an object from a response that carries the object or a part of it. Throws `ObjectRefused` if the length is missing. */
export function factsOf(status: number, headers: Headers): ObjectFacts {
  const size = status === 206 ? sizeOfRange(headers) : Number(text(headers, 'content-length') ?? Number.NaN)
  if (!Number.isSafeInteger(size)) throw new ObjectRefused('the server does not send the length of the object')
  const modified = text(headers, 'last-modified')
  const modifiedAt = modified === undefined || Number.isNaN(Date.parse(modified)) ? null : new Date(modified)
  // For a server without tags, a weak tag from time and size is the best available name of the content.
  const etag = text(headers, 'etag') ?? `W/"${modifiedAt?.getTime().toString(36) ?? ''}-${size.toString(36)}"`
  return { size, etag, modifiedAt }
}

/** Returns the position of the first byte in a partial response. */
export function offsetOfRange(headers: Headers): number {
  return Number(/^bytes (\d{1,16})-/.exec(text(headers, 'content-range') ?? '')?.[1] ?? Number.NaN)
}

function sizeOfRange(headers: Headers): number {
  return Number(/\/(\d{1,16})$/.exec(text(headers, 'content-range') ?? '')?.[1] ?? Number.NaN)
}

/** A server never matches a weak tag (RFC 9110, 13.1.1), so such an object is compared only here. */
export function pinningHeaders(ifMatch: string | undefined): Record<string, string> {
  return ifMatch === undefined || ifMatch.startsWith('W/') ? {} : { 'if-match': ifMatch }
}

/** Compares the tag, because servers without conditional requests return their current object. */
export function checkPin(facts: ObjectFacts, ifMatch: string | undefined): void {
  if (ifMatch !== undefined && facts.etag !== ifMatch) throw new ObjectReplaced('the object has been replaced')
}

/** Throws the error that a status without an object means. @param reason text from the body */
export function refuseStatus(status: number, reason: string): never {
  const said = reason === '' ? '' : `: ${reason}`
  if (status === 404 || status === 410) throw new ObjectMissing(`it is missing${said}`)
  if (status === 412) throw new ObjectReplaced('the object has been replaced')
  throw new ObjectRefused(`the server returns ${status}${said}`)
}

function text(headers: Headers, name: string): string | undefined {
  return [headers[name]].flat()[0]
}
