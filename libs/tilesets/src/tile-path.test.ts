import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseTilePath } from './address.js'

test('the four kinds of paths below /tiles/ are distinguished', () => {
  const place = { address: { ok: true, z: 3, x: 1, y: 2, suffix: '', extension: 'png' } }
  expect(parseTilePath('/tiles/world/v1/3/1/2.png')).toEqual({ kind: 'tile', code: 'world', version: 'v1', ...place })
  expect(parseTilePath('/tiles/world/3/1/2.png')).toEqual({ kind: 'tile', code: 'world', version: null, ...place })
  expect(parseTilePath('/tiles/world/tilejson.json')).toEqual({ kind: 'tilejson', code: 'world', version: null })
  expect(parseTilePath('/tiles/world/v1/tilejson.json')).toEqual({ kind: 'tilejson', code: 'world', version: 'v1' })
})

test('other paths are absent', () => {
  for (const path of [
    '/tiles/',
    '/tiles/world',
    '/tiles/world/',
    '/tiles//3/1/2.png',
    '/tiles/a/b/c/d/e/f',
    '/tiles/a/v/3/1/2.png/',
  ]) {
    expect(parseTilePath(path).kind, path).toBe('absent')
  }
})

test('segments are decoded once, and an encoded slash does not separate segments', () => {
  expect(parseTilePath('/tiles/m%C3%BCnchen/v%252F1/3/1/2.png')).toMatchObject({ code: 'münchen', version: 'v%2F1' })
  expect(parseTilePath('/tiles/..%2F..%2Fetc/3/1/2.png')).toMatchObject({ kind: 'tile', code: '../../etc' })
})

test('a segment that is not percent-encoded UTF-8 is undecodable', () => {
  for (const code of ['%', '%zz', '%ff', '%c3%28'])
    expect(parseTilePath(`/tiles/${code}/3/1/2.png`).kind).toBe('undecodable')
})

test('no path makes it throw', () => {
  fc.assert(fc.property(fc.string(), (rest) => void parseTilePath(`/tiles/${rest}`)))
})
