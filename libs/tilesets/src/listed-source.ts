import path from 'node:path'
import { openCog } from './cog/open.js'
import { BundleLayout } from './esri/bundles.js'
import { listBundles, openCache } from './esri/cache.js'
import { openFolder } from './folder/source.js'
import { fileExtensions } from './formats.js'
import { openTable } from './geopackage/archive.js'
import { FOLDER_LAYOUTS, layoutNameOf } from './layouts/layout.js'
import { listedFolder, openLayout } from './layouts/open.js'
import { type ListedSource, RangeSource } from './ranges/source.js'
import type { CachedReader, SourceSpec } from './source.js'

/**
 * Opens a set in a format of another maker, whose tiles can be listed. Returns null if it does not exist, or has another storage. A GeoPackage is read
 * by SQLite in this process; edges read it through `MbtilesReaders`. Rejects with `BrokenArchiveError` and the disk's errors.
 */
export async function openListed(spec: SourceSpec, cached: CachedReader | null = null): Promise<ListedSource | null> {
  const { storage } = spec
  switch (storage) {
    case 'esri_compact':
    case 'esri_exploded':
    case 'tpkx':
    case 'vtpk':
      return openEsri(spec, cached)
    case 'geopackage':
      return openTable(spec.root, spec.path, spec.format)
    case 'cog':
      return openCog(spec, cached)
    case 'xyz':
    case 'tms':
    case 'mbtiles':
    case 'pmtiles':
      return null
    default: {
      const layout = layoutNameOf(storage)
      return layout === null ? null : openLayout(spec, layout, cached)
    }
  }
}

/** Opens an Esri cache for serving. Returns null if it does not exist. Rejects with `BrokenArchiveError` and the disk's errors. */
async function openEsri(spec: SourceSpec, cached: CachedReader | null): Promise<ListedSource | null> {
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
