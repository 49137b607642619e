/** Parts of a moment as Postgres writes it: date, time, offset, and the seconds of an offset of a time before standard time. */
const MOMENT = /^(\d{4,}-\d\d-\d\d) ([\d:.]+?)(?:([+-]\d\d)(:\d\d)?(?::\d\d)?)?$/

/**
 * Converts a date or a moment as Postgres writes it (ISO, manual 8.5.2). JavaScript takes the year of "0045-01-01 00:00:00+00" for 2045, and that of
 * "0031-..." for a day. Only the form with T is defined for every year from 0000 to 9999.
 */
export function dateOf(text: string): Date {
  const [, day, time, hours, minutes = ':00'] = MOMENT.exec(text) ?? []
  return new Date(text.startsWith('0') && day !== undefined ? `${day}T${time}${hours ?? '+00'}${minutes}` : text)
}

/** Type of dates and moments that replaces the one of the client. */
export const DATE_TYPE = {
  to: 1184,
  from: [1082, 1114, 1184],
  parse: dateOf,
  serialize: (value: Date | string | number) => new Date(value).toISOString(),
}
