import { readFileSync } from 'node:fs'
import { parse } from 'dotenv'
import { expect, test } from 'vitest'
import { SETTING_GROUPS, SETTING_NAMES, SETTINGS, type SettingName } from './schema.js'

const atRoot = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')

test('the example of an env file contains settings with accepted values', () => {
  const settings = parse(atRoot('config/service.env.example').replaceAll(/^#(?=[A-Z])/gm, ''))
  expect(Object.keys(settings).length).toBeGreaterThan(5)
  for (const [name, value] of Object.entries(settings))
    expect(SETTINGS[name as SettingName].safeParse(value)).toMatchObject({ success: true })
})

test('every group of settings has a title in the console', () => {
  const texts = atRoot('services/console/src/texts/en.ts')
  expect(Object.keys(SETTING_GROUPS).filter((group) => !texts.includes(`\n      ${group}: '`))).toEqual([])
})

test('the console describes every setting', () => {
  // Reads the file as text, since no library may import the console. The types guarantee the same texts in other languages.
  const texts = atRoot('services/console/src/texts/en.ts')
  expect(SETTING_NAMES.filter((name) => !texts.includes(`\n      ${name}: '`))).toEqual([])
})
