import { expect, test } from 'vitest'
import { en } from '../../texts/en.js'
import { createFormats } from '../../ui/format.js'
import { readableLog } from './log-text.js'

const log = (...lines: (string | object)[]) =>
  readableLog(
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
    en.slicing.logLines,
    createFormats('en'),
  ).split('\n')

const progress = (phase: string, percent: number) => ({ type: 'progress', phase, percent })

test('JSON lines of the tool become words, and its plain lines stay', () => {
  const plan = { type: 'plan', tiles: 1365, bytes_estimate: 2_500_000, min_zoom: 0, max_zoom: 5, engine: 'gdal' }
  const result = { type: 'result', ok: true, tiles_written: 1300, min_zoom: 0, max_zoom: 5, format: 'webp' }
  expect(log('2 sources', plan, 'Warning 1: {odd}', result, '')).toEqual([
    '2 sources',
    'Plan: at most 1,365 tiles of zoom 0–5, about 2.5 MB, with gdal',
    'Warning 1: {odd}',
    'Done: 1,300 tiles (webp) of zoom 0–5',
    '',
  ])
  expect(log({ type: 'result', ok: false, reason: 'a.tif is missing' }, '')).toEqual(['Failed: a.tif is missing', ''])
})

test('consecutive progress lines become one line with the latest value', () => {
  const lines = [
    progress('probing', 0),
    progress('tiling', 10),
    progress('tiling', 62.5),
    'a word',
    progress('tiling', 70),
  ]
  expect(log(...lines, '')).toEqual(['Reading the images: 0%', 'Tiling: 62.5%', 'a word', 'Tiling: 70%', ''])
})

test('an incomplete line is not shown, and JSON of other kinds stays as it is', () => {
  expect(log('begun', '{"type":"prog')).toEqual(['begun'])
  expect(log('{"type":"other"}', '{broken}', '')).toEqual(['{"type":"other"}', '{broken}', ''])
})
