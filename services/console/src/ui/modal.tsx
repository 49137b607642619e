/** The dialog of the component library, in a file of the bundle that pages do not wait for. */
export { Modal as default } from '@mantine/core'
