import { XMLParser } from 'fast-xml-parser'
import { isUsableSystem } from './crs.js'

/**
 * GDAL's file of metadata (`.aux.xml`, PAM), written again with only the parts that place an image and say which of its pixels count. The
 * original is never given to GDAL, because it can name other files, for example `OVERVIEW_FILE`.
 */
export type Pam =
  | { readonly ok: true; readonly xml: string }
  /** `system`: a reference system that PROJ would open files for. `malformed`: not XML, or of another kind */
  | { readonly ok: false; readonly reason: 'system' | 'malformed' }

interface Node {
  readonly [name: string]: string | Node | readonly (string | Node)[] | undefined
}

/** A number, without blanks around it. */
const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i
/** A number, or one of the names that GDAL and its writers have for NaN and the infinities. */
const VALUE = /^[-+]?[\d.]*(?:e[-+]?\d+|nan|inf|infinity|#\w+)?$/i
const WORD = /^\w{1,32}$/
const MAPPING = /^-?\d(?:,-?\d){1,2}$/

/** Maximum entries of a palette; bands of 16 bits have so many values. */
const MAX_COLOURS = 65_536

class UnsafeSystem extends Error {}

/** Rewrites the text of an `.aux.xml`. Elements with values of another form than GDAL writes are omitted. Pure. */
export function readPam(text: string): Pam {
  try {
    const root = parse(text)
    const esri = esriTransform(root)
    const dataset = nodeOf(root.PAMDataset)
    if (dataset === null && esri === null) return { ok: false, reason: 'malformed' }
    return {
      ok: true,
      xml: ['<PAMDataset>', ...placing(dataset ?? {}, esri), ...bands(dataset ?? {}), '</PAMDataset>'].join('\n'),
    }
  } catch (error) {
    return { ok: false, reason: error instanceof UnsafeSystem ? 'system' : 'malformed' }
  }
}

function parse(text: string): Node {
  // Entities that the text itself declares could make it large.
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) throw new Error('the text has a document type')
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    parseTagValue: false,
    htmlEntities: true,
  })
  return parser.parse(text.replace(/^\uFEFF/, ''), true) as Node
}

function placing(dataset: Node, esri: Esri | null): string[] {
  const own = system(textOf(dataset.SRS))
  const axes = attribute(dataset.SRS, 'dataAxisToSRSAxisMapping')
  // Like GDAL: ArcGIS's transform counts only without a system of GDAL's own.
  const other = own === null ? esri : null
  const srs = own ?? other?.system ?? null
  const transform = numbersOf(textOf(dataset.GeoTransform)?.split(','), 6) ?? other?.transform ?? null
  const list =
    gcpList(nodeOf(dataset.GCPList)) ?? (other?.gcps.length ? gcpElement(other.gcps, other.system, null) : null)
  return [
    ...(srs === null ? [] : [`<SRS${mapping(axes)}>${escaped(srs)}</SRS>`]),
    ...(transform === null ? [] : [`<GeoTransform>${transform.join(',')}</GeoTransform>`]),
    ...(list === null ? [] : [list]),
    ...nodataOfAll(dataset),
  ]
}

/** Nodata values that count together: a pixel has no data if all of its bands have theirs. */
function nodataOfAll(dataset: Node): string[] {
  for (const metadata of listOf(dataset.Metadata)) {
    if (attribute(metadata, 'domain')) continue
    const item = listOf(nodeOf(metadata)?.MDI).find((each) => attribute(each, 'key') === 'NODATA_VALUES')
    const values = textOf(item)?.trim() ?? ''
    if (values !== '' && values.split(/\s+/).every((value) => VALUE.test(value))) {
      return [`<Metadata><MDI key="NODATA_VALUES">${values}</MDI></Metadata>`]
    }
  }
  return []
}

interface Gcp {
  readonly pixel: number
  readonly line: number
  readonly x: number
  readonly y: number
}

function gcpList(list: Node | null): string | null {
  const gcps = listOf(list?.GCP).flatMap((each) => {
    const numbers = numbersOf(
      ['Pixel', 'Line', 'X', 'Y'].map((name) => attribute(each, name) ?? ''),
      4,
    )
    return numbers === null ? [] : [{ pixel: numbers[0]!, line: numbers[1]!, x: numbers[2]!, y: numbers[3]! }]
  })
  if (list === null || gcps.length === 0) return null
  return gcpElement(gcps, system(attribute(list, 'Projection')), attribute(list, 'dataAxisToSRSAxisMapping'))
}

function gcpElement(gcps: readonly Gcp[], srs: string | null, axes: string | null): string {
  const points = gcps.map(
    ({ pixel, line, x, y }, id) => `<GCP Id="${id}" Pixel="${pixel}" Line="${line}" X="${x}" Y="${y}"/>`,
  )
  const projection = srs === null ? '' : ` Projection="${escaped(srs)}"`
  return [`<GCPList${projection}${mapping(axes)}>`, ...points, '</GCPList>'].join('\n')
}

