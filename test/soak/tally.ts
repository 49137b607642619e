/** Maximum number of problems that are shown. */
const MAX_SHOWN = 40

/** Counts responses, and collects unexpected ones. */
export class Tally {
  readonly #counts = new Map<string, number>()
  readonly #problems: string[] = []
  #problemCount = 0
  /** a cut connection counts as `cut`, and is not a problem: workers are killed */
  readonly #mayBeCut: boolean

  constructor(mayBeCut: boolean) {
    this.#mayBeCut = mayBeCut
  }

  /** Counts a response; an unexpected status is a problem. */
  answer(what: string, status: number, expected: readonly number[], more = ''): void {
    this.#count(`${what} ${status}`)
    if (!expected.includes(status)) this.problem(`${what} was answered ${status}${more === '' ? '' : `: ${more}`}`)
  }

  failure(what: string, error: unknown): void {
    const { code, message, cause } = error as NodeJS.ErrnoException & { cause?: { code?: string; message?: string } }
    const words = [code, message, cause?.code, cause?.message].filter((word) => word !== undefined).join(' ')
    const isCut = /ECONNRESET|ECONNREFUSED|EPIPE|UND_ERR_SOCKET|other side closed/.test(words)
    if (isCut) this.#count(`${what} cut`)
    if (!isCut || !this.#mayBeCut) this.problem(`${what} failed: ${words}`)
  }

  problem(words: string): void {
    this.#problemCount++
    if (this.#problems.length < MAX_SHOWN) this.#problems.push(`${new Date().toISOString().slice(11, 23)} ${words}`)
  }

  get problems(): readonly string[] {
    const hidden = this.#problemCount - this.#problems.length
    return hidden > 0 ? [...this.#problems, `and ${hidden} more`] : this.#problems
  }

  text(): string {
    return [...this.#counts]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([what, count]) => `  ${what.padEnd(36)} ${count}`)
      .join('\n')
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1)
  }
}
