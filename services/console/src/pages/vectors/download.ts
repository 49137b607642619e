import type { AdminVector } from '@gateway/contracts/vector.js'
import { call, LONG_TIMEOUT_MS, request } from '../../api/client.js'
import { fetchPreviewToken, TOKEN_HEADER } from '../../api/preview.js'

/** Fetches the whole download from this page's origin, with the token in a header. Throws ApiError. */
function fetchDownload(vector: AdminVector, token: string, signal?: AbortSignal): Promise<Blob> {
  const options = { signal, timeoutMs: LONG_TIMEOUT_MS, headers: { [TOKEN_HEADER]: token } }
  const { path } = call('get', '/vectors/{code}/download', { params: { path: { code: vector.code } } })
  return request(path, {}, options, (response) => response.blob())
}

/** Saves the download as a file. A plain link would carry the token in its URL, which browsers and proxies store. */
export async function saveDownload(vector: AdminVector): Promise<void> {
  const { token } = await fetchPreviewToken({ vector_code: vector.code })
  const url = URL.createObjectURL(await fetchDownload(vector, token))
  const link = document.createElement('a')
  link.href = url
  link.download = vector.kind === 'shapefile' ? vector.file_name.replace(/\.shp$/i, '.zip') : vector.file_name
  link.click()
  URL.revokeObjectURL(url)
}
