/** The entry that grants all present and future maps. Copied from the contracts to keep their code out of the console's bundle. */
export const GRANT_ALL = '*'
