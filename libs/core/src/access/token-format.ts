import { createHash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** A token: `bmp_`, 32 random base62 characters (190 bits), and a checksum of 6 base62 characters over everything before it. */
export const TOKEN_MARK = 'bmp_'
const RANDOM_LENGTH = 32
const CHECKSUM_LENGTH = 6
export const TOKEN_LENGTH = TOKEN_MARK.length + RANDOM_LENGTH + CHECKSUM_LENGTH

/** The part of a token that may be shown and logged. */
export const TOKEN_PREFIX_LENGTH = 12

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BODY = /^bmp_[0-9A-Za-z]{38}$/

/** Returns the plaintext of a new token. `random(n)` returns an integer below n; only tests inject it. */
export function createToken(random: (n: number) => number = (n) => randomInt(n)): string {
  let token = TOKEN_MARK
  for (let i = 0; i < RANDOM_LENGTH; i++) token += BASE62[random(BASE62.length)]
  return token + checksum(token)
}

/** True if the text has the form of a token and its checksum is correct. Needs no look-up. */
export function isTokenWellFormed(text: string): boolean {
  if (text.length !== TOKEN_LENGTH || !BODY.test(text)) return false
  const split = TOKEN_LENGTH - CHECKSUM_LENGTH
  return checksum(text.slice(0, split)) === text.slice(split)
}

/** Computes CRC-32 (ISO 3309, as in zip) in base62, most significant digit first, padded to 6 digits. */
function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

/** Returns the SHA-256 digest by which the store knows a token. The plaintext has enough entropy, so no salt is needed. */
export function tokenDigest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

export function tokenPrefix(token: string): string {
  return token.slice(0, TOKEN_PREFIX_LENGTH)
}
