import { expect, test } from 'vitest'
import { StoreReader, type What } from './catalog-reader.js'
import type { StoreLink } from './store-link.js'

const link = (name: string, asked: string[]) =>
  ({
    query: async () => {
      asked.push(name)
      return []
    },
  }) as unknown as StoreLink

test('a replica answers for every row of the catalog, and the store itself for the log and the secrets', async () => {
  const asked: string[] = []
  const reader = new StoreReader(link('store', asked), link('replica', asked))
  const rows: readonly What[] = ['basemapSizes', 'basemaps', 'vectorSizes', 'vectors', 'styleSizes', 'styles', 'fonts']
  for (const what of rows) await reader.read(what, [] as never)
  expect(asked.splice(0)).toEqual(rows.map(() => 'replica'))
  for (const what of ['state', 'changes', 'signingSecrets'] as const)
    await reader.read(what, null as never).catch(() => {})
  expect(asked).toEqual(['store', 'store', 'store'])
})
