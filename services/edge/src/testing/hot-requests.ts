import { randomBytes } from 'node:crypto'
import { type SignedResource, signatureQuery, signResource } from '@gateway/core/access/signed-url.js'
import { createToken } from '@gateway/core/access/token-format.js'
import fc from 'fast-check'
import type { RawRequest } from './raw-client.js'

export const WELL_KNOWN = [
  '/tiles/alps/v1/0/0/0.png',
  '/tiles/alps/current/0/0/0.png',
  '/tiles/alps/0/0/0.png',
  '/tiles/alps/v2/0/0/0.png',
  '/tiles/alps/v1/1/0/0.png',
  '/tiles/packed/0/0/0.pbf',
  '/tiles/packed/v1/0/0/0.mvt',
]
const OTHERS = [
  '/tiles/alps/v1/2/0/0.png',
  '/tiles/alps/v1/9/9/9.png',
  '/tiles/alps/v1/0/0/0.jpg',
  '/tiles/alps/v3/0/0/0.png',
  '/tiles/nobody/0/0/0.png',
  '/tiles/alps/v1/0/0/00.png',
  '/tiles/alps/v1/0/0/0',
  '/tiles/alps/v1/0/0/%30.png',
  '/tiles/%61lps/v1/0/0/0.png',
  '/tiles/alps/v1/%zz/0/0.png',
  '/tiles/alps//0/0/0.png',
  '/tiles/alps/v1/0/0/0.png/',
  '/tiles/alps/v1/0/0/0@2x.png',
  '/tiles/alps/tilejson.json',
  '/tiles/packed/v1/tilejson.json',
  '/tiles/a/b/c/d/e/f',
  '/tiles/',
]
export const TOKENS = {
  all: createToken(),
  alps: createToken(),
  packed: createToken(),
  expired: createToken(),
  disabled: createToken(),
  slice: createToken(),
  unknown: createToken(),
  malformed: `${createToken().slice(0, -1)}_`,
}

export const SECRET = randomBytes(32)
const LATER = 4_000_000_000
const signed = (code: string, more: Partial<SignedResource> = {}, expiresAt = LATER) =>
  signatureQuery(signResource(SECRET, { code, version: null, bounds: null, ...more }, expiresAt))
export const SIGNED = {
  alps: signed('alps'),
  v1: signed('alps', { version: 'v1' }),
  packed: signed('packed'),
  bounded: signed('alps', { bounds: [-180, 10, -10, 80] }),
  expired: signed('alps', {}, 1),
}

/** Validators of the first address, from its first response. */
export const known = { etag: '', modified: '' }

/*
 * Decisions that both sides make, and the place below where the requests vary them:
 *   tokens          in which places, how often, in which scheme or encoding (`credential`, `query`, `inTwoPlaces`); expired, disabled, unknown
 *   grants, scope   `alps` and `packed` are granted one basemap each, `slice` may not read
 *   signed          `signature`: of a basemap, a version, expired, changed, in another order, next to a token
 *   kinds           `EVERYWHERE`, `twoSomewhere`: tokens where signatures belong, and signatures where tokens belong
 *   checksums       `mistyped`: a token with one character replaced
 *   gzip            `encoding`: lists, weights, names in Accept-Encoding, against the packed tile
 *   If-None-Match   `ifNoneMatch`, `condition`: tags, lists, weak ones, dates, and the other conditional fields
 *   Connection      `other`: responses that announce the end of the connection
 * `natively` counts how often the table has made each decision, since a comparison of JavaScript with itself would prove nothing.
 */
type Header = readonly [name: string, value: string]

const oneOf = <T>(...values: readonly T[]) => fc.constantFrom(...values)
const mistyped = fc
  .tuple(fc.nat(TOKENS.all.length - 1), oneOf('a', 'Z', '0', '_', '-'))
  .map(([at, c]) => `${TOKENS.all.slice(0, at)}${c}${TOKENS.all.slice(at + 1)}`)
