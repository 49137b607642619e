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

/** null: the encoding is not supported, or none is given and the text is not UTF-8. A name that its table cut within a character is decoded all the same. */
function decode(bytes: Uint8Array, encoding: string | null): string | null {
  try {
    return new TextDecoder(encoding ?? 'utf-8', { fatal: encoding === null }).decode(bytes)
  } catch {
    return null
  }
}
