import type { StoredSliceJob } from '@gateway/store/slice-jobs.js'
import { expect, test } from 'vitest'
import { checkSubmission, submissionSchema } from './submission.js'
import { codedReason, knownJobWarning, planWarnings } from './warnings.js'

const GOOD = { target_code: 'city', source_paths: ['/a.tif', '/b.tif'], zoom_max: 12 }
function jobOf(body: object) {
  const checked = checkSubmission(submissionSchema.parse({ ...GOOD, ...body }))
  if (!checked.ok) throw new Error(checked.message)
  return checked.job
}

test('a plain submission has no warnings', () => {
  for (const body of [{}, { zoom_max: 'native' }, { tile_format: 'PNG' }, { tile_format: 'avif' }])
    expect([body, jobOf(body).warnings]).toEqual([body, []])
})

test.each([
  [
    { zoom_max: undefined, zoom_min: 3 },
    { code: 'slice_zoom_max_missing', params: { zoom: 3 } },
  ],
  [{ tile_format: 'jpg' }, { code: 'slice_tile_format_replaced', params: { asked: '"jpg"', format: 'webp' } }],
  [{ tile_format: 'avif', encoding: 'mapbox' }, { code: 'slice_tile_format_replaced' }],
  [{ target_code: '影像city' }, { code: 'slice_target_code_changed', params: { asked: '"影像city"', code: '"city"' } }],
  [
    { source_paths: ['/a.tif', '/b.tif', '/a.tif'] },
    { code: 'slice_source_repeated', params: { count: 1, example: '"/a.tif"' } },
  ],
])('%j is accepted with a warning', (body, warning) => {
  expect(jobOf(body).warnings).toMatchObject([warning])
})

test('a known code warns of the fields in which the submission differs, and not at all if it is equal', () => {
  const known = { ...jobOf({ code: 'a', zoom_max: 'native' }), zoomMax: 14 } as unknown as StoredSliceJob
  expect(knownJobWarning(jobOf({ code: 'a', zoom_max: 'native' }), known)).toBeNull()
  expect(knownJobWarning(jobOf({ code: 'a', zoom_max: 14, source_paths: ['/c.tif'] }), known)).toEqual({
    code: 'slice_code_known',
    params: { code: '"a"', fields: 'source_paths, zoom_max' },
  })
})

test.each([
  [{ zoom_min: 13, zoom_max: 14 }, 12, ['slice_zoom_min_above_native']],
  [{ zoom_min: 12, zoom_max: 14 }, 12, []],
  [{ zoom_min: 0, zoom_max: 15 }, 12, ['slice_zoom_max_above_native']],
  [{ zoom_min: 0, zoom_max: 'native' }, 0, []],
  [{ zoom_min: 20, zoom_max: 20 }, undefined, []],
])('%j for images of zoom %s: %j', (body, native, codes) => {
  expect(planWarnings(jobOf(body), { native_zoom: native }).map(({ code }) => code)).toEqual(codes)
})

test('the reason of a tool with an unknown code is used as text', () => {
  const line = { type: 'result', ok: false, reason: 'x' } as const
  expect(codedReason({ ...line, message_code: 'slice_source_archive', message_params: { source: 'a' } })).toEqual({
    code: 'slice_source_archive',
    params: { source: 'a' },
  })
  for (const message_code of ['unheard_of', 'toString', undefined])
    expect(codedReason({ ...line, ...(message_code && { message_code }) })).toBeNull()
})
