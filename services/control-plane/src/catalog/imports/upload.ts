import { newVersionSchema } from '@gateway/contracts/basemap.js'
import { codeSchema, MAX_LABEL_LENGTH } from '@gateway/contracts/common.js'
import { type CodedMessage, coded, saidOf } from '@gateway/contracts/messages.js'
import { isPartOfShapefile } from '@gateway/contracts/shapefile.js'
import { parseOutsideJson } from '@gateway/core/files/outside-json.js'
import { parseIndex } from '@gateway/tilesets/address.js'
import { z } from 'zod'
import { isArchiveExtension, isPartOfSet, isTileName } from '../../platform/files/tile-folder.js'

/** Segments of a relative path, each valid as a file name here. Deeper paths are refused. */
const relativePathSchema = z
  .string()
  .max(1024)
  .refine((text) => {
    const segments = text.split('/')
    return segments.length <= 32 && segments.every((segment) => codeSchema.safeParse(segment).success)
  }, 'must be a plain relative path')

const VECTOR_FILE = /\.(geojson|json|shp|gpkg|fgb)$/i
export const isVectorFile = (name: string) => VECTOR_FILE.test(name)

/** The fields of an event that are read. Its other fields are for other receivers. */
const eventSchema = z.discriminatedUnion('event', [
  z.object({ event: z.literal('target.test') }),
  z.object({
    event: z.literal('basemap.version.pushed'),
    record: z.object({ basemap_code: codeSchema, version: newVersionSchema }),
    basemap: z.object({ name: z.string().max(MAX_LABEL_LENGTH).optional() }),
  }),
  z.object({
    event: z.literal('vector.pushed'),
    vector: z.object({
      relative_path: relativePathSchema.regex(VECTOR_FILE, 'is not a vector file'),
    }),
  }),
])

export type Upload =
  | { readonly kind: 'test' }
  | { readonly kind: 'basemap'; readonly code: string; readonly version: string; readonly name: string | null }
  | { readonly kind: 'vector'; readonly relativePath: string }

/** Parses the part `event`. Returns a message about the fault of an invalid one. */
export function readUpload(json: string): Upload | CodedMessage {
  let value: unknown
  try {
    value = parseOutsideJson(json)
  } catch {
    return coded('import_event_not_json')
  }
  const parsed = eventSchema.safeParse(value)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    return saidOf(`event.${issue?.path.join('.') ?? ''}`, issue?.message ?? 'is not valid')
  }
  switch (parsed.data.event) {
    case 'target.test':
      return { kind: 'test' }
    case 'vector.pushed':
      return { kind: 'vector', relativePath: parsed.data.vector.relative_path }
    case 'basemap.version.pushed': {
      const { record, basemap } = parsed.data
      return { kind: 'basemap', code: record.basemap_code, version: record.version, name: basemap.name ?? null }
    }
  }
}

/** The destination of a file of the archive. */
export interface Slot {
  readonly kind: 'folder' | 'files'
  /** as in a landing */
  readonly place: string
  /** path of the file, relative to the staging folder */
  readonly name: string
}

/** Returns the place of an archive entry, by a list of allowed names; null: it does not belong to the upload. */
export function slotOf(upload: Exclude<Upload, { kind: 'test' }>, entryName: string): Slot | null {
  return upload.kind === 'basemap'
    ? basemapSlot(`${upload.code}/${upload.version}`, entryName)
    : vectorSlot(upload.relativePath, entryName)
}

function basemapSlot(place: string, entryName: string): Slot | null {
  if (entryName.startsWith(`${place}.`) && isArchiveExtension(entryName.slice(place.length))) {
    return { kind: 'files', place: entryName, name: entryName.slice(entryName.lastIndexOf('/') + 1) }
  }
  if (!entryName.startsWith(`${place}/`)) return null
  const name = entryName.slice(place.length + 1)
  const [z = '', x = '', row = '', ...more] = name.split('/')
  const isTile =
    more.length === 0 && parseIndex(z) >= 0 && parseIndex(x) >= 0 && isTileName(parseIndex(z), parseIndex(x), row)
  return isTile || isPartOfSet(name) ? { kind: 'folder', place, name } : null
}

function vectorSlot(relativePath: string, entryName: string): Slot | null {
  const slash = relativePath.lastIndexOf('/') + 1
  if (!entryName.startsWith(relativePath.slice(0, slash))) return null
  const name = entryName.slice(slash)
  const own = relativePath.slice(slash)
  const isPart = /\.shp$/i.test(own) && isPartOfShapefile(own.slice(0, -'.shp'.length), name)
  return name === own || isPart ? { kind: 'files', place: relativePath, name } : null
}
