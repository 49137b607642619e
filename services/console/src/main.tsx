import '@mantine/core/styles.css'
import './app/global.css'
import { createRoot } from 'react-dom/client'
import { watchActivity } from './api/activity.js'
import { renewPreviewTokens } from './api/preview.js'
import { sessionQuery } from './api/session.js'
import { App, queries } from './app/app.js'
import { afterFirstPage } from './app/later.js'
import { shareNonce } from './app/nonce.js'
import { watchChunks } from './app/outdated.js'
import { preloadPages } from './app/routes.js'
import { loadTexts, preferredLanguage } from './texts/language.js'

shareNonce()
watchChunks()
watchActivity(() => renewPreviewTokens(queries))
const language = preferredLanguage()
/** Time limit for the role. With it, forbidden actions are never shown; a silent service must not delay the page. */
const ROLE_WITHIN_MS = 1_500
const role = Promise.race([
  queries.prefetchQuery({ ...sessionQuery, retry: false }),
  new Promise((resolve) => window.setTimeout(resolve, ROLE_WITHIN_MS)),
])
const [texts] = await Promise.all([loadTexts(language), role])
createRoot(document.getElementById('root') as HTMLElement).render(<App language={language} texts={texts} />)

void afterFirstPage(queries).then(preloadPages)
