const LENGTH = 4_000
const FACTOR = 4
/** Limit of the cost for four times the text: a factor of four is linear, sixteen is quadratic. */
const TOO_STEEP = 10
/** Cost in ms below which differences are noise and are ignored. */
const NOTICEABLE_MS = 2
const ROUNDS = 5
/** Number of measurements before a result counts. */
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

/** Yields texts with the highest cost for functions that read a character repeatedly. */
function* hostileTexts(length: number): Generator<string> {
  for (const unit of REPEATED) yield `${unit.repeat(length / unit.length)}x`
  for (const before of BEFORE) {
    for (const unit of [' ', 'a', '0', ',']) yield `${before}${unit.repeat(length)}\n`
  }
}

/**
 * Returns the hostile texts for which the cost of `look` grows faster than their length. Compares processor times, as the best of several
 * rounds and repeatedly, so that a busy machine has no effect. Errors of `look` are ignored.
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

/** Returns milliseconds of processor time, as the best of several rounds. */
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