export const token = fc.oneof(
  { weight: 1, arbitrary: mistyped },
  { weight: 3, arbitrary: oneOf(TOKENS.all, TOKENS.alps) },
  { weight: 2, arbitrary: oneOf(...Object.values(TOKENS), TOKENS.unknown) },
  {
    weight: 1,
    arbitrary: oneOf(
      '',
      'x',
      ' ',
      TOKENS.all.slice(1),
      `${TOKENS.all} `,
      `${TOKENS.all},${TOKENS.all}`,
      TOKENS.all.toLowerCase(),
    ),
  },
)
const allEncoded = (text: string) => [...text].map((c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')
const encoded = token.map((text) => encodeURIComponent(text))
const percentEncoded = token.map(allEncoded)
const parameter = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(oneOf('token', 'access_token'), encoded).map(([name, value]) => `${name}=${value}`),
  },
  {
    weight: 2,
    arbitrary: oneOf(
      'v=1',
      'v=12',
      'v',
      'v=',
      'V=1',
      'a=b',
      '',
      '=',
      'token',
      'token=',
      'style=a+b',
      '%76=1',
      'missing=204',
      'tokens=1',
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(oneOf('token', 'to%6ben', 'access%5Ftoken', 'Token'), percentEncoded)
      .map((pair) => pair.join('=')),
  },
)
const signature = fc.oneof(
  { weight: 3, arbitrary: oneOf(...Object.values(SIGNED)) },
  {
    weight: 1,
    arbitrary: oneOf(
      SIGNED.alps.split('&').reverse().join('&'),
      SIGNED.alps.replace('&', '&v=3&'),
      SIGNED.alps.replace('exp=4', 'exp=5'),
      SIGNED.alps.replace('exp=', 'exp=0'),
      SIGNED.alps.replace('sig=', '%73ig='),
      `${SIGNED.alps}=`,
      `${SIGNED.alps}&sig=`,
      `${SIGNED.alps}&bounds=0,0,1,1`,
      SIGNED.bounded.replace(/^bounds[^&]*&/, ''),
      'sig=x',
      'exp=1',
    ),
  },
)
const bySignature: fc.Arbitrary<Presented> = fc
  .tuple(oneOf('', 'v=3&', 'missing=204&'), signature, oneOf('', '', '', `&token=${TOKENS.alps}`, '&token=', '&v=3'))
  .map((parts) => ({ asked: `?${parts.join('')}`, lines: [] }))
const query = fc.array(parameter, { minLength: 1, maxLength: 3 }).map((parts) => `?${parts.join('&')}`)
const scheme = oneOf('Bearer ', 'Bearer ', 'bearer ', 'BEARER ', 'Bearer  ', 'Bearer', 'Basic ', 'Digest ', '')
const tag = ({ etag } = known) => [
  etag,
  `W/${etag}`,
  `"other", ${etag}`,
  `"other",W/${etag}`,
  '"other"',
  '*',
  '* ',
  `${etag}x`,
  etag.slice(1),
  'W/',
  '""',
  '"a,b"',
  `${etag},`,
]
const basicOf = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
export const basic = fc
  .tuple(oneOf('user', '', 'a b', 'ä'), token, oneOf('', '', '', '=', ' ', '\t', '-'), fc.nat(8))
  .map(([user, password, stray, at]) => {
    const value = basicOf(user, password)
    return value.slice(0, value.length - at * stray.length) + stray + value.slice(value.length - at * stray.length)
  })
const credential: fc.Arbitrary<Header> = fc.oneof(
  fc.tuple(
    fc.constant('Authorization'),
    fc.tuple(scheme, token).map((parts) => parts.join('')),
  ),
  fc.tuple(oneOf('X-Access-Token', 'x-access-token', 'X-ACCESS-TOKEN'), token),
  fc.tuple(oneOf('Authorization', 'authorization'), basic),
)
/** Text after the path, and header lines. */
export interface Presented {
  readonly asked: string
  readonly lines: readonly Header[]
}
const inSomePlaces: fc.Arbitrary<Presented> = fc.record({
  asked: fc.oneof({ weight: 2, arbitrary: fc.constant('') }, { weight: 1, arbitrary: query }),
  lines: fc.array(credential, { maxLength: 2 }),
})
const inTwoPlaces: fc.Arbitrary<Presented> = fc
  .tuple(
    token,
    fc.shuffledSubarray(['token=', 'access_token=', 'bearer', 'basic', 'header', 'header'], {
      minLength: 2,
      maxLength: 3,
    }),
  )
  .map(([text, places]) => ({
    asked: ['?v=3', ...places.flatMap((place) => (place.includes('=') ? place + encodeURIComponent(text) : []))].join(
      '&',
    ),
    lines: places.flatMap((place): Header[] => {
      if (place === 'header') return [['X-Access-Token', text]]
      if (place === 'bearer') return [['Authorization', `Bearer ${text}`]]
      return place === 'basic' ? [['authorization', basicOf('user', text)]] : []
    }),
  }))
const ENCODINGS = [(text: string) => text, encodeURIComponent, allEncoded]
const inQuery = (name: string, text: string): Presented => ({
  asked: `?${name}${text}`,
  lines: [],
})
const inHeader = (name: string, text: string): Presented => ({
  asked: '',
  lines: [[name, text]],
})
/** Each place in which a credential can be sent, for any kind of credential. */
const PLACES: readonly ((text: string) => Presented)[] = [
  (text) => inHeader('X-Access-Token', text),
  ...['Bearer ', 'bearer ', 'Basic ', ''].map((word) => (text: string) => inHeader('Authorization', word + text)),
  (text) => inHeader('Authorization', basicOf('user', text)),
  (text) => inHeader('Authorization', basicOf(text, '')),
  ...['', 'v=3&', 'token=', 'access_token=', 'to%6ben=', 'sig=', 'exp=4000000000&sig=', 'exp=4000000000&%73ig='].map(
    (name) => (text: string) => inQuery(name, text),
  ),
]
const CREDENTIALS = [
  ...Object.values(TOKENS),
  ...Object.values(SIGNED),
  ...Object.values(SIGNED).map((text) => text.replace(/^.*sig=/, '')),
  `token=${TOKENS.all}`,
  `token=${TOKENS.all}&${SIGNED.alps}`,
]
/** Each credential in each place, in each encoding. */
export const EVERYWHERE: readonly Presented[] = CREDENTIALS.flatMap((text) =>
  PLACES.flatMap((place) => ENCODINGS.map((encode) => place(encode(text)))),
)
/** Two of these together. */
const twoSomewhere: fc.Arbitrary<Presented> = fc.tuple(oneOf(...EVERYWHERE), oneOf(...EVERYWHERE)).map(([a, b]) => ({
  asked: a.asked === '' || b.asked === '' ? a.asked + b.asked : `${a.asked}&${b.asked.slice(1)}`,
  lines: [...a.lines, ...b.lines],
}))
const ifNoneMatch: fc.Arbitrary<Header> = fc.tuple(
  oneOf('If-None-Match', 'if-none-match'),
  fc.oneof({ weight: 1, arbitrary: fc.nat(1) }, { weight: 1, arbitrary: fc.nat(12) }).map((i) => tag()[i] ?? '*'),
)
const dates = ({ modified } = known) => [
  modified,
  new Date(0).toUTCString(),
  new Date(Date.parse(modified) - 1_000).toUTCString(),
  new Date(Date.parse(modified) + 1_000).toUTCString(),
  new Date(modified).toISOString(),
  modified.replace('GMT', 'UTC'),
  modified.toLowerCase(),
  `Mon${modified.slice(3)}`,
  'Fri, 01 Jan 2100 00:00:00 GMT',
  'Tue, 31 Feb 2090 24:00:00 GMT',
  'Sunday, 06-Nov-94 08:49:37 GMT',
  'Sun Nov  6 08:49:37 2094',
  'Thu, 01 Jan 0099 00:00:00 GMT',
  'yesterday',
]
const ifModifiedSince: fc.Arbitrary<Header> = fc.tuple(
  fc.constant('If-Modified-Since'),
  fc.oneof(fc.nat(3), fc.nat(15)).map((i) => dates()[i] ?? known.modified),
)
const condition: fc.Arbitrary<Header> = fc.oneof(
  ifModifiedSince,
  fc.tuple(oneOf('If-Range', 'If-Match', 'If-Unmodified-Since'), oneOf('"x"', '*', new Date(0).toUTCString())),
  fc.tuple(
    fc.constant('Range'),
    oneOf('bytes=0-', 'bytes=0-9', 'bytes=-5', 'bytes=999999-', 'lines=1-2', 'bytes=0-0,2-3'),
  ),
)
export const encoding: fc.Arbitrary<Header> = fc.tuple(
  oneOf('Accept-Encoding', 'accept-encoding'),
  fc.oneof(
    { weight: 2, arbitrary: oneOf('gzip', 'gzip, deflate, br', 'br;q=1.0, gzip;q=0.8, *;q=0.1') },
    {
      weight: 1,
      arbitrary: oneOf(
        'br',
        'identity',
        'gzip;q=0',
        'gzip;q=0.5, br',
        'gzip;q=0.000',
        '*',
        '*;q=0',
        '*, gzip;q=0',
        'GZIP',
        'x-gzip',
        'notgzip',
        'gzipped',
        'br,gzip',
        'br, x-gzip',
        'identity;q=1, gzip',
        'gzip ;q=0',
        '',
        ',gzip',
        'gzip deflate',
        'gzip;q=0.0000',
        'gzip; Q = 0.',
        'gzip;a=b;q=0',
        'x-gzip;q=0, gzip',
        '*;q=0, *',
        '\xa0gzip',
      ),
    },
  ),
)
export const other: fc.Arbitrary<Header> = fc.oneof(
  fc.tuple(
    fc.constant('Connection'),
    oneOf(
      'keep-alive',
      'Keep-Alive',
      'close',
      'keep-alive, close',
      'TE ,CLOSE',
      'closed',
      'keep-alive, TE',
      'TE',
      'X-Access-Token',
      '',
    ),
  ),
  fc.tuple(
    oneOf('User-Agent', 'Cookie', 'Origin', 'Referer', 'X-Long', 'Accept', 'X-Forwarded-For', 'TE', 'Via'),
    oneOf('a', '', 'x'.repeat(500), 'a\tb', '\xe4\xf6\xfc', 'null', 'a=b; c="d"', '127.0.0.1'),
  ),
)
export const request: fc.Arbitrary<RawRequest> = fc
  .record({
    method: fc.oneof(
      { weight: 8, arbitrary: fc.constant('GET') },
      { weight: 2, arbitrary: fc.constant('HEAD') },
      { weight: 1, arbitrary: oneOf('OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH') },
    ),
    path: fc.oneof({ weight: 3, arbitrary: oneOf(...WELL_KNOWN) }, { weight: 1, arbitrary: oneOf(...OTHERS) }),
    presented: fc.oneof(
      { weight: 3, arbitrary: fc.constant<Presented>({ asked: '', lines: [['X-Access-Token', TOKENS.all]] }) },
      { weight: 4, arbitrary: inSomePlaces },
      { weight: 1, arbitrary: inTwoPlaces },
      { weight: 1, arbitrary: bySignature },
      { weight: 1, arbitrary: twoSomewhere },
    ),
    headers: fc
      .tuple(
        fc.oneof(
          { weight: 1, arbitrary: fc.constant<Header[]>([]) },
          { weight: 1, arbitrary: fc.oneof(ifNoneMatch, ifModifiedSince).map((header) => [header]) },
          { weight: 1, arbitrary: fc.array(fc.oneof(condition, ifNoneMatch), { maxLength: 2 }) },
        ),
        fc.oneof(
          { weight: 4, arbitrary: encoding.map((header) => [header]) },
          { weight: 1, arbitrary: fc.array(encoding, { maxLength: 2 }) },
        ),
        fc.array(other, { maxLength: 1 }),
      )
      .map((lists) => lists.flat()),
    host: oneOf('x', '127.0.0.1', 'maps.example:8910', ''),
  })
  .chain(({ presented, headers, ...rest }) => {
    const lines = [...presented.lines, ...headers]
    return fc
      .shuffledSubarray(lines, { minLength: lines.length })
      .map((shuffled) => ({ ...rest, asked: presented.asked, headers: shuffled }))
  })
  .map(({ method, path: address, asked, headers, host }) => {
    const hasBody = method === 'POST' || method === 'PUT' || method === 'PATCH'
    const length: Header[] = hasBody ? [['Content-Length', '5']] : []
    return {
      method,
      target: address + asked,
      headers: [['Host', host], ...headers, ...length],
      body: hasBody ? 'hello' : '',
    }
  })
