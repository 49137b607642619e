import { SIGN_IN_PATH } from '../platform/admin-gate/gate.js'
import type { App } from '../platform/http/app-type.js'
import { type PagePreferences, preferencesOf } from '../platform/http/page-preferences.js'
import { escaped, plainPage } from '../platform/http/plain-page.js'
import { allowStyles, newNonce } from '../platform/http/style-nonce.js'
import { textsFor } from './page-texts.js'

/** Entry points for programs. They are relative, so that they work for the URL that the client used. */
const LINKS = {
  service: 'map-asset-gateway',
  console: '/admin/',
  openapi: '/api/v1/openapi.json',
  catalog: '/api/v1/catalog/basemaps',
  wmts: '/wmts',
  wms: '/wms',
  ogc: '/ogc',
  tms: '/tms/1.0.0',
  map: '/map/',
  docs: '/docs/',
} as const

/** Describes the service at its root URL: a page for a browser, JSON for a program. It reveals nothing that needs a credential. */
export function landingRoute(app: App): void {
  app.get('/', { schema: { hide: true } }, (request, reply) => {
    reply.header('Vary', 'Accept, Accept-Language, Cookie')
    if (!(request.headers.accept ?? '').includes('text/html')) return reply.send(LINKS)
    const nonce = newNonce()
    return allowStyles(reply, nonce)
      .type('text/html; charset=utf-8')
      .send(page(preferencesOf(request.headers), nonce))
  })
}

function page(preferences: PagePreferences, nonce: string): string {
  const t = textsFor(preferences)
  const { landing } = t
  const link = (to: string, label: string, hint: string) => `<p><a href="${to}">${label}</a><br>${hint}</p>`
  return plainPage({
    ...preferences,
    title: t.title,
    nonce,
    main: `<h1>${t.title}</h1>
<p>${landing.what}</p>
<p><a class="button" href="${SIGN_IN_PATH}">${landing.console}</a></p>
<p>${landing.consoleHint}</p>
${link(LINKS.map, landing.map, escaped(landing.mapHint))}
${link(preferences.language === 'zh' ? `${LINKS.docs}zh/` : LINKS.docs, landing.docs, landing.docsHint)}
${link(LINKS.openapi, landing.reference, landing.referenceHint)}
<p><strong>${landing.clients}</strong><br>${landing.clientsHint}</p>`,
  })
}
