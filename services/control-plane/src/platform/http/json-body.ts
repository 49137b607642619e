import { isUtf8 } from 'node:buffer'
import { refuse } from '@gateway/contracts/errors.js'
import type { App } from './app-type.js'
import { InputError } from './input-validation.js'
import { jsonFault } from './json-fault.js'

/**
 * Only JSON is accepted, so that no HTML form of a foreign page is. An empty body counts as none: many clients send the content type with
 * every POST, and `curl -d ''` declares a form.
 */
export function registerBodyParsers(app: App): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined)
    // Decoding would put U+FFFD in the place of what is wrong, and it would be stored.
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

/** SQLSTATE character_not_in_repertoire, as Postgres itself says it of NUL. */
const UNSTORABLE = '22021'

/** Whether an escape stands for half a character (`\ud800` alone): it would be stored as U+FFFD, so that different texts became equal. */
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
