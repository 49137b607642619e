const LENGTH = 4_000
const FACTOR = 4
/** Four times the text at four times the cost is linear, at sixteen times quadratic. */
const TOO_STEEP = 10
/** What is cheaper than this cannot be told from noise, and stops nobody. */
const NOTICEABLE_MS = 2
const ROUNDS = 5
/** Measured anew so often before it is believed. */
const LOOKED_AT_AGAIN = 3

const REPEATED = [
  ' ',
  '\t',
  ':',
  ',',
  '"',
  '\\',
  '%',
  'a',
  '=',
  ';',
  '(',
  '[',
  '/',
  '-',
  '.',
  '0',
  '{',
  '?',
  '&',
  '@',
  '%2',
  '":',
  '", ',
  'a=1;',
]
const BEFORE = ['bytes=', 'Bearer ', 'Basic ', 'W/"', '/', 'http://', 'for="']

/** Texts that cost most where something looks at one again and again. */
function* hostileTexts(length: number): Generator<string> {
  for (const unit of REPEATED) yield `${unit.repeat(length / unit.length)}x`
  for (const before of BEFORE) {
    for (const unit of [' ', 'a', '0', ',']) yield `${before}${unit.repeat(length)}\n`
  }
}

/**
 * The hostile texts by which the cost of `look` grows faster than their length. Compared is processor time with processor time, at the best of
 * several rounds and more than once, so that a busy machine changes nothing. What `look` throws does not matter.
 */
export function steepTexts(look: (text: string) => unknown, length = LENGTH): string[] {
  const long = [...hostileTexts(length * FACTOR)]
  return [...hostileTexts(length)].filter((text, i) => isSteep(look, text, long[i] as string)).map(shortened)
}

function isSteep(look: (text: string) => unknown, text: string, longer: string): boolean {
  if (cost(look, longer, 1) < NOTICEABLE_MS) return false
  for (let time = 0; time < LOOKED_AT_AGAIN; time++) {
    if (cost(look, longer, ROUNDS) <= Math.max(NOTICEABLE_MS, cost(look, text, ROUNDS) * TOO_STEEP)) return false
  }
  return true
}

/** Milliseconds of processor time, at the best of several rounds. */
function cost(look: (text: string) => unknown, text: string, rounds: number): number {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage()
    try {
      look(text)
    } catch {}
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / 1_000)
  }
  return best
}

const shortened = (text: string) => JSON.stringify(`${text.slice(0, 12)}...${text.slice(-3)}`)
