import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import sharp from 'sharp'

export const gdal = (command: string, ...args: string[]) => execFileSync(command, ['-q', ...args], { stdio: 'pipe' })

const grey = (x: number, y: number) => ((x >> 2) + (y >> 3)) & 0xff

/** Writes `source.bin`, a GeoTIFF of 16 tiles of zoom 4 in the middle of the world, in colours that depend on the position. */
export function writeGdalImage(folder: string): void {
  const at = (name: string) => path.join(folder, name)
  const width = 1024
  const rows = Array.from({ length: width }, (_, y) => Buffer.from(Array.from({ length: width }, (_, x) => grey(x, y))))
  fs.writeFileSync(at('image.pgm'), Buffer.concat([Buffer.from(`P5 ${width} ${width} 255\n`), ...rows]))
  const half = 2 * (40075016.68557849 / 16)
  const corner = ['-a_srs', 'EPSG:3857', '-a_ullr', `${-half}`, `${half}`, `${half}`, `${-half}`]
  gdal('gdal_translate', '-b', '1', '-b', '1', '-b', '1', ...corner, at('image.pgm'), at('source.tif'))
  fs.renameSync(at('source.tif'), at('source.bin'))
}

/** Returns the pixels of a tile by its upper left corner in the image. */
export const partOfImage = (left: number, top: number) =>
  Buffer.from(
    Array.from({ length: 256 * 256 * 3 }, (_, i) => grey(left + (Math.floor(i / 3) % 256), top + Math.floor(i / 768))),
  )

export const pixelsOf = (data: Buffer) => sharp(data).removeAlpha().raw().toBuffer()
