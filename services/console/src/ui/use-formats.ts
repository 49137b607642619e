import { useMemo } from 'react'
import { useLanguage } from '../texts/texts.js'
import { createFormats, type Formats } from './format.js'

export function useFormats(): Formats {
  const { language } = useLanguage()
  return useMemo(() => createFormats(language), [language])
}
