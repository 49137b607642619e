import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import '@mantine/spotlight/styles.css'
import './app/global.css'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.js'
import { shareNonce } from './app/nonce.js'
import { reloadWhenOutdated } from './app/outdated.js'
import { loadTexts, preferredLanguage } from './texts/language.js'

shareNonce()
reloadWhenOutdated()
const language = preferredLanguage()
const texts = await loadTexts(language)
createRoot(document.getElementById('root') as HTMLElement).render(<App language={language} texts={texts} />)
