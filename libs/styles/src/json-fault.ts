import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import type { StyleProblem } from './style-json.js'

/** Describes the position at which a text stops being JSON, for people who wrote it by hand; null: it is JSON. */
export function jsonFault(text: string): StyleProblem | null {
  if (text.trim() === '') return { line: null, message: 'the file is empty' }
  const errors: ParseError[] = []
  parse(text, errors, { disallowComments: true })
  const [first] = errors
  if (first === undefined) return null
  const at = placeOf(first, text)
  return { line: lineOf(text, at), message: wordsFor(first, text, at) }
}

/** The parser reports a missing comma where the next value begins. It belongs after the previous value. */
function placeOf({ error, offset }: ParseError, text: string): number {
  const isMissed = /^(Comma|Colon)Expected$/.test(printParseErrorCode(error)) && !/^[}\]]/.test(text.slice(offset))
  return isMissed ? Math.max(0, text.slice(0, offset).trimEnd().length - 1) : Math.min(offset, text.length)
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}

function wordsFor({ error, offset, length }: ParseError, text: string, at: number): string {
  const code = printParseErrorCode(error)
  const found = text.slice(offset, offset + Math.max(1, length)).slice(0, 40)
  if (at >= text.trimEnd().length && code !== 'EndOfFileExpected')
    return 'the file ends too early: a closing bracket or quotation mark is missing'
  if (found.startsWith("'")) return 'texts need double quotation marks (") in JSON, not single ones'
  switch (code) {
    case 'InvalidCommentToken':
      return 'JSON has no comments: remove this one'
    case 'CommaExpected':
      if (/^[}\]]/.test(found)) return `${JSON.stringify(found)} does not close the bracket that was opened last`
      return 'a comma is missing after this value'
    case 'ColonExpected':
      return 'a colon is missing after the name of this property'
    case 'PropertyNameExpected':
    case 'ValueExpected':
      if (/^[}\]]/.test(found) && text.slice(0, offset).trimEnd().endsWith(','))
        return `the comma before ${JSON.stringify(found)} is one too many`
      return `${code === 'ValueExpected' ? 'a value' : 'the name of a property, in double quotation marks,'} is expected before ${JSON.stringify(found)}`
    case 'CloseBraceExpected':
      return 'a closing brace } is missing'
    case 'CloseBracketExpected':
      return 'a closing bracket ] is missing'
    case 'EndOfFileExpected':
      return `the style ends before ${JSON.stringify(found)}: a bracket is one too many`
    case 'UnexpectedEndOfString':
      return 'the closing quotation mark of a text is missing'
    case 'InvalidEscapeCharacter':
    case 'InvalidUnicode':
      return 'a text has a backslash that is not a JSON escape: write \\\\ for a backslash'
    case 'InvalidCharacter':
      return 'a string contains a tab or another control character: write \\t for a tab'
    default:
      return `${JSON.stringify(found)} is not a JSON value`
  }
}
