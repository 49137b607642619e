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

/** The iota below Greek letters is an accent without CASEI, and a letter with it. */
const IOTA_BELOW = /[\u0345\u1f80-\u1faf\u1fb2-\u1fcc\u1ff2-\u1ffc]/

/** True if ACCENTI and CASEI do not return the same in both orders. */
export function dependsOnOrder(text: string): boolean {
  return IOTA_BELOW.test(text)
}

/** In the table `unaccented_texts`, a text that depends on the order. It is found by every search. */
export const ANY_TEXT = '\uffff'

/** Returns a folded text without accents; null if it has none. @param original the same text before it was folded */
export function unaccentedOf(foldedText: string, original: string): string | null {
  if (dependsOnOrder(original)) return ANY_TEXT
  const text = withoutAccents(foldedText)
  return text === foldedText ? null : text
}
