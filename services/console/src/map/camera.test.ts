import { expect, test } from 'vitest'
import { cameraText, parseCamera } from './camera.js'

test('a camera survives the round trip through a URL', () => {
  const camera = { zoom: 4.25, lat: 51.47782, lon: -0.00153 }
  expect(parseCamera(cameraText(camera))).toEqual(camera)
})

test.each([null, '', '1/2', '1/2/3/4', 'a/b/c', '4//7', '99/0/0', '3/91/0', '3/0/181'])(
  'the URL part %s does not contain a camera',
  (text) => {
    expect(parseCamera(text)).toBeNull()
  },
)
