import path from 'node:path'
import { openFolder } from '../folder/source.js'
import { fileExtensions } from '../formats.js'
import { FOLDER_LAYOUTS } from '../layouts/layout.js'
import { listedFolder } from '../layouts/open.js'
import { type ListedSource, RangeSource } from '../ranges/source.js'
import type { CachedReader, SourceSpec } from '../source.js'
import { BundleLayout } from './bundles.js'
import { listBundles, openCache } from './cache.js'

/** Opens an Esri cache for serving. Returns null if it does not exist. Rejects with `BrokenArchiveError` and the disk's errors. */
export async function openEsri(spec: SourceSpec, cached: CachedReader | null): Promise<ListedSource | null> {
  const opening = await openCache(spec.root, spec.path, spec.storage === 'tpkx' || spec.storage === 'vtpk')
  if (opening === null || !opening.ok) return null
  const { cache } = opening
  opening.close()
  if (!cache.isExploded) {
    const isPackage = spec.storage === 'tpkx' || spec.storage === 'vtpk'
    // A bundle in a folder may be written to: each tile is looked for in it.
    return new RangeSource(spec, new BundleLayout(cache, isPackage ? await listBundles(cache) : spec.path), cached)
  }
  const { levels } = cache.about
  const zoomOfLevel = new Map([...levels].map(([z, level]) => [level, z]))
  const folder = path.join(spec.path, cache.tiles).replace(/\/$/, '')
  const names = { form: 'arcgis', folder, fromSouth: false, levels } as const
  return listedFolder(await openFolder(spec, cached, names), {
    root: spec.root,
    folder,
    layout: FOLDER_LAYOUTS.arcgis,
    extensions: fileExtensions(spec),
    zoomOf: (level) => zoomOfLevel.get(level),
    rowsFromNorth: true,
  })
}
