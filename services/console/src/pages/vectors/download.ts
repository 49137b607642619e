import type { AdminVector } from '@gateway/contracts/vector.js'
import { call, LONG_TIMEOUT_MS, request } from '../../api/client.js'
import { fetchPreviewToken, TOKEN_HEADER } from '../../api/preview.js'

/** The whole download, below this page's own origin and with a token in a header. Throws ApiError. */
export function fetchDownload(vector: AdminVector, token: string, signal?: AbortSignal): Promise<Blob> {
  const options = { signal, timeoutMs: LONG_TIMEOUT_MS, headers: { [TOKEN_HEADER]: token } }
  const { path } = call('get', '/vectors/{code}/download', { params: { path: { code: vector.code } } })
  return request(path, {}, options, (response) => response.blob())
}

/** Downloads into a file of the browser. A link could not carry the token except in its address, where it would be kept. */
export async function saveDownload(vector: AdminVector): Promise<void> {
  const { token } = await fetchPreviewToken({ vector_code: vector.code })
  const url = URL.createObjectURL(await fetchDownload(vector, token))
  const link = document.createElement('a')
  link.href = url
  link.download = vector.kind === 'shapefile' ? vector.file_name.replace(/\.shp$/i, '.zip') : vector.file_name
  link.click()
  URL.revokeObjectURL(url)
}
