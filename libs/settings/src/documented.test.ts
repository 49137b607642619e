import { readFileSync } from 'node:fs'
import { parse } from 'dotenv'
import { expect, test } from 'vitest'
import { SETTING_NAMES, SETTINGS, type SettingName } from './schema.js'

const atRoot = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

/** What stands in backquotes in the first two cells of each row. */
const rows = atRoot('docs/reference/settings.md')
  .split('\n')
  .filter((line) => /^\| `[A-Z0-9_]+`/.test(line))
  .map((line) => {
    const [, names = '', defaults = ''] = line.split('|')
    return { names: quoted(names) as SettingName[], defaults: quoted(defaults) }
  })

function quoted(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)
}

test('the table of settings names every setting once, and no other', () => {
  expect(rows.flatMap(({ names }) => names).toSorted()).toEqual(SETTING_NAMES.toSorted())
})

test.each(rows.filter(({ names, defaults }) => names.length === defaults.length))(
  "the documented default of $names is the schema's",
  ({ names, defaults }) => {
    names.forEach((name, i) => {
      const byDefault = SETTINGS[name].parse(undefined)
      // Some follow from other settings.
      if (byDefault !== undefined) expect(SETTINGS[name].parse(defaults[i])).toEqual(byDefault)
    })
  },
)

test('the example of an env file holds settings with values that are accepted', () => {
  const settings = parse(atRoot('config/service.env.example').replaceAll(/^#(?=[A-Z])/gm, ''))
  expect(Object.keys(settings).length).toBeGreaterThan(5)
  for (const [name, value] of Object.entries(settings))
    expect(SETTINGS[name as SettingName].safeParse(value)).toMatchObject({ success: true })
})
