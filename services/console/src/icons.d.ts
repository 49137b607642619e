/** The Tabler icon of a name, for example `~icons/folder-plus`: see `icons-plugin.mjs`. The build fails if there is no such icon. */
declare module '~icons/*' {
  const icon: import('./ui/icon.js').Icon
  export default icon
}
