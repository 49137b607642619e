import type { AdminBasemapVersion, Bounds, ScannedValues, VersionOverrides } from '@gateway/contracts/basemap.js'
import type { VersionPatch } from '../../api/catalog.js'
import type { ServedAs } from '../../map/version-content.js'

/** What the form holds; an empty text is the scan's value. */
export type OverrideForm = Readonly<Record<keyof VersionOverrides, string>>

export const FIELDS = [
  'storage',
  'tile_matrix_set',
  'format',
  'min_zoom',
  'max_zoom',
  'bounds',
  'name',
  'attribution',
  'coordinate_offset',
] as const

export function formOf(overrides: VersionOverrides): OverrideForm {
  return Object.fromEntries(FIELDS.map((field) => [field, textOf(overrides[field])])) as OverrideForm
}

/** A value as the form shows it. */
export function textOf(value: VersionOverrides[keyof VersionOverrides] | ScannedValues[keyof ScannedValues]): string {
  if (value === undefined || value === null) return ''
  return Array.isArray(value) ? value.map((degrees) => Number(degrees.toFixed(6))).join(', ') : String(value)
}

/** West, south, east, north; null: the text does not tell. */
export function boundsOf(text: string): Bounds | null {
  const parts = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  const [west, south, east, north] = parts as Bounds
  const fits = Math.abs(west) <= 180 && Math.abs(east) <= 180 && south >= -90 && north <= 90 && south < north
  return parts.length === 4 && fits && west !== east ? [west, south, east, north] : null
}

/** A whole zoom from 0 to 30. */
export function isZoom(text: string): boolean {
  return /^\d{1,2}$/.test(text) && Number(text) <= 30
}

/** What has to be sent: the fields that differ, null for those that return to the scan's value. */
export function patchOf(form: OverrideForm, before: VersionOverrides): VersionPatch {
  const was = formOf(before)
  const changed = FIELDS.filter((field) => form[field].trim() !== was[field])
  return Object.fromEntries(changed.map((field) => [field, sentValue(field, form[field].trim())]))
}

function sentValue(field: keyof VersionOverrides, text: string) {
  if (text === '') return null
  if (field === 'bounds') return boundsOf(text)
  return field === 'min_zoom' || field === 'max_zoom' ? Number(text) : text
}

/** The version as it would be with these values, for the map, and how its tiles are served until they are saved. */
export function draftOf(
  version: AdminBasemapVersion,
  form: OverrideForm,
): { version: AdminBasemapVersion; served: ServedAs } {
  const { scanned, overrides } = version
  const grid = (form.tile_matrix_set || scanned.tile_matrix_set) as AdminBasemapVersion['tile_matrix_set']
  const order = form.storage || scanned.storage
  const flipped = order !== (overrides.storage ?? scanned.storage)
  // Bounds of the scan may lie elsewhere in another grid or order of rows, and would hide tiles here.
  const isMoved = order !== scanned.storage || grid !== scanned.tile_matrix_set
  const zooms = {
    min_zoom: isZoom(form.min_zoom) ? Number(form.min_zoom) : scanned.min_zoom,
    max_zoom: isZoom(form.max_zoom) ? Number(form.max_zoom) : scanned.max_zoom,
  }
  const format = (form.format || scanned.format) as AdminBasemapVersion['format']
  return {
    version: {
      ...version,
      ...(zooms.min_zoom <= zooms.max_zoom && zooms),
      tile_matrix_set: grid,
      format,
      bounds: boundsOf(form.bounds) ?? (isMoved ? null : scanned.bounds),
    },
    served: { format: version.format, flipped },
  }
}
