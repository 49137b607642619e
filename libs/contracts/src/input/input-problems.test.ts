import { expect, test } from 'vitest'
import { z } from 'zod'
import { defaultVersionBodySchema } from '../basemap.js'
import { exportBodySchema } from '../export.js'
import { scanSourceBodySchema } from '../scan-source.js'
import { signedUrlBodySchema } from '../signed-url.js'
import { targetBodySchema } from '../target.js'
import { rotateBodySchema, tokenBodySchema } from '../token.js'
import { checkInput } from './input-problems.js'

const TOKEN = 'bmp_0123456789abcdefghijABCDEFGHIJ01234567'

function messageOf(schema: z.ZodType, input: unknown, place = 'body'): string {
  const checked = checkInput(schema, input, place)
  return checked.ok ? 'right' : checked.message
}

const source = { code: 'a', kind: 'basemap', path: '/maps' }
const token = { name: 'x' }

test.each<[z.ZodType, unknown, string]>([
  [scanSourceBodySchema, { ...source, enabeld: false }, 'body.enabeld: unknown field; did you mean enabled?'],
  [
    scanSourceBodySchema,
    { ...source, enabled: 'false' },
    'body.enabled: must be true or false; received "false"; did you mean false?',
  ],
  [
    scanSourceBodySchema,
    { ...source, colour: 1 },
    'body.colour: unknown field; known are code, kind, path, name, enabled, publish, schedule, watch, url, headers, schemas, tables, functions, options, layers',
  ],
  [
    scanSourceBodySchema,
    { ...source, kind: 'basmap' },
    'body.kind: must be one of "basemap", "vector", "style", "service", "postgis"; received "basmap"; did you mean "basemap"?',
  ],
  [
    scanSourceBodySchema,
    { ...source, path: 'maps' },
    'body.path: must be an absolute path, s3://bucket/prefix or an https address; received "maps"',
  ],
  [
    scanSourceBodySchema,
    { ...source, path: 'https//u:p@h/x?key=1' },
    'body.path: must be an absolute path, s3://bucket/prefix or an https address; received "https//…@h/x?…"',
  ],
  [scanSourceBodySchema, { ...source, name: '' }, 'body.name: must not be empty'],
  [
    scanSourceBodySchema,
    { ...source, name: 'x'.repeat(300) },
    'body.name: must have at most 200 characters; received 300 characters',
  ],
  [
    scanSourceBodySchema,
    {},
    'body.code: is required; body.kind: is required; known are "basemap", "vector", "style", "service", "postgis"',
  ],
  [scanSourceBodySchema, [source], 'body: must be an object; received a list'],
  [tokenBodySchema, { ...token, basemapCodes: [] }, 'body.basemapCodes: unknown field; did you mean basemap_codes?'],
  [tokenBodySchema, { ...token, expires: 0 }, 'body.expires: unknown field; did you mean expires_at?'],
  [
    tokenBodySchema,
    { ...token, basemap_codes: 'world' },
    'body.basemap_codes: must be a list; received "world"; did you mean ["world"]?',
  ],
  [
    tokenBodySchema,
    { ...token, scopes: ['Read'] },
    'body.scopes.0: must be one of "read", "slice", "sign"; received "Read"; did you mean "read"?',
  ],
  [tokenBodySchema, { ...token, scopes: [] }, 'body.scopes: must have at least 1 entries; received 0 entries'],
  [tokenBodySchema, { name: 5 }, 'body.name: must be a text; received 5; did you mean "5"?'],
  [
    tokenBodySchema,
    { name: 'x', expires_at: 1_795_000_000 },
    'body.expires_at: must be an ISO 8601 date or date-time, or 0; received 1795000000; did you mean "2026-11-18T11:06:40.000Z"?',
  ],
  [
    tokenBodySchema,
    { name: 'x', expires_at: '2027/1/5' },
    'body.expires_at: must be an ISO 8601 date or date-time, or 0; received "2027/1/5"; did you mean "2027-01-05"?',
  ],
  [
    tokenBodySchema,
    { name: 'x', expires_at: '0' },
    'body.expires_at: must be an ISO 8601 date or date-time, or 0; received "0"; did you mean 0?',
  ],
  [
    tokenBodySchema,
    { ...token, expires_at: '2027-02-30T00:00:00Z' },
    'body.expires_at: must be an ISO 8601 date or date-time, or 0; received "2027-02-30T00:00:00Z"',
  ],
  [
    tokenBodySchema,
    { ...token, expires_at: 1 },
    'body.expires_at: must be an ISO 8601 date or date-time, or 0; received 1',
  ],
  [
    tokenBodySchema,
    { name: 'x', rate_limit: { per_second: 5, brust: 3 } },
    'body.rate_limit.brust: unknown field; did you mean burst?',
  ],
  [
    tokenBodySchema,
    { name: 'x', rate_limit: { per_second: '5' } },
    'body.rate_limit.per_second: must be a number; received "5"; did you mean 5?',
  ],
  [
    rotateBodySchema,
    { grace_seconds: '1h' },
    'body.grace_seconds: must be a whole number; received "1h"; did you mean 3600?',
  ],
  [rotateBodySchema, { grace_seconds: 1.5 }, 'body.grace_seconds: must be a whole number; received 1.5'],
  [rotateBodySchema, { grace_seconds: 9e9 }, 'body.grace_seconds: must be at most 2592000; received 9000000000'],
  [
    targetBodySchema,
    { code: 'a', kind: 'http', url: 'example.org?secret=1' },
    'body.url: must be a URL; received "example.org?…"',
  ],
  [targetBodySchema, { code: 'a', kind: 'http', secret: 5 }, 'body.secret: must be a text'],
  [
    defaultVersionBodySchema,
    { verison: 'v1' },
    'body.version: is required; body.verison: unknown field; did you mean version?',
  ],
  [
    signedUrlBodySchema,
    { basemap_code: 'a', expires_at: '2030-01-01', bounds: [47, 8, 48, 109] },
    'body.bounds: must be west, south, east, north in degrees of WGS 84, south below north; received [47,8,48,109]; did you mean [8,47,109,48]? The order is west, south, east, north, longitudes before latitudes',
  ],
  [
    exportBodySchema,
    { basemap_code: 'a', version: 'v', bounds: [22, 113, 23, 114] },
    'body.bounds.1: must be at most 90; received 113; did you mean [113,22,114,23]? The order is west, south, east, north, longitudes before latitudes; body.bounds.3: must be at most 90; received 114; did you mean [113,22,114,23]? The order is west, south, east, north, longitudes before latitudes',
  ],
  [
    tokenBodySchema,
    { name: 'x', scopes: [TOKEN] },
    'body.scopes.0: must be one of "read", "slice", "sign"; received "bmp_01234567…"',
  ],
])('%# a message names the field, the rule, what was sent and what was probably meant', (schema, input, expected) => {
  expect(messageOf(schema, input)).toBe(expected)
})

