import type { FastifyRequest } from 'fastify'
import type { App } from '../../platform/http/app-type.js'

/** Rows of a page of the console's lists. */
const PAGE_SIZE = 25

/** A page is sent without what takes longer: the console reads it by itself. */
const WITHIN_MS = 1_000

/** What every page of the console reads first. */
const ALWAYS = ['/api/v1/admin/session']

/** What the overview's list of findings is made of; the console asks in the same words. */
const FINDINGS = [
  'slice/jobs?limit=5&status=failed&acknowledged=false&cancelled=false',
  ...['push', 'vector-push', 'purge'].map((kind) => `${kind}-records?limit=500&status=failed&acknowledged=false`),
  'exports?limit=1&status=failed',
  'tokens?limit=5&sort=expires_at&expires_within=14d',
]

/** What the overview reads. */
const OVERVIEW = ['dashboard', 'edges', 'dashboard/traffic', ...FINDINGS].map((path) => `/api/v1/admin/${path}`)

/** What a page below `/admin/` reads first; its lists as they are without search, filter and order. */
const READS: readonly (readonly [page: RegExp, reads: (match: readonly string[]) => readonly string[]])[] = [
  [/^$/, () => OVERVIEW],
  [/^(basemaps|versions|vectors|tokens|scan-sources)$/, ([, name]) => [`/api/v1/admin/${name}?limit=${PAGE_SIZE}`]],
  [/^basemaps\/([^/]+)(?:\/versions\/[^/]+)?$/, ([, code]) => [`/api/v1/admin/basemaps/${code}`]],
  [/^vectors\/([^/]+)$/, ([, code]) => [`/api/v1/admin/vectors/${code}`]],
]

/** The paths of the API that the page of an URL reads first. */
export function firstReads(url: string): readonly string[] {
  const [path = '', query] = url.split('?', 2)
  const page = path.replace(/^\/admin\//, '').replace(/\/$/, '')
  for (const [pattern, reads] of READS) {
    const match = pattern.exec(page)
    const own = match === null ? [] : reads([...match])
    // A list that is searched or filtered is another one.
    if (match !== null) return [...ALWAYS, ...own.filter((read) => query === undefined || !read.includes('?'))]
  }
  return ALWAYS
}

/**
 * The answers to what a page reads first, by path, as JSON that may stand in a document: they come with the page instead of after it. They are
 * asked for as the page was, so that they hold what its reader may see. What is refused or slow is left out.
 */
export async function firstData(app: App, request: FastifyRequest): Promise<string> {
  const answers = await Promise.all(firstReads(request.url).map((url) => answerOf(app, request, url)))
  return JSON.stringify(Object.fromEntries(answers.filter((answer) => answer !== null))).replaceAll('<', '\\u003c')
}

async function answerOf(app: App, request: FastifyRequest, url: string): Promise<readonly [string, unknown] | null> {
  // What is asked for is a document, compressed and conditional by itself.
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
