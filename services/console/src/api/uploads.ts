import { type Answer, ApiError, type BodyOf, call, LONG_TIMEOUT_MS, send } from './client.js'

/** One file in the words of the API. */
export type UploadTarget = BodyOf<'post', '/api/v1/admin/uploads/{id}/import'>
export type Uploaded = Answer<'post', '/api/v1/admin/uploads/{id}/import'>

/** Bytes of one request: small enough to repeat on a slow line. */
const PART_BYTES = 8 * 1024 * 1024
/** Pauses before a part is sent again; then the user is asked. */
const RETRY_MS = [1_000, 3_000, 10_000]

/** The id of an unfinished upload is kept, so that the same file continues after the page was closed. */
const keyOf = ({ name, size, lastModified }: File) => `upload ${name} ${size} ${lastModified}`

/** Sends a file in parts and imports it. Continues an earlier attempt with the same file. Throws ApiError. */
export async function upload(
  file: File,
  target: UploadTarget,
  onSent: (bytes: number) => void,
  signal: AbortSignal,
): Promise<Uploaded> {
  let { id, received } = await begun(file, signal)
  let failures = 0
  onSent(received)
  while (received < file.size) {
    try {
      received = (await send(partOf(file, id, received), signal)).received
      failures = 0
    } catch (error) {
      if (!(error instanceof ApiError && (error.mayPass || error.status === 409))) throw error
      const pause = RETRY_MS[failures++]
      if (pause === undefined) throw error
      await new Promise((resolve) => setTimeout(resolve, pause))
      signal.throwIfAborted()
      received = await receivedOf(id, signal)
    }
    onSent(received)
  }
  const params = { path: { id } }
  const asked = { params, body: target, timeoutMs: LONG_TIMEOUT_MS }
  const done = await send(call('post', '/api/v1/admin/uploads/{id}/import', asked), signal)
  localStorage.removeItem(keyOf(file))
  return done
}

async function begun(file: File, signal: AbortSignal): Promise<{ id: string; received: number }> {
  const known = localStorage.getItem(keyOf(file))
  if (known !== null) {
    try {
      return { id: known, received: await receivedOf(known, signal) }
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error
    }
  }
  const { id } = await send(call('post', '/api/v1/admin/uploads'), signal)
  localStorage.setItem(keyOf(file), id)
  return { id, received: 0 }
}

async function receivedOf(id: string, signal: AbortSignal): Promise<number> {
  return (await send(call('get', '/api/v1/admin/uploads/{id}', { params: { path: { id } } }), signal)).received
}

function partOf(file: File, id: string, offset: number) {
  const body = file.slice(offset, offset + PART_BYTES, 'application/octet-stream')
  const params = { path: { id }, query: { offset } }
  const made = call('put', '/api/v1/admin/uploads/{id}/content', { params, body: '' })
  return { ...made, body, timeoutMs: LONG_TIMEOUT_MS }
}

/** Deletes what the gateway keeps of an unfinished upload. */
export async function forgetUpload(file: File): Promise<void> {
  const id = localStorage.getItem(keyOf(file))
  if (id === null) return
  localStorage.removeItem(keyOf(file))
  await send(call('delete', '/api/v1/admin/uploads/{id}', { params: { path: { id } } })).catch(() => {})
}