test('a query parameter is named as such', () => {
  const query = z.strictObject({ limit: z.coerce.number().int().min(1).max(1000).optional() })
  expect(messageOf(query, { limt: '5' }, 'query')).toBe('query.limt: unknown parameter; did you mean limit?')
  expect(messageOf(query, { limit: 'ten' }, 'query')).toBe('query.limit: must be a whole number; received "ten"')
  expect(messageOf(query, { limit: '1.5' }, 'query')).toBe('query.limit: must be a whole number; received "1.5"')
  expect(messageOf(query, { limit: '5000' }, 'query')).toBe('query.limit: must be at most 1000; received "5000"')
})

test('several problems come in a stable order, and beyond five only their number', () => {
  const input = { kind: 1, path: 2, name: 3, enabled: 4, url: 5, mode: 6, extra: 7 }
  const message = messageOf(scanSourceBodySchema, input)
  expect(message).toMatch(
    /^body\.code: .*body\.kind: .*body\.path: .*body\.name: .*body\.enabled: .*; 3 more problems$/,
  )
  expect(messageOf(scanSourceBodySchema, input)).toBe(message)
})

test('the part of a request that a message repeats is limited', () => {
  const long = 'x'.repeat(100_000)
  expect(messageOf(scanSourceBodySchema, { ...source, kind: long, [long]: 1 }).length).toBeLessThan(500)
})

test('a value with several allowed forms is refused with all of them', () => {
  const either = z.strictObject({ zoom: z.union([z.int(), z.literal('native')]) })
  expect(messageOf(either, { zoom: 'nativ' })).toBe(
    'body.zoom: must be one of these: a whole number; "native"; received "nativ"; did you mean "native"?',
  )
})

test.each([
  [
    { every_second: 60 },
    /^body\.schedule\.every_seconds: is required; body\.schedule\.every_second: unknown field; did you mean every_seconds\?$/,
  ],
  [{ every_seconds: 60, time_zon: 'UTC' }, /^body\.schedule\.time_zon: unknown field; did you mean time_zone\?$/],
  [{ every_seconds: 60, cron: '* * * * *' }, /^body\.schedule\.cron: cannot be combined with the other fields$/],
  [{ cron: 5 }, /^body\.schedule\.cron: must be a text; received 5/],
  ['daily', /^body\.schedule: must be /],
])('an object of several forms is refused with the problems of the closest form: %j', (schedule, message) => {
  expect(messageOf(scanSourceBodySchema, { ...source, schedule })).toMatch(message)
})
