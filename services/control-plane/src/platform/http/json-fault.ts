import { type CodedMessage, coded, type SentenceCode } from '@gateway/contracts/messages.js'
import { Tokenizer, TokenParser } from '@streamparser/json'

/** The position at which a text stops being JSON, in bytes from its beginning. */
interface Fault {
  readonly offset: number
  /** expected token */
  readonly expected: SentenceCode
}

/** Expected tokens by the number of the parser's state, which the package does not export. */
const EXPECTED = [
  'said.json_value',
  'said.json_name',
  'said.json_colon',
  'said.json_comma',
  'said.json_end',
] as const satisfies readonly SentenceCode[]

/**
 * Explains why a body is not JSON: line and column (in characters, from 1), the found and the expected token, and the usual reason. Called only for
 * text that JSON.parse refuses. Its own messages differ by version, and half of them have no position.
 */
export function jsonFault(body: Buffer): CodedMessage[] {
  const foreign = firstForeignByte(body)
  if (foreign >= 0) return [coded('json.encoding', { byte: foreign })]
  const fault = faultIn(body)
  // The parser accepts a text that JSON.parse refused because of its names.
  if (fault === null) return [coded('json.forbidden_name')]
  const before = body.subarray(0, fault.offset).toString()
  const line = before.split('\n').length
  const column = [...before.slice(before.lastIndexOf('\n') + 1)].length + 1
  const rest = body.subarray(fault.offset, fault.offset + 64).toString()
  if (rest === '') return [coded('json.ends', { line, column, expected: fault.expected })]
  const found = JSON.stringify(/^[A-Za-z_$][\w$]{0,20}/.exec(rest)?.[0] ?? [...rest][0])
  const usual = usualReason(before, rest)
  const place = coded('json.found', { line, column, found, expected: fault.expected })
  return usual === null ? [place] : [place, usual]
}

/** Returns null if there is no fault. */
function faultIn(body: Buffer): Fault | null {
  const tokenizer = new Tokenizer()
  const parser = new TokenParser({ keepStack: false })
  let fault: Fault | null = null
  let state = 0
  let last = 0
  const note = (offset: number, expected: SentenceCode = EXPECTED[state] ?? 'said.json_else') => {
    fault ??= { offset, expected }
  }
  parser.onValue = () => {}
  parser.onError = () => note(last)
  tokenizer.onToken = (token) => {
    if (fault !== null) return
    state = stateOf(parser)
    last = token.offset
    parser.write(token)
  }
  tokenizer.onError = ({ message }) => {
    const [, at = '', where = ''] = /absolute position "(\d+)"\) in state (\w+)/.exec(message) ?? []
    state = stateOf(parser)
    // For an unknown word, it returns the first character that does not belong to a known one.
    const begun = /^(?:TRUE|FALSE|NULL)(\d)$/.exec(where)?.[1] ?? '0'
    note(Number(at) - Number(begun), expectedWithin(where))
  }
  tokenizer.write(body)
  // Ends a number at the end of the text.
  if (fault === null) tokenizer.write(' ')
  if (fault !== null || parser.isEnded) return fault
  state = stateOf(parser)
  note(body.length)
  return fault
}

/** Returns the token expected inside a string or a number; undefined if the fault is in neither. */
function expectedWithin(tokenizerState: string): SentenceCode | undefined {
  if (tokenizerState.startsWith('STRING_AFTER') || tokenizerState.startsWith('STRING_UNICODE'))
    return 'said.json_escape'
  if (tokenizerState.startsWith('STRING')) return 'said.json_character'
  return tokenizerState.startsWith('NUMBER') ? 'said.json_digit' : undefined
}

function stateOf(parser: TokenParser): number {
  return (parser as unknown as { state: number }).state
}

/** Returns -1 if the whole text is valid UTF-8. */
function firstForeignByte(body: Buffer): number {
  const text = body.toString()
  for (let at = text.indexOf('\ufffd'); at >= 0; at = text.indexOf('\ufffd', at + 1)) {
    const offset = Buffer.byteLength(text.slice(0, at))
    // The character itself is valid.
    if (body.readUIntBE(offset, Math.min(3, body.length - offset)) !== 0xefbfbd) return offset
  }
  return -1
}

const REASONS: readonly (readonly [before: RegExp, rest: RegExp, reason: CodedMessage])[] = [
  [/^$/, /^[\w.-]+=/, coded('json.form', { example: '{"name": "value"}' })],
  [/^$/, /^[\w.-]+&/, coded('json.form', { example: '{"name": "value"}' })],
  [/,\s*$/, /^[}\]]/, coded('json.trailing_comma')],
  [/$/, /^['`\u2018\u201c]/, coded('json.single_quotes')],
  [/$/, /^(\/\/|\/\*|#)/, coded('json.comment')],
  [/[{,]\s*$/, /^[A-Za-z_$]/, coded('json.unquoted_name')],
  [/(^|[[:,]\s*)$/, /^(NaN|Infinity|undefined|None|True|False|NULL|nil)\b/, coded('json.literal')],
  [/[-\d]$|[[:,]\s*$/, /^[+.\d]/, coded('json.number')],
  [/"[^"]*$/, /^[\r\n\t]/, coded('json.control')],
]

function usualReason(before: string, rest: string): CodedMessage | null {
  const near = before.slice(-64)
  return REASONS.find(([left, right]) => left.test(near) && right.test(rest))?.[2] ?? null
}
