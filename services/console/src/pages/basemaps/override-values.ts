import type { AdminBasemapVersion, Bounds, ScannedValues, VersionOverrides } from '@gateway/contracts/basemap.js'
import type { VersionPatch } from '../../api/catalog.js'
import type { ServedAs } from '../../map/version-content.js'

/** The values of the form; an empty text stands for the scanned value. */
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

/** Formats a value for the form. */
export function textOf(value: VersionOverrides[keyof VersionOverrides] | ScannedValues[keyof ScannedValues]): string {
  if (value === undefined || value === null) return ''
  return Array.isArray(value) ? value.map((degrees) => Number(degrees.toFixed(6))).join(', ') : String(value)
}

/** Parses west, south, east and north; null if the text is not valid. */
export function boundsOf(text: string): Bounds | null {
  const parts = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  const [west, south, east, north] = parts as Bounds
  const fits = Math.abs(west) <= 180 && Math.abs(east) <= 180 && south >= -90 && north <= 90 && south < north
  return parts.length === 4 && fits && west !== east ? [west, south, east, north] : null
}

/** True if the text is a whole number from 0 to 30. */
export function isZoom(text: string): boolean {
  return /^\d{1,2}$/.test(text) && Number(text) <= 30
}

/** Returns the patch to send: the fields that differ, with null for those reset to the scanned value. */
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

/** Returns the version with the values of the form, for the map, and how the service serves its tiles until the values are saved. */
export function draftOf(
  version: AdminBasemapVersion,
  form: OverrideForm,
): { version: AdminBasemapVersion; served: ServedAs } {
  const { scanned, overrides } = version
  const grid = (form.tile_matrix_set || scanned.tile_matrix_set) as AdminBasemapVersion['tile_matrix_set']
  const order = form.storage || scanned.storage
  const flipped = order !== (overrides.storage ?? scanned.storage)
  // In another grid or row order the scanned bounds may lie elsewhere and hide tiles.
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
