/** `warn`: it works, but deserves attention. `fault`: it does not work, or will not. */
export type Level = 'ok' | 'warn' | 'fault'

/** One line of the doctor's report, without secrets. */
export interface Finding {
  readonly level: Level
  /** subject of the check */
  readonly about: string
  readonly finding: string
  /** the remedy; null: none needed */
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

/** Returns 0 if all is well, 1 for warnings, 2 for faults: the codes of monitoring plugins, and of refused settings. */
export function exitCode(findings: readonly Finding[]): number {
  if (findings.some(({ level }) => level === 'fault')) return 2
  return findings.some(({ level }) => level === 'warn') ? 1 : 0
}

const WIDEST_ABOUT = 12

export function asLine({ level, about, finding, advice }: Finding): string {
  const text = `${level.padEnd(5)} ${about.padEnd(WIDEST_ABOUT)} ${finding}${advice === null ? '' : `: ${advice}`}`
  // Text of a server or file name must not start a new line.
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
}
