// Seeded vectors for the measurements in this folder: the same file on every machine, made once in the system's temporary directory.
import { closeSync, existsSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const folder = join(tmpdir(), 'gateway-bench-vectors')

function seeded(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 48271) >>> 0) % 2147483647
    return state / 2147483647
  }
}

/** A town: most lie near others, some anywhere. */
function pointOf(random, i) {
  const near = random() < 0.7
  const [x, y] = near
    ? [100 + Math.floor(random() * 20) + random() * random(), 25 + Math.floor(random() * 15) + random() * random()]
    : [100 + random() * 20, 25 + random() * 15]
  const properties = {
    name: `place ${i}`,
    kind: i % 37,
    population: Math.floor(random() * 1e6),
    height: random() * 3000,
  }
  return {
    type: 'Feature',
    properties,
    geometry: { type: 'Point', coordinates: [round(x), round(y)] },
  }
}

/** One of a grid of polygons of so many corners, which fill `degrees` without touching. */
function polygonOf(random, i, count, degrees, corners) {
  const side = Math.ceil(Math.sqrt(count))
  const cell = degrees / side
  const [x, y] = [110 + (i % side) * cell + cell / 2, 30 + Math.floor(i / side) * cell + cell / 2]
  const ring = Array.from({ length: corners }, (_, k) => {
    const angle = (2 * Math.PI * k) / corners
    const radius = cell * (0.3 + 0.15 * random())
    return [round(x + radius * Math.cos(angle)), round(y + radius * Math.sin(angle))]
  })
  const properties = { id: i, use: `use ${i % 12}`, area: random() * 1000 }
  return {
    type: 'Feature',
    properties,
    geometry: { type: 'Polygon', coordinates: [[...ring, ring[0]]] },
  }
}

const round = (value) => Math.round(value * 1e7) / 1e7

/** Degrees that the polygons of a kind fill, and corners of each. */
const AREAS = { polygons: [2, 8], land: [10, 8], outlines: [40, 250] }

/** The file of a kind with so many features. */
export function vectorFile(kind, count) {
  const file = join(folder, `${kind}-${count}`, `${kind}.geojson`)
  if (existsSync(file)) return file
  mkdirSync(join(folder, `${kind}-${count}`), { recursive: true })
  const random = seeded(7)
  const fd = openSync(`${file}.new`, 'w')
  writeSync(fd, '{"type":"FeatureCollection","features":[\n')
  for (let first = 0; first < count; first += 10_000) {
    const lines = []
    for (let i = first; i < Math.min(count, first + 10_000); i++) {
      const [degrees, corners] = AREAS[kind] ?? AREAS.polygons
      const feature = kind === 'points' ? pointOf(random, i) : polygonOf(random, i, count, degrees, corners)
      lines.push(JSON.stringify(feature))
    }
    writeSync(fd, `${lines.join(',\n')}${first + 10_000 < count ? ',\n' : '\n'}`)
  }
  writeSync(fd, ']}\n')
  closeSync(fd)
  renameSync(`${file}.new`, file)
  return file
}
