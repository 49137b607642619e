import '@mantine/notifications/styles.css'
import '@mantine/spotlight/styles.css'

export { Notifications } from '@mantine/notifications'
export { Account, SessionEnded } from './account.js'
export { Preferences } from './preferences.js'
export { Search } from './search.js'
export { Shortcuts } from './shortcuts.js'
