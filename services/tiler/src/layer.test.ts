import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { METADATA_FILE } from '@gateway/contracts/tiling/protocol.js'
import sharp from 'sharp'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readLayer, tileReader } from './layer.js'
import { COLOURS } from './pixel-model.js'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tiler-layer-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const METADATA = {
  format: 'webp',
  tile_size: 256,
  minzoom: 0,
  maxzoom: 5,
  bounds: [0, 0, 1, 1],
  name: 'by an operator',
}

async function writeTile(name: string, size = 256): Promise<void> {
  const path = join(dir, name)
  mkdirSync(join(path, '..'), { recursive: true })
  await sharp({ create: { width: size, height: size, channels: 3, background: '#123456' } }).toFile(path)
}

it('a missing or empty folder is not a layer', async () => {
  expect(await readLayer(join(dir, 'missing'))).toBeNull()
  expect(await readLayer(dir)).toBeNull()
})

it('a layer describes itself, and its other metadata is kept', async () => {
  writeFileSync(join(dir, METADATA_FILE), JSON.stringify(METADATA))
  expect(await readLayer(dir)).toEqual(METADATA)
})

it('a layer without usable metadata is recognized by its tiles', async () => {
  writeFileSync(join(dir, METADATA_FILE), '{')
  await writeTile('2/1/1.png', 512)
  await writeTile('4/5/5.png', 512)
  expect(await readLayer(dir)).toMatchObject({ format: 'png', tile_size: 512, minzoom: 2, maxzoom: 4 })
})

it('no image can be merged into a layer of JPEG tiles', async () => {
  await writeTile('2/1/1.jpg')
  await expect(readLayer(dir)).rejects.toThrow(/jpg tiles, which new images cannot be merged into/)
})

it('tiles are read, and missing, damaged and foreign ones are not', async () => {
  const warnings: string[] = []
  const read = tileReader(dir, { ...METADATA, format: 'webp', bounds: [0, 0, 1, 1] }, COLOURS, (message) =>
    warnings.push(message),
  )
  await writeTile('2/1/1.webp')
  await writeTile('2/1/2.webp', 512)
  writeFileSync(join(dir, '2/1/3.webp'), 'RIFF')
  const tile = await read(2, 1, 1)
  expect([tile!.alpha, tile!.data.length]).toEqual(['opaque', 256 * 256 * 4])
  expect(await read(2, 1, 0)).toBeNull()
  expect(warnings).toEqual([])
  expect([await read(2, 1, 2), await read(2, 1, 3)]).toEqual([null, null])
  expect(warnings).toHaveLength(2)
})
