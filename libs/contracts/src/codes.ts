// The forms of codes. The console shares this file with the service, so it imports nothing.

/** Characters that no code has: separators of paths and control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this excludes control characters
const NOWHERE = /[/\\\u0000-\u001f\u007f]/

/** Characters with which no code begins. `*` is the wildcard of grants; a leading dot would hide a folder or leave it. */
const NOT_FIRST = /^[.*]/

/** The first character of a code that no path segment may have at its place; null: the code is possible. */
export function wrongInCode(code: string): string | null {
  return (NOT_FIRST.exec(code) ?? NOWHERE.exec(code))?.[0] ?? null
}

/** The code of a layer without the characters beyond ASCII. Returns null if the rest is not a plain path segment. */
export function layerCodeOf(text: string): string | null {
  const ascii = text.replace(/[^\x20-\x7e]/g, '').trim()
  return ascii !== '' && wrongInLayerCode(text) === null ? ascii : null
}

/** The first wrong character of a layer's code: a leading dot, or one of ASCII that is no letter, digit, `.`, `-` or `_`. null: the code is possible. */
export function wrongInLayerCode(text: string): string | null {
  const ascii = text.replace(/[^\x20-\x7e]/g, '').trim()
  return (/^\./.exec(ascii) ?? /[^A-Za-z0-9._-]/.exec(ascii))?.[0] ?? null
}
