import type { FastifyRequest } from 'fastify'
import type { App } from '../../platform/http/app-type.js'

/** Number of rows on a page of the console's lists. */
const PAGE_SIZE = 25

/** Time limit. Slower data is omitted, and the console reads it by itself. */
const WITHIN_MS = 1_000

/** Requests that every page of the console makes first. */
const ALWAYS = ['/api/v1/admin/session']

/** The reads of the overview's list of findings; the console sends exactly the same requests. */
const FINDINGS = [
  'slice/jobs?limit=5&status=failed&acknowledged=false&cancelled=false',
  ...['push', 'vector-push', 'purge'].map((kind) => `${kind}-records?limit=500&status=failed&acknowledged=false`),
  'exports?limit=1&status=failed',
  'tokens?limit=5&sort=expires_at&expires_within=14d',
]

/** The reads of the overview. */
const OVERVIEW = ['dashboard', 'edges', 'dashboard/traffic', ...FINDINGS].map((path) => `/api/v1/admin/${path}`)

/** The first reads of each page below `/admin/`; lists without search, filter and order. */
const READS: readonly (readonly [page: RegExp, reads: (match: readonly string[]) => readonly string[]])[] = [
  [/^$/, () => OVERVIEW],
  [/^(basemaps|versions|vectors|tokens|scan-sources)$/, ([, name]) => [`/api/v1/admin/${name}?limit=${PAGE_SIZE}`]],
  [
    /^basemaps\/([^/]+)$/,
    ([, code]) => [
      `/api/v1/admin/basemaps/${code}`,
      `/api/v1/admin/audit?limit=1&action=basemap.default-version&subject=${code}`,
    ],
  ],
  [/^basemaps\/([^/]+)\/versions\/[^/]+$/, ([, code]) => [`/api/v1/admin/basemaps/${code}`]],
  [/^vectors\/([^/]+)$/, ([, code]) => [`/api/v1/admin/vectors/${code}`]],
]

/** Returns the API paths that the page of a URL reads first. */
export function firstReads(url: string): readonly string[] {
  const [path = '', query] = url.split('?', 2)
  const page = path.replace(/^\/admin\//, '').replace(/\/$/, '')
  for (const [pattern, reads] of READS) {
    const match = pattern.exec(page)
    const own = match === null ? [] : reads([...match])
    // With a search or filter, the list has another URL.
    if (match !== null) return [...ALWAYS, ...own.filter((read) => query === undefined || !read.includes('?'))]
  }
  return ALWAYS
}

/**
 * Returns the responses to the first requests of a page, by path, as JSON that is safe inside a document, so that they arrive with the page. They are
 * requested with the credentials of the page's request, so they contain what its reader may see. Refused or slow ones are omitted.
 */
export async function firstData(app: App, request: FastifyRequest): Promise<string> {
  const answers = await Promise.all(firstReads(request.url).map((url) => answerOf(app, request, url)))
  return JSON.stringify(Object.fromEntries(answers.filter((answer) => answer !== null))).replaceAll('<', '\\u003c')
}

async function answerOf(app: App, request: FastifyRequest, url: string): Promise<readonly [string, unknown] | null> {
  // The inner response must be a complete, uncompressed document.
  const { 'accept-encoding': _, 'if-none-match': __, ...headers } = request.headers
  const asked = app.inject({
    method: 'GET',
    url,
    headers: { ...headers, accept: 'application/json' },
    remoteAddress: request.socket.remoteAddress ?? '',
  })
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, WITHIN_MS, null)
  })
  try {
    const answer = await Promise.race([asked, late])
    return answer?.statusCode === 200 ? [url, answer.json()] : null
  } catch {
    return null
  } finally {
    clearTimeout(timer)
  }
}