function bands(dataset: Node): string[] {
  return listOf(dataset.PAMRasterBand).flatMap((each) => {
    const band = nodeOf(each)
    const number = attribute(each, 'band')
    if (band === null || number === null || !/^\d{1,5}$/.test(number)) return []
    const parts = [
      nodataValue(band.NoDataValue),
      element('Offset', band.Offset, NUMBER),
      element('Scale', band.Scale, NUMBER),
      element('ColorInterp', band.ColorInterp, WORD),
      palette(nodeOf(band.ColorTable)),
    ]
    return [`<PAMRasterBand band="${number}">${parts.join('')}</PAMRasterBand>`]
  })
}

function nodataValue(value: Node[string]): string {
  const exact = attribute(value, 'le_hex_equiv')
  const hex = exact !== null && /^[0-9a-f]{1,16}$/i.test(exact) ? ` le_hex_equiv="${exact}"` : ''
  const text = textOf(value)
  return text === null || text.trim() === '' || !VALUE.test(text.trim())
    ? ''
    : `<NoDataValue${hex}>${text.trim()}</NoDataValue>`
}

function element(name: string, value: Node[string], form: RegExp): string {
  const text = textOf(value)
  return text === null || !form.test(text) ? '' : `<${name}>${text.trim()}</${name}>`
}

function palette(table: Node | null): string {
  const entries = listOf(table?.Entry).slice(0, MAX_COLOURS)
  if (entries.length === 0) return ''
  const colours = entries.map((entry) => {
    const parts = ['c1', 'c2', 'c3', 'c4'].map((name) => [name, attribute(entry, name)] as const)
    return `<Entry${parts.map(([name, value]) => (value && NUMBER.test(value.trim()) ? ` ${name}="${Number(value)}"` : '')).join('')}/>`
  })
  return `<ColorTable>${colours.join('')}</ColorTable>`
}

interface Esri {
  readonly system: string | null
  readonly gcps: readonly Gcp[]
  readonly transform: readonly number[] | null
}

/** ArcGIS's transform: the root of the file (ArcGIS 9.3), or metadata of the domain of ArcGIS. Its lines count upwards. */
function esriTransform(root: Node): Esri | null {
  const inside = listOf(nodeOf(root.PAMDataset)?.Metadata).find((each) => attribute(each, 'domain') === 'xml:ESRI')
  const xform = nodeOf(root.GeodataXform) ?? nodeOf(nodeOf(inside)?.GeodataXform)
  if (xform === null) return null
  const from = doubles(xform.SourceGCPs)
  const to = doubles(xform.TargetGCPs)
  const isPaired = from.length === to.length && from.length % 2 === 0 && [...from, ...to].every(Number.isFinite)
  const gcps = isPaired
    ? Array.from({ length: from.length / 2 }, (_, i) => ({
        pixel: from[2 * i]!,
        line: -from[2 * i + 1]!,
        x: to[2 * i]!,
        y: to[2 * i + 1]!,
      }))
    : []
  const [xs, ys] = [doubles(xform.CoeffX), doubles(xform.CoeffY)]
  const isAffine = gcps.length === 0 && xs.length === 3 && ys.length === 3 && [...xs, ...ys].every(Number.isFinite)
  return {
    system: system(textOf(nodeOf(xform.SpatialReference)?.WKT)),
    gcps,
    transform: isAffine ? [xs[0]!, xs[1]!, -xs[2]!, ys[0]!, ys[1]!, -ys[2]!] : null,
  }
}

function doubles(list: Node[string]): number[] {
  return listOf(nodeOf(list)?.Double).map((each) => {
    const text = textOf(each) ?? ''
    return NUMBER.test(text.trim()) ? Number(text) : Number.NaN
  })
}

function system(text: string | null): string | null {
  if (text === null || text.trim() === '') return null
  if (!isUsableSystem(text)) throw new UnsafeSystem()
  return text.trim()
}

function mapping(axes: string | null): string {
  return axes !== null && MAPPING.test(axes) ? ` dataAxisToSRSAxisMapping="${axes}"` : ''
}

function numbersOf(words: readonly string[] | undefined, count: number): number[] | null {
  return words?.length === count && words.every((word) => NUMBER.test(word.trim())) ? words.map(Number) : null
}

function listOf(value: Node[string]): readonly (string | Node)[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value as string | Node]
}

function nodeOf(value: Node[string]): Node | null {
  const [first] = listOf(value)
  return typeof first === 'object' ? (first as Node) : null
}

function textOf(value: Node[string]): string | null {
  const [first] = listOf(value)
  const text = typeof first === 'object' ? (first as Node)['#text'] : first
  return typeof text === 'string' ? text : null
}

function attribute(value: Node[string], name: string): string | null {
  const text = nodeOf(value)?.[`@${name}`]
  return typeof text === 'string' ? text : null
}

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;')
}
