import type { ErrorCode } from '@gateway/contracts/errors.js'
import type { MessageParams } from '@gateway/contracts/messages.js'
import type { Routes } from '@gateway/contracts/routes.js'
import { REFUSAL_DETAILS_HEADER, REFUSAL_HEADER } from '@gateway/contracts/without-schemas.js'
import { createFinalURL, createQuerySerializer, defaultPathSerializer } from 'openapi-fetch'
import { backgroundHeader } from './activity.js'
import { takeFirst } from './first-data.js'

/** One message of a refusal, as in the header. */
export type SaidMessage = readonly [code: string, params: MessageParams]

/** Reasons of the service for a 503 that end without a change by an operator. */
const PASSING: ReadonlySet<string> = new Set([
  ...['control_plane_down', 'edge_starting', 'edge_stopping', 'edge_without_catalog', 'first_scans', 'shutting_down'],
  ...[
    'disk_silent',
    'files_full',
    'object_storage_silent',
    'store_unreachable_again',
    'tiles_disk_silent',
    'try_again',
  ],
  ...['database_changing', 'features_indexing', 'features_replaced', 'shapefile_changing', 'vector_tiles_building'],
])

/** A response other than a success, or a missing response. */
export class ApiError extends Error {
  /** HTTP status; 0: no response */
  readonly status: number
  readonly timedOut: boolean
  /** code of the refusal, if the service sends it */
  readonly code: ErrorCode | null
  /** coded messages, if the service sends them */
  readonly said: readonly SaidMessage[]

  constructor(
    status: number,
    message: string,
    { timedOut = false, code = null as ErrorCode | null, said = [] as readonly SaidMessage[] } = {},
  ) {
    super(message)
    this.status = status
    this.timedOut = timedOut
    this.code = code
    this.said = said
  }

  /** True if the same request may succeed a moment later. */
  get mayPass(): boolean {
    if (this.status < 500) return this.status === 0
    // A reason such as "rendering is off" lasts until somebody changes a setting.
    return this.said.length === 0 || this.said.some(([code]) => PASSING.has(code))
  }
}

export interface List<T> {
  readonly items: readonly T[]
  readonly total: number
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** time from the first byte of the request to the last byte of the response; default: 30 s */
  readonly timeoutMs?: number
}

const ADMIN = '/api/v1/admin'
const unauthorized = new Set<() => void>()

/** Calls back for every request that is refused for lack of credentials. Returns the function that ends it. */
export function onUnauthorized(listener: () => void): () => void {
  unauthorized.add(listener)
  return () => void unauthorized.delete(listener)
}

const TIMEOUT_MS = 30_000
/** For scans, availability checks and downloads. */
export const LONG_TIMEOUT_MS = 600_000

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
/** The paths that take this method. */
export type PathOf<M extends Method> = { [P in keyof Routes]: M extends keyof Routes[P] ? P : never }[keyof Routes]
type Operation<M extends Method, P extends PathOf<M>> = Routes[P] extends Readonly<Record<M, infer O>> ? O : never
type Member<O, Name extends string> = O extends { readonly [N in Name]?: infer T } ? T : never
/** The body of a success. */
export type Answer<M extends Method, P extends PathOf<M>> = Member<Operation<M, P>, 'answer'>
/** A body that is sent, and not changed. */
type Sent<B> = B extends object ? { readonly [K in keyof B]: Sent<B[K]> } : B
/** The JSON body of a request. */
export type BodyOf<M extends Method, P extends PathOf<M>> = Sent<NonNullable<Member<Operation<M, P>, 'body'>>>
/** The query of a request. */
export type QueryOf<P extends PathOf<'get'>> =
  Operation<'get', P> extends { query?: infer Q } ? NonNullable<Q> : Record<never, never>

/** An item of a list. */
export type ItemOf<P extends PathOf<'get'>> = Answer<'get', P> extends List<infer Item> ? Item : never
/** The paths that return a list. */
export type ListPath = { [P in PathOf<'get'>]: Answer<'get', P> extends List<unknown> ? P : never }[PathOf<'get'>]

type CallOptions = Omit<RequestOptions, 'signal'>
/** The members of an operation that are among these names, required or not as they are there. */
type Among<O, Name extends string> = Pick<O, Extract<keyof O, Name>>
type Places<P> = P extends `${string}{${infer Name}}${infer Rest}` ? { [N in Name]: string } & Places<Rest> : unknown
type Params<P, O> = (P extends `${string}{${string}` ? { path: Places<P> } : unknown) & Among<O, 'query'>
type MayBeEmpty<T> = Record<never, never> extends T ? true : false
type Given<P, O> = CallOptions &
  Sent<Among<O, 'body'>> &
  (MayBeEmpty<Params<P, O>> extends true ? { params?: Params<P, O> } : { params: Params<P, O> })
