import { coded, storedMessage, textOf } from '@gateway/contracts/messages.js'
import { type Example, ID, list } from './example.js'

const BASE = 'http://127.0.0.1:8910'
const MISSING = coded('style_font_missing', { style: '"city"', font: '"Open Sans Regular"', instead: 'Noto Sans' })

const STYLE = {
  code: 'city',
  name: 'City',
  revision: 3,
  available: true,
  source_code: 'styles',
  style_url: `${BASE}/styles/city/style.json`,
  sources: [{ name: 'roads', kind: 'vector', code: 'main', version: null }],
  fonts: ['Open Sans Regular'],
  sprites: ['sprite'],
  hosts: [],
  created_at: '2026-11-01T08:00:00.000Z',
  updated_at: '2026-11-02T08:00:00.000Z',
}
const ADMIN_STYLE = {
  ...STYLE,
  path: '/srv/styles/city/style.json',
  icons: ['school'],
  problems: [storedMessage(textOf(MISSING), MISSING)],
  withdrawn: false,
  source_enabled: true,
}
const FOLLOWED = { confirmed: [], pending: [] }
const DOCUMENT = { version: 8, name: 'City', sources: {}, layers: [] }
const parameters = { code: 'city' }

export const STYLES: Readonly<Record<string, Example>> = {
  listStyles: { answer: list(STYLE) },
  getStyle: { parameters, answer: STYLE },
  listAdminStyles: { answer: list(ADMIN_STYLE) },
  getAdminStyle: { parameters, answer: ADMIN_STYLE },
  updateStyle: { parameters, request: { withdrawn: true }, answer: { ...ADMIN_STYLE, withdrawn: true, ...FOLLOWED } },
  changeStyles: {
    request: { action: 'withdraw', filter: { source_code: 'styles' } },
    answer: { matched: 3, done: 3, failed: [], ...FOLLOWED },
  },
  getStyleWithRevisions: {
    parameters,
    answer: {
      code: 'city',
      revision: 3,
      revisions: [
        { revision: 3, created_at: '2026-11-02T08:00:00.000Z' },
        { revision: 2, created_at: '2026-11-01T08:00:00.000Z' },
      ],
      bases: [BASE],
      document: DOCUMENT,
    },
  },
  beginUpload: { answer: { id: ID, received: 0 } },
  getUpload: { parameters: { id: ID }, answer: { id: ID, received: 8_388_608 } },
  uploadPart: { parameters: { id: ID, offset: 0 }, answer: { id: ID, received: 8_388_608 } },
  cancelUpload: { parameters: { id: ID }, answer: { id: ID, received: 0 } },
  importUpload: {
    parameters: { id: ID },
    request: { kind: 'vector', file: 'lakes.geojson', bytes: 9_120_044, code: 'lakes' },
    answer: { kind: 'vector', code: 'lakes', version: null },
  },
  importStyle: { answer: { ...ADMIN_STYLE, source_code: 'imports-styles', files: 12 } },
  deleteStyle: { parameters, answer: { ...FOLLOWED, files: 0 } },
  getStyleDocument: { parameters, answer: DOCUMENT },
  getSpriteIndex: { parameters, answer: { school: { x: 0, y: 0, width: 16, height: 16, pixelRatio: 1 } } },
  getSpriteImage: { parameters },
  getFineSpriteIndex: { parameters, answer: { school: { x: 0, y: 0, width: 32, height: 32, pixelRatio: 2 } } },
  getFineSpriteImage: { parameters },
  getStyleTile: { parameters: { ...parameters, z: 2, x: 1, y: '1', ext: 'png' } },
  getStaticMap: { parameters: { ...parameters, view: '8.54,47.38,9', size: '600x400', ext: 'png' } },
  getStyleTileJson: {
    parameters,
    answer: {
      tilejson: '3.0.0',
      name: 'City',
      scheme: 'xyz',
      tiles: [`${BASE}/styles/city/{z}/{x}/{y}.png?v=3`],
      minzoom: 0,
      maxzoom: 22,
      format: 'png',
      tileSize: 512,
    },
  },
  listOgcStyles: {
    answer: {
      links: [{ rel: 'self', href: `${BASE}/ogc/styles`, type: 'application/json' }],
      styles: [
        {
          id: 'city',
          title: 'City',
          links: [
            { rel: 'stylesheet', href: `${BASE}/ogc/styles/city`, type: 'application/vnd.mapbox.style+json' },
            { rel: 'describedby', href: `${BASE}/ogc/styles/city/metadata`, type: 'application/json' },
          ],
        },
      ],
    },
  },
  getOgcStyle: { parameters: { styleId: 'city' }, answer: DOCUMENT },
  getOgcStyleMetadata: { parameters: { styleId: 'city' }, answer: { id: 'city', title: 'City', stylesheets: [] } },
  getGlyphs: { parameters: { fontstack: 'Noto Sans Regular', range: '0-255' } },
  getBasemapStyle: { parameters: { code: 'world' }, answer: DOCUMENT },
  getVectorStyle: { parameters: { code: 'main' }, answer: DOCUMENT },
}
