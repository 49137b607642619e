import { isUtf8 } from 'node:buffer'
import { refuse } from '@gateway/contracts/errors.js'
import type { App } from './app-type.js'
import { InputError } from './input-validation.js'
import { jsonFault } from './json-fault.js'

/**
 * Accepts only JSON, which excludes HTML forms of foreign pages. An empty body counts as absent: many clients send the content type with
 * every POST, and `curl -d ''` declares a form.
 */
export function registerBodyParsers(app: App): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined)
    // Decoding would replace invalid bytes by U+FFFD, and the store would keep that.
    if (!isUtf8(body)) return done(notJson(body))
    const text = body.toString()
    if (hasHalfCharacter(text)) return done(Object.assign(new Error('half a character'), { code: UNSTORABLE }))
    return parseJson(request, text, (error, parsed) => (error ? done(notJson(body)) : done(null, parsed)))
  })
  app.addContentTypeParser('application/x-www-form-urlencoded', (request, _payload, done) => {
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers
    if (length === '0' && coding === undefined) return done(null, undefined)
    return done(Object.assign(new Error('not JSON'), { code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' }))
  })
}

/** SQLSTATE character_not_in_repertoire, which Postgres itself uses for NUL. */
const UNSTORABLE = '22021'

/** True if an escape stands for an unpaired surrogate (such as `\ud800`). It would be stored as U+FFFD, so different texts would become equal. */
function hasHalfCharacter(json: string): boolean {
  if (!/\\u[dD]/.test(json)) return false
  const unescaped = json.replace(/\\(?:u([0-9a-fA-F]{4})|.)/g, (_, code?: string) =>
    code === undefined ? ' ' : String.fromCharCode(Number.parseInt(code, 16)),
  )
  return /\p{Surrogate}/u.test(unescaped)
}

function notJson(body: Buffer): InputError {
  return new InputError(refuse('invalid_parameters', jsonFault(body)))
}
