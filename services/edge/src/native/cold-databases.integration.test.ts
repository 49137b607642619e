import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { LAYOUTS, writeLayout } from '@gateway/tilesets/testing/mbtiles-layouts.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  DATABASES,
  home,
  inShort,
  natively,
  plainly,
  root,
  state,
  TOKENS,
  tell,
  useColdEdges,
} from '../testing/cold-edges.js'
import { oneOf, replace } from '../testing/cold-steps.js'

/** The same archives in every run. To run others, and more: FUZZ_REQUESTS=50000 FUZZ_SEED=7 npm test -- native/cold-databases */
const ARCHIVES = Math.ceil(Number(process.env.FUZZ_REQUESTS ?? 1_200) / 30)
const SEED = Number(process.env.FUZZ_SEED ?? 1)

useColdEdges()

/** Damage to a page: bytes in its head or anywhere, or a swap of two pages. */
const damage = fc.record({
  layout: oneOf(...DATABASES),
  bytes: fc.array(fc.tuple(fc.nat(), oneOf(true, false), fc.nat(), fc.nat(255)), { maxLength: 3 }),
  swap: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.tuple(fc.nat(), fc.nat()) }),
  cut: fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat() }),
  places: fc.array(fc.tuple(fc.nat(9), fc.nat(7), fc.nat(7)), { minLength: 8, maxLength: 8 }),
})

function damaged(
  whole: Buffer,
  pageBytes: number,
  { bytes, swap, cut }: typeof damage extends fc.Arbitrary<infer T> ? T : never,
): Buffer {
  const archive = Buffer.from(whole)
  const pages = archive.length / pageBytes
  // Without its first page the file is not a database, which opening it detects.
  const page = (n: number) => archive.subarray((1 + (n % (pages - 1))) * pageBytes).subarray(0, pageBytes)
  for (const [n, isHead, at, byte] of bytes) page(n)[at % (isHead ? 40 : pageBytes)] = byte
  if (swap !== null) {
    const [one, other] = [page(swap[0]), page(swap[1])]
    const copy = Buffer.from(one)
    other.copy(one)
    copy.copy(other)
  }
  return cut === null ? archive : archive.subarray(0, cut % archive.length)
}

test('from damaged databases only tiles that SQLite reads are read without JavaScript', {
  timeout: 120_000,
}, async () => {
  const tiles = Array.from({ length: 64 }, (_, i) => {
    return { z: 3, x: i % 8, y: i >> 3, data: randomBytes(i === 9 ? 70_000 : (i * 97) % 3_000) }
  })
  const whole = new Map(
    DATABASES.map((layout) => {
      const file = path.join(home, `whole-${layout}`)
      writeLayout(file, layout, [...tiles, { z: 0, x: 0, y: 0, data: randomBytes(10) }])
      return [layout, fs.readFileSync(file)]
    }),
  )
  const { native } = natively.running.edge
  const answered = { natively: 0, both: 0 }
  for (const one of fc.sample(damage, { seed: SEED, numRuns: ARCHIVES })) {
    const { layout, places } = one
    replace(path.join(root, `${layout}.mbtiles`), damaged(whole.get(layout) as Buffer, LAYOUTS[layout].pageBytes, one))
    state.database++
    for (const each of DATABASES) await tell(each)
    const extension = layout === 'joined' || layout === 'shallow' ? 'pbf' : 'png'
    const headers: [string, string][] = [
      ['Host', 'x'],
      ['X-Access-Token', TOKENS.all],
    ]
    // The first two are those about which JavaScript asks the reader, and which it describes.
    for (const [z, x, y] of [[3, 1, 1], [3, 0, 0], ...places] as const) {
      const target = `/tiles/${layout}/v1/${z === 0 ? '0/0/0' : `3/${x}/${y}`}.${extension}`
      const before = native.answers
      const answer = await natively.client.ask({ method: 'GET', target, headers })
      if (native.answers === before) continue
      const expected = await plainly.client.ask({ method: 'GET', target, headers })
      answered.natively++
      // SQLite refuses the whole page because of a cell that was not requested.
      if (expected.status >= 500) continue
      answered.both++
      expect(inShort(answer), JSON.stringify(one)).toEqual(inShort(expected))
    }
  }
  console.log(`seed ${SEED}`, answered)
  expect(answered.both).toBeGreaterThan(ARCHIVES)
})
