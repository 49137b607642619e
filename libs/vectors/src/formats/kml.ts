import fs from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { coded } from '@gateway/contracts/messages.js'
import sax from 'sax'
import { type Entry, fromFdPromise } from 'yauzl'
import { VectorFault } from '../index-file/vector-fault.js'
import { DamagedFile, type OpenVector, type SourceLayer } from './feature.js'
import { geojsonLayer } from './geojson.js'
import { isGeometry, KmlGeometry } from './kml-geometry.js'
import { MAX_GDAL_BYTES } from './limits.js'
import { type TextFile, utf8Pieces } from './text-pieces.js'
import { isOfMac } from './unpack-shapefiles.js'

/** Maximum number of folders with features. */
const MAX_FOLDERS = 500
/** Bytes of the head in which the XML declaration is. */
const HEAD_BYTES = 200

/** Types of the fields of a schema whose values are no texts. */
const NUMBER_TYPES: ReadonlySet<string> = new Set(['int', 'uint', 'short', 'ushort', 'float', 'double'])
const NUMBER = /^-?\d{1,19}(?:\.\d{1,17})?(?:[eE][+-]?\d{1,3})?$/

interface Folder {
  name: string | null
  /** null: no feature yet */
  out: number | null
}

/** Elements of a placemark or its geometry that are attributes, with their names and types in GDAL. */
const DETAILS: Readonly<Record<string, readonly [name: string, isNumber: boolean]>> = {
  address: ['address', false],
  phoneNumber: ['phoneNumber', false],
  Snippet: ['snippet', false],
  snippet: ['snippet', false],
  altitudeMode: ['altitudeMode', false],
  tessellate: ['tessellate', true],
  extrude: ['extrude', true],
  visibility: ['visibility', true],
  drawOrder: ['drawOrder', true],
}

interface Placemark {
  readonly id: string | null
  readonly properties: Record<string, unknown>
  readonly geometry: KmlGeometry
}

/**
 * Opens a KML. Each folder with features is a layer. The features are written as a GeoJSON sequence first, whose reader finds the types of the
 * fields.
 */
export function kmlVector(file: TextFile, scratch: string, progress: () => void): OpenVector {
  const reader = new KmlReader(scratch)
  const opened: number[] = []
  const close = () => {
    for (const fd of opened) fs.closeSync(fd)
  }
  try {
    reader.read(file, progress)
    const layers = reader.layers.map(({ name, path }): SourceLayer => {
      const fd = fs.openSync(path, 'r')
      opened.push(fd)
      return geojsonLayer({ fd, size: fs.fstatSync(fd).size }, name, 'UTF-8', progress)
    })
    return { layers, close }
  } catch (error) {
    close()
    throw error
  } finally {
    reader.close()
  }
}

/** Opens the KML in a KMZ. @param zip the open file */
export async function kmzVector(zip: number, scratch: string, progress: () => void): Promise<OpenVector> {
  const unpacked = join(scratch, 'source.kml')
  await unpackKml(zip, unpacked)
  const fd = fs.openSync(unpacked, 'r')
  try {
    return kmlVector({ fd, size: fs.fstatSync(fd).size }, scratch, progress)
  } finally {
    fs.closeSync(fd)
  }
}

/** Unpacks the largest document of a KMZ: the main one may only link to those with the features. */
async function unpackKml(fd: number, target: string): Promise<void> {
  const zip = await fromFdPromise(fs.openSync(`/proc/self/fd/${fd}`, 'r'), { autoClose: false }).catch(() => null)
  if (zip === null) throw new VectorFault(coded('vector_unreadable'))
  try {
    let largest: Entry | null = null
    for await (const entry of zip.eachEntry()) {
      const { fileName, uncompressedSize } = entry
      const isDocument = /\.kml$/i.test(fileName) && !isOfMac(fileName) && uncompressedSize <= MAX_GDAL_BYTES
      if (isDocument && uncompressedSize > (largest?.uncompressedSize ?? 0)) largest = entry
    }
    if (largest === null) throw new VectorFault(coded('vector_unreadable'))
    await pipeline(await zip.openReadStreamPromise(largest), fs.createWriteStream(target))
  } finally {
    zip.close()
  }
}

class KmlReader {
  readonly layers: { name: string; path: string }[] = []
  readonly #scratch: string
  readonly #parser = sax.parser(true)
  readonly #folders: Folder[] = [{ name: null, out: null }]
  readonly #path: string[] = []
  /** types of the fields of schemas, by their names */
  readonly #types = new Map<string, string>()
  #placemark: Placemark | null = null
  #field = ''
  #text = ''
  #read = 0

