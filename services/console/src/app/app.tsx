import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from 'react-router/dom'
import type { Texts } from '../texts/en.js'
import type { Language } from '../texts/language.js'
import { TextsProvider } from '../texts/texts.js'
import { styleNonce } from './nonce.js'
import { createQueries } from './queries.js'
import { createRoutes } from './routes.js'
import { cssVariables, theme } from './theme.js'

const queries = createQueries()
const router = createRoutes()

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
          <Notifications position="bottom-right" autoClose={6000} />
          <RouterProvider router={router} />
        </TextsProvider>
      </QueryClientProvider>
    </MantineProvider>
  )
}
