import { TOKEN_PREFIX_LENGTH } from './token-format.js'

const TOKEN_IN_TEXT = /bmp_[0-9A-Za-z]+/g
const TOKEN_PARAM = /([?&](?:token|access_token)=)([^&#\s"'\\]*)/gi

/** A text with every service token, and every value of a token parameter, cut to its prefix. For logs and audit rows. */
export function redactTokens(text: string): string {
  return text
    .replace(TOKEN_PARAM, (_, name: string, value: string) => name + shortened(value))
    .replace(TOKEN_IN_TEXT, (token) => shortened(token))
}

function shortened(value: string): string {
  return value.length <= TOKEN_PREFIX_LENGTH ? value : `${value.slice(0, TOKEN_PREFIX_LENGTH)}…`
}
