import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

const MODULE = new URL('../../dist/processes/young-heap.js', import.meta.url).href

/** Returns the bytes for new objects after a process has created many that live for a moment. */
function youngBytes(isSmall: boolean): number {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8'
    import { keepYoungHeapSmall } from '${MODULE}'
    if (${isSmall}) keepYoungHeapSmall(true)
    let kept = []
    for (let round = 0; round < 60; round++) {
      const made = Array.from({ length: 20_000 }, (_, i) => ({ i, text: 'text ' + i }))
      if (round % 3 === 0) kept = made
    }
    console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size)`
  return Number(spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).stdout)
}

test('the heap for new objects stays small if it is kept small, and otherwise grows', () => {
  const small = youngBytes(true)
  expect(small).toBeGreaterThan(0)
  expect(youngBytes(false)).toBeGreaterThan(2 * small)
})
