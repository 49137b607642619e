import { spawnSync } from 'node:child_process'

/** Folders whose changes make an earlier check worthless. */
const CHECKED = ['libs', 'services', 'deploy']

/**
 * Reads the table of `docs/releases/checks.md` (check, command, commit, date, processor, result). Returns a line for each check that did not pass, or whose commit is
 * older than the code that is released.
 *
 * @param {string} page
 * @param {(commit: string) => boolean} isCurrent returns true if no checked folder has changed since the commit
 * @returns {string[]}
 */
export function redChecks(page, isCurrent) {
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
    .slice(1)
  if (rows.length === 0) return ['the table is empty']
  return rows.flatMap(([, check, , commit, , , result = '']) => {
    if (!result.startsWith('passed')) return [`${check}: ${result}`]
    return isCurrent(commit) ? [] : [`${check}: the code has changed since ${commit}`]
  })
}

/**
 * @param {string} root the checkout
 * @returns {(commit: string) => boolean}
 */
export function unchangedSince(root) {
  return (commit) =>
    /^[0-9a-f]{7,40}$/.test(commit) &&
    spawnSync('git', ['diff', '--quiet', commit, 'HEAD', '--', ...CHECKED], { cwd: root }).status === 0
}
