/** The entry that grants everything, present and future; see the contracts, whose code the console does not carry. */
export const GRANT_ALL = '*'
