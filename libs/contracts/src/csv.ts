/**
 * Returns a field of CSV (RFC 4180).
 * @param isGuarded an apostrophe precedes a text that a spreadsheet would execute as a formula
 */
export function csvField(text: string, isGuarded: boolean): string {
  const safe = isGuarded && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
