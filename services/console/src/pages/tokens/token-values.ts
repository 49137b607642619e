import type { Token, TokenBody } from '@gateway/contracts/token.js'
import { boundsOf, textOf } from '../basemaps/override-values.js'
import { GRANT_ALL } from './grants-text.js'

/** The maps of one kind that a token may read. */
export interface Grant {
  readonly mode: 'chosen' | 'all' | 'none'
  readonly codes: readonly string[]
  /** an unknown code that was entered and is neither confirmed nor left out yet */
  readonly unknown: string
  /** true while the typed text is being searched; saving must wait for the result */
  readonly searching: boolean
}

export const NO_GRANT: Grant = { mode: 'none', codes: [], unknown: '', searching: false }

/** The values of a token's form. */
export interface TokenValues {
  name: string
  scopes: string[]
  basemaps: Grant
  vectors: Grant
  layers: Grant
  origins: string[]
  networks: string[]
  /** west, south, east and north; '': everywhere */
  area: string
  /** requests per second, and the burst; '' if there is no limit, or if the burst equals the rate */
  perSecond: number | ''
  burst: number | ''
  expiry: 'default' | 'at' | 'never'
  /** in the format of the input field: local time without a zone */
  moment: string
}

export const NEW_TOKEN: TokenValues = {
  name: '',
  scopes: ['read'],
  basemaps: { ...NO_GRANT, mode: 'chosen' },
  vectors: NO_GRANT,
  layers: { ...NO_GRANT, mode: 'all' },
  origins: [],
  networks: [],
  area: '',
  perSecond: '',
  burst: '',
  expiry: 'default',
  moment: '',
}

export function valuesOf(token: Token): TokenValues {
  return {
    name: token.name,
    scopes: [...token.scopes],
    basemaps: grantOf(token.basemap_codes),
    vectors: grantOf(token.vector_codes),
    layers: grantOf(token.layer_codes),
    origins: [...token.allowed_origins],
    networks: [...token.allowed_networks],
    area: textOf(token.bounds),
    perSecond: token.rate_limit?.per_second ?? '',
    burst: token.rate_limit?.burst ?? '',
    expiry: token.expires_at === null ? 'never' : 'at',
    moment: token.expires_at === null ? '' : localMoment(token.expires_at),
  }
}

/** Returns the body that issues a token with these values, or with `before` the body that changes it: only the fields that differ. */
export function bodyOf(values: TokenValues, before: TokenValues | null): Partial<TokenBody> {
  const body = fieldsOf(values)
  if (before === null) return body
  const old = fieldsOf(before)
  const differs = ([name, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(old[name as keyof TokenBody])
  return Object.fromEntries(Object.entries(body).filter(differs))
}

function fieldsOf(values: TokenValues): TokenBody {
  const { name, scopes, basemaps, vectors, layers, origins, networks, area, expiry, moment } = values
  const reads = scopes.includes('read')
  const signs = scopes.includes('sign')
  return {
    name: name.trim(),
    scopes: scopes as NonNullable<TokenBody['scopes']>,
    basemap_codes: reads || signs ? grantCodes(basemaps) : [],
    vector_codes: reads ? grantCodes(vectors) : [],
    layer_codes: grantCodes(layers),
    allowed_origins: origins,
    allowed_networks: networks,
    bounds: area.trim() === '' ? null : boundsOf(area),
    rate_limit: rateLimitOf(values),
    ...(expiry === 'never' && { expires_at: 0 as const }),
    ...(expiry === 'at' && { expires_at: new Date(moment).toISOString() }),
  }
}

function rateLimitOf({ perSecond, burst }: TokenValues): TokenBody['rate_limit'] {
  if (perSecond === '') return null
  return { per_second: perSecond, ...(burst !== '' && { burst }) }
}

function grantOf(codes: readonly string[]): Grant {
  if (codes.includes(GRANT_ALL)) return { ...NO_GRANT, mode: 'all' }
  return codes.length === 0 ? NO_GRANT : { ...NO_GRANT, mode: 'chosen', codes }
}

export function grantCodes({ mode, codes }: Grant): string[] {
  if (mode === 'all') return [GRANT_ALL]
  return mode === 'chosen' ? [...codes] : []
}

/** Converts ISO 8601 to the field's format, in the browser's zone and to the minute. The value is sent only if it changed. */
export function localMoment(at: string): string {
  const date = new Date(at)
  const two = (n: number) => String(n).padStart(2, '0')
  const day = [String(date.getFullYear()).padStart(4, '0'), two(date.getMonth() + 1), two(date.getDate())].join('-')
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`
}
