/** The ids of features in the column `feature_id`. A text that looks like a number has a mark in front, so that both keep their types. */
const MARK = '\u0001'
const NUMBER = /^-?(?:0|[1-9]\d{0,18})(?:\.\d{1,17})?$/

/** Returns the stored form of a feature's id. */
export function storedId(id: string | number | bigint): string {
  if (typeof id !== 'string') return String(id)
  return NUMBER.test(id) ? `${MARK}${id}` : id
}

/** Returns a stored id as in an address. */
export function idText(stored: string): string {
  return stored.startsWith(MARK) ? stored.slice(MARK.length) : stored
}

/** Returns a stored id as JSON: a number if the source has one. */
export function idJson(stored: string): string {
  return NUMBER.test(stored) ? stored : JSON.stringify(idText(stored))
}

/** The condition of SQL for the feature with an id, and the expression for the ids as in addresses. */
export const HAS_ID = `feature_id IN (?1, char(1) || ?1)`
export const ADDRESS = `ltrim(feature_id, char(1))`
