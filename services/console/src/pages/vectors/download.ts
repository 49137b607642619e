import type { PreviewToken } from '@gateway/contracts/console.js'
import type { AdminVector } from '@gateway/contracts/vector.js'
import { ApiError, adminPost, refusalIn, segment } from '../../api/client.js'
import { TOKEN_HEADER } from '../../api/preview.js'

/** The whole download, below this page's own origin and with a token in a header. Throws ApiError. */
export async function fetchDownload(vector: AdminVector, token: string, signal?: AbortSignal): Promise<Blob> {
  let answer: Response
  try {
    answer = await fetch(`/vectors/${segment(vector.code)}/download`, {
      headers: { [TOKEN_HEADER]: token },
      signal: signal ?? null,
    })
  } catch (error) {
    throw new ApiError(0, (error as Error).message)
  }
  if (!answer.ok) throw new ApiError(answer.status, await refusalIn(answer))
  return answer.blob()
}

/** Downloads into a file of the browser. A link could not carry the token except in its address, where it would be kept. */
export async function saveDownload(vector: AdminVector): Promise<void> {
  const { token } = await adminPost<PreviewToken>('/preview-token', { vector_code: vector.code })
  const url = URL.createObjectURL(await fetchDownload(vector, token))
  const link = document.createElement('a')
  link.href = url
  link.download = vector.kind === 'shapefile' ? vector.file_name.replace(/\.shp$/i, '.zip') : vector.file_name
  link.click()
  URL.revokeObjectURL(url)
}
