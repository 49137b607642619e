import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { ObjectRefused } from './errors.js'
import { refuseStatus } from './facts.js'
import type { ObjectFacts, ObjectStore, ReadOptions } from './object-store.js'
import type { Answer, Requester } from './requester.js'
import type { S3Addressing } from './s3-addressing.js'
import { errorText, readUploads, textOf } from './s3-xml.js'

/** Size in bytes above which an object is written in parts. */
const WHOLE_BYTES = 64 * 1024 * 1024
const PART_BYTES = 16 * 1024 * 1024
/** Maximum number of parts in S3. */
const MAX_PARTS = 10_000

/** Maximum bytes of the responses to writes. */
const MAX_ANSWER_BYTES = 64 * 1024

/** Maximum bytes of a list of uploads: a thousand, with keys of maximum length. */
const MAX_LIST_BYTES = 8 * 1024 * 1024

/** Implements PUT, multipart uploads and DELETE of the S3 protocol. Each body is signed by its digest, so the server detects damage. */
export function writer(
  requester: Requester,
  address: S3Addressing,
  below: string,
): Pick<ObjectStore, 'write' | 'remove' | 'prepareWrite'> {
  async function write(
    key: string,
    file: string,
    {
      contentType = 'application/octet-stream',
      signal,
    }: { readonly contentType?: string | undefined } & ReadOptions = {},
  ): Promise<ObjectFacts> {
    const handle = await open(file)
    try {
      const { size } = await handle.stat()
      const etag = await (size <= WHOLE_BYTES
        ? put(key, await readPart(handle, 0, size), { contentType, signal })
        : multipart(key, handle, size, { contentType, signal }))
      return { size, etag, modifiedAt: null }
    } finally {
      await handle.close()
    }
  }

  /** @returns the ETag */
  async function put(
    key: string,
    body: Buffer,
    options: { contentType?: string; query?: Record<string, string>; signal: AbortSignal | undefined },
  ): Promise<string> {
    const { contentType, query = {}, signal } = options
    const request = address('PUT', key, { query, sha256: sha256(body) })
    const type: Record<string, string> = contentType === undefined ? {} : { 'content-type': contentType }
    const headers = async () => ({ ...(await request.headers()), ...type })
    const answer = checked(await requester.send({ ...request, headers, body, maxBytes: MAX_ANSWER_BYTES, signal }))
    const etag = [answer.headers.etag].flat()[0]
    if (etag === undefined) throw new ObjectRefused('the server does not name the stored object')
    return etag
  }

  async function multipart(
    key: string,
    handle: FileHandle,
    size: number,
    { contentType, signal }: { contentType: string; signal: AbortSignal | undefined },
  ): Promise<string> {
    const uploadId = await begin(key, contentType, signal)
    try {
      const tags: string[] = []
      const partBytes = Math.max(PART_BYTES, Math.ceil(size / MAX_PARTS))
      for (let offset = 0; offset < size; offset += partBytes) {
        const part = await readPart(handle, offset, Math.min(partBytes, size - offset))
        tags.push(await put(key, part, { query: { partNumber: String(tags.length + 1), uploadId }, signal }))
      }
      return await complete(key, uploadId, tags, signal)
    } catch (error) {
      // Without an abort, incomplete parts stay stored, and cost money, until somebody removes them.
      await abandon(key, uploadId).catch(() => {})
      throw error
    }
  }

  /** @returns the upload's id */
  async function begin(key: string, contentType: string, signal: AbortSignal | undefined): Promise<string> {
    const request = address('POST', key, { query: { uploads: '' } })
    const headers = async () => ({ ...(await request.headers()), 'content-type': contentType })
    const begun = checked(await requester.send({ ...request, headers, maxBytes: MAX_ANSWER_BYTES, signal }))
    return textOf(begun.bytes, 'InitiateMultipartUploadResult', 'UploadId')
  }

  async function abandon(key: string, uploadId: string): Promise<void> {
    await requester.send({ ...address('DELETE', key, { query: { uploadId } }), maxBytes: MAX_ANSWER_BYTES })
  }

  async function prepareWrite(key: string, { signal }: ReadOptions = {}): Promise<void> {
    // Beginning an upload needs the same permission as a write, and stores nothing.
    await abandon(key, await begin(key, 'application/octet-stream', signal))
    const list = address('GET', null, { query: { uploads: '', prefix: `${below}${key}` } })
    const listed = await requester.send({ ...list, maxBytes: MAX_LIST_BYTES, signal })
    // A writer needs no permission to list. An operator's rule for old uploads then removes what a crash left.
    if (listed.status !== 200) return
    for (const uploadId of readUploads(listed.bytes, `${below}${key}`)) await abandon(key, uploadId)
  }

  async function complete(key: string, uploadId: string, tags: readonly string[], signal: AbortSignal | undefined) {
    const parts = tags.map((tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${xmlText(tag)}</ETag></Part>`)
    const body = Buffer.from(
      `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`,
    )
    const request = address('POST', key, { query: { uploadId }, sha256: sha256(body) })
    const headers = async () => ({ ...(await request.headers()), 'content-type': 'application/xml' })
    const answer = checked(await requester.send({ ...request, headers, body, maxBytes: MAX_ANSWER_BYTES, signal }))
    // The upload may fail after its status was sent. The body is then an error document.
    const failed = errorText(answer.bytes)
    if (failed !== '') throw new ObjectRefused(`the upload was not completed: ${failed}`)
    return textOf(answer.bytes, 'CompleteMultipartUploadResult', 'ETag')
  }

  async function remove(key: string): Promise<void> {
    const answer = await requester.send({ ...address('DELETE', key), maxBytes: MAX_ANSWER_BYTES })
    if (answer.status !== 404) checked(answer)
  }

  return { write, remove, prepareWrite }
}

function checked(answer: Answer): Answer {
  return answer.status >= 200 && answer.status < 300 ? answer : refuseStatus(answer.status, errorText(answer.bytes))
}

function sha256(body: Buffer): string {
  return createHash('sha256').update(body).digest('hex')
}

function xmlText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

/** Throws if the file has become shorter. */
async function readPart(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, offset + filled)
    if (bytesRead === 0) throw new Error('the file became shorter while it was written to object storage')
    filled += bytesRead
  }
  return buffer
}
