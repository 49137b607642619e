import { TOKEN_MARK, TOKEN_PREFIX_LENGTH } from './token-format.js'

const TOKEN_IN_TEXT = /bmp_[0-9A-Za-z]+/g
const PARAM = /([?&])([^=?&#\s"'\\]+)=([^&#\s"'\\]*)/g
const REMOVED = '[redacted]'
const CREDENTIAL_NAME = /^((access_)?token|tk|sig)$/i

/**
 * Cuts every service token in a text to its prefix, and removes signatures of addresses. The whole value of a token parameter is removed if
 * it is not a service token, since it may be another credential in the wrong place. Used for logs and audit rows.
 */
export function redactTokens(text: string): string {
  return text
    .replace(PARAM, (param, mark: string, name: string, value: string) =>
      isTokenParam(name, value)
        ? `${mark}${name}=${decoded(value).includes(TOKEN_MARK) ? shortened(value) : '…'}`
        : param,
    )
    .replace(TOKEN_IN_TEXT, (token) => shortened(token))
}

/** Characters of a secret that are removed from the end of a text that was cut within the secret. */
const LEAST_PART = 4

/** Returns a text without known secrets, also without the beginning of one at its end. Empty secrets are skipped. */
export function removeSecrets(text: string, secrets: readonly string[]): string {
  let left = text
  for (const secret of secrets.toSorted((a, b) => b.length - a.length)) {
    if (secret === '') continue
    left = left.replaceAll(secret, REMOVED)
    for (let length = secret.length - 1; length >= LEAST_PART; length--)
      if (left.endsWith(secret.slice(0, length))) left = left.slice(0, -length) + REMOVED
  }
  return left
}

/** Names and values may be percent-encoded: a server that decodes them would find the token. */
function isTokenParam(name: string, value: string): boolean {
  return CREDENTIAL_NAME.test(decoded(name)) || (value.includes('%') && decoded(value).includes(TOKEN_MARK))
}

function decoded(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

function shortened(value: string): string {
  return value.length <= TOKEN_PREFIX_LENGTH ? value : `${value.slice(0, TOKEN_PREFIX_LENGTH)}…`
}
