import { openFolder } from '../folder/source.js'
import { fileExtensions } from '../formats.js'
import type { ListedSource } from '../ranges/source.js'
import type { CachedReader, Source, SourceSpec } from '../source.js'
import { FOLDER_LAYOUTS, type FolderLayout, type FolderLayoutName, storedPlace } from './layout.js'
import { allOf } from './listing.js'

export interface ListedFolder {
  readonly root: string
  readonly folder: string
  readonly layout: FolderLayout
  readonly extensions: readonly string[]
  /** returns the zoom of a level; undefined: it is not served */
  zoomOf(level: number): number | undefined
  readonly rowsFromNorth: boolean
}

/** Opens a folder in one of MapProxy's layouts for serving. */
export async function openLayout(
  spec: SourceSpec,
  name: FolderLayoutName,
  cached: CachedReader | null,
): Promise<ListedSource> {
  const layout = FOLDER_LAYOUTS[name]
  const { root, path: folder, rowsFromNorth = false } = spec
  const source = await openFolder(spec, cached, { form: name, folder, fromSouth: !rowsFromNorth, levels: null })
  return listedFolder(source, {
    root,
    folder,
    layout,
    extensions: fileExtensions(spec),
    zoomOf: (level) => level,
    rowsFromNorth,
  })
}

/** Combines the source of a folder with the list of its tiles. */
export function listedFolder(source: Source, folder: ListedFolder): ListedSource {
  const { tile, tileIfCached, has, layout } = source
  return {
    tile: tile.bind(source),
    ...(tileIfCached !== undefined && { tileIfCached: tileIfCached.bind(source) }),
    ...(has !== undefined && { has: has.bind(source) }),
    ...(layout !== undefined && { layout: layout.bind(source) }),
    close: () => source.close(),
    addresses: (zoom) => addressesIn(folder, zoom),
  }
}

async function* addressesIn(
  { root, folder, layout, extensions, zoomOf, rowsFromNorth }: ListedFolder,
  zoom: number,
): AsyncGenerator<readonly [x: number, y: number]> {
  for await (const { z: level, x, y } of allOf(root, folder, layout, extensions)) {
    const z = zoomOf(level)
    if (z === zoom) yield [x, storedPlace({ z, x, y }, rowsFromNorth).y]
  }
}
