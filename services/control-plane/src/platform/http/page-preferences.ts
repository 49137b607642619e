import type { IncomingHttpHeaders } from 'node:http'

/** Names of the cookies in which the console keeps what was chosen in it; see services/console/src/app/share-choices.ts. */
const LANGUAGE = 'gateway_language'
const SCHEME = 'gateway_scheme'

/** Limit: characters of a header that are read. Browsers send fewer. */
const MAX_READ = 4_000

/** How a page is shown to somebody: as chosen in the console, or else as the browser prefers. */
export interface PagePreferences {
  readonly language: 'en' | 'zh'
  /** null: as the device has it */
  readonly scheme: 'light' | 'dark' | null
}

export function preferencesOf(headers: IncomingHttpHeaders): PagePreferences {
  const cookies = (headers.cookie ?? '').slice(0, MAX_READ).split(';')
  const chosen = (name: string) =>
    cookies
      .find((one) => one.trim().startsWith(`${name}=`))
      ?.trim()
      .slice(name.length + 1)
  const [language, scheme] = [chosen(LANGUAGE), chosen(SCHEME)]
  return {
    language: language === 'en' || language === 'zh' ? language : preferred(headers['accept-language']),
    scheme: scheme === 'light' || scheme === 'dark' ? scheme : null,
  }
}

/** Returns Chinese if the browser prefers it to English. */
function preferred(acceptLanguage = ''): 'en' | 'zh' {
  const tags = acceptLanguage.slice(0, MAX_READ).toLowerCase().split(',')
  const first = tags.map((tag) => tag.trim()).find((tag) => tag.startsWith('zh') || tag.startsWith('en'))
  return first?.startsWith('zh') === true ? 'zh' : 'en'
}
