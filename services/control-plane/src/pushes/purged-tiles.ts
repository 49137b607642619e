import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { readBasemap } from '@gateway/store/basemaps.js'
import { readDefaultHistory } from '@gateway/store/default-history.js'
import type { ClaimedDelivery } from '@gateway/store/delivery-leases.js'
import { VersionChanges } from '../catalog/changes/version-changes.js'
import type { ControlContext } from '../platform/context.js'

/** Maximum number of tiles in one message; larger changes are covered by the tags. */
export const MAX_PURGED_TILES = 10_000
/** Time limit of the comparison in ms. Caches keep old content for this additional time. */
const COMPARED_WITHIN_MS = 20_000
/** Maximum distance in time of a purge and its change of the default: both have the time of the same transaction's start. */
const SAME_CHANGE_MS = 10_000

/** The tiles that a change of the default has changed, and the URLs whose content changed with it. */
export interface PurgedTiles {
  readonly tiles: readonly (readonly [z: number, x: number, y: number])[]
  readonly url_templates: readonly string[]
}

/** Returns null if the purge has another reason, if too many tiles differ, or if the comparison takes too long. */
export async function purgedTiles(
  ctx: Pick<ControlContext, 'sql' | 'settings' | 'shutdown' | 'log'>,
  { basemapCode: code, version, createdAt }: Pick<ClaimedDelivery, 'basemapCode' | 'version' | 'createdAt'>,
): Promise<PurgedTiles | null> {
  if (code === null || version !== null) return null
  const [now, before] = await readDefaultHistory(ctx.sql, code, 2)
  const isByThis = now !== undefined && Math.abs(now.since.getTime() - createdAt.getTime()) < SAME_CHANGE_MS
  if (!isByThis || now.version === null || (before?.version ?? null) === null) return null
  const tiles = await changedBetween(ctx, code, before?.version as string, now.version)
  const basemap = tiles === null ? null : await readBasemap(ctx.sql, code)
  const format = basemap?.versions.find((one) => one.version === now.version)?.format
  if (tiles === null || format === undefined) return null
  const base = `${ctx.settings.tilePublicBaseUrl}/tiles/${encodeURIComponent(code)}`
  return { tiles, url_templates: ['', `/${CURRENT_VERSION}`].map((part) => `${base}${part}/{z}/{x}/{y}.${format}`) }
}

async function changedBetween(
  ctx: Pick<ControlContext, 'sql' | 'settings' | 'shutdown' | 'log'>,
  code: string,
  from: string,
  to: string,
): Promise<PurgedTiles['tiles'] | null> {
  const enough = new AbortController()
  const signal = AbortSignal.any([enough.signal, AbortSignal.timeout(COMPARED_WITHIN_MS)])
  try {
    const lines = await new VersionChanges(ctx).stream({ code, from, to, area: null }, signal, '')
    if ('ok' in lines) return null
    const tiles: [number, number, number][] = []
    let rest = ''
    for await (const chunk of lines) {
      const parts = `${rest}${chunk}`.split('\n')
      rest = parts.pop() as string
      for (const line of parts) {
        const { z, x, y } = JSON.parse(line) as Record<'z' | 'x' | 'y', number>
        tiles.push([z, x, y])
      }
      if (tiles.length > MAX_PURGED_TILES) return null
    }
    return tiles
  } catch {
    return null // it took too long, or the tiles cannot be read: the tags cover everything
  } finally {
    enough.abort()
  }
}
