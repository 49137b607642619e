import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'
import { KeptText } from '../http/kept-text.js'
import { describeRawBodies, WEBHOOKS } from './beyond-schemas.js'
import { applyConventions, errorResponses, SECURITY_SCHEMES, TAGS } from './conventions.js'
import { DATA_PLANE_PATHS } from './data-plane.js'
import { API_DESCRIPTION } from './description.js'
import type { ApiDocument } from './document.js'
import { PAGE_CHOICES } from './page-choices.js'
import { nameSchemas } from './schemas.js'
import { HEADERS, TILE_JSON } from './tile-json.js'

/** Media type according to OGC API – Features part 5 and STAC; the edge's landing page of the OGC API uses it too. */
const OPENAPI_TYPE = 'application/vnd.oai.openapi+json;version=3.1'

/** Address of the API reference. */
const PAGE = '/admin/docs'

const CONTACT = { name: 'The operator of this gateway' }
const LICENSE = { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' }

/** Registers the OpenAPI document and its page, before all routes: it collects them as they are registered. */
export async function registerOpenApi(app: App, { settings, version }: ControlContext): Promise<void> {
  nameSchemas()
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Map asset gateway', version, description: API_DESCRIPTION, contact: CONTACT, license: LICENSE },
      tags: TAGS,
      servers: [{ url: settings.apiBaseUrl }],
      components: { securitySchemes: SECURITY_SCHEMES },
    },
    transform: jsonSchemaTransform,
    transformObject: (document) => complete(jsonSchemaTransformObject(document) as ApiDocument),
  })
  // A file needs no store, and a busy machine may take long to read it. The library sets no options of its routes.
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith(PAGE)) route.config = { ...route.config, mayTakeLong: true }
  })
  await app.register(swaggerUi, {
    routePrefix: PAGE,
    theme: {
      title: 'Map asset gateway: API reference',
      js: [{ filename: 'choices.js', content: PAGE_CHOICES }],
    },
    uiConfig: { docExpansion: 'list', persistAuthorization: false },
    staticCSP: true,
    transformStaticCSP: offlinePolicy,
  })
  let kept: KeptText | null = null
  app.get('/api/v1/openapi.json', { schema: { hide: true }, compress: false }, (request, reply) => {
    // All routes are known once there are requests.
    kept ??= new KeptText(JSON.stringify(app.swagger()))
    const type = `${OPENAPI_TYPE};charset=utf-8`
    return kept.answer(request, reply.header('Access-Control-Allow-Origin', '*').type(type))
  })
}

function complete(document: ApiDocument): ApiDocument {
  const paths = { ...document.paths, ...structuredClone(DATA_PLANE_PATHS) }
  describeRawBodies(paths)
  applyConventions(paths)
  const schemas = withoutUnusedInputs(document.components?.schemas ?? {}, JSON.stringify(paths))
  return {
    ...document,
    paths,
    webhooks: WEBHOOKS,
    components: {
      ...document.components,
      schemas: { ...schemas, TileJson: TILE_JSON },
      responses: errorResponses(),
      headers: HEADERS,
    },
  }
}

/** The generator adds a second form of every named schema, as it would look in a request; most are only ever answered. */
function withoutUnusedInputs(schemas: Record<string, unknown>, text: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schemas).filter(([name]) => !name.endsWith('Input') || text.includes(`schemas/${name}"`)),
  )
}

/** The page's own policy without what reaches beyond this service, and without the upgrade to HTTPS, which is not served here. */
function offlinePolicy(policy: string): string {
  return (
    policy
      .replaceAll(/ (https:|validator\.swagger\.io)(?=[ ;])/g, '')
      .replace("frame-ancestors 'self'", "frame-ancestors 'none'")
      // The page writes style attributes as it renders.
      .replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
      .replace(/ ?upgrade-insecure-requests;/, '')
  )
}
