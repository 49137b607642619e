// @vitest-environment happy-dom
import { afterEach, expect, test } from 'vitest'
import { shareChoices } from './share-choices.js'

afterEach(() => localStorage.clear())

test('nothing is passed on before something was chosen', () => {
  shareChoices()
  expect([document.cookie, localStorage.getItem('vitepress-theme-appearance')]).toEqual(['', null])
})

test('a choice reaches the pages of the service and the documentation once', () => {
  localStorage.setItem('console.language', 'zh')
  localStorage.setItem('mantine-color-scheme-value', 'dark')
  shareChoices()
  expect(document.cookie.split('; ').sort()).toEqual(['gateway_language=zh', 'gateway_scheme=dark'])
  expect(localStorage.getItem('vitepress-theme-appearance')).toBe('dark')
  localStorage.setItem('vitepress-theme-appearance', 'light')
  shareChoices()
  expect(localStorage.getItem('vitepress-theme-appearance')).toBe('light')
})
