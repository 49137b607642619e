import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'

/** Shade 7 has a contrast of 5.2 to 1 with white text, in both schemes. */
const sea: MantineColorsTuple = [
  '#e7f6f8',
  '#cdeaee',
  '#9fd6de',
  '#6cc1cd',
  '#44b0bf',
  '#27a2b3',
  '#178c9c',
  '#0f7686',
  '#0a616f',
  '#064b57',
]

export const theme = createTheme({
  primaryColor: 'sea',
  primaryShade: 7,
  colors: { sea },
  defaultRadius: 'md',
  cursorType: 'pointer',
  // System fonts: nothing is loaded, and all scripts of the machine are supported.
  fontFamily: 'system-ui, -apple-system, "Segoe UI", "Noto Sans", "PingFang SC", "Microsoft YaHei", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
  headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.5rem' }, h2: { fontSize: '1.125rem' } } },
  respectReducedMotion: true,
  components: { Modal: { defaultProps: { centered: true } } },
})

/** The library's lighter greys miss the 4.5 to 1 of WCAG; these reach it. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5a636b',
    '--mantine-color-placeholder': '#6b747c',
    '--mantine-color-error': '#c92a2a',
    '--page-background': '#f6f8f9',
    '--card-background': '#ffffff',
    '--map-background': '#dfe6e9',
  },
  dark: {
    '--mantine-color-dimmed': '#a9b1b8',
    '--mantine-color-placeholder': '#98a1a8',
    '--mantine-color-error': '#ff8787',
    '--page-background': '#16191c',
    '--card-background': '#1e2226',
    '--map-background': '#23292d',
  },
})
