import type { SliceEstimate, SliceFile, SliceJob } from '@gateway/contracts/slice.js'
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { adminGet, adminPost, type List, segment } from './client.js'

/** The body of a submit; see the interface. */
export interface SliceBody {
  readonly target_code: string
  readonly source_paths: readonly string[]
  readonly name?: string
  readonly zoom_min: number
  readonly zoom_max: number
  readonly tile_size: number
  readonly tile_format: string
  readonly callback_url?: string
}

export const isOpen = (job: SliceJob): boolean => job.status === 'pending' || job.status === 'running'

export const sliceJobsQuery = queryOptions({
  queryKey: ['slicing', 'jobs'],
  queryFn: ({ signal }) => adminGet<List<SliceJob>>('/slice/jobs', signal),
})

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
    queryFn: () => adminPost<SliceEstimate>('/slice/estimate', body),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}

export function useSubmitSlice() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: SliceBody) => adminPost<SliceJob>('/slice/jobs', body),
    onSuccess: () => queries.invalidateQueries({ queryKey: sliceJobsQuery.queryKey }),
  })
}

export function useCancelSlice() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => adminPost(`/slice/jobs/${segment(id)}/cancel`),
    onSuccess: () => queries.invalidateQueries({ queryKey: sliceJobsQuery.queryKey }),
  })
}
