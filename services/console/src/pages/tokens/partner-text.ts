import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import type { Texts } from '../../texts/en.js'
import { TOKEN_PLACE } from '../basemaps/snippets.js'

interface PartnerText {
  readonly name: string
  readonly maps: readonly Pick<AdminBasemap, 'name' | 'url_template'>[]
  /** when the access ends, as the reader has it; null: never */
  readonly until: string | null
  readonly networks: readonly string[]
  readonly origins: readonly string[]
  /** null: it is sent another way */
  readonly token: string | null
}

/** What is sent to a partner. Without the secret it may go by mail. */
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
