import { expect, test } from 'vitest'
import { en } from '../../texts/en.js'
import { partnerText } from './partner-text.js'

const access = {
  name: 'Harbour office',
  maps: [{ name: 'World', url_template: 'https://t.example/tiles/world/current/{z}/{x}/{y}.png' }],
  until: '24 December 2026',
  networks: ['10.0.0.0/8'],
  origins: [],
  token: 'bmp_secret',
}

test('the text for a partner names the maps, the expiry and the allowed networks', () => {
  const text = partnerText(access, en.partner)
  expect(text).toContain('World: https://t.example/tiles/world/current/{z}/{x}/{y}.png?token=bmp_secret')
  expect(text).toContain('24 December 2026')
  expect(text).toContain('10.0.0.0/8')
})

test('a text for mail does not contain the secret', () => {
  const text = partnerText({ ...access, token: null }, en.partner)
  expect(text).not.toContain('bmp_secret')
  expect(text).toContain('token=YOUR_TOKEN')
})
