import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import { queryOptions, skipToken, useQuery } from '@tanstack/react-query'
import { ApiError, reads } from '../api/client.js'
import { previewTokenQuery, TOKEN_HEADER } from '../api/preview.js'

/** An edge learns of a new version a moment after this page. */
const MAX_RETRIES = 3
const RETRY_MS = 700

function tileJsonQuery(code: string, version: BasemapVersion, token: string | undefined) {
  const params = { path: { code, version: version.version } }
  return queryOptions({
    queryKey: ['tilejson', code, version.version, version.scanned_at],
    queryFn:
      token === undefined
        ? skipToken
        : reads('/tiles/{code}/{version}/tilejson.json', { params, headers: { [TOKEN_HEADER]: token } }),
    retry: (failures, error) =>
      failures < MAX_RETRIES && error instanceof ApiError && (error.mayPass || error.status === 404),
    retryDelay: RETRY_MS,
  })
}

/** The requirements of a version's preview: a token, and the proof that this origin serves its tiles. */
export function useVersionPreview(code: string, version: BasemapVersion) {
  const token = useQuery(previewTokenQuery({ basemap_code: code }))
  const tileJson = useQuery(tileJsonQuery(code, version, token.data?.token))
  return { token: token.data?.token, tileJson: tileJson.data, error: token.error ?? tileJson.error }
}
