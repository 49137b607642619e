import { createHmac } from 'node:crypto'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { expect, test } from 'vitest'
import {
  boundsOf,
  openedBy,
  type PresentedSignature,
  presentedSignature,
  signatureQuery,
  signResource,
} from './signed-url.js'

const SECRET = Buffer.alloc(32, 7)
const EXPIRES = 1_800_000_000
const WORLD = { code: 'world', version: null, bounds: null }
const present = (query: string) => presentedSignature(query) as PresentedSignature
const signed = (resource: Parameters<typeof signResource>[1]) =>
  present(signatureQuery(signResource(SECRET, resource, EXPIRES)))

test('the signature is the HMAC-SHA-256 of the prefix of the URLs, the expiry and the bounds', () => {
  const sig = createHmac('sha256', SECRET).update('/tiles/w%C3%B6rld/v%201/\n1800000000\n').digest('base64url')
  const { exp } = signed(WORLD)
  expect(signed({ code: 'wörld', version: 'v 1', bounds: null })).toEqual({ exp, sig, bounds: '', style: '' })
})

test('the signature of a basemap opens every version and the default one, that of a version only itself', () => {
  const opened = (presented: PresentedSignature, code: string, version: string | null) =>
    openedBy(SECRET, presented, code, version)
  for (const version of [null, 'v1', 'v2']) expect(opened(signed(WORLD), 'world', version)).toEqual(WORLD)
  expect(opened(signed(WORLD), 'other', null)).toBeNull()
  const one = { code: 'world', version: 'v1', bounds: null }
  expect(opened(signed(one), 'world', 'v1')).toEqual(one)
  for (const version of [null, 'v2']) expect(opened(signed(one), 'world', version)).toBeNull()
  expect(openedBy(Buffer.alloc(32, 8), signed(one), 'world', 'v1')).toBeNull()
})

test('bounds are signed too, and are returned unchanged', () => {
  const bounds: Bounds = [-0.1234567, -0.0000001, 1, 45.5]
  const presented = signed({ ...WORLD, bounds })
  expect(presented.bounds).toBe('-0.123457,0,1,45.5')
  expect(openedBy(SECRET, presented, 'world', null)?.bounds).toEqual(boundsOf(presented))
  expect(openedBy(SECRET, { ...presented, bounds: '' }, 'world', null)).toBeNull()
  expect(openedBy(SECRET, { ...signed(WORLD), bounds: '0,0,1,1' }, 'world', null)).toBeNull()
})

test.each([
  ['a parameter twice', (query: string) => `${query}&exp=1800000000`],
  ['a leading zero', (query: string) => query.replace('exp=', 'exp=0')],
  ['a plus sign', (query: string) => query.replace('exp=', 'exp=%2B')],
  ['no expiry', (query: string) => query.replace('exp=', 'expires=')],
  [
    'an encoded letter',
    (query: string) => query.replace(/sig=./, (start) => `sig=%${start.charCodeAt(4).toString(16)}`),
  ],
  ['padding', (query: string) => `${query}=`],
])('%s in the query is not a signature', (_, change) => {
  expect(presentedSignature(change(signatureQuery(signed(WORLD))))).toBe('malformed')
})

test('other parameters do not matter, and a query without a signature presents none', () => {
  const query = signatureQuery(signed(WORLD))
  expect(presentedSignature(`v=3&${query}&missing=204`)).toEqual(signed(WORLD))
  for (const none of ['', 'v=3', 'exp=1', 'design=1', 'token=sig=']) expect(presentedSignature(none)).toBeNull()
})

test('none of ten thousand changes of a signed URL is accepted', () => {
  const bounds: Bounds = [5.9, 45.8, 10.5, 47.8]
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.,=%+'
  let seed = 1
  const random = (n: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % n
  }
  const parts = {
    version: 'v1',
    code: 'world',
    ...signResource(SECRET, { code: 'world', version: 'v1', bounds }, EXPIRES),
  }
  const names = ['version', 'code', 'exp', 'sig', 'bounds'] as const
  const accepted: string[] = []
  for (let i = 0; i < 10_000; i++) {
    const name = names[random(names.length)] as (typeof names)[number]
    const text = parts[name]
    const at = random(text.length)
    const letter = letters[random(letters.length)] as string
    const changed = [
      () => text.slice(0, at) + letter + text.slice(at + 1),
      () => text.slice(0, at) + letter + text.slice(at),
      () => text.slice(0, at) + text.slice(at + 1),
      () => text + letter,
    ][random(4)]?.() as string
    if (changed === text) continue
    const { code, version, ...presented } = { ...parts, [name]: changed }
    const read = presentedSignature(signatureQuery(presented))
    if (read !== null && read !== 'malformed' && openedBy(SECRET, read, code, version) !== null) accepted.push(changed)
  }
  expect(accepted).toEqual([])
})
