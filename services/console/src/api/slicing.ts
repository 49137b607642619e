import type { ListedSliceJob } from '@gateway/contracts/slice.js'
import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { ApiError, type BodyOf, call, LONG_TIMEOUT_MS, reads, send } from './client.js'
import { listOf, listQuery, NOT_SEEN } from './list.js'
import { useWrite } from './use-write.js'

export type SliceBody = BodyOf<'post', '/api/v1/admin/slice/jobs'> & { source_paths: readonly string[] }

export const isOpen = (job: ListedSliceJob): boolean => job.status === 'pending' || job.status === 'running'

export const SLICE_JOBS = listOf('slicing', '/api/v1/admin/slice/jobs', {
  status: true,
  cancelled: true,
  acknowledged: true,
  target_code: true,
  requested_by: true,
})

/** The jobs on the first page of the console, newest first: failed ones that nobody has acknowledged, running ones, and waiting ones. */
export function failedJobsQuery(limit: number) {
  return listQuery(SLICE_JOBS, { limit, ...NOT_SEEN, cancelled: 'false' })
}
export const runningJobQuery = listQuery(SLICE_JOBS, { limit: 1, status: 'running' })
export const pendingJobsQuery = listQuery(SLICE_JOBS, { limit: 1, status: 'pending' })

/** The newest job of a layer; for an empty code, of any layer. */
export function lastSliceQuery(target: string) {
  return listQuery(SLICE_JOBS, { limit: 1, ...(target !== '' && { target_code: target }), status: 'succeeded' })
}

export function sliceJobQuery(id: string) {
  return queryOptions({
    queryKey: ['slicing', 'jobs', id],
    queryFn: reads('/api/v1/admin/slice/jobs/{id}', { params: { path: { id } } }),
  })
}

/** The URL of the tool's output, which is streamed. */
export function sliceLog(id: string): string {
  return call('get', '/api/v1/admin/slice/jobs/{id}/log', { params: { path: { id }, query: { follow: '1' } } }).path
}

export function sliceFilesQuery(dir: string | null) {
  return queryOptions({
    queryKey: ['slice-files', dir],
    queryFn: reads('/api/v1/admin/slice/files', { params: { query: dir === null ? {} : { dir } } }),
  })
}

export function estimateQuery(body: SliceBody) {
  return queryOptions({
    queryKey: ['slice-estimate', body],
    queryFn: ({ signal }) =>
      send(call('post', '/api/v1/admin/slice/estimate', { body, timeoutMs: LONG_TIMEOUT_MS }), signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}

/** Submits a job. The service first examines the images, as far as it can. */
export function useSubmitSlice() {
  const queries = useQueryClient()
  return useWrite((body: SliceBody) => call('post', '/api/v1/admin/slice/jobs', { body }), {
    changes: ['slicing'],
    before: async (body) => {
      if (body.source_paths.some((path) => path.startsWith('s3://'))) return
      // If the service cannot examine them now, the job will.
      await queries.fetchQuery({ ...estimateQuery(body), retry: false }).catch((error: Error) => {
        if (error instanceof ApiError && error.status === 400) throw error
      })
    },
  })
}

export function useAcknowledgeSlice(id: string) {
  return useWrite(() => call('post', '/api/v1/admin/slice/jobs/{id}/acknowledge', { params: { path: { id } } }), {
    changes: ['slicing'],
  })
}

export function useCancelSlice(id: string) {
  return useWrite(() => call('post', '/api/v1/admin/slice/jobs/{id}/cancel', { params: { path: { id } } }), {
    changes: ['slicing'],
  })
}
