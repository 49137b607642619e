import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import type { Texts } from '../../texts/en.js'
import { TOKEN_PLACE } from '../basemaps/snippets.js'

interface PartnerText {
  readonly name: string
  readonly maps: readonly Pick<AdminBasemap, 'name' | 'url_template'>[]
  /** end of the access in the reader's format; null: the access does not expire */
  readonly until: string | null
  readonly networks: readonly string[]
  readonly origins: readonly string[]
  /** null: the token is sent another way */
  readonly token: string | null
}

/** Returns the text for a partner. It may go by mail if it does not contain the secret. */
export function partnerText({ maps, until, networks, origins, token, name }: PartnerText, t: Texts['partner']): string {
  return [
    t.mail.greeting(name),
    '',
    until === null ? t.mail.forever : t.mail.until(until),
    ...maps.map((map) => `- ${map.name}: ${map.url_template}?token=${token ?? TOKEN_PLACE}`),
    '',
    token === null ? t.mail.withoutSecret(TOKEN_PLACE) : t.mail.secret(token),
    ...(networks.length === 0 ? [] : [t.mail.networks(networks.join(', '))]),
    ...(origins.length === 0 ? [] : [t.mail.origins(origins.join(', '))]),
    t.mail.header,
  ].join('\n')
}
