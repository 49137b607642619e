import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useState } from 'react'
import type { Texts } from './en.js'
import { type Language, loadTexts, rememberLanguage } from './language.js'

interface Speech {
  readonly language: Language
  readonly texts: Texts
  readonly choose: (language: Language) => void
}

const SpeechContext = createContext<Speech | null>(null)

export function TextsProvider(props: { language: Language; texts: Texts; children: ReactNode }) {
  const [spoken, setSpoken] = useState({ language: props.language, texts: props.texts })
  const choose = useCallback(async (language: Language) => {
    setSpoken({ language, texts: await loadTexts(language) })
    rememberLanguage(language)
  }, [])
  useEffect(() => {
    document.documentElement.lang = spoken.language === 'zh' ? 'zh-CN' : 'en'
  }, [spoken.language])
  const speech = useMemo(() => ({ ...spoken, choose }), [spoken, choose])
  return <SpeechContext value={speech}>{props.children}</SpeechContext>
}

export function useSpeech(): Speech {
  const speech = use(SpeechContext)
  if (speech === null) throw new Error('there are texts below TextsProvider only')
  return speech
}

export function useTexts(): Texts {
  return useSpeech().texts
}