type GivenArgument<P, O> = MayBeEmpty<Given<P, O>> extends true ? [given?: Given<P, O>] : [given: Given<P, O>]

/** A request, with the type of its success response. */
export interface Call<T = unknown> extends CallOptions {
  readonly method: Uppercase<Method>
  /** path below the origin, with its query */
  readonly path: string
  readonly body?: unknown
  /** never set; carries the type */
  readonly answer?: T
}

const querySerializer = createQuerySerializer()

/** Builds a request. The compiler refuses unknown paths, parameters and bodies. */
export function call<M extends Method, P extends PathOf<M>>(
  method: M,
  path: P,
  ...[given]: GivenArgument<P, Operation<M, P>>
): Call<Answer<M, P>> {
  return made(method, path, given)
}

/** Does the same for a list of any type. */
export function listCall<P extends ListPath>(path: P, query: QueryOf<P>): Call<List<ItemOf<P>>> {
  return made('get', path, { params: { query } })
}

function made(
  method: Method,
  path: string,
  { params = {}, ...rest }: CallOptions & { params?: object } = {},
): Call<never> {
  const url = { baseUrl: '', params, querySerializer, pathSerializer: defaultPathSerializer }
  return { ...rest, method: method.toUpperCase() as Uppercase<Method>, path: createFinalURL(path, url) }
}

/** Does the same with the signal of a query, and sends the request when the query runs. */
export function reads<P extends PathOf<'get'>>(path: P, ...given: GivenArgument<P, Operation<'get', P>>) {
  return ({ signal }: { readonly signal?: AbortSignal } = {}): Promise<Answer<'get', P>> =>
    send(call('get', path, ...given), signal)
}

/** Throws ApiError. */
export function send<T>({ method, path, body, ...options }: Call<T>, signal?: AbortSignal): Promise<T> {
  const first = method === 'GET' ? takeFirst(path) : undefined
  if (first !== undefined) return Promise.resolve(first as T)
  const content = body !== undefined && contentOf(body)
  return request(path, { method, ...content }, { ...options, signal }, readJson<T>)
}

/** Makes a save create: an existing item stays unchanged (412). */
export const CREATES_ONLY = { headers: { 'If-None-Match': '*' } }

const JSON_BODY = { 'Content-Type': 'application/json' }

/** Serialises a body. A file is sent unchanged. */
function contentOf(body: unknown) {
  if (body instanceof Blob) return { headers: { 'Content-Type': body.type }, body }
  return { headers: JSON_BODY, body: JSON.stringify(body) }
}

/** Returns a curl command for the same change. Its credential comes from the environment, so that no shell history contains it. */
export function curlOf({ method, path, body, headers = {} }: Call): string {
  const all = { ...headers, ...(body !== undefined && contentOf(body).headers) }
  return [
    `curl -X ${method} ${quoted(window.location.origin + path)}`,
    '-H "Authorization: Bearer $ADMIN_TOKEN"',
    ...Object.entries(all).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined
      ? []
      : [body instanceof Blob ? '--data-binary @FILE' : `-d ${quoted(JSON.stringify(body))}`]),
  ].join(' \\\n  ')
}

/** Quotes text for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Throws ApiError, also if reading the body fails or takes too long. An abort by `signal` rejects with its reason. */
export async function request<T>(
  path: string,
  init: RequestInit,
  { signal, headers, timeoutMs = TIMEOUT_MS }: RequestOptions,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(path, {
      ...init,
      headers: { ...backgroundHeader(), ...(init.headers as Record<string, string>), ...headers },
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    })
    if (response.status === 401 && path.startsWith(ADMIN)) for (const listener of unauthorized) listener()
    if (!response.ok) {
      const code = response.headers.get(REFUSAL_HEADER) as ErrorCode | null
      const said = saidBy(response.headers.get(REFUSAL_DETAILS_HEADER))
      throw new ApiError(response.status, await refusalIn(response), { code, said })
    }
    return await read(response)
  } catch (error) {
    if (error instanceof ApiError || signal?.aborted) throw error
    throw new ApiError(0, (error as Error).message, { timedOut: timeout.aborted })
  }
}

/** Parses the header; empty if it is absent, or in an unknown form of a newer service. */
function saidBy(field: string | null): readonly SaidMessage[] {
  if (field === null) return []
  try {
    return JSON.parse(decodeURIComponent(field)) as SaidMessage[]
  } catch {
    return []
  }
}

function readJson<T>(response: Response): Promise<T> {
  return response.json() as Promise<T>
}

/** Returns the message of an error response, or its status. */
export async function refusalIn(response: Response): Promise<string> {
  const text = await response.text().catch(() => '')
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    if (typeof error === 'string') return error
  } catch {
    // A response of a proxy, whose page says less than its status.
  }
  return `${response.status} ${response.statusText}`.trim()
}

/** Encodes one segment of a path. */
export function segment(text: string): string {
  return encodeURIComponent(text)
}
