import { sentence } from '@gateway/contracts/messages.js'

/** Where objects are: what a scan source's path or a target's url says, taken apart. */
export type Location =
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string }
  | { readonly kind: 'http'; readonly url: URL }

/** Limit: bytes of a key in S3. */
const MAX_KEY_BYTES = 1024

/** RFC 3986 would have an address without slashes before the host; here it is what tells a remote place from a path. */
export function isRemote(path: string): boolean {
  return /^(s3|https?):\/\//i.test(path)
}

/**
 * `s3://bucket/prefix`, whose prefix is taken letter by letter, or an http(s) address. The answer without slashes at the end; a text says
 * what is wrong with it, without the text itself, which may hold credentials.
 */
export function parseLocation(text: string): Location | string {
  if ([...text].some((letter) => letter < ' ' || letter === '\x7f')) return sentence('said.location_control')
  return /^s3:\/\//i.test(text) ? parseS3(text.slice(5)) : parseHttp(text)
}

/** The form in which a place is kept and compared: no slash at its end. Give it what `parseLocation` accepts. */
export function normalLocation(text: string): string {
  const location = parseLocation(text)
  if (typeof location === 'string') throw new TypeError(location)
  if (location.kind === 'http') return withoutLastSlashes(location.url.href)
  return location.prefix === '' ? `s3://${location.bucket}` : `s3://${location.bucket}/${location.prefix}`
}

/** The key of something below a place, both in the form that `normalLocation` gives; null: it is not below it. The place itself is ''. */
export function keyBelow(place: string, path: string): string | null {
  if (path === place) return ''
  return path.startsWith(`${place}/`) ? path.slice(place.length + 1) : null
}

/** What lies below a place, in the form that the catalog keeps; the inverse of `keyBelow`. */
export function pathBelow(place: string, key: string): string {
  return key === '' ? place : `${place}/${key}`
}

function parseS3(rest: string): Location | string {
  const slash = rest.indexOf('/')
  const bucket = slash === -1 ? rest : rest.slice(0, slash)
  const prefix = slash === -1 ? '' : withoutLastSlashes(rest.slice(slash + 1))
  if (bucket.includes('@')) return sentence('said.location_keys')
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) || bucket.includes('..')) {
    return sentence('said.location_bucket')
  }
  if (Buffer.byteLength(prefix) > MAX_KEY_BYTES) return sentence('said.location_prefix')
  if (prefix.split('/').some((part) => part === '.' || part === '..')) return sentence('said.location_dots')
  return { kind: 's3', bucket, prefix }
}

function parseHttp(text: string): Location | string {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return sentence('said.location_form')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return sentence('said.location_credentials')
  if (url.search !== '' || url.hash !== '') return sentence('said.location_query')
  return { kind: 'http', url }
}

function withoutLastSlashes(text: string): string {
  let end = text.length
  while (text[end - 1] === '/') end--
  return text.slice(0, end)
}
