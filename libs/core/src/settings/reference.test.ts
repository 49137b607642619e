import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { z } from 'zod'
import { SETTING_GROUPS, SETTING_NAMES, SETTINGS, type SettingName } from './schema.js'

const PAGE = readFileSync(new URL('../../../../docs/reference/settings.md', import.meta.url), 'utf8')

/** The rows under each heading that has a table of settings. */
const tables = PAGE.split(/^## /m)
  .map((part) =>
    part
      .split('\n')
      .filter((line) => /^\| `[A-Z]/.test(line))
      .map((line) => line.split(' | ')),
  )
  .filter((rows) => rows.length > 0)
const rows = tables.flat()
const nameIn = ([name = '']: readonly string[]) => name.slice(3, -1) as SettingName

test('the page of settings has a table for each group, with its settings in their order', () => {
  expect(tables.map((table) => table.map(nameIn))).toEqual(Object.values(SETTING_GROUPS).map(Object.keys))
})

/** Describes a kind of value by its schema. For a choice, lists all values. */
function kindOf(schema: z.core.$ZodType): string {
  const { type, innerType, entries } = schema._zod.def as z.core.$ZodDefaultDef & z.core.$ZodEnumDef
  if (type === ('default' as string) || type === ('optional' as string)) return kindOf(innerType)
  if (entries) return Object.keys(entries).map(quoted).join(', ')
  return (schema as z.ZodType).description ?? ''
}

const quoted = (text: string) => `\`${text}\``

test('every setting is described with the kind of value that its schema takes, and with a meaning', () => {
  expect(rows.map((row) => [nameIn(row), row[1]])).toEqual(
    rows.map((row) => [nameIn(row), kindOf(SETTINGS[nameIn(row)])]),
  )
  expect(rows.filter(([, kind, , meaning = '']) => kind === '' || meaning.length < 5)).toEqual([])
})

test.each(SETTING_NAMES)('%s: its default on the page is the one of the schema', (name) => {
  const byDefault = rows.find((row) => nameIn(row) === name)?.[2]?.trim() ?? ''
  const implied: unknown = SETTINGS[name].parse(undefined)
  const isNone = implied === undefined || (Array.isArray(implied) && implied.length === 0)
  if (byDefault === '') expect(isNone).toBe(true)
  // Some defaults depend on other settings or on the machine. The page describes them in a sentence.
  else if (/^`[^`]+`$/.test(byDefault) && implied !== undefined)
    expect(SETTINGS[name].safeParse(byDefault.slice(1, -1)).data).toEqual(implied)
})
