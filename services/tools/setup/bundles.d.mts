/** Makes the bundles of the compiled files if they do not exist; returns the folder that mirrors the checkout. */
export function makeBundles(root: string): Promise<string>
/** Makes the bundles in a process of low priority. */
export function makeBundlesAside(root: string): Promise<{ ok: boolean; output: string; signal?: NodeJS.Signals }>
/** Returns the bundle of a compiled file, or the file itself if it has no current bundle. */
export function bundleOrFile(root: string, file: string): string
