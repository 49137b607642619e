import { createContext, type ReactNode, use, useEffect, useMemo, useState } from 'react'
import type { Texts } from './en.js'
import { type Language, loadTexts, rememberLanguage } from './language.js'

interface Chosen {
  readonly language: Language
  readonly texts: Texts
}

const LanguageContext = createContext<(Chosen & { readonly choose: (language: Language) => void }) | null>(null)

export function TextsProvider({ language, texts, children }: Chosen & { readonly children: ReactNode }) {
  const [chosen, setChosen] = useState<Chosen>({ language, texts })
  useEffect(() => {
    document.documentElement.lang = chosen.language === 'zh' ? 'zh-CN' : 'en'
  }, [chosen.language])
  const value = useMemo(() => {
    const choose = async (next: Language) => {
      setChosen({ language: next, texts: await loadTexts(next) })
      rememberLanguage(next)
    }
    return { ...chosen, choose }
  }, [chosen])
  return <LanguageContext value={value}>{children}</LanguageContext>
}

export function useLanguage() {
  const value = use(LanguageContext)
  if (value === null) throw new Error('texts exist only below TextsProvider')
  return value
}

export function useTexts(): Texts {
  return useLanguage().texts
}
