/** The editor of styles, in a separate file of the bundle. */
export { Page as EditStylePage } from './edit-page.js'
export { Page as NewStylePage } from './new-page.js'
