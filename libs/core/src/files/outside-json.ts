/** Limit: levels of arrays and objects. Documents have a dozen. V8 needs some 45 bytes for each open level, so that 16 MB of `[` need 700 MB. */
export const MAX_LEVELS = 200

/** Parses JSON that comes from outside. Throws a SyntaxError for other text, and for more levels than the limit. */
export function parseOutsideJson(text: string): unknown {
  if (levelsOf(text) > MAX_LEVELS) throw new SyntaxError(`it has more than ${MAX_LEVELS} levels of arrays and objects`)
  return JSON.parse(text)
}

/** Returns the levels of nesting, without parsing: brackets within strings do not count. */
export function levelsOf(text: string): number {
  let depth = 0
  let deepest = 0
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (quoted) {
      if (code === 0x5c) i++
      else if (code === 0x22) quoted = false
    } else if (code === 0x22) quoted = true
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth)
    else if (code === 0x7d || code === 0x5d) depth--
  }
  return deepest
}
