import { layerCodeOf } from '@gateway/contracts/codes.js'
import { expect, test } from 'vitest'
import { checkSubmission, submissionSchema } from './submission.js'

const check = (body: unknown) => checkSubmission(submissionSchema.parse(body))

test('the defaults are the documented ones', () => {
  expect(check({ target_code: 'a', source_path: '/x.tif' })).toEqual({
    ok: true,
    job: {
      code: null,
      name: 'a',
      sourcePaths: ['/x.tif'],
      targetCode: 'a',
      zoomMin: 0,
      zoomMax: 0,
      zoomMaxNative: false,
      tileSize: 256,
      tileFormat: 'webp',
      tileMatrixSet: 'WebMercatorQuad',
      encoding: 'rgb',
      resampling: 'auto',
      output: null,
      callbackUrl: '',
      requestedBy: '',
      warnings: [{ code: 'slice_zoom_max_missing', params: { zoom: 0 } }],
    },
  })
})

test('an empty key or callback URL counts as absent', () => {
  const silent = { target_code: 'a', source_path: '/x.tif' }
  expect(check({ ...silent, code: '', callback_url: '', requested_by: '' })).toEqual(check(silent))
})

test.each([
  ['http://user:secret@hooks.example/', false],
  ['http://user@hooks.example/', false],
  ['hooks.example', false],
  ['ftp://hooks.example/', false],
  ['https://hooks.example/a?b', true],
])('the callback URL %s is accepted: %s', (callback_url, accepted) => {
  const body = { target_code: 'a', source_path: '/x.tif', callback_url }
  expect(submissionSchema.safeParse(body).success).toBe(accepted)
})

test.each([
  [{ zoom_max: 'auto' }, 'must be a whole number from 0 to 24, or "native"'],
  [{ tile_size: 300 }, 'must be 256 or 512'],
  [{ callback_url: 'ftp://hooks.example/' }, 'must be an http or https address'],
])('%j is refused with a valid form', (wrong, words) => {
  const { error } = submissionSchema.safeParse({ target_code: 'a', source_path: '/x.tif', ...wrong })
  expect(error?.issues.map(({ message }) => message)).toEqual([words])
})

test('without zoom_max the one zoom is zoom_min', () => {
  expect(check({ target_code: 'a', source_path: '/x.tif', zoom_min: 5 })).toMatchObject({
    job: { zoomMin: 5, zoomMax: 5 },
  })
})

test('a native zoom_max starts as zoom_min, and never contradicts it', () => {
  expect(check({ target_code: 'a', source_path: '/x.tif', zoom_min: 5, zoom_max: 'native' })).toMatchObject({
    job: { zoomMin: 5, zoomMax: 5, zoomMaxNative: true },
  })
  expect(submissionSchema.safeParse({ target_code: 'a', source_path: '/x.tif', zoom_max: 'auto' }).success).toBe(false)
})

test.each([
  ['影像 city', 'city'],
  ['a.b-c_d', 'a.b-c_d'],
  ['影像', null],
  ['../etc', null],
  ['.hidden', null],
  ['a/b', null],
  ['a b', null],
])('the target code %s is normalized to %s', (text, code) => {
  expect(layerCodeOf(text)).toBe(code)
})

test('both forms of the sources may be given only if they are equal', () => {
  expect(check({ target_code: 'a', source_path: '/x.tif', source_paths: ['/x.tif'] }).ok).toBe(true)
  expect(check({ target_code: 'a', source_path: '/x.tif', source_paths: ['/y.tif'] }).ok).toBe(false)
})

test('heights accept no interpolation of images', () => {
  const body = { target_code: 'a', source_path: '/x.tif', resampling: 'nearest' }
  expect(check(body)).toMatchObject({ ok: true, job: { resampling: 'nearest' } })
  expect(check({ ...body, encoding: 'terrarium' })).toMatchObject({ ok: false })
  expect(check({ ...body, encoding: 'terrarium', resampling: 'auto' })).toMatchObject({ ok: true })
})
