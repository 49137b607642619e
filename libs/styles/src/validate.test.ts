import { expect, test } from 'vitest'
import { checkStyle, MAX_STYLE_BYTES } from './validate.js'

const VALID = {
  version: 8,
  glyphs: 'gateway://fonts',
  sprite: 'gateway://sprites/city',
  sources: {
    roads: { type: 'vector', url: 'gateway://vectors/roads' },
    world: { type: 'raster', tiles: ['gateway://basemaps/world/2026'], tileSize: 256 },
    spots: { type: 'geojson', data: './data/spots.geojson' },
    other: { type: 'vector', url: 'https://tiles.example.org/a.json' },
  },
  layers: [
    { id: 'world', type: 'raster', source: 'world' },
    {
      id: 'names',
      type: 'symbol',
      source: 'roads',
      'source-layer': 'roads',
      layout: {
        'text-field': ['get', 'name'],
        'text-font': ['step', ['zoom'], ['literal', ['Noto Sans Regular', 'CJK']], 10, ['literal', ['Noto Sans Bold']]],
        'icon-image': ['match', ['get', 'class'], 'school', 'school-15', 'other'],
      },
    },
  ],
}

test('a style with URLs of the gateway is valid, and lists all its resources', () => {
  const checked = checkStyle(JSON.stringify(VALID, null, 2))
  expect(checked).toMatchObject({
    ok: true,
    dependencies: {
      sources: [
        { name: 'roads', kind: 'vector', code: 'roads', version: null },
        { name: 'world', kind: 'basemap', code: 'world', version: '2026' },
      ],
      fonts: ['CJK', 'Noto Sans Bold', 'Noto Sans Regular'],
      icons: ['other', 'school-15'],
      sprites: ['city'],
      files: ['data/spots.geojson'],
      hosts: ['tiles.example.org'],
    },
  })
})

test('the glyphs of the gateway may be named with a template', () => {
  expect(checkStyle(JSON.stringify({ ...VALID, glyphs: 'gateway://fonts/{fontstack}/{range}.pbf' })).ok).toBe(true)
  expect(checkStyle(JSON.stringify({ ...VALID, glyphs: 'gateway://fonts/{fontstack}/{range}/more' })).ok).toBe(false)
})

