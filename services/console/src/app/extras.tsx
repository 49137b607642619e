import '@mantine/notifications/styles.css'
import '@mantine/spotlight/styles.css'

export { Notifications } from '@mantine/notifications'
// Loaded with the rest, so that dialogs open while the service is away.
export { default as Modal } from '../ui/modal.js'
export { Account, SessionEnded } from './account.js'
export { Preferences } from './preferences.js'
export { Search } from './search.js'
export { Shortcuts } from './shortcuts.js'
