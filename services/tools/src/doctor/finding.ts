/** `warn`: it works, and something is worth a look. `fault`: something does not work, or will not. */
export type Level = 'ok' | 'warn' | 'fault'

/** One line of the doctor's. No secret is in it. */
export interface Finding {
  readonly level: Level
  /** what was looked at */
  readonly about: string
  readonly finding: string
  /** what to do; null where nothing is to be done */
  readonly advice: string | null
}

export const ok = (about: string, finding: string): Finding => ({ level: 'ok', about, finding, advice: null })
export const warn = (about: string, finding: string, advice: string): Finding => ({
  level: 'warn',
  about,
  finding,
  advice,
})
export const fault = (about: string, finding: string, advice: string): Finding => ({
  level: 'fault',
  about,
  finding,
  advice,
})

/** 0: all is well; 1: there are warnings; 2: there are faults. As monitoring plugins answer, and refused settings. */
export function exitCode(findings: readonly Finding[]): number {
  if (findings.some(({ level }) => level === 'fault')) return 2
  return findings.some(({ level }) => level === 'warn') ? 1 : 0
}

const WIDEST_ABOUT = 12

export function asLine({ level, about, finding, advice }: Finding): string {
  const text = `${level.padEnd(5)} ${about.padEnd(WIDEST_ABOUT)} ${finding}${advice === null ? '' : `: ${advice}`}`
  // What a server or a file name says must not begin a line of its own.
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
}
