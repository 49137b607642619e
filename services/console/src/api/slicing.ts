import type { TileMatrixSetId } from '@gateway/contracts/basemap.js'
import type { ListedSliceJob, SliceEncoding, SliceEstimate, SliceFile, SliceJob } from '@gateway/contracts/slice.js'
import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { ApiError, adminGet, adminSend, type List, LONG_TIMEOUT_MS, segment } from './client.js'
import { type ListSource, listQuery, NOT_SEEN } from './list.js'
import { useWrite } from './use-write.js'

/** The body of a submit; see the interface. */
export interface SliceBody {
  readonly target_code: string
  readonly source_paths: readonly string[]
  readonly name?: string
  readonly zoom_min: number
  readonly zoom_max: number | 'native'
  readonly tile_size: number
  readonly tile_format: string
  readonly tile_matrix_set: TileMatrixSetId
  readonly encoding: SliceEncoding
  readonly callback_url?: string
}

export const isOpen = (job: ListedSliceJob): boolean => job.status === 'pending' || job.status === 'running'

export const SLICE_JOBS: ListSource = { key: 'slicing', path: '/slice/jobs' }

/** Of the jobs, newest first, what the first page of the console shows: those that failed and that nobody has seen, that run, or wait. */
export function failedJobsQuery(limit: number) {
  return listQuery<ListedSliceJob>(SLICE_JOBS, { limit, filters: { ...NOT_SEEN, cancelled: 'false' } })
}
export const runningJobQuery = listQuery<ListedSliceJob>(SLICE_JOBS, { limit: 1, filters: { status: 'running' } })
export const pendingJobsQuery = listQuery<ListedSliceJob>(SLICE_JOBS, { limit: 1, filters: { status: 'pending' } })

/** The newest job that has made this layer; the empty code: any layer. */
export function lastSliceQuery(target: string) {
  return listQuery<ListedSliceJob>(SLICE_JOBS, { limit: 1, filters: { target_code: target, status: 'succeeded' } })
}

export function sliceJobQuery(id: string) {
  return queryOptions({
    queryKey: ['slicing', 'jobs', id],
    queryFn: ({ signal }) => adminGet<SliceJob>(`/slice/jobs/${segment(id)}`, signal),
  })
}

export function sliceFilesQuery(dir: string | null) {
  return queryOptions({
    queryKey: ['slice-files', dir],
    queryFn: ({ signal }) =>
      adminGet<List<SliceFile>>(`/slice/files${dir === null ? '' : `?dir=${encodeURIComponent(dir)}`}`, signal),
  })
}

export function estimateQuery(body: SliceBody) {
  return queryOptions({
    queryKey: ['slice-estimate', body],
    queryFn: ({ signal }) =>
      adminSend<SliceEstimate>({ method: 'POST', path: '/slice/estimate', body, timeoutMs: LONG_TIMEOUT_MS }, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}

/** Submits what can be sliced: the service looks at the images first, as far as it can. */
export function useSubmitSlice() {
  const queries = useQueryClient()
  return useWrite<SliceBody, SliceJob>((body) => ({ method: 'POST', path: '/slice/jobs', body }), {
    changes: ['slicing'],
    before: async (body) => {
      if (body.source_paths.some((path) => path.startsWith('s3://'))) return
      // Where it cannot look now, the job will.
      await queries.fetchQuery({ ...estimateQuery(body), retry: false }).catch((error: Error) => {
        if (error instanceof ApiError && error.status === 400) throw error
      })
    },
  })
}

export function useAcknowledgeSlice(id: string) {
  return useWrite(() => ({ method: 'POST', path: `/slice/jobs/${segment(id)}/acknowledge` }), { changes: ['slicing'] })
}

export function useCancelSlice(id: string) {
  return useWrite(() => ({ method: 'POST', path: `/slice/jobs/${segment(id)}/cancel` }), { changes: ['slicing'] })
}
