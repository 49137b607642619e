import { sentence } from '@gateway/contracts/messages.js'

/** A parsed location of objects: the path of a scan source, or the URL of a target. */
export type Location =
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string }
  | { readonly kind: 'http'; readonly url: URL }

/** Maximum bytes of a key in S3. */
const MAX_KEY_BYTES = 1024

/** True for a remote location. RFC 3986 allows URLs without slashes before the host, but here the slashes distinguish a URL from a path. */
export function isRemote(path: string): boolean {
  return /^(s3|https?):\/\//i.test(path)
}

/**
 * Parses `s3://bucket/prefix`, with the prefix taken literally, or an http(s) URL. The result has no slashes at the end. For invalid text,
 * returns a message that does not contain the text, since it may hold credentials.
 */
export function parseLocation(text: string): Location | string {
  if ([...text].some((letter) => letter < ' ' || letter === '\x7f')) return sentence('said.location_control')
  return /^s3:\/\//i.test(text) ? parseS3(text.slice(5)) : parseHttp(text)
}

/** Returns the form in which a location is stored and compared: without a slash at its end. Accepts text that `parseLocation` accepts. */
export function normalLocation(text: string): string {
  const location = parseLocation(text)
  if (typeof location === 'string') throw new TypeError(location)
  if (location.kind === 'http') return withoutLastSlashes(location.url.href)
  return location.prefix === '' ? `s3://${location.bucket}` : `s3://${location.bucket}/${location.prefix}`
}

/** Returns the key of a path below a location, or null if it is not below it. The location itself is ''. Both are in the form of `normalLocation`. */
export function keyBelow(place: string, path: string): string | null {
  if (path === place) return ''
  return path.startsWith(`${place}/`) ? path.slice(place.length + 1) : null
}

/** Returns the path of a key below a location, in the form of the catalog. The inverse of `keyBelow`. */
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
