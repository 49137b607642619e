import { loadPageAt } from './app/pages.js'
import { loadTexts, preferredLanguage } from './texts/language.js'

// Beside the application, which is ten times as large and takes them over once it is there.
loadPageAt(window.location.pathname)
void loadTexts(preferredLanguage()).catch(() => {})
