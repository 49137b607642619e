import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'

/** @type {Record<string, { type: 'string', default: string }>} */
const OPTIONS = {
  url: { type: 'string', default: 'http://localhost:8000' },
  user: { type: 'string', default: 'admin' },
  password: { type: 'string', default: '' },
}

/** A running gateway that the options of a script name, its API, and a browser for it. `more`: further options of the script. */
export async function openGateway(more = {}) {
  const { values: given } = parseArgs({ options: { ...OPTIONS, ...more } })
  const values = /** @type {Record<string, string>} */ (given)
  const authorization = `Basic ${Buffer.from(`${values.user}:${values.password}`).toString('base64')}`
  const url = values.url.replace(/\/$/, '')
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  return {
    url,
    values,
    browser,
    /** The answer to a GET below `/api/v1/admin`, or to a POST of a body. Throws if it is no success. */
    async api(path, body) {
      const answer = await fetch(`${url}/api/v1/admin${path}`, {
        headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      })
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      return answer.json()
    },
    newContext: (options = {}) =>
      browser.newContext({ locale: 'en-GB', extraHTTPHeaders: { authorization }, ...options }),
  }
}
