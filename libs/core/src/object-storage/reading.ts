import { addAbortSignal } from 'node:stream'
import { ObjectRefused, ObjectReplaced } from './errors.js'
import { checkPin, factsOf, offsetOfRange, pinningHeaders, refuseStatus } from './facts.js'
import type { ObjectFacts, ObjectStore, PinnedOptions, ReadOptions, StreamOptions } from './object-store.js'
import type { Request, Requester } from './requester.js'

/** Builds the request for an object: its path, and the headers that sign it. */
export type Addressing = (method: Request['method'], key: string) => Pick<Request, 'method' | 'path' | 'headers'>

/** Maximum bytes of the text in a refusal. */
const MAX_REASON_BYTES = 64 * 1024

/** Implements reads that object storage and plain HTTP share (RFC 9110). @param reasonOf extracts the reason from a refusal's body; null: none */
export function reader(
  requester: Requester,
  address: Addressing,
  reasonOf: ((body: Buffer) => string) | null,
): Pick<ObjectStore, 'head' | 'read' | 'stream'> {
  const textOf = ({ bytes }: { readonly bytes: Buffer }) => reasonOf?.(bytes) ?? ''

  async function head(key: string, { signal }: ReadOptions = {}): Promise<ObjectFacts | undefined> {
    const { status, headers } = await requester.send({ ...address('HEAD', key), maxBytes: 0, signal })
    if (status === 404 || status === 410) return undefined
    return status === 200 ? factsOf(status, headers) : refuseStatus(status, await reasonFor(key, status, signal))
  }

  /** A response to HEAD has no body that would give the reason of a refusal. */
  async function reasonFor(key: string, status: number, signal: AbortSignal | undefined): Promise<string> {
    if (reasonOf === null) return ''
    const request = address('GET', key)
    const headers = async () => ({ ...(await request.headers()), range: 'bytes=0-0' })
    const answer = await requester.send({ ...request, headers, maxBytes: MAX_REASON_BYTES, signal })
    return answer.status === status ? textOf(answer) : ''
  }

  async function read(
    key: string,
    { offset, length }: { readonly offset: number; readonly length: number },
    { ifMatch, signal }: PinnedOptions = {},
  ): Promise<{ bytes: Buffer; facts: ObjectFacts }> {
    const request = address('GET', key)
    const range = { range: `bytes=${offset}-${offset + length - 1}`, ...pinningHeaders(ifMatch) }
    const headersOf = async () => ({ ...(await request.headers()), ...range })
    const answer = await requester.send({
      ...request,
      headers: headersOf,
      maxBytes: Math.max(length, MAX_REASON_BYTES),
      signal,
    })
    if (answer.status === 416) return nothingBeyond(key, { ifMatch, signal })
    if (answer.status !== 206 && answer.status !== 200) return refuseStatus(answer.status, textOf(answer))
    const facts = factsOf(answer.status, answer.headers)
    checkPin(facts, ifMatch)
    // A server may send the whole object if it is no longer than the requested range.
    const begin = answer.status === 206 ? offsetOfRange(answer.headers) : 0
    if (begin !== offset) throw new ObjectRefused('the server does not support byte ranges')
    return { bytes: answer.bytes.subarray(0, length), facts }
  }

  /** Handles a range that begins behind the end. For an empty object, every range does. */
  async function nothingBeyond(key: string, { ifMatch, signal }: PinnedOptions) {
    const facts = await head(key, { signal })
    if (facts === undefined) return refuseStatus(404, '')
    checkPin(facts, ifMatch)
    return { bytes: Buffer.alloc(0), facts }
  }

  async function stream(key: string, { ifMatch, size, signal }: StreamOptions = {}) {
    const request = address('GET', key)
    const headersOf = async () => ({ ...(await request.headers()), ...pinningHeaders(ifMatch) })
    const answer = await requester.stream({ ...request, headers: headersOf, maxBytes: MAX_REASON_BYTES, signal })
    const { status, body } = answer
    if (body === null) return refuseStatus(status, textOf(answer))
    try {
      const facts = factsOf(status, answer.headers)
      checkPin(facts, ifMatch)
      if (size !== undefined && facts.size !== size) throw new ObjectReplaced('the length of the object has changed')
      return { body: signal === undefined ? body : addAbortSignal(signal, body), facts }
    } catch (error) {
      body.once('error', () => {}).destroy()
      throw error
    }
  }

  return { head, read, stream }
}
