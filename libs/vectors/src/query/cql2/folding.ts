/**
 * Returns a text as CASEI compares it: in NFC, and by the full case folding of Unicode (`CaseFolding.txt`, C and F), which JavaScript lacks. Lower case
 * of upper case is the same, except for the Greek final sigma and for the Turkish dotless i, which has no other case there.
 */
export function folded(text: string): string {
  const fold = (part: string) => part.toLowerCase().toUpperCase().toLowerCase()
  const whole = text.normalize('NFC')
  const lower = whole.includes(DOTLESS) ? whole.split(DOTLESS).map(fold).join(DOTLESS) : fold(whole)
  return (lower.includes(FINAL_SIGMA) ? lower.replaceAll(FINAL_SIGMA, 'σ') : lower).normalize('NFC')
}

const DOTLESS = 'ı'
const FINAL_SIGMA = 'ς'

/** The combining marks of Latin, Greek and Cyrillic letters, and not the marks with which other scripts write sounds. */
const ACCENTS = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff]/g

/** Returns a text as ACCENTI compares it: letters without their accents, in NFC. */
export function withoutAccents(text: string): string {
  return text.normalize('NFD').replaceAll(ACCENTS, '').normalize('NFC')
}