test.each([
  [
    'a comma too many',
    '{\n "version": 8,\n "sources": {},\n "layers": [],\n}',
    5,
    /the comma before "}" is one too many/,
  ],
  ['a missing comma', '{\n "version": 8\n "sources": {},\n "layers": []}', 2, /comma is missing after/],
  ['a missing bracket', '{\n "version": 8,\n "sources": {},\n "layers": []', 4, /ends too early/],
  ['another bracket', '{\n "version": 8,\n "sources": {},\n "layers": [}', 4, /closing bracket|expected before/],
  ['a comment', '{\n // mine\n "version": 8, "sources": {}, "layers": []}', 2, /no comments/],
  ['single quotation marks', "{\n 'version': 8}", 2, /double quotation marks/],
  ['a text without an end', '{\n "version": 8,\n "name": "City,\n "layers": []}', 3, /closing quotation mark/],
  [
    'a wrong value in a layer, which is named',
    '{"version": 8, "sources": {},\n"layers": [\n{"id": "sea",\n"type": "background",\n"paint": {"background-color": "bleu"}}]}',
    5,
    /^layer "sea": paint\.background-color: color expected, "bleu" found/,
  ],
  [
    'an unknown property',
    '{"version": 8, "sources": {},\n"layers": [\n{"id": "a",\n"type": "background",\n"paint": {"colour": "red"}}]}',
    5,
    /colour/,
  ],
  ['another version', '{\n"version": "8",\n"sources": {}, "layers": []}', 2, /^version: write 8, as a number/],
  [
    'a misspelled expression',
    '{"version": 8, "sources": {},\n"layers": [\n{"id": "sea", "type": "background",\n"paint": {"background-opacity":\n["interpolat", ["linear"], ["zoom"], 5, 0, 9, 1]}}]}',
    5,
    /^layer "sea": paint\.background-opacity: there is no expression "interpolat": did you mean "interpolate"\?$/,
  ],
  [
    'a misspelled type of layer',
    '{"version": 8, "sources": {"a": {"type": "geojson", "data": "a.json"}},\n"layers": [{"id": "way", "source": "a",\n"type": "lines"}]}',
    3,
    /^layer "way": type: expected one of \[fill, .*"lines" found: did you mean "line"\?$/,
  ],
  [
    'a comparison with one sign',
    '{"version": 8, "sources": {"a": {"type": "geojson", "data": "a.json"}},\n"layers": [{"id": "a", "type": "line", "source": "a",\n"filter": ["=", "class", "x"]}]}',
    3,
    /there is no expression "=": did you mean "=="\?$/,
  ],
  [
    'an expression with too few arguments',
    '{"version": 8, "sources": {},\n"layers": [{"id": "sea", "type": "background",\n"paint": {"background-opacity": ["step", ["zoom"]]}}]}',
    3,
    /"step": Expected at least 4 arguments/,
  ],
  [
    'a misspelled property',
    '{"version": 8, "sources": {},\n"layers": [{"id": "sea", "type": "background", "paint": {\n"background-colour": "red"}}]}',
    3,
    /layers of the type background have no paint property "background-colour": did you mean "background-color"\?$/,
  ],
  [
    'a property in the wrong place',
    '{"version": 8, "sources": {"a": {"type": "geojson", "data": "a.json"}},\n"layers": [{"id": "way", "type": "line", "source": "a", "paint": {\n"line-cap": "round"}}]}',
    3,
    /"line-cap" belongs below "layout"$/,
  ],
  [
    'an address of glyphs without its two places',
    '{"version": 8, "sources": {}, "layers": [],\n"glyphs": "fonts"}',
    2,
    /^glyphs: write gateway:\/\/fonts/,
  ],
  [
    'an unknown address',
    '{"version": 8,\n"sources": {"a": {"type": "vector", "url": "gateway://tiles/a"}},\n"layers": []}',
    2,
    /names nothing/,
  ],
  [
    'a missing source',
    '{"version": 8, "sources": {},\n"layers": [{"id": "a", "type": "fill",\n"source": "gone"}]}',
    3,
    /^layer "a": the style has no source "gone": it has none$/,
  ],
])('%s is reported with its line', (_, text, line, message) => {
  const checked = checkStyle(text)
  expect(checked).toMatchObject({ ok: false, problems: [{ line, message: expect.stringMatching(message) }] })
})

test.each([
  ['no object', '[]'],
  ['null', 'null'],
  ['deep nesting', '['.repeat(100_000)],
  ['too many bytes', `{"a": "${'a'.repeat(MAX_STYLE_BYTES)}"}`],
  ['nothing', ' '],
  ['too many layers', JSON.stringify({ version: 8, sources: {}, layers: Array(10_001).fill({}) })],
])('%s is refused without an exception', (_, text) => expect(checkStyle(text).ok).toBe(false))

test('a filter that mixes both syntaxes is a warning, and does not hide the faults next to it', () => {
  const filter = ['all', ['==', ['get', 'a'], 1], ['in', 'name', '']]
  const mixed = { ...VALID, layers: [{ id: 'l', type: 'line', source: 'roads', 'source-layer': 'x', filter }] }
  const checked = checkStyle(JSON.stringify(mixed, null, 1))
  expect(checked.ok && checked.warnings).toEqual([
    { line: expect.any(Number), message: expect.stringMatching(/^layer "l": filter/) },
  ])
  const broken = { ...mixed, layers: [...mixed.layers, { ...mixed.layers[0], id: 'm', paint: { 'line-width': 'x' } }] }
  const refused = checkStyle(JSON.stringify(broken))
  expect(refused.ok === false && refused.problems.map(({ message }) => message)).toEqual([
    expect.stringContaining('line-width'),
  ])
})
