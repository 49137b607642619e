import type { Export, ExportBody } from '@gateway/contracts/export.js'
import { segment } from './client.js'
import type { ListSource } from './list.js'
import { useWrite } from './use-write.js'

/** No event tells of their progress. */
export const EXPORTS: ListSource = { key: 'exports', path: '/exports', refetchInterval: 3_000 }

/** After the console's own origin, which a session belongs to. */
export function exportFile({ id }: Export): string {
  return `/api/v1/admin/exports/${segment(id)}/file`
}

export function useExport() {
  return useWrite<ExportBody, Export>((body) => ({ method: 'POST', path: '/exports', body }), { changes: ['exports'] })
}

export function useRemoveExport(id: string) {
  return useWrite<void>(() => ({ method: 'DELETE', path: `/exports/${segment(id)}` }), { changes: ['exports'] })
}
