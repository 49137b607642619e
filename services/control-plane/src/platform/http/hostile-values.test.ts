import { codeSchema } from '@gateway/contracts/common.js'
import { steepTexts } from '@gateway/contracts/testing/growth.js'
import { isPlainPath } from '@gateway/contracts/tiling/plain-path.js'
import { loadSettings } from '@gateway/core/settings/load.js'
import { expect, test } from 'vitest'
import { admitImport } from '../../catalog/imports/credential.js'
import { reducedCode } from '../../catalog/register/codes.js'
import { wantedPage } from '../../operators/sign-in-routes.js'
import { isAdminRequest } from '../admin-gate/admin-path.js'
import { callerFinder } from '../admin-gate/caller.js'
import { checkCredentials } from '../admin-gate/credentials.js'
import { isCrossSite } from '../admin-gate/cross-site.js'
import { knownHosts } from '../admin-gate/host-rule.js'
import { neededRole } from '../admin-gate/roles.js'
import { OwnCookies, SESSION_COOKIE } from '../admin-gate/session-cookie.js'
import { ambiguousFraming, unboundedHead } from './framing.js'

const BASE = 'http://127.0.0.1:8910'
const SETTINGS = { apiHost: '127.0.0.1', controlHost: '127.0.0.1', apiBaseUrl: BASE, adminHosts: [] }
const CREDENTIALS = { adminUser: 'admin', adminPassword: 'password', adminToken: 'token', oidcIssuer: null }
const isKnownHost = knownHosts(SETTINGS)
const findCaller = callerFinder('key', ['127.0.0.1'])
const hooks = (text: string) => ({ 'webhook-id': text, 'webhook-timestamp': text, 'webhook-proof': text })

const LOOKS: Record<string, (text: string) => unknown> = {
  host: isKnownHost,
  origin: (text) => isCrossSite({ method: 'POST', host: 'a', origin: text, secFetchSite: text }, BASE),
  'origin and host': (text) => isCrossSite({ method: 'POST', host: text, origin: BASE, secFetchSite: text }, BASE),
  authorization: (text) => checkCredentials(text, CREDENTIALS),
  'the credential of an import': (text) => [
    admitImport({ authorization: text }, 'token', 0),
    admitImport(hooks(text), 'token', 0),
  ],
  cookies: (text) => new OwnCookies(BASE).read(text, SESSION_COOKIE),
  'a path to a role': (text) => neededRole('POST', text),
  'where to go after signing in': wantedPage,
  'forwarding headers': (text) =>
    findCaller({ peer: '127.0.0.1', headers: { 'x-forwarded-for': text, 'x-edge-key': text, forwarded: text } }),
  'an address': (text) => isAdminRequest(undefined, `/${text}`),
  framing: (text) =>
    ambiguousFraming({ headers: { 'transfer-encoding': text }, rawHeaders: [], url: text, httpVersion: '1.1' }),
  'the head as a whole': (text) => unboundedHead({ headers: { cookie: text, accept: text }, url: text }),
  'a path of a submission': (text) => isPlainPath(`/${text}`),
  'a code': (text) => codeSchema.safeParse(text),
  'a relative path': reducedCode,
  'an address in the settings': (text) => loadSettings({ CONFIG_FILE: '/nonexistent', API_BASE_URL: text }),
}

test.each(Object.entries(LOOKS))(
  'no text makes looking at %s cost more than in proportion to its length',
  (_, look) => {
    expect(steepTexts(look)).toEqual([])
  },
)
