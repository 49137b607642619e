/** Makes the bundles of the compiled files if they do not exist; returns the folder that mirrors the checkout. */
export function makeBundles(root: string): Promise<string>
