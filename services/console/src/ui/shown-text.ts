/** Marks, embeddings, overrides and isolates (UAX #9), line breaks and other controls, which make a text look like another one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this matches control characters
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g
/** Letters that run from right to left: Hebrew, Arabic and their presentation forms. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/
const CUT_AT = 60

/** Makes control characters visible in a text that another person chose. */
export function shownText(text: string): string {
  return text.replace(CONTROLS, '\ufffd')
}

/** Does the same for the middle of a sentence: cuts the text, and isolates it if its letters would rearrange the sentence. */
export function shortText(text: string): string {
  const shown = shownText(text)
  const characters = [...shown]
  const cut = characters.length > CUT_AT ? `${characters.slice(0, CUT_AT - 1).join('')}…` : shown
  return RIGHT_TO_LEFT.test(cut) ? `\u2068${cut}\u2069` : cut
}
