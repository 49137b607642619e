// @vitest-environment happy-dom
import { expect, test } from 'vitest'
import { PAGE_CHOICES } from './page-choices.js'

interface Shown {
  textContent: string
  innerHTML: string
  append(element: Shown): void
}

/** The part of a browser's page that this test needs: the types of this package have none. */
const page = globalThis as unknown as {
  readonly localStorage: { setItem(name: string, value: string): void; clear(): void }
  readonly document: {
    readonly body: Shown
    readonly documentElement: { readonly lang: string }
    createElement(name: string): Shown
  }
  matchMedia: (query: string) => { readonly matches: boolean }
}

test('the API reference has the language and the colours that were chosen, and texts of the document stay as they are', async () => {
  const { localStorage, document, matchMedia } = page
  localStorage.setItem('console.language', 'zh')
  localStorage.setItem('mantine-color-scheme-value', 'dark')
  document.body.innerHTML = '<h4>Parameters</h4><div class="markdown"><p>Name</p></div>'
  try {
    new Function(PAGE_CHOICES)()
    expect(page.matchMedia('(prefers-color-scheme: dark)').matches).toBe(true)
    expect(document.documentElement.lang).toBe('zh-CN')
    expect(document.body.textContent).toBe('参数Name')
    const button = document.createElement('button')
    button.textContent = 'Try it out '
    document.body.append(button)
    await expect.poll(() => button.textContent).toBe('试一试 ')
  } finally {
    localStorage.clear()
    page.matchMedia = matchMedia
  }
})
