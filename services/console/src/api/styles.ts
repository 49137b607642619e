import { queryOptions } from '@tanstack/react-query'
import { type Answer, type Call, CREATES_ONLY, call, LONG_TIMEOUT_MS, reads, request, segment } from './client.js'
import { listOf } from './list.js'
import { TOKEN_HEADER } from './preview.js'
import { useWrite } from './use-write.js'

/** The scan source whose styles can be replaced here. */
export const IMPORTED_STYLES = 'imports-styles'

export const STYLES = listOf('styles', '/api/v1/admin/styles', {
  source_code: true,
  available: true,
  withdrawn: true,
  source_enabled: true,
  scan: true,
})

export type StyleDocument = Answer<'get', '/api/v1/admin/styles/{code}/document'>

export function styleQuery(code: string) {
  return queryOptions({
    queryKey: ['styles', 'one', code],
    queryFn: reads('/api/v1/admin/styles/{code}', { params: { path: { code } } }),
  })
}

/** @param revision null: the current one */
export function styleDocumentQuery(code: string, revision: number | null) {
  const params = { path: { code }, query: revision === null ? {} : { revision } }
  return queryOptions({
    queryKey: ['styles', 'document', code, revision],
    queryFn: reads('/api/v1/admin/styles/{code}/document', { params }),
  })
}

export function updateStyle(code: string, withdrawn: boolean) {
  return call('patch', '/api/v1/admin/styles/{code}', { params: { path: { code } }, body: { withdrawn } })
}

export function deleteStyle(code: string) {
  return call('delete', '/api/v1/admin/styles/{code}', { params: { path: { code } } })
}

export interface StyleImport {
  readonly file: File
  /** empty: the name of the folder in the zip */
  readonly code: string
  /** true if no style may have the code yet */
  readonly isNew?: boolean
}

type Imported = Answer<'post', '/api/v1/admin/styles/import'>

export function useImportStyle(onSuccess: (style: Imported) => void) {
  return useWrite<StyleImport, Imported>(importStyle, {
    onSuccess,
    changes: ['styles', 'scan-sources', 'dashboard'],
  })
}

export function importStyle({ file, code, isNew = false }: StyleImport): Call<Imported> {
  const query = code === '' ? '' : `?code=${encodeURIComponent(code)}`
  return {
    method: 'POST',
    path: `/api/v1/admin/styles/import${query}`,
    body: new Blob([file], { type: /\.zip$/i.test(file.name) ? 'application/zip' : 'application/json' }),
    timeoutMs: LONG_TIMEOUT_MS,
    ...(isNew && CREATES_ONLY),
  }
}

interface Drawn {
  readonly code: string
  /** as in the address of a static map */
  readonly view: string
  /** pixels of a side; default: 96 */
  readonly side?: number
}

/** Returns a small picture of a style, or of a vector in its plain style, which the edge draws. null: this host draws none. */
export function drawnPicture(
  { code, view, side = 96 }: Drawn,
  token: string,
  signal: AbortSignal,
): Promise<Blob | null> {
  const url = `/styles/${segment(code)}/static/${view}/${side}x${side}.png?attribution=false&missing=204`
  return request(url, {}, { signal, headers: { [TOKEN_HEADER]: token } }, async (response) =>
    response.status === 204 ? null : response.blob(),
  )
}
