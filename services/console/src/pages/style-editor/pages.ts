/** The editor of styles, in a file of the bundle of its own: it brings the code of the checks. */
export { Page as EditStylePage } from './edit-page.js'
export { Page as NewStylePage } from './new-page.js'
