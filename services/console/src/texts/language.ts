import type { Texts } from './en.js'

export const LANGUAGES = { en: 'English', zh: '中文' } as const
export type Language = keyof typeof LANGUAGES

const STORED_AS = 'console.language'

/** Returns the language that was chosen in this browser, or else the first of the browser's languages with texts. */
export function preferredLanguage(): Language {
  const wanted = [localStorage.getItem(STORED_AS) ?? '', ...navigator.languages].map((tag) => tag.slice(0, 2))
  return wanted.find((tag): tag is Language => tag in LANGUAGES) ?? 'en'
}

export function rememberLanguage(language: Language): void {
  localStorage.setItem(STORED_AS, language)
}

/** Loads the texts. Each language is a separate file, so that only the current one is loaded. */
export async function loadTexts(language: Language): Promise<Texts> {
  if (language === 'zh') return (await import('./zh.js')).zh
  return (await import('./en.js')).en
}
