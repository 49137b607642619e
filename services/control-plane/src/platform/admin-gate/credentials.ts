import { createHash, timingSafeEqual } from 'node:crypto'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { TOKEN_MARK, tokenPrefix } from '@gateway/core/access/token-format.js'
import type { Settings } from '@gateway/core/settings/load.js'

export type CredentialSettings = Pick<Settings, 'adminUser' | 'adminPassword' | 'adminToken' | 'oidcIssuer'>

export type CredentialsVerdict =
  | { readonly ok: true; readonly actor: string; readonly by: 'basic' | 'bearer' }
  | Refusal

/** Actor of ADMIN_TOKEN in the audit. */
const TOKEN_ACTOR = 'token'

const REALM = 'map asset gateway'

/**
 * Returns the value of WWW-Authenticate (RFC 9110, 11.6.1). Basic is offered only if a password is configured. Otherwise a browser would open its
 * dialog in vain.
 */
export function challenge({ adminPassword }: CredentialSettings, offersBasic = true): string {
  const bearer = `Bearer realm="${REALM}"`
  return adminPassword === null || !offersBasic ? bearer : `Basic realm="${REALM}", charset="UTF-8", ${bearer}`
}

/**
 * Checks an Authorization header, in constant time with respect to the configured credentials.
 * @param elsewhere place in the request of a credential that counts only as a service token; null: none
 */
export function checkCredentials(
  authorization: string | undefined,
  settings: CredentialSettings,
  elsewhere: string | null = null,
): CredentialsVerdict {
  if (settings.adminPassword === null && settings.adminToken === null && settings.oidcIssuer === null) {
    return refuse('admin_credentials_missing', coded('admin_not_configured'))
  }
  if (authorization === undefined || authorization === '') {
    if (elsewhere !== null) {
      const [place, form] = [
        coded('admin.wrong_place', { place: elsewhere }),
        coded('admin.send', { form: BEARER_FORM }),
      ]
      return refuse('admin_credentials_missing', [place, form])
    }
    return refuse('admin_credentials_missing', coded('admin_required', { ways: waysIn(settings) }))
  }
  if (authorization.startsWith(TOKEN_MARK)) return serviceToken(authorization)
  const [, scheme = '', value = ''] = /^(\S+) +(.*)$/s.exec(authorization) ?? []
  switch (scheme.toLowerCase()) {
    case 'bearer':
      return checkBearer(value.trim(), settings)
    case 'basic':
      return checkBasic(value.trim(), settings)
    case '':
      return refuse('admin_credentials_missing', [coded('admin.no_scheme', { form: BEARER_FORM })])
    default:
      return refuse('admin_credentials_missing', coded('admin_scheme_unknown', { ways: waysIn(settings) }))
  }
}

const BEARER_FORM = 'Authorization: Bearer ADMIN_TOKEN'

/** Refuses a service token, which never opens administration. The message names its form, and nothing about its grants. */
function serviceToken(token: string): Refusal {
  return refuse('admin_credentials_wrong', [coded('admin.service_token', { prefix: tokenPrefix(token) })])
}

function checkBearer(token: string, { adminToken }: CredentialSettings): CredentialsVerdict {
  if (token.startsWith(TOKEN_MARK) && (adminToken === null || !equal(token, adminToken))) return serviceToken(token)
  if (adminToken === null) {
    return refuse('admin_credentials_wrong', coded('admin_no_token_configured'))
  }
  if (equal(token, adminToken)) return { ok: true, actor: TOKEN_ACTOR, by: 'bearer' }
  return refuse('admin_credentials_wrong', coded('admin_token_wrong'))
}

function checkBasic(encoded: string, { adminUser, adminPassword }: CredentialSettings): CredentialsVerdict {
  if (adminPassword === null) {
    return refuse('admin_credentials_wrong', coded('admin_only_token'))
  }
  const decoded = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = decoded.indexOf(':')
  const given = decoded.slice(colon + 1)
  const user = equal(decoded.slice(0, Math.max(colon, 0)), adminUser)
  const password = equal(given, adminPassword)
  if (user && password) return { ok: true, actor: adminUser, by: 'basic' }
  if (colon >= 0 && given.startsWith(TOKEN_MARK)) return serviceToken(given)
  return refuse('admin_credentials_wrong', coded('admin_password_wrong'))
}

/** Compares digests of equal length, so that the time reveals neither content nor length. */
function equal(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function waysIn({ adminPassword, adminToken, oidcIssuer }: CredentialSettings): string {
  if (oidcIssuer !== null) {
    const others = [
      adminPassword !== null && 'HTTP Basic',
      adminToken !== null && 'ADMIN_TOKEN as Authorization: Bearer',
    ]
    return ['sign in at /admin/', ...others.filter((way) => way !== false)].join(', or use ')
  }
  if (adminPassword === null) {
    return 'send ADMIN_TOKEN as Authorization: Bearer; set ADMIN_PASSWORD to use the console in a browser'
  }
  return adminToken === null ? 'use HTTP Basic' : 'use HTTP Basic, or ADMIN_TOKEN as Authorization: Bearer'
}
