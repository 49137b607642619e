import fs from 'node:fs'
import { openBelow } from '@gateway/core/files/open-below.js'
import { nothingToProbe } from '../broken-archive.js'
import { finish, type ListedSource, RangeSource } from '../ranges/source.js'
import { closeLater } from '../ranges/zip.js'
import { readExactly } from '../read-exactly.js'
import { examineSample, SAMPLE_BYTES } from '../sample.js'
import type { CachedReader, SourceSpec } from '../source.js'
import type { TileSetProbe } from '../tile-set.js'
import { archiveOfCog } from './archive.js'
import { type Cog, CogLayout, MASKED, readCog } from './pyramid.js'

/** Opens a COG for serving. Returns null if it does not exist. Rejects with `BrokenArchiveError` and the disk's errors. */
export async function openCog(spec: SourceSpec, cached: CachedReader | null): Promise<ListedSource | null> {
  const opened = await openBelow(spec.root, spec.path)
  if (!opened.ok) return null
  try {
    const cog = await readFrom(opened.fd, spec.path, opened.size)
    return new RangeSource(spec, new CogLayout(cog, archiveOfCog(cog)), cached)
  } finally {
    closeLater(opened.fd)
  }
}

function readFrom(fd: number, path: string, size: number): Promise<Cog> {
  return finish(readCog(path, size), ({ offset, length }) => readExactly(fd, offset, length))
}

/** Examines a GeoTIFF: its image directories and one tile. Returns null if there is nothing to open. Throws `BrokenArchiveError`. */
export async function probeCog(root: string, file: string): Promise<TileSetProbe | null> {
  const opened = await openBelow(root, file)
  if (!opened.ok) return nothingToProbe(opened)
  const { fd, size, identity } = opened
  try {
    const cog = await readFrom(fd, file, size)
    const zooms = [...cog.zooms.keys()].sort((a, b) => a - b)
    const sample = examineSample(cog.format, await firstTile(cog, zooms.at(-1)!, fd))
    return {
      storage: 'cog',
      rowsFromNorth: false,
      rowsAssumed: false,
      format: cog.format,
      tileSize: cog.tileSize,
      minZoom: zooms[0]!,
      maxZoom: zooms.at(-1)!,
      bounds: cog.bounds,
      boundsDerived: false,
      name: null,
      attribution: null,
      description: null,
      vectorLayers: null,
      tileMatrixSet: cog.grid,
      metadata: {},
      extension: cog.format,
      encoding: 'identity',
      fingerprint: identity,
      warnings: [...new Set([...cog.warnings, ...(hasMaskBeside(file) ? [MASKED] : [])]), ...sample.warnings],
    }
  } finally {
    closeLater(fd)
  }
}

/** GDAL honours a mask next to an image. */
function hasMaskBeside(file: string): boolean {
  return fs.existsSync(`${file}.msk`) || fs.existsSync(`${file}.MSK`)
}

/** Maximum number of positions of the deepest zoom at which a tile is searched for; a COG may leave out empty tiles. */
const MAX_LOOKED_AT = 1_000

async function firstTile(cog: Cog, zoom: number, fd: number): Promise<Buffer | null> {
  const layout = new CogLayout(cog)
  const { column, row, columns, rows } = cog.zooms.get(zoom)!
  const read = ({ offset, length }: { offset: number; length: number }) => readExactly(fd, offset, length)
  const count = Math.min(columns * rows, MAX_LOOKED_AT)
  for (let i = 0; i < count; i++) {
    const index = Math.floor(((i + 0.5) * columns * rows) / count)
    const place = { z: zoom, x: column + (index % columns), y: row + Math.floor(index / columns) }
    const tile = await finish(layout.find(place), read)
    if (tile === null) continue
    const start = await read({ offset: tile.offset, length: Math.min(tile.length, SAMPLE_BYTES) })
    return Buffer.concat([tile.head ?? Buffer.alloc(0), start])
  }
  return null
}
