export { Notifications } from '@mantine/notifications'
export { Account, SessionEnded } from './account.js'
export { Preferences } from './preferences.js'
export { Search } from './search.js'
