import { enStyleEditor, type StyleEditorTexts } from '../../texts/en-style-editor.js'
import { useLanguage } from '../../texts/texts.js'
import { zhStyleEditor } from '../../texts/zh-style-editor.js'

/** Returns the texts of the editor. They are not among the others, which every page waits for. */
export function useEditorTexts(): StyleEditorTexts {
  return useLanguage().language === 'zh' ? zhStyleEditor : enStyleEditor
}
