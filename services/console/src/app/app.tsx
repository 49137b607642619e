import { MantineProvider, MantineThemeProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { useMemo } from 'react'
import { Boundary, RouterProvider } from '../router/components.js'
import type { Texts } from '../texts/en.js'
import type { Language } from '../texts/language.js'
import { TextsProvider, useTexts } from '../texts/texts.js'
import { PageFailed } from './failures.js'
import { Notifications } from './later.js'
import { styleNonce } from './nonce.js'
import { createQueries } from './queries.js'
import { createRouter } from './routes.js'
import { Shell } from './shell.js'
import { cssVariables, theme } from './theme.js'

export const queries = createQueries()
const router = createRouter()

export function App({ language, texts }: { language: Language; texts: Texts }) {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
    >
      <QueryClientProvider client={queries}>
        <TextsProvider language={language} texts={texts}>
          <Labelled />
        </TextsProvider>
      </QueryClientProvider>
    </MantineProvider>
  )
}

/** The component library labels its close buttons only in English. */
function Labelled() {
  const { close } = useTexts().common
  const labels = useMemo(() => ({ components: { CloseButton: { defaultProps: { 'aria-label': close } } } }), [close])
  return (
    <MantineThemeProvider theme={labels}>
      <Notifications position="bottom-right" autoClose={6000} />
      <RouterProvider router={router}>
        <Boundary failed={PageFailed}>
          <Shell />
        </Boundary>
      </RouterProvider>
    </MantineThemeProvider>
  )
}
