import type { VectorField } from './vector.js'

/** Decodes names of fields by the given encoding. Returns null if it is unknown or does not fit. */
export function decodedFields(fields: readonly VectorField[], encoding: string | null): VectorField[] | null {
  const decoded: VectorField[] = []
  for (const { name, type } of fields) {
    const text = decode(Buffer.from(name, 'latin1'), encoding)
    if (text === null) return null
    decoded.push({ name: text, type })
  }
  return decoded
}

/** Returns null for an unsupported encoding, and for text that is not UTF-8 if none is given. A name that was cut within a character is decoded too. */
function decode(bytes: Uint8Array, encoding: string | null): string | null {
  try {
    return new TextDecoder(encoding ?? 'utf-8', { fatal: encoding === null }).decode(bytes)
  } catch {
    return null
  }
}
