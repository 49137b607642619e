import { FORMATS } from '@gateway/vectors/query/items-query.js'
import { ITEM_TYPES } from '@gateway/vectors/query/parameters.js'
import { type Addresses, addressOf } from './layer.js'

const text = { type: 'string' }
const query = (name: string, description: string, schema: object = text) => ({
  name,
  in: 'query',
  required: false,
  description,
  schema,
  ...('type' in schema && schema.type === 'array' ? { style: 'form', explode: false } : {}),
})
const inPath = (name: string) => ({ name, in: 'path', required: true, schema: text })
const numbers = {
  type: 'array',
  oneOf: [
    { minItems: 4, maxItems: 4 },
    { minItems: 6, maxItems: 6 },
  ],
  items: { type: 'number' },
}
const names = { type: 'array', items: text }
const error = {
  content: { 'application/json': { schema: { type: 'object', properties: { error: text }, required: ['error'] } } },
}

function operation(id: string, summary: string, types: readonly string[], parameters: readonly object[] = []) {
  const content = Object.fromEntries(types.map((type) => [type, { schema: { type: 'object' } }]))
  const refusals = {
    400: 'the request is wrong',
    401: 'no valid token',
    403: 'not granted',
    404: 'not found',
    410: 'a cursor of content that was replaced',
    414: 'the address is too long',
    429: 'more requests than the token may send',
    500: 'a fault of the service',
    503: 'try again',
  }
  const answers = Object.entries(refusals).map(([status, description]) => [status, { description, ...error }])
  return {
    get: {
      operationId: id,
      summary,
      parameters,
      responses: { 200: { description: summary, content }, ...Object.fromEntries(answers) },
    },
  }
}

/** Adds the form in which OGC 17-069r4 (7.15.2 to 7.15.4) declares a parameter. */
function listed(parameter: object): object {
  return { ...parameter, style: 'form', explode: false }
}

/**
 * Returns the description of the service that clients of OGC API – Features read, as OpenAPI 3.0: they support no later
 * version.
 */
export function featuresApi(addresses: Addresses): object {
  const f = (values: readonly string[]) =>
    query('f', 'the format; otherwise Accept selects it', { type: 'string', enum: values })
  const json = f(['json'])
  const collection = inPath('collectionId')
  const items = [
    listed(
      query('limit', 'features of a page; a larger number is reduced to the maximum', {
        type: 'integer',
        minimum: 1,
        maximum: 10000,
        default: 100,
      }),
    ),
    query('offset', 'number of features to skip', { type: 'integer', minimum: 0, default: 0 }),
    query('cursor', 'the cursor of a `next` link; 410 if the content was replaced'),
    listed(query('bbox', 'features that intersect the box', numbers)),
    query('bbox-crs', 'the CRS of bbox; default: CRS84', { type: 'string', format: 'uri' }),
    query('crs', 'the CRS of the response; default: CRS84', { type: 'string', format: 'uri' }),
    listed(query('datetime', 'an instant or an interval by RFC 3339; features without a date are of every time')),
    query('filter', 'a filter by CQL2'),
    query('filter-lang', 'the language of filter', {
      type: 'string',
      enum: ['cql2-text', 'cql2-json'],
      default: 'cql2-text',
    }),
    query('filter-crs', 'the CRS of geometries in filter; default: CRS84', {
      type: 'string',
      format: 'uri',
    }),
    query('properties', 'the properties in the response', names),
    query('sortby', 'properties by which features are ordered; with - in front, descending', names),
    f(FORMATS),
    query('guard', 'for CSV: a text that a spreadsheet would read as a formula gets an apostrophe in front', {
      type: 'string',
      enum: ['formulas'],
    }),
    {
      ...query('queryables', 'each queryable is also a parameter, which compares for equality', {
        type: 'object',
        additionalProperties: {
          oneOf: [text, { type: 'number' }, { type: 'boolean' }],
        },
      }),
      style: 'form',
      explode: true,
    },
  ]
  return {
    openapi: '3.0.3',
    info: { title: 'Map asset gateway: OGC API – Features', version: '1.0' },
    servers: [{ url: addressOf({ ...addresses, token: '' }, '/ogc') }],
    security: [{ bearer: [] }, { header: [] }, { query: [] }],
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        header: { type: 'apiKey', in: 'header', name: 'X-Access-Token' },
        query: { type: 'apiKey', in: 'query', name: 'token' },
      },
    },
    paths: {
      '/': operation('getLandingPage', 'The landing page', ['application/json'], [json]),
      '/api': operation('getApi', 'This document', ['application/vnd.oai.openapi+json;version=3.0'], [json]),
      '/conformance': operation('getConformance', 'The conformance classes', ['application/json'], [json]),
      '/collections': operation(
        'getCollections',
        'List the collections that the token may read',
        ['application/json'],
        [json],
      ),
      '/collections/{collectionId}': operation(
        'getCollection',
        'A collection',
        ['application/json'],
        [collection, json],
      ),
      '/collections/{collectionId}/items': operation(
        'getItems',
        'List the features of a collection; a token with bounds gets those that intersect them',
        Object.values(ITEM_TYPES),
        [collection, ...items],
      ),
      '/collections/{collectionId}/items/{featureId}': operation(
        'getItem',
        'Get a feature; 403 if it is outside the bounds of the token',
        ['application/geo+json'],
        [
          collection,
          inPath('featureId'),
          query('crs', 'the CRS of the response', {
            type: 'string',
            format: 'uri',
          }),
          query('properties', 'the properties in the response', names),
          f(['geojson', 'json']),
        ],
      ),
      '/collections/{collectionId}/queryables': operation(
        'getQueryables',
        'Get the properties that filters may use',
        ['application/schema+json'],
        [collection, json],
      ),
      '/collections/{collectionId}/schema': operation(
        'getSchema',
        'Get the properties of the features',
        ['application/schema+json'],
        [collection, json],
      ),
    },
  }
}
