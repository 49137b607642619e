/** Makes the bundles if they are not those of the compiled files; returns the folder that mirrors the checkout. */
export function makeBundles(root: string): Promise<string>
