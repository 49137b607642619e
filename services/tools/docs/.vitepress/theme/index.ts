import type { Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import { Operations } from './operations'
import './style.css'

/** Excludes the fonts of the default theme, which are as large as the rest. */
export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => void app.component('Operations', Operations),
} satisfies Theme
