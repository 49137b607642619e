import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded, saidOf, sentence } from '@gateway/contracts/messages.js'
import type { PostgisChoice } from '@gateway/contracts/postgis.js'
import type { ScanSourceBody } from '@gateway/contracts/scan-source.js'
import type { ServiceChoice } from '@gateway/contracts/service.js'
import { placeOf } from './configured-sources.js'

export interface SourcePlace {
  readonly ok: true
  /** the canonical form of a location; of a database its address without the password */
  readonly path: string
  /** of a service its secrets, as JSON; the headers are undefined if those of a known source are kept */
  readonly password?: string | undefined
  readonly choice?: PostgisChoice | ServiceChoice | undefined
}

type GivenPlace = Pick<ScanSourceBody, 'kind' | 'path' | (typeof OF_DATABASE)[number]>

const OF_DATABASE = ['url', 'schemas', 'tables', 'functions', 'options', 'layers', 'headers'] as const

/** Returns the place of a source that is to be saved. A refusal does not repeat an address, since it may hold credentials. */
export function placeOfBody(body: GivenPlace): SourcePlace | Refusal {
  if (body.kind === 'postgis') return databaseOf(body)
  if (body.kind === 'service') return serviceOf(body)
  const foreign = OF_DATABASE.find((name) => body[name] !== undefined)
  if (foreign !== undefined) return refuse('invalid_parameters', coded('source_only_database', { name: foreign }))
  if (body.path === undefined) return refuse('invalid_parameters', coded('source_path_missing', { name: 'path' }))
  if (/^postgres/.test(body.path))
    return refuse('invalid_parameters', saidOf('body.path', sentence('said.absolute_or_remote')))
  return placeOf(body.path)
}

function databaseOf({ url, path, schemas, tables, functions, options }: GivenPlace): SourcePlace | Refusal {
  const given = url ?? path
  if (given === undefined) return refuse('invalid_parameters', coded('source_path_missing', { name: 'url' }))
  const malformed = refuse('invalid_parameters', saidOf('body.url', sentence('said.database_address')))
  if (!/^postgres(ql)?:/.test(given) || !URL.canParse(given)) return malformed
  const address = new URL(given)
  if (address.hostname === '') return malformed
  let password: string | undefined
  try {
    password = address.password === '' ? undefined : decodeURIComponent(address.password)
  } catch {
    return malformed
  }
  address.password = ''
  const choice = { schemas, tables, functions, options }
  const set = Object.fromEntries(Object.entries(choice).filter(([, value]) => value !== undefined)) as PostgisChoice
  return { ok: true, path: address.href, password, choice: set }
}

const OF_DATABASE_ONLY = ['schemas', 'tables', 'functions'] as const

function serviceOf(body: GivenPlace): SourcePlace | Refusal {
  const { url, path, headers, layers, options } = body
  const foreign = OF_DATABASE_ONLY.find((name) => body[name] !== undefined)
  if (foreign !== undefined) return refuse('invalid_parameters', coded('source_only_database', { name: foreign }))
  const given = url ?? path
  if (given === undefined) return refuse('invalid_parameters', coded('source_path_missing', { name: 'url' }))
  const malformed = refuse('invalid_parameters', saidOf('body.url', sentence('said.service_address')))
  if (!/^https?:\/\//.test(given) || !URL.canParse(given)) return malformed
  const { username, password } = new URL(given)
  if (username !== '' || password !== '') return malformed
  const at = given.indexOf('?')
  const known = options as ServiceChoice['options']
  const choice: ServiceChoice = {
    ...(layers !== undefined && { layers }),
    ...(known !== undefined && { options: known }),
  }
  const [address = ''] = (at < 0 ? given : given.slice(0, at)).split('#', 1)
  // `path` is how the source is listed: it keeps the query that is stored.
  const query = at >= 0 ? given.slice(at + 1).split('#', 1)[0] : url === undefined ? undefined : ''
  return { ok: true, path: address, password: JSON.stringify({ headers, query }), choice }
}
