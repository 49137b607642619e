import { type ErrorCode, STATUS_OF_ERROR } from './errors.js'

interface Documented {
  /** codes with the same status */
  readonly codes: readonly ErrorCode[]
  readonly when: string
  /** action for the caller */
  readonly act: string
}

/**
 * Descriptions of refusals for the errors page, in Markdown. Their statuses come from the table. After a change run `npm run docs:reference`, which
 * writes them into docs/reference/errors.md.
 */
const DOCUMENTED: readonly Documented[] = [
  {
    codes: ['invalid_parameters'],
    when:
      'a parameter, a body or a path is not as described, or has an unknown field; the message names the field, the value that was sent, the ' +
      'permitted values and the probable intention',
    act: 'correct it; the same request fails again',
  },
  { codes: ['conflicting_tokens'], when: 'two different tokens in one request', act: 'send one' },
  {
    codes: ['token_missing', 'token_malformed'],
    when: 'no token, a token in a place that is not read, or a text that cannot be a token; the message says which',
    act: '`Authorization: Bearer`, `X-Access-Token`, `?token=`',
  },
  {
    codes: ['token_unknown', 'token_expired', 'token_disabled'],
    when: 'the token has ended or is unknown',
    act: 'ask whoever issued it',
  },
  {
    codes: ['admin_credentials_missing', 'admin_credentials_wrong', 'session_ended'],
    when: 'administration without credentials, or with wrong ones, such as a service token',
    act: 'sign in; `ADMIN_TOKEN` for scripts',
  },
  {
    codes: ['signature_wrong', 'signature_expired'],
    when: 'a [signed URL](../caches.md#signed-urls) that was made for another resource, was changed, or has ended',
    act: 'ask for a new one',
  },
  {
    codes: ['origin_not_allowed', 'network_not_allowed'],
    when: 'the token is limited to other sites or networks',
    act: 'use it there, or have the limit changed',
  },
  {
    codes: ['outside_bounds'],
    when: 'a token or a signed URL with bounds, and a tile outside them, or a whole archive or vector',
    act: 'ask for a token or URL without bounds, or with other bounds',
  },
  {
    codes: ['scope_missing', 'resource_not_granted'],
    when: 'the token does not permit this',
    act: 'ask for the right; a change takes effect at once',
  },
  {
    codes: ['admin_remote_off', 'admin_host_unknown', 'cross_site'],
    when: 'administration from another machine, by another name, or from another site',
    act: '`ADMIN_ALLOW_REMOTE`, `ADMIN_HOSTS`',
  },
  {
    codes: ['role_missing'],
    when: "the operator's role does not suffice",
    act: 'ask an `admin` to do it, or to give you the role',
  },
  {
    codes: ['not_found', 'tile_not_found'],
    when:
      'the resource does not exist or no longer exists; for clients that may read the resource, the message says what is missing: the basemap, its version, the ' +
      'extension, the zoom, the column or row',
    act: 'a missing tile is not a fault of the map; use `missing=204`',
  },
  { codes: ['method_not_allowed'], when: 'the address has other methods', act: '`Allow` names them' },
  { codes: ['request_timeout'], when: 'the body took longer than 30 s', act: 'send it faster, or again' },
  {
    codes: ['conflict', 'scan_running'],
    when: 'the request conflicts with the present state, or a scan runs',
    act: 'read the message; `.../queue` waits for its turn',
  },
  {
    codes: ['gone'],
    when: 'a `cursor` of features that have since been replaced',
    act: 'start again at the first page',
  },
  {
    codes: ['precondition_failed'],
    when: '`If-None-Match: *` was sent, and the code exists already; or the content does not match `If-Match` or `If-Unmodified-Since`',
    act: 'omit the header',
  },
  { codes: ['payload_too_large'], when: 'more than 1 MiB, or `IMPORT_MAX_BYTES` for imports', act: 'send less' },
  { codes: ['uri_too_long'], when: 'an address of more than 8,192 characters', act: 'shorten it' },
  {
    codes: ['unsupported_media_type'],
    when: 'not JSON, or not the type that an import takes',
    act: '`Content-Type: application/json`',
  },
  { codes: ['range_not_satisfiable'], when: 'a range beyond the end', act: '`Content-Range` has the size' },
  {
    codes: ['too_many_requests', 'rate_limited'],
    when: "too many guesses, jobs, imports, streams, or lists and documents at once; or the token's `rate_limit` is reached",
    act: 'wait as `Retry-After` says',
  },
  { codes: ['headers_too_large'], when: 'a header longer than its kind needs', act: 'shorten it' },
  { codes: ['internal'], when: 'nobody planned this', act: "the log has a line with the request's id; report it" },
  {
    codes: ['dependency_down', 'draining'],
    when: 'the store, a disk or the control plane does not answer; or this process ends',
    act: 'repeat as `Retry-After` says; after a write the message says [what became of it](../operate.md#a-write-returned-503)',
  },
  {
    codes: ['upstream_wrong'],
    when: 'a tile is made from the answer of another service, and that answer is wrong, such as an error page instead of a picture',
    act: 'repeat as `Retry-After` says; the record of the basemap and the log have the words of the service',
  },
  {
    codes: ['upstream_silent'],
    when: 'a tile is made from the answer of another service, and that service does not answer in time',
    act: 'repeat as `Retry-After` says',
  },
  {
    codes: ['version_not_supported'],
    when: 'a version of HTTP other than 1.0 and 1.1; HTTP/1.0 at an edge without its native addon',
    act: 'send HTTP/1.1',
  },
]

/** Returns the table of docs/reference/errors.md. */
export function errorsTable(): string {
  const rows = DOCUMENTED.map(({ codes, when, act }) => {
    const statuses = [...new Set(codes.map((code) => STATUS_OF_ERROR[code]))].join(', ')
    return `| ${statuses} | ${codes.map((code) => `\`${code}\``).join(', ')} | ${when} | ${act} |`
  })
  return ['| Status | Code | When | Do |', '|---|---|---|---|', ...rows].join('\n')
}
