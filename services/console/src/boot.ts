import { loadPageAt } from './app/pages.js'
import { loadTexts, preferredLanguage } from './texts/language.js'

// Loaded in parallel with the application, which is ten times as large and takes over the page's code.
loadPageAt(window.location.pathname)
void loadTexts(preferredLanguage()).catch(() => {})
