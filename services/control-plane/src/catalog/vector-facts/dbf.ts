import type { VectorField, VectorFieldType } from '@gateway/contracts/vector.js'
import { MAX_FIELDS } from './limits.js'

/** Bytes that suffice for the header of `MAX_FIELDS` fields. */
export const DBF_HEAD_BYTES = 32 + 32 * (MAX_FIELDS + 1)

/** The content of a dBASE table's header. */
export interface DbfHeader {
  readonly records: number
  readonly languageDriver: number
  /** each name as bytes (in ISO 8859-1); null: too many, or damaged */
  readonly fields: readonly VectorField[] | null
}

/** Returns null for another content. */
export function readDbfHeader(head: Buffer | null): DbfHeader | null {
  if (head === null || head.length < 32) return null
  return {
    records: head.readUInt32LE(4),
    languageDriver: head.readUInt8(29),
    fields: readFields(head),
  }
}

const TERMINATOR = 0x0d

function readFields(head: Buffer): VectorField[] | null {
  const fields: VectorField[] = []
  for (let at = 32; at < head.length; at += 32) {
    if (head[at] === TERMINATOR) return fields
    if (at + 32 > head.length || fields.length === MAX_FIELDS) return null
    const name = head.subarray(at, at + 11)
    const end = name.indexOf(0)
    const type = TYPES[String.fromCharCode(head[at + 11] as number)] ?? 'string'
    fields.push({ name: name.toString('latin1', 0, end < 0 ? undefined : end), type })
  }
  return null
}

const TYPES: Readonly<Record<string, VectorFieldType>> = {
  N: 'number',
  F: 'number',
  I: 'number',
  O: 'number',
  B: 'number',
  L: 'boolean',
  D: 'date',
}