  constructor(scratch: string) {
    this.#scratch = scratch
    this.#parser.onopentag = ({ name, attributes }) => this.#begin(local(name), attributes as Record<string, string>)
    this.#parser.onclosetag = (name) => this.#end(local(name))
    this.#parser.ontext = (text) => {
      this.#text += text
    }
    this.#parser.oncdata = (text) => {
      this.#text += text
    }
    this.#parser.onerror = (error) => {
      throw new DamagedFile(this.#read, error.message.split('\n')[0] as string)
    }
  }

  read(file: TextFile, progress: () => void): void {
    for (const piece of utf8Pieces(file, encodingOf(file), progress)) this.#parser.write(piece.toString('utf8'))
    this.#parser.close()
  }

  close(): void {
    for (const { out } of this.#folders) if (out !== null) fs.closeSync(out)
  }

  #begin(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#path.push(name)
    this.#text = ''
    if (name === 'Folder' || name === 'Document') this.#folders.push({ name: null, out: null })
    else if (name === 'SimpleField') this.#types.set(attributes.name ?? '', attributes.type ?? '')
    else if (name === 'Placemark')
      this.#placemark = { id: attributes.id ?? null, properties: {}, geometry: new KmlGeometry() }
    else if (name === 'Data' || name === 'SimpleData') this.#field = attributes.name ?? ''
    else if (isGeometry(name)) this.#placemark?.geometry.begin(name)
  }

  #end(name: string): void {
    this.#path.pop()
    const text = this.#text.trim()
    this.#text = ''
    if (name === 'Folder' || name === 'Document') this.#endFolder()
    else if (this.#placemark === null) {
      const folder = this.#folders.at(-1) as Folder
      if (name === 'name' && this.#isIn('Folder', 'Document') && folder.name === null) folder.name = text
    } else if (name === 'Placemark') this.#write(this.#placemark)
    else if (isGeometry(name)) this.#placemark.geometry.end()
    else this.#endField(this.#placemark, name, text)
  }

  #isIn(...names: string[]): boolean {
    return names.includes(this.#path.at(-1) ?? '')
  }

  #endField({ properties, geometry }: Placemark, name: string, text: string): void {
    if (name === 'coordinates' || name === 'coord') geometry.text(name, text)
    else if (name === 'name' && this.#isIn('Placemark')) properties.Name = text
    else if (name === 'description' && this.#isIn('Placemark')) properties.description = text
    else if (/^(?:when|begin|end)$/.test(name) && this.#isIn('TimeStamp', 'TimeSpan'))
      properties[name === 'when' ? 'timestamp' : name] = text
    else if (name === 'value' && this.#isIn('Data')) properties[this.#field] = text
    else if (name === 'SimpleData') properties[this.#field] = this.#typed(text)
    else if (Object.hasOwn(DETAILS, name) && (this.#isIn('Placemark') || isGeometry(this.#path.at(-1) ?? ''))) {
      const [detail, isNumber] = DETAILS[name] as (typeof DETAILS)[string]
      properties[detail] ??= isNumber && NUMBER.test(text) ? new Digits(text) : text
    }
  }

  #typed(text: string): unknown {
    const type = this.#types.get(this.#field) ?? 'string'
    if (type === 'bool') return text === '' ? null : text === '1' || text === 'true'
    if (!NUMBER_TYPES.has(type)) return text
    return text === '' ? null : NUMBER.test(text) ? new Digits(text) : text
  }

  #write({ id, properties, geometry }: Placemark): void {
    const folder = this.#folders.at(-1) as Folder
    if (folder.out === null) {
      if (this.layers.length >= MAX_FOLDERS) throw new DamagedFile(this.#read, `more than ${MAX_FOLDERS} folders`)
      const path = join(this.#scratch, `${this.layers.length}.geojsonl`)
      folder.out = fs.openSync(path, 'wx')
      this.layers.push({ name: folder.name ?? `Layer #${this.layers.length}`, path })
    }
    const members = Object.entries(properties).map(([name, value]) => `${JSON.stringify(name)}:${jsonOf(value)}`)
    fs.writeSync(
      folder.out,
      `{"type":"Feature",${id === null ? '' : `"id":${JSON.stringify(id)},`}"properties":{${members.join()}},"geometry":${JSON.stringify(geometry.made)}}\n`,
    )
    this.#read++
    this.#placemark = null
  }

  #endFolder(): void {
    const folder = this.#folders.pop()
    if (folder?.out !== null && folder !== undefined) fs.closeSync(folder.out)
  }
}

/** A number as the file spells it, which may have more digits than a double. */
class Digits {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

function jsonOf(value: unknown): string {
  return value instanceof Digits ? value.text.replace(/^(-?)0+(\d)/, '$1$2') : JSON.stringify(value)
}

/** Prefixes of namespaces do not matter here. */
function local(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** Returns the encoding that the XML declaration names, or null. */
function encodingOf({ fd, size }: TextFile): string | null {
  const head = Buffer.alloc(Math.min(HEAD_BYTES, size))
  fs.readSync(fd, head, 0, head.length, 0)
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  const told = /^[^>]{0,60}encoding=["']([\w.-]{1,30})["']/.exec(head.toString('latin1'))?.[1]
  try {
    return told === undefined ? null : new TextDecoder(told).encoding
  } catch {
    return null
  }
}
