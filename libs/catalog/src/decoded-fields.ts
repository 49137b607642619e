import type { VectorField } from '@gateway/contracts/vector.js'

/** Fields whose names are bytes, by the encoding of the names; null: that is not known here, or they are in another one. */
export function decodedFields(fields: readonly VectorField[], encoding: string | null): VectorField[] | null {
  const decoded: VectorField[] = []
  for (const { name, type } of fields) {
    const text = decode(Buffer.from(name, 'latin1'), encoding)
    if (text === null) return null
    decoded.push({ name: text, type })
  }
  return decoded
}

/** null: nothing here knows the encoding, or none is told and the text is not UTF-8. Tables cut names within a character, which is no reason. */
function decode(bytes: Uint8Array, encoding: string | null): string | null {
  try {
    return new TextDecoder(encoding ?? 'utf-8', { fatal: encoding === null }).decode(bytes)
  } catch {
    return null
  }
}
