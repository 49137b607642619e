import { useMemo } from 'react'
import { useSpeech } from '../texts/texts.js'
import { createFormats, type Formats } from './format.js'

export function useFormats(): Formats {
  const { language } = useSpeech()
  return useMemo(() => createFormats(language), [language])
}
