import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { squareAddress, tileAddress, withoutSecrets, withSecrets } from './addresses.js'
import { decodeDocument, readService } from './read-service.js'
import type { ReadOptions, UpstreamLayer } from './service.js'

// Descriptions of real products, cut down to what the readers read.
const FOLDER = new URL('./test-data/', import.meta.url)
const OPTIONS: ReadOptions = { layers: null, format: null, tileSize: 256, minZoom: null, maxZoom: null, subdomains: [] }

function read(file: string, url: string) {
  const bytes = readFileSync(new URL(file, FOLDER))
  const text = file.startsWith('mapserver') ? bytes.toString('utf8') : decodeDocument(bytes)
  // Files of several documents are keyed by their addresses.
  const several = text.startsWith('{\n "https:') ? (JSON.parse(text) as Record<string, unknown>) : null
  return readService(url, OPTIONS, async (asked) => {
    const one = several === null ? text : several[asked]
    if (one === undefined) throw new Error(`${asked} is not served`)
    return { url: asked, text: typeof one === 'string' ? one : JSON.stringify(one) }
  })
}

function addressOf(layer: UpstreamLayer, z: number, x: number, y: number): string | null {
  const { request } = layer
  return request.kind === 'tiles' ? tileAddress(request, { z, x, y }) : squareAddress(request, layer, { z, x, y }, 1).url
}

const summary = (layer: UpstreamLayer) =>
  [layer.layer, layer.tileMatrixSet, `${layer.minZoom}-${layer.maxZoom}`, layer.format, layer.tileSize].join(' ')

type Recorded = readonly [
  file: string,
  url: string,
  layers: readonly (readonly [summary: string, bounds: readonly number[] | null, tile: readonly [number, number, number], address: string])[],
  left: readonly string[],
]

const RECORDED: readonly Recorded[] = []

test.each(RECORDED)('%s', async (file, url, layers, left) => {
  const service = await read(file, url)
  expect(
    service.layers.map((layer, i) => {
      const tile = layers[i]?.[2] ?? [0, 0, 0]
      return [summary(layer), layer.bounds, tile, addressOf(layer, ...tile)]
    }),
  ).toEqual(layers)
  expect(service.left.map(({ layer, why }) => `${layer} ${why}`)).toEqual(left)
})
