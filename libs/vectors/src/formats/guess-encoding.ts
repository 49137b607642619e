/** A guess at the encoding of text bytes; null: not recognised. */
export type Guess = 'ASCII' | 'UTF-8' | 'UTF-16LE' | 'UTF-16BE' | 'GBK' | null

/** Minimum share of the non-ASCII bytes in pairs of GB2312, the part of GBK in which nearly all text is written. */
const GB2312_SHARE = 0.9
/** Maximum share of rare ideographs. Small letters of Cyrillic and Greek code pages look like them. */
const RARE_SHARE = 0.5

/**
 * Guesses the encoding of a text or its beginning: UTF-8 by its own rules, GBK by pairs of bytes in the range of GB2312.
 * Other two-byte encodings have pairs in that range too, so the result may be wrong.
 */
export function guessEncoding(bytes: Buffer): Guess {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'UTF-16LE'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'UTF-16BE'
  if (isUtf8(bytes)) return bytes.every((byte) => byte < 0x80) ? 'ASCII' : 'UTF-8'
  let pairs = 0
  let rare = 0
  let others = 0
  for (let at = 0; at < bytes.length; at++) {
    if ((bytes[at] as number) < 0x80) continue
    if (isInGb2312(bytes[at] as number, bytes[at + 1] ?? 0)) {
      pairs += 1
      if ((bytes[at] as number) >= 0xd8) rare += 1
      at += 1
    } else if (at < bytes.length - 1) others += 1
  }
  const isText = pairs > 0 && rare <= pairs * RARE_SHARE && (2 * pairs) / (2 * pairs + others) >= GB2312_SHARE
  return isText && isValid('gbk', bytes) ? 'GBK' : null
}

/** True for symbols and the two levels of ideographs. */
function isInGb2312(first: number, second: number): boolean {
  return first >= 0xa1 && first <= 0xf7 && second >= 0xa1 && second <= 0xfe
}

/** The end may cut a character. */
function isUtf8(bytes: Buffer): boolean {
  return isValid('utf-8', bytes)
}

function isValid(encoding: 'utf-8' | 'gbk', bytes: Buffer): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}
