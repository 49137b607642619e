import fs from 'node:fs'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { coded } from '@gateway/contracts/messages.js'
import { isPlainPath } from '@gateway/contracts/tiling/plain-path.js'
import { openWithin } from '@gateway/core/files/open-within.js'
import { FILE_SUFFIXES } from './engines/engine.js'
import { fail, quoted } from './failure.js'
import { readPam } from './pam.js'
import { type Beside, settle, tryOpenSource } from './sources.js'

/**
 * The files next to an image, which are honoured as GDAL does. GDAL does not look for it itself, because it would follow such files wherever
 * they lead. It gets the small ones as text that was checked, and masks and overviews as open files that were checked to be TIFF.
 */
export interface Companions {
  readonly beside: Beside
  /** definition of a `.prj`, which GDAL does not read for images */
  readonly wkt: string | null
  readonly hasRpc: boolean
}

/** Maximum bytes of a text that is parsed. Statistics, histograms and the palette of 65,536 colours fit. */
const MAX_TEXT_BYTES = 8 * 1024 * 1024

const RPC_SUFFIXES = ['_RPC.TXT', '_rpc.txt', '.RPB', '.rpb', '.RPC', '.rpc'] as const

const close = promisify(fs.close)
const readFile = promisify(fs.readFile) as (fd: number) => Promise<Buffer>

/** Finds the files next to an image that are, like the image, inside one of `roots`. Missing or malformed ones count as absent. */
export async function companionsOf(image: string, roots: readonly string[]): Promise<Companions> {
  const stem = image.slice(0, image.length - extname(image).length)
  const [aux, world, wkt, files, hasRpc] = await Promise.all([
    read(`${image}.aux.xml`, roots),
    worldFile(image, stem, roots),
    firstText([`${stem}.prj`, `${stem}.PRJ`], roots),
    filesBeside(image, roots),
    anyThere(
      RPC_SUFFIXES.map((suffix) => `${stem}${suffix}`),
      roots,
    ),
  ])
  const pam = aux === null ? null : readPam(aux)
  if (pam?.ok === false && pam.reason === 'system') fail(coded('slice_crs_not_on_earth', { source: quoted(image) }))
  return {
    beside: { texts: { ...(pam?.ok && { '.aux.xml': pam.xml }), ...(world !== null && { '.wld': world }) }, files },
    wkt: wkt?.trim() || null,
    hasRpc,
  }
}

/** Reads a world file by its usual names: `.tfw` for `.tif`, `.tifw`, and `.wld`. */
async function worldFile(image: string, stem: string, roots: readonly string[]): Promise<string | null> {
  const extension = extname(image).slice(1).toLowerCase()
  const short = extension.length >= 3 ? `${extension[0]}${extension.at(-1)}w` : `${extension}w`
  const names = [short, `${extension}w`, 'wld'].flatMap((name) => [`${stem}.${name}`, `${stem}.${name.toUpperCase()}`])
  for (const name of [...names, `${image}w`]) {
    const words = (await read(name, roots))?.trim().split(/\s+/) ?? []
    // Some programs write a comma in numbers, which GDAL accepts too.
    const numbers = words.map((word) => Number(word.replace(',', '.')))
    if (numbers.length === 6 && numbers.every(Number.isFinite)) return `${numbers.join('\n')}\n`
  }
  return null
}

async function filesBeside(image: string, roots: readonly string[]): Promise<Beside['files']> {
  const files: Beside['files'][number][] = []
  for (const suffix of FILE_SUFFIXES) {
    for (const path of [`${image}${suffix}`, `${image}${suffix.toUpperCase()}`]) {
      const opening = await tryOpenSource(path, roots)
      if (!opening.ok) continue
      await settle(opening.source)
      const isTiff = startsLikeTiff(opening.source.fd)
      await close(opening.source.fd)
      if (!isTiff) continue
      files.push({ suffix, path, identity: opening.source.identity })
      break
    }
  }
  return files
}

/** A file of another format could name further files, as a virtual raster does. */
function startsLikeTiff(fd: number): boolean {
  const head = Buffer.alloc(4)
  fs.readSync(fd, head, 0, 4, 0)
  return ['II*\0', 'MM\0*', 'II+\0', 'MM\0+'].includes(head.toString('latin1'))
}

async function anyThere(paths: readonly string[], roots: readonly string[]): Promise<boolean> {
  for (const path of paths) {
    const opening = await openWithin(roots, path)
    if (!opening.ok) continue
    await close(opening.fd)
    return true
  }
  return false
}

async function firstText(paths: readonly string[], roots: readonly string[]): Promise<string | null> {
  for (const path of paths) {
    const text = await read(path, roots)
    if (text !== null) return text
  }
  return null
}

async function read(path: string, roots: readonly string[]): Promise<string | null> {
  const opening = await openWithin(roots, path)
  if (!opening.ok) return null
  try {
    if (opening.size > MAX_TEXT_BYTES || !isPlainPath(opening.realPath)) return null
    return (await readFile(opening.fd)).toString('utf8')
  } finally {
    await close(opening.fd)
  }
}
