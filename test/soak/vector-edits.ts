import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import type { Admin } from '../harness/admin.js'
import type { Tally } from './tally.js'

/** How a file is edited while it is read. */
export interface Edits {
  readonly url: string
  readonly admin: Admin
  /** the folder of the scan source `vectors`, whose file `edited.geojson` is replaced */
  readonly folder: string
  readonly token: string
  readonly seconds: number
  /** between two edits */
  readonly everyMs: number
  /** readers of each kind */
  readonly readers: number
  readonly tally: Tally
}

const FEATURES = 300
const CODE = 'edited'

function longitudeOf(i: number, edit: number): number {
  return 10 + (i % 20) / 50 + (edit % 7) / 100
}

/** Every feature of an edit has its number, so that a mixture shows; places move with it, and all lie in one tile. */
export async function writeEdit(folder: string, edit: number): Promise<void> {
  const features = Array.from({ length: FEATURES }, (_, i) => ({
    type: 'Feature',
    id: i + 1,
    properties: { edit, name: `feature ${i} of edit ${edit}` },
    geometry: {
      type: 'Point',
      coordinates: [longitudeOf(i, edit), 50 + Math.floor(i / 20) / 50],
    },
  }))
  const next = join(folder, '.edited.next')
  await writeFile(next, JSON.stringify({ type: 'FeatureCollection', features }))
  await rename(next, join(folder, 'edited.geojson'))
}

/** Edits a file and scans it during the given time, while tiles, pages of features and downloads are read. Returns the last edit. */
export async function editUnderLoad(edits: Edits): Promise<number> {
  const { admin, folder, seconds, everyMs, readers, tally } = edits
  const endAt = performance.now() + seconds * 1000
  const running = () => performance.now() < endAt
  let edit = 1
  const editing = (async () => {
    while (running()) {
      const next = performance.now() + everyMs
      await writeEdit(folder, ++edit)
      await admin.rescan('vectors')
      await sleep(Math.max(0, next - performance.now()))
    }
  })()
  const kinds = [tiles, pages, items, downloads, forms]
  const reading = kinds.flatMap((kind) => Array.from({ length: readers }, () => repeat(edits, kind, running)))
  await Promise.all([editing, ...reading])
  tally.answer('edits', edit, [edit])
  return edit
}

type Reader = (edits: Edits) => Promise<void>

async function repeat(edits: Edits, read: Reader, running: () => boolean): Promise<void> {
  while (running()) {
    try {
      await read(edits)
    } catch (error) {
      edits.tally.failure(read.name, error)
    }
  }
}

/** null: the answer has no content of the vector, with a status that is allowed. */
async function got(edits: Edits, what: string, path: string, expected: readonly number[]): Promise<Buffer | null> {
  const address = path.startsWith('http') ? path : edits.url + path
  const answer = await fetch(address, {
    headers: { 'x-access-token': edits.token },
  })
  const body = Buffer.from(await answer.arrayBuffer())
  edits.tally.answer(what, answer.status, [200, ...expected], body.toString('utf8', 0, 200))
  if (answer.status === 503) await sleep(100)
  return answer.status === 200 ? body : null
}

/** The one edit that all features are of; what is mixed or incomplete is a problem. */
function editOf({ tally }: Edits, what: string, found: readonly number[], count: number | null): number {
  const [edit = -1] = found
  const kinds = new Set(found)
  if (kinds.size > 1) tally.problem(`${what} mixes the edits ${[...kinds].join(', ')}`)
  if (count !== null && found.length !== count) tally.problem(`${what} has ${found.length} of ${count} features`)
  return edit
}

function featuresOf(body: Buffer): {
  features: { properties: { edit: number } }[]
  links?: { rel: string; href: string }[]
} {
  return JSON.parse(body.toString())
}
const editsIn = (body: Buffer) => featuresOf(body).features.map(({ properties }) => properties.edit)

/** Units of the tile by which a place may be rounded at a zoom that is not the deepest. */
const ROUNDED = 4

/** A tile has features of one edit, at the places that they have in it. */
async function tiles(edits: Edits): Promise<void> {
  const described = await got(edits, 'tilejson', `/vectors/${CODE}/tilejson.json`, [])
  if (described === null) return
  const [template = ''] = (JSON.parse(described.toString()) as { tiles: string[] }).tiles
  for (const path of [template.replace('{z}/{x}/{y}', '6/33/21'), `/vectors/${CODE}/tiles/6/33/21.mvt`]) {
    const body = await got(edits, 'tile', path, [])
    if (body === null) continue
    const layer = new VectorTile(new PbfReader(body)).layers[CODE]
    const found: number[] = []
    for (let n = 0; n < (layer?.length ?? 0); n++) {
      const feature = layer?.feature(n)
      if (feature === undefined) continue
      const { edit, name } = feature.properties as { edit: number; name: string }
      const i = Number(/^feature (\d+) of/.exec(name)?.[1])
      const x = (((longitudeOf(i, edit) + 180) / 360) * 64 - 33) * 4096
      const off = Math.abs((feature.loadGeometry()[0]?.[0]?.x ?? Number.NaN) - x)
      if (!(off <= ROUNDED) || name !== `feature ${i} of edit ${edit}`)
        edits.tally.problem(`in a tile, ${name} of edit ${edit} is ${off} units from its place`)
      found.push(edit)
    }
    if (found.length === 0) edits.tally.problem('a tile is empty')
    editOf(edits, 'a tile', found, null)
  }
}

/** A walk through pages is of one content, or ends with 410. */
async function pages(edits: Edits): Promise<void> {
  const found: number[] = []
  let next: string | undefined = `/ogc/collections/${CODE}/items?limit=100`
  while (next !== undefined) {
    const body: Buffer | null = await got(edits, 'page', next, found.length === 0 ? [503] : [410, 503])
    if (body === null) return void editOf(edits, 'a walk', found, null)
    found.push(...editsIn(body))
    next = featuresOf(body).links?.find(({ rel }) => rel === 'next')?.href
  }
  editOf(edits, 'a walk', found, FEATURES)
}

async function items(edits: Edits): Promise<void> {
  const body = await got(edits, 'items', `/ogc/collections/${CODE}/items?limit=10000`, [503])
  if (body !== null) editOf(edits, 'a page', editsIn(body), FEATURES)
}

async function downloads(edits: Edits): Promise<void> {
  const body = await got(edits, 'download', `/vectors/${CODE}/download`, [])
  if (body !== null) editOf(edits, 'a download', editsIn(body), FEATURES)
}

async function forms(edits: Edits): Promise<void> {
  const body = await got(edits, 'csv', `/vectors/${CODE}.csv`, [503])
  if (body === null) return
  const [head = '', ...lines] = body.toString().trimEnd().split('\r\n')
  const column = head.split(',').indexOf('edit')
  editOf(
    edits,
    'a csv',
    lines.map((line) => Number(line.split(',')[column])),
    FEATURES,
  )
}
