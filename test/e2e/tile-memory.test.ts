import { expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'

const MIB = 1024 * 1024
const gateway = useGateway({ edgeWorkers: 3, env: { TILE_MEMORY: '48m' } })

test('the processes of an edge share one budget for tiles in memory', async () => {
  // Each worker reports separately: the sum is complete once all have reported.
  const budget = async () => {
    const text = await (await fetch(`${gateway().url}/metrics`)).text()
    return Number(/^gateway_tile_memory_bytes (\d+)$/m.exec(text)?.[1])
  }
  await expect.poll(budget).toBe(48 * MIB)
})

test('the effective settings contain it in bytes', async () => {
  const { body } = await gateway().admin.call<{ items: { name: string; value: unknown }[] }>('/settings')
  expect(body.items.find(({ name }) => name === 'TILE_MEMORY')).toMatchObject({ value: 48 * MIB })
})
