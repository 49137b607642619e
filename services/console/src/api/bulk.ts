import type { MessageParams } from '@gateway/contracts/messages.js'
import { type Call, call } from './client.js'
import { useWrite } from './use-write.js'

/** Lists with bulk actions, and the queries that show their changes. */
const BULK = {
  tokens: '/api/v1/admin/tokens/bulk',
  basemaps: '/api/v1/admin/basemaps/bulk',
  vectors: '/api/v1/admin/vectors/bulk',
  basemap: '/api/v1/admin/push-records/bulk',
  vector: '/api/v1/admin/vector-push-records/bulk',
  jobs: '/api/v1/admin/slice/jobs/bulk',
} as const
export type BulkList = keyof typeof BULK

/** Items by their ids, or all that a list's filter matches. */
export type BulkChoice = { readonly ids: readonly string[] } | { readonly filter: Readonly<Record<string, unknown>> }

export type BulkBody = BulkChoice & { readonly action: string; readonly params?: Readonly<Record<string, unknown>> }

export interface BulkResult {
  readonly matched: number
  readonly done: number
  readonly failed: readonly {
    readonly id: string
    readonly error: string
    /** absent in responses of an older service */
    readonly details?: readonly { readonly code: string; readonly params: MessageParams }[]
  }[]
  /** edge processes that have, and that have not applied the changes; absent if no edge keeps what was changed */
  readonly confirmed?: readonly unknown[]
  readonly pending?: readonly unknown[]
}

/** @param changes first parts of the keys of queries that show the changes */
export function useBulk(list: BulkList, changes: readonly string[]) {
  // Every list has its own actions; the place that offers them chooses the body.
  const commandOf = (body: BulkBody) =>
    call('post', BULK[list] as (typeof BULK)['tokens'], { body: body as never }) as Call<BulkResult>
  return useWrite(commandOf, { changes })
}
