import { compareVersions } from '@gateway/store/default-version.js'

/**
 * The label of a new version: the day in UTC, with a number where there is one of that day already, and in any case one that comes after
 * all known ones in natural order, so that it is the newest. Pure.
 */
export function newVersionLabel(known: readonly string[], nowMs: number): string {
  const newest = [...known].sort(compareVersions).at(-1)
  const day = new Date(nowMs).toISOString().slice(0, 10)
  const isNewest = (label: string) => newest === undefined || compareVersions(label, newest) > 0
  if (isNewest(day)) return day
  for (let n = 2; ; n++) {
    const label = `${newest?.startsWith(day) ? day : newest}-${n}`
    if (isNewest(label)) return label
  }
}
